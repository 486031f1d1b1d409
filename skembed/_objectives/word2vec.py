r"""Word2vec with negative sampling (Mikolov et al., 2013), the compiled kernel and its objective.

It learns a source vector :math:`v` and a target vector :math:`u` of each word:

.. math::

    \text{skip-gram:} \quad \sum_{c \in C_i} \ell(u_c^T v_{w_i}) + \sum_{n} \ell(-u_n^T v_{w_i}), \qquad
    \text{CBOW:} \quad \ell(u_{w_i}^T \bar v_{C_i}) + \sum_{n} \ell(-u_n^T \bar v_{C_i})

where :math:`\ell(x) = \log(1 + e^{-x})` and :math:`C_i` are the words at most :math:`b` positions from word :math:`i`,
:math:`b` drawn from 1 to `window`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, Allocator, unshared_width
from .._compiled.compile import INLINE_NUMBA, lean_kernel
from .._compiled.rows import ONE, Selection, combine, copy_scaled, dots, logistic, padded, prefetch_row
from .._compiled.sync import Team, below, random_bits, uniform
from .._training.encoded_text import EncodedText, Plan, WordBlocks, block_of, keep_probability, sentence_of_block
from .._training.learned_arrays import Rows, SparseGradient, Update, assign_rows, make_gradient
from .._training.negatives import Negatives, make_negatives, noise_weights
from .._training.sentence_blocks import Losses, make_losses
from .._training.state import FittedState
from .._training.trainer import KernelObjective, Matrix
from .._training.word_blocks import draw_negatives, end_word_block, gather_negatives, sentences_of_thread, sizes_of


class Word2VecOptions(NamedTuple):
    """What is drawn at random, and how often."""

    keep: np.ndarray  # (n_words,) float32, the probability that an occurrence of a word is kept
    negatives: Negatives
    window: int
    negative: int
    skipgram: bool


class Windows(NamedTuple):
    """Scratch space of one block, see `word_blocks`."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    losses: Losses  # by sentences
    words: np.ndarray  # (n_tokens,) int32, the words that are kept
    near: np.ndarray  # (n_tokens,) int32, the size of each one's window
    source: SparseGradient  # its vectors: n_tokens gradients of source vectors, then n_tokens of hidden vectors
    target: SparseGradient  # its vectors: gradients of target vectors, then n_tokens hidden vectors
    error: np.ndarray  # (n_tokens, most words of a window, or more) float32, of the words that a position predicts
    negative_error: np.ndarray  # (n_tokens, negative or more) float32
    negative_error_flat: np.ndarray  # the same memory as one dimension
    rows: np.ndarray  # (n_threads * n,) int32, a list of rows for each thread
    scale: np.ndarray  # (n_threads * n,) float32, and what each is multiplied by
    arange: np.ndarray  # 0, 1, 2, ... as int32


class WindowSentence(NamedTuple):
    """One sentence of a block."""

    sentence: int  # its index in the text
    a: int  # number of words before it in the block
    n: int  # words that are kept
    source: int  # its first entry of the source gradient
    target: int  # its first entry of the target gradient
    buffer: int  # where the thread's list of rows begins


@njit(**INLINE_NUMBA)
def keep_words(text, sentence, seed, options, target_weights, words, a):
    """Subsampling: write the words of a sentence that are kept, from ``a`` on; returns their number."""
    n, start = np.int64(0), text.sent_ptr[sentence]
    for p in range(start, text.sent_ptr[sentence + 1]):
        word = text.tokens[p]
        if word < text.word_weight.shape[0]:
            bits = random_bits(np.uint64(seed), np.uint64(3), np.uint64(sentence), np.uint64(p - start))
            if uniform(bits) < options.keep[word]:
                words[a + n] = word
                prefetch_row(target_weights, word)
                n += 1
    return n


@njit(**INLINE_NUMBA)
def learn_position(s, i, source_weights, target_weights, options, scratch):
    """Word i of a sentence against frozen weights: errors, and the gradient of its hidden vector.

    Skip-gram predicts each word of the window from word i. The negatives of the sentence serve all of them, counted as
    often as there are words: the same expectation as a set for each, at a fraction of the cost. CBOW predicts
    word i from the mean of the window. Returns the loss and the number of words predicted.
    """
    source, target, rows, scale = scratch.source, scratch.target, scratch.rows, scratch.scale
    errors, negative_errors = scratch.error, scratch.negative_error
    at, buffer, negative = s.a + i, s.buffer, options.negative
    word, hidden = scratch.words[at], target.capacity + at
    n_context = np.int64(0)
    for c in range(max(0, i - scratch.near[at]), min(s.n, i + scratch.near[at] + 1)):
        rows[buffer + n_context] = scratch.words[s.a + c]
        n_context += c != i
    if options.skipgram:
        copy_scaled(target.vectors, hidden, ONE, source_weights, word)
    else:
        for c in range(n_context):
            scale[buffer + c] = ONE / np.float32(n_context)
        around = Selection(source_weights, rows, buffer, n_context)
        target.square[hidden] = combine(target.vectors, hidden, scale, buffer, around)
        rows[buffer] = word
    n_predicted = n_context if options.skipgram else 1
    # The scores of words that occur with a minus, so that their errors and losses are those of the negatives.
    dots(errors, at, target.vectors, hidden, Selection(target_weights, rows, buffer, n_predicted))
    for c in range(n_predicted):
        errors[at, c] *= -ONE
    loss = logistic(errors, at, n_predicted)
    for c in range(n_predicted):
        errors[at, c] *= -ONE
        scale[buffer + c] = errors[at, c]
    dots(negative_errors, at, target.vectors, hidden, Selection(target_weights, target.row, s.target, negative))
    for j in range(negative):
        if target.row[s.target + j] == word:
            negative_errors[at, j] = -np.inf
    loss += n_predicted * logistic(negative_errors, at, negative)
    for j in range(negative):
        negative_errors[at, j] *= np.float32(n_predicted)
        rows[buffer + n_predicted + j] = target.row[s.target + j]
        scale[buffer + n_predicted + j] = negative_errors[at, j]
    if not options.skipgram:
        for c in range(1 + negative):
            scale[buffer + c] /= np.float32(n_context)
    own, n_rows = source.capacity + at, n_predicted + negative
    source.square[own] = combine(source.vectors, own, scale, buffer, Selection(target_weights, rows, buffer, n_rows))
    return loss, n_predicted


@njit(**INLINE_NUMBA)
def gather_window_gradients(s, options, scratch):
    """What each word gets, from its own position and from those that have it in their window."""
    source, target, rows, scale, buffer = scratch.source, scratch.target, scratch.rows, scratch.scale, s.buffer
    hidden, own = target.capacity + s.a, source.capacity + s.a
    for c in range(s.n):
        e, t = s.source + c, s.target + options.negative + c
        source.row[e] = target.row[t] = scratch.words[s.a + c]
        source.vector[e], source.scale[e] = own + c, ONE
        target.vector[t], target.scale[t] = hidden + c, scratch.error[s.a + c, 0]
        k = buffer
        for i in range(max(0, c - options.window), min(s.n, c + options.window + 1)):
            if i != c and abs(i - c) <= scratch.near[s.a + i]:
                column = c - max(0, i - scratch.near[s.a + i]) - (c > i)
                rows[k] = hidden + i if options.skipgram else own + i
                scale[k] = scratch.error[s.a + i, column] if options.skipgram else ONE
                k += 1
        if options.skipgram:
            predicting = Selection(target.vectors, rows, buffer, k - buffer)
            target.square[t] = combine(target.vectors, t, scale, buffer, predicting)
            target.vector[t], target.scale[t] = t, ONE
        else:
            combine(source.vectors, e, scale, buffer, Selection(source.vectors, rows, buffer, k - buffer))
            # AdaGrad gets the sum of the squared terms: as they point alike, the square of their sum is too large.
            square = np.float32(0.0)
            for j in range(buffer, k):
                square += source.square[rows[j]]
            source.vector[e], source.square[e] = e, square


@lean_kernel
def train_word2vec(text, rows, options, scratch, plan, update, team):
    source, target, losses = scratch.source, scratch.target, scratch.losses
    source_rows, target_rows = rows
    buffer = scratch.rows.shape[0] // team.n_threads * team.thread
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        first, last, n_before = sentences_of_thread(scratch.run_ptr, plan, block, team)
        first_source = e = n_before
        first_target = t = n_before + first * options.negative
        for i in range(first, last):
            sentence, a = sentence_of_block(text, plan, scratch.run_ptr, block, i, source_rows.weights, options.keep)
            losses.loss[i], losses.n_targets[i] = 0.0, 0
            if sentence < 0:
                continue
            n = keep_words(text, sentence, plan.seed, options, target_rows.weights, scratch.words, a)
            if n < 2:
                continue
            s = WindowSentence(sentence, a, n, e, t, buffer)
            draw_negatives(s, block, i, options.negatives, options.negative, plan.seed, 5, target_rows.weights, target)
            for position in range(n):
                bits = random_bits(np.uint64(plan.seed), np.uint64(4), np.uint64(sentence), np.uint64(position))
                scratch.near[a + position] = 1 + below(bits, options.window)
            for position in range(n):
                loss, n_predicted = learn_position(
                    s, position, source_rows.weights, target_rows.weights, options, scratch
                )
                losses.loss[i] += loss
                losses.n_targets[i] += n_predicted
            hidden = Selection(target.vectors, scratch.arange, target.capacity + a, n)
            gather_negatives(s, options.negative, a * scratch.negative_error.shape[1], hidden, scratch)
            gather_window_gradients(s, options, scratch)
            e += n
            t += n + options.negative
        matrices = (source_rows, source), (target_rows, target)
        if end_word_block(matrices, (first_source, first_target), (e, t), update, losses, block, team):
            return


class Word2VecObjective(KernelObjective):
    """What `Word2VecVectorizer` brings to the training loop."""

    blocks = WordBlocks()

    def __init__(self, vectorizer: Any, state: FittedState) -> None:
        counts = state.word_counts_.astype(np.float64)
        keep = keep_probability(counts, state.n_tokens, vectorizer.subsample)
        drawn, kept = noise_weights(counts), keep * counts
        targets = kept + drawn * kept.sum() * vectorizer.negative
        self.options = Word2VecOptions(
            keep=keep,
            negatives=make_negatives(drawn, assign_rows(targets, 2)),
            window=int(vectorizer.window),
            negative=int(vectorizer.negative),
            skipgram=vectorizer.algorithm == "skipgram",
        )
        self.matrices = [
            Matrix.of(state.arrays, "word_vectors_", lambda: kept, state.n_frozen),
            Matrix.of(state.arrays, "target_vectors_", lambda: targets),
        ]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> Windows:
        run_ptr, n_tokens, n_sentences, longest = sizes_of(text, plan)
        n_components = self.matrices[0].weights.shape[1]
        negative = self.options.negative
        n_target = n_tokens + n_sentences * negative
        n_context = min(2 * self.options.window, longest)  # a window is at most its sentence
        n_buffer = n_threads * unshared_width(n_context + negative + 1)
        negative_error = make.zeros((n_tokens, padded(negative)), np.float32)
        sources = make.zeros((2 * n_tokens, n_components), np.float32)
        targets = make.zeros((n_target + n_tokens, n_components), np.float32)
        n_vectors = n_target + n_tokens + 1
        return Windows(
            run_ptr=run_ptr,
            losses=make_losses(n_sentences, make),
            words=make.zeros((n_tokens,), np.int32),
            near=make.zeros((n_tokens,), np.int32),
            source=make_gradient(n_tokens, sources, n_threads, make=make),
            target=make_gradient(n_target, targets, n_threads, make=make),
            error=make.zeros((n_tokens, padded(n_context)), np.float32),
            negative_error=negative_error,
            negative_error_flat=negative_error.reshape(-1),
            rows=make.zeros((n_buffer,), np.int32),
            scale=make.zeros((n_buffer,), np.float32),
            arange=make.values(n_vectors, np.int32, lambda: np.arange(n_vectors, dtype=np.int32)),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: Windows, plan: Plan, update: Update, team: Team
    ) -> None:
        train_word2vec(text, tuple(rows), self.options, scratch, plan, update, team)
