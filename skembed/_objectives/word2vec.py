r"""Word2vec with negative sampling (Mikolov et al., 2013), the compiled kernel and its objective.

It learns a source vector :math:`v` and a target vector :math:`u` of each word:

.. math::

    \text{skip-gram:} \quad \sum_{c \in C_i} \ell(u_c^T v_{w_i}) + \sum_{n} \ell(-u_n^T v_{w_i}), \qquad
    \text{CBOW:} \quad \ell(u_{w_i}^T \bar v_{C_i}) + \sum_{n} \ell(-u_n^T \bar v_{C_i})

where :math:`\ell(x) = \log(1 + e^{-x})` and :math:`C_i` are the words at most :math:`b` places from word :math:`i`,
:math:`b` drawn from 1 to `window`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.buffers import ARRAYS, Arrays
from .._compiled.compile import PASTE, lean_kernel
from .._compiled.rows import ONE, combine, combine_two, copy_scaled, dots, logistic, padded, prefetch_row
from .._compiled.sync import barrier, below, random_bits, uniform, width_apart
from .._training.encoded_text import (
    EncodedText,
    Plan,
    block_runs,
    keep_probability,
    longest_sentence,
    place_runs,
    sentence_of_block,
    share_runs,
)
from .._training.negatives import Negatives, draw_negative, first_of_second_part, make_negatives
from .._training.plan import WordBlocks
from .._training.trainer import Matrix
from .._training.updates import Rows, Touches, Update, deal, make_touches, share_rows, update_rows


class Draws(NamedTuple):
    """What is drawn at random, and how often."""

    keep: np.ndarray  # (n_words,) float32, the probability that an occurrence of a word is kept
    negatives: Negatives
    window: int
    negative: int
    skipgram: bool


class Windows(NamedTuple):
    """Work space of one block.

    A sentence whose first word has ``a`` words before it in the block has all it needs at places that follow from
    ``a`` and the sentence's number, so that no two threads meet.
    """

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    words: np.ndarray  # (n_tokens,) int32, the words that are kept
    near: np.ndarray  # (n_tokens,) int32, the size of each one's window
    source: Touches  # its vectors: n_tokens gradients of source vectors, then n_tokens gradients of hidden vectors
    target: Touches  # its vectors: gradients of target vectors, then n_tokens hidden vectors
    error: np.ndarray  # (n_tokens, most words of a window, or more) float32, of the words that a position predicts
    negative_error: np.ndarray  # (n_tokens, negative or more) float32
    negative_error_flat: np.ndarray  # the same memory as one dimension
    rows: np.ndarray  # (n_threads * n,) int32, room for a list of rows
    scale: np.ndarray  # (n_threads * n,) float32, and what each is multiplied by
    number: np.ndarray  # 0, 1, 2, ... as int32
    loss: np.ndarray  # (n_sentences_of_block,) float64
    n_targets: np.ndarray  # (n_sentences_of_block,) int64
    total: np.ndarray  # (2,) float64


@njit(**PASTE)
def learn_position(a, i, n, source_weights, target_weights, draws, sc, first_negative, room):
    """Word i of a sentence of n words against frozen weights: errors, and the gradient of its hidden vector.

    Skip-gram predicts each word of the window from word i. The negatives of the sentence serve all of them, counted as
    often as there are words: the same expectation as a set for each, at a fraction of the cost. CBOW predicts
    word i from the mean of the window. Returns the loss and the number of words predicted.
    """
    word = sc.words[a + i]
    hidden = sc.target.n_touches + a + i
    first, last = max(0, i - sc.near[a + i]), min(n, i + sc.near[a + i] + 1)
    n_context = last - first - 1
    k = room
    for c in range(a + first, a + last):
        if c != a + i:
            sc.rows[k], sc.scale[k] = sc.words[c], ONE / np.float32(n_context)
            k += 1
    if draws.skipgram:
        copy_scaled(sc.target.vectors, hidden, ONE, source_weights, word)
    else:
        square = combine(sc.target.vectors, hidden, sc.scale, room, source_weights, sc.rows, room, n_context)
        sc.target.square[hidden] = square
        sc.rows[room] = word
    n_predicted = n_context if draws.skipgram else 1
    # The scores of words that occur with a minus, so that their errors and losses are those of the negatives.
    dots(sc.error, a + i, sc.target.vectors, hidden, target_weights, sc.rows, room, n_predicted)
    for c in range(n_predicted):
        sc.error[a + i, c] *= -ONE
    loss = logistic(sc.error, a + i, n_predicted)
    for c in range(n_predicted):
        sc.error[a + i, c] *= -ONE
        sc.scale[room + c] = sc.error[a + i, c]
    dots(
        sc.negative_error,
        a + i,
        sc.target.vectors,
        hidden,
        target_weights,
        sc.target.row,
        first_negative,
        draws.negative,
    )
    for j in range(draws.negative):
        if sc.target.row[first_negative + j] == word:
            sc.negative_error[a + i, j] = -np.inf
    loss += n_predicted * logistic(sc.negative_error, a + i, draws.negative)
    for j in range(draws.negative):
        sc.negative_error[a + i, j] *= np.float32(n_predicted)
        sc.rows[room + n_predicted + j] = sc.target.row[first_negative + j]
        sc.scale[room + n_predicted + j] = sc.negative_error[a + i, j]
    if not draws.skipgram:
        for c in range(1 + draws.negative):
            sc.scale[room + c] /= np.float32(n_context)
    own = sc.source.n_touches + a + i
    n_rows = n_predicted + draws.negative
    square = combine(sc.source.vectors, own, sc.scale, room, target_weights, sc.rows, room, n_rows)
    sc.source.square[own] = square
    return loss, n_predicted


@njit(**PASTE)
def learn_sentence(sentence, a, n, source_weights, target_weights, draws, part, seed, sc, e, t, room):
    """All positions of one sentence, whose negatives are of one part of the rows; its touches go to ``e`` and ``t`` on.

    Returns loss and number of targets.
    """
    source, target = sc.source, sc.target
    for j in range(draws.negative):
        bits = random_bits(np.uint64(seed), np.uint64(5), np.uint64(sentence), np.uint64(j))
        target.row[t + j] = draw_negative(draws.negatives, part, bits)
        prefetch_row(target_weights, target.row[t + j])
    for i in range(n):
        bits = random_bits(np.uint64(seed), np.uint64(4), np.uint64(sentence), np.uint64(i))
        sc.near[a + i] = 1 + below(bits, draws.window)
    loss = 0.0
    n_targets = 0
    for i in range(n):
        loss_of_word, n_predicted = learn_position(a, i, n, source_weights, target_weights, draws, sc, t, room)
        loss += loss_of_word
        n_targets += n_predicted
    hidden, own = target.n_touches + a, source.n_touches + a
    width = sc.negative_error.shape[1]
    for j in range(0, draws.negative, 2):
        k = min(j + 1, draws.negative - 1)
        target.vector[t + j], target.scale[t + j], target.vector[t + k], target.scale[t + k] = t + j, ONE, t + k, ONE
        errors, e0, e1 = sc.negative_error_flat, a * width + j, a * width + k
        target.square[t + j], target.square[t + k] = combine_two(
            target.vectors, t + j, t + k, errors, e0, e1, width, target.vectors, sc.number, hidden, n
        )
    t += draws.negative
    for c in range(n):
        source.row[e + c] = target.row[t + c] = sc.words[a + c]
        source.vector[e + c], source.scale[e + c] = own + c, ONE
        target.vector[t + c], target.scale[t + c] = hidden + c, sc.error[a + c, 0]
        # What this word gets from the positions that have it in their window.
        k = room
        for i in range(max(0, c - draws.window), min(n, c + draws.window + 1)):
            if i != c and abs(i - c) <= sc.near[a + i]:
                column = c - max(0, i - sc.near[a + i]) - (c > i)
                sc.rows[k] = hidden + i if draws.skipgram else own + i
                sc.scale[k] = sc.error[a + i, column] if draws.skipgram else ONE
                k += 1
        if draws.skipgram:
            square = combine(target.vectors, t + c, sc.scale, room, target.vectors, sc.rows, room, k - room)
            target.vector[t + c], target.scale[t + c], target.square[t + c] = t + c, ONE, square
        else:
            combine(source.vectors, e + c, sc.scale, room, source.vectors, sc.rows, room, k - room)
            # AdaGrad counts the parts: those of one sentence pull the same way, and their sum would look too large.
            square = np.float32(0.0)
            for j in range(room, k):
                square += source.square[sc.rows[j]]
            source.vector[e + c], source.square[e + c] = e + c, square
    return loss, n_targets


@lean_kernel
def train_word2vec(text, source_rows, target_rows, draws, sc, plan, update, sync, thread, n_threads):
    n_passed = np.int64(0)
    n_words = text.word_weight.shape[0]
    room = sc.rows.shape[0] // n_threads * thread
    for block in range(plan.first_block, plan.last_block):
        block_start, block_end = block_runs(plan, block)
        first_run, last_run = share_runs(sc.run_ptr, block_start, block_end, thread, n_threads)
        a = sc.run_ptr[first_run] - sc.run_ptr[block_start]
        first_e = e = a
        first_t = t = a + (first_run - block_start) * plan.run_length * draws.negative
        n_sentences = (block_end - block_start) * plan.run_length
        second_part = first_of_second_part(draws.negatives, plan.seed, block, n_sentences)
        for i in range((first_run - block_start) * plan.run_length, (last_run - block_start) * plan.run_length):
            sentence, a = sentence_of_block(text, plan, sc.run_ptr, block_start, i, source_rows.weights, draws.keep)
            sc.loss[i] = 0.0
            sc.n_targets[i] = 0
            if sentence < 0:
                continue
            start = text.sent_ptr[sentence]
            n = np.int64(0)
            for p in range(start, text.sent_ptr[sentence + 1]):
                word = text.tokens[p]
                if word < n_words:
                    bits = random_bits(np.uint64(plan.seed), np.uint64(3), np.uint64(sentence), np.uint64(p - start))
                    if uniform(bits) < draws.keep[word]:
                        sc.words[a + n] = word
                        prefetch_row(target_rows.weights, word)
                        n += 1
            if n > 1:
                part = np.int64(i >= second_part)
                sc.loss[i], sc.n_targets[i] = learn_sentence(
                    sentence, a, n, source_rows.weights, target_rows.weights, draws, part, plan.seed, sc, e, t, room
                )
                e += n
                t += n + draws.negative
        if update.learn:
            deal(sc.source, thread, source_rows.owner, first_e, e, n_threads)
            deal(sc.target, thread, target_rows.owner, first_t, t, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            for i in range(n_sentences):
                sc.total[0] += sc.loss[i]
                sc.total[1] += sc.n_targets[i]
        if update.learn:
            rate = np.float32(update.rate - update.rate_decay * block)
            update_rows(source_rows, sc.source, update, rate, 0.0, thread, n_threads)
            update_rows(target_rows, sc.target, update, rate, 0.0, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class Word2VecObjective:
    """What `Word2VecVectorizer` brings to the training loop."""

    blocks = WordBlocks()

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"].astype(np.float64)
        keep = keep_probability(counts, fitted["_n_tokens"], vectorizer.subsample)
        # counts**0.75, as in Mikolov et al.; square roots are rounded alike on every processor.
        drawn = np.sqrt(counts) * np.sqrt(np.sqrt(counts))
        drawn /= max(drawn.sum(), 1e-300)
        kept = keep * counts
        targets = kept + drawn * kept.sum() * vectorizer.negative
        negatives = make_negatives(drawn, share_rows(targets, 1)[0])
        window, negative = int(vectorizer.window), int(vectorizer.negative)
        self.draws = Draws(keep, negatives, window, negative, vectorizer.algorithm == "skipgram")
        self.matrices = [
            Matrix.of(fitted, "word_vectors_", lambda: kept),
            Matrix.of(fitted, "target_vectors_", lambda: targets),
        ]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Arrays = ARRAYS) -> Windows:
        run_ptr, n_tokens = place_runs(text, plan)
        n_sentences = plan.runs_per_block * plan.run_length
        n_components = self.matrices[0].weights.shape[1]
        n_target = n_tokens + n_sentences * self.draws.negative
        n_context = min(2 * self.draws.window, longest_sentence(text))  # a window is at most its sentence
        room = width_apart(n_context + self.draws.negative + 1)
        negative_error = make.zeros((n_tokens, padded(self.draws.negative)), np.float32)
        sources = make.zeros((2 * n_tokens, n_components), np.float32)
        targets = make.zeros((n_target + n_tokens, n_components), np.float32)
        n_numbers = n_target + n_tokens + 1
        return Windows(
            run_ptr=run_ptr,
            words=make.zeros((n_tokens,), np.int32),
            near=make.zeros((n_tokens,), np.int32),
            source=make_touches(n_tokens, sources, n_threads, make=make),
            target=make_touches(n_target, targets, n_threads, make=make),
            error=make.zeros((n_tokens, padded(n_context)), np.float32),
            negative_error=negative_error,
            negative_error_flat=negative_error.reshape(-1),
            rows=make.zeros((n_threads * room,), np.int32),
            scale=make.zeros((n_threads * room,), np.float32),
            number=make.values(n_numbers, np.int32, lambda: np.arange(n_numbers, dtype=np.int32)),
            loss=make.zeros((n_sentences,), np.float64),
            n_targets=make.zeros((n_sentences,), np.int64),
            total=make.zeros((2,), np.float64),
        )

    def run(
        self, text: EncodedText, rows: list[Rows], scratch: Windows, plan: Plan, update: Update, *threads: Any
    ) -> None:
        train_word2vec(text, rows[0], rows[1], self.draws, scratch, plan, update, *threads)
