r"""FastSent (Hill, Cho and Korhonen, 2016), the compiled kernel and its objective.

A sentence is the sum of the source vectors of its words. It predicts the words :math:`C_i` of the sentences around it,
and with `autoencode` its own, with the logistic loss :math:`\ell(x) = \log(1 + e^{-x})` and negative sampling:

.. math::

    s_i = \sum_{w \in S_i} v_w, \qquad
    \min_{U, V} \sum_i \frac{1}{|C_i|} \sum_{c \in C_i}
    \Big( \ell(u_c^T s_i) + \sum_{n \in N_i, n \neq c} \ell(-u_n^T s_i) \Big)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, Allocator, unshared_width
from .._compiled.compile import INLINE_LLVM, INLINE_NUMBA, lean_kernel
from .._compiled.rows import Selection, combine, prefetch_row
from .._compiled.sync import Team, random_bits, uniform
from .._training.encoded_text import EncodedText, Plan, WordBlocks, block_of, keep_probability, sentence_of_block
from .._training.learned_arrays import Rows, SparseGradient, Update, assign_rows, make_gradient
from .._training.negatives import Negatives, make_negatives
from .._training.sentence_blocks import Bag, Losses, list_entries, make_losses
from .._training.state import FittedState
from .._training.trainer import KernelObjective, Matrix
from .._training.word_blocks import draw_negatives, end_word_block, score_words, sentences_of_thread, sizes_of


class FastSentOptions(NamedTuple):
    """What is predicted, and from what."""

    keep: np.ndarray  # (n_words,) float32, the probability that an occurrence of a word is predicted
    negatives: Negatives
    negative: int
    autoencode: bool
    bag: Bag


class AroundWords(NamedTuple):
    """Scratch space of one block, see `word_blocks`."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64, borders included
    losses: Losses  # by sentences
    most: int  # how many sentences of a run may predict one word
    source: SparseGradient  # its vectors are the gradients of the sentences
    target: SparseGradient  # its vectors are the sentences themselves and, last, a vector of zeros
    error: np.ndarray  # (n_threads, most words around a sentence, or more) float32
    negative_error: np.ndarray  # (n_threads, negative or more) float32


class AroundSentence(NamedTuple):
    """One sentence of a block."""

    sentence: int  # its index in the text
    i: int  # in the block
    source: int  # its first entry of the source gradient
    target: int  # its first entry of the target gradient: the negatives, then the words that it predicts
    thread: int


@njit(**INLINE_LLVM)
def list_words_around(s, text, border, options, seed, target_weights, target):
    """List the words that a sentence predicts, as entries behind its negatives; returns their number.

    Subsampling draws anew for each sentence that predicts a word.
    """
    first = e = s.target + options.negative
    for j in range(max(0, s.sentence - border), min(text.document.shape[0], s.sentence + border + 1)):
        if text.document[j] != text.document[s.sentence] or (j == s.sentence and not options.autoencode):
            continue
        for p in range(text.sent_ptr[j], text.sent_ptr[j + 1]):
            word = text.tokens[p]
            if word < text.word_weight.shape[0]:
                bits = random_bits(np.uint64(seed), np.uint64(4), np.uint64(s.sentence), np.uint64(p))
                if uniform(bits) < options.keep[word]:
                    target.row[e] = word
                    prefetch_row(target_weights, word)
                    e += 1
    return e - first


@njit(**INLINE_NUMBA)
def learn_from_around(s, block, text, plan, rows, options, scratch):
    """One sentence against frozen weights; returns the loss, and the numbers of predicted and own words, or zeros."""
    source, target, target_weights = scratch.source, scratch.target, rows[1].weights
    n_own = list_entries(text, options.bag, plan.seed, s.i, s.sentence, source, s.source)
    if n_own == 0:
        return 0.0, 0, 0
    draw_negatives(s, block, s.i, options.negatives, options.negative, plan.seed, 2, target_weights, target)
    n_words = list_words_around(s, text, plan.border, options, plan.seed, target_weights, target)
    if n_words == 0:
        return 0.0, 0, 0
    words = Selection(rows[0].weights, source.row, s.source, n_own)
    target.square[s.i] = combine(target.vectors, s.i, source.scale, s.source, words)
    loss = score_words(s, n_words, options.negative, 1.0, target_weights, scratch) / n_words
    for e in range(s.target, s.target + options.negative + n_words):
        target.scale[e] /= np.float32(n_words)
    predicted = Selection(target_weights, target.row, s.target, options.negative + n_words)
    source.square[s.i] = combine(source.vectors, s.i, target.scale, s.target, predicted)
    return loss, n_words, n_own


@lean_kernel
def train_fastsent(text, rows, options, scratch, plan, update, team):
    source, target, losses = scratch.source, scratch.target, scratch.losses
    source_rows, target_rows = rows
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        first, last, n_before = sentences_of_thread(scratch.run_ptr, plan, block, team)
        first_source = e = n_before + team.thread
        first_target = t = n_before * scratch.most + first * options.negative
        for i in range(first, last):
            sentence, _ = sentence_of_block(text, plan, scratch.run_ptr, block, i, source_rows.weights, options.keep)
            losses.loss[i], losses.n_targets[i] = 0.0, 0
            if sentence < 0:
                continue
            s = AroundSentence(sentence, i, e, t, team.thread)
            losses.loss[i], n_words, n_own = learn_from_around(s, block, text, plan, rows, options, scratch)
            losses.n_targets[i] = n_words > 0
            e += n_own
            t += n_words + options.negative * (n_words > 0)
        matrices = (source_rows, source), (target_rows, target)
        if end_word_block(matrices, (first_source, first_target), (e, t), update, losses, block, team):
            return


class FastSentObjective(KernelObjective):
    """What `FastSentVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, state: FittedState) -> None:
        counts = state.word_counts_.astype(np.float64)
        keep = keep_probability(counts, state.n_tokens, vectorizer.subsample)
        drawn = np.sqrt(counts)
        drawn /= max(drawn.sum(), 1e-300)
        n_around = 2 * int(vectorizer.window) + vectorizer.autoencode
        targets = keep * counts * n_around + drawn * counts.sum() * vectorizer.negative / 15  # 15 words a sentence
        self.options = FastSentOptions(
            keep=keep,
            negatives=make_negatives(drawn, assign_rows(targets, 2)),
            negative=int(vectorizer.negative),
            autoencode=bool(vectorizer.autoencode),
            bag=Bag(mean=vectorizer.pooling == "mean"),
        )
        self.blocks = WordBlocks(border=int(vectorizer.window))
        self.matrices = [
            Matrix.of(state.arrays, "word_vectors_", lambda: counts, state.n_frozen),
            Matrix.of(state.arrays, "target_vectors_", lambda: targets),
        ]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> AroundWords:
        run_ptr, n_tokens, n_sentences, longest = sizes_of(text, plan)
        n_components = self.matrices[0].weights.shape[1]
        n_around = 2 * plan.border + self.options.autoencode
        most = min(n_around, plan.run_length)
        most_words = min(n_around * longest, n_tokens)
        sentences = make.zeros((n_sentences + 1, n_components), np.float32)
        gradients = make.zeros((n_sentences, n_components), np.float32)
        n_target = n_tokens * most + n_sentences * self.options.negative
        return AroundWords(
            run_ptr=run_ptr,
            losses=make_losses(n_sentences, make),
            most=most,
            # A thread writes one entry past the words of a sentence.
            source=make_gradient(n_tokens + n_threads, gradients, n_threads, make=make),
            target=make_gradient(n_target, sentences, n_threads, make=make),
            error=make.zeros((n_threads, unshared_width(most_words)), np.float32),
            negative_error=make.zeros((n_threads, unshared_width(self.options.negative)), np.float32),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: AroundWords, plan: Plan, update: Update, team: Team
    ) -> None:
        train_fastsent(text, tuple(rows), self.options, scratch, plan, update, team)
