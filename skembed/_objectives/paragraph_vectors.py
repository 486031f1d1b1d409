r"""Paragraph vectors (Le and Mikolov, 2014), the compiled kernels and their objective.

Each sentence has a vector of its own, learned together with those of the words. With the logistic loss
:math:`\ell(x) = \log(1 + e^{-x})` and negative sampling it predicts each word of the sentence, alone (PV-DBOW) or
joined with the words around it (PV-DM). Occurrences of frequent words are left out of the sentence at random:

.. math::

    \min_{D, U, V} \sum_i \sum_{t \in S_i} \Big( \ell(u_{w_t}^T h_t)
    + \sum_{n \in N_i, n \neq w_t} \ell(-u_n^T h_t) \Big)

.. math::

    h_t = d_i, \qquad h_t = d_i + \sum_{c \in C_t} v_c, \qquad h_t = \frac{d_i + \sum_{c \in C_t} v_c}{1 + |C_t|},
    \qquad h_t = [d_i; v_{t-b}; \ldots; v_{t+b}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, Allocator, unshared_width
from .._compiled.compile import INLINE_LLVM, INLINE_NUMBA, lean_kernel
from .._compiled.rows import (
    ONE,
    Selection,
    add_scaled,
    combine,
    copy_scaled,
    dots,
    logistic,
    mean_square,
    padded,
    prefetch_row,
)
from .._compiled.sync import Team, random_bits, uniform
from .._training.encoded_text import EncodedText, Plan, WordBlocks, block_of, keep_probability, sentence_of_block
from .._training.learned_arrays import Rows, SparseGradient, Update, assign_rows, make_gradient, take_step
from .._training.negatives import Negatives, make_negatives, noise_weights
from .._training.sentence_blocks import Losses, make_losses
from .._training.state import FittedState
from .._training.trainer import KernelObjective, Matrix
from .._training.word_blocks import (
    draw_negatives,
    end_word_block,
    gather_negatives,
    score_words,
    sentences_of_thread,
    sizes_of,
)

# Noise words that PV-DBOW draws for each negative. Their weight is smaller by this factor. All words of a sentence have
# the same noise words.
_NOISE_OF_NEGATIVE = 4


class ParagraphOptions(NamedTuple):
    """What is predicted, and from what."""

    keep: np.ndarray  # (n_words,) float32, the probability that an occurrence of a word is not left out
    negatives: Negatives
    n_noise: int  # words drawn for a sentence
    noise_weight: np.float32  # of the loss of each
    window: int  # words on each side that help to predict one; 0 for PV-DBOW
    n_inputs: int  # vectors side by side in what predicts a word
    mean: bool


class Paragraphs(NamedTuple):
    """Scratch space of one block, see `word_blocks`; `source` is empty for PV-DBOW."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    losses: Losses  # by sentences; the targets are words
    sentence_gradient: np.ndarray  # (n_sentences, n_components) float32
    source: SparseGradient
    target: SparseGradient  # its vectors: sentences (PV-DBOW), or gradients of negatives, then what predicts each word
    hidden: np.ndarray  # the vectors of `target`, each of its inputs a row of n_components
    own: np.ndarray  # (n_tokens * n_inputs, n_components) float32, gradient of what predicts each word
    own_joined: np.ndarray  # the same memory with a row for each word
    inverse: np.ndarray  # (n_tokens,) float32, what the sum of each predicted word's window is multiplied by
    error: np.ndarray  # (n_threads, most words of a sentence, or more) float32
    negative_error: np.ndarray  # (n_threads or n_tokens, negative or more) float32
    negative_error_flat: np.ndarray  # the same memory as one dimension
    rows: np.ndarray  # (n_threads * n,) int32, a list of rows for each thread
    scale: np.ndarray  # (n_threads * n,) float32, and what each is multiplied by
    arange: np.ndarray  # 0, 1, 2, ... as int32


class Paragraph(NamedTuple):
    """One sentence of a block."""

    sentence: int  # its index in the text
    i: int  # in the block
    a: int  # number of words before it in the block
    source: int  # its first entry of the source gradient
    target: int  # its first entry of the target gradient: the negatives, then the words that it predicts
    thread: int


@njit(**INLINE_LLVM)
def list_kept_words(s, text, options, seed, target_weights, target):
    """List the known words of a sentence that are not left out, as entries behind the noise; returns their number."""
    n_known, first = np.int64(0), s.target + options.n_noise
    e = first
    for p in range(text.sent_ptr[s.sentence], text.sent_ptr[s.sentence + 1]):
        word = text.tokens[p]
        if word < text.word_weight.shape[0]:
            bits = random_bits(np.uint64(seed), np.uint64(4), np.uint64(s.sentence), np.uint64(n_known))
            if uniform(bits) < options.keep[word]:
                target.row[e] = word
                prefetch_row(target_weights, word)
                e += 1
            n_known += 1
    return e - first


@njit(**INLINE_LLVM)
def move_sentence(s, n_predicted, sentence_rows, square, block, update, scratch):
    """The step of the vector of a sentence. Only this sentence reads it, so it need not wait for the end of the block.

    Its gradient is the sum over all predicted words; plain steps are scaled as those of a row with as many entries.
    """
    step = np.float32(update.rate - update.rate_decay * block.position)
    if not update.adagrad:
        step *= min(ONE, np.float32(update.max_steps) / np.float32(n_predicted))
    if update.learn and square != 0.0:
        take_step(sentence_rows, s.sentence, (ONE, scratch.sentence_gradient, s.i, square), step, update.adagrad)


@njit(**INLINE_NUMBA)
def learn_bag(s, n_words, sentence_weights, target_weights, options, scratch):
    """PV-DBOW: the vector of a sentence against frozen words; returns the loss and the mean square of its gradient."""
    target = scratch.target
    copy_scaled(target.vectors, s.i, ONE, sentence_weights, s.sentence)
    target.square[s.i] = mean_square(target.vectors, s.i)
    loss = score_words(s, n_words, options.n_noise, options.noise_weight, target_weights, scratch)
    both = Selection(target_weights, target.row, s.target, options.n_noise + n_words)
    return loss, combine(scratch.sentence_gradient, s.i, target.scale, s.target, both)


@njit(**INLINE_NUMBA)
def join_window(s, k, n, sentence_weights, source_weights, options, scratch):
    """PV-DM: what predicts word k, the last vectors of `target`."""
    target, rows, scale, window = scratch.target, scratch.rows, scratch.scale, options.window
    first, buffer = s.target + options.n_noise, s.thread * (scratch.rows.shape[0] // scratch.error.shape[0])
    at, hidden = s.a + k, target.capacity + s.a + k
    scratch.inverse[at] = ONE
    if options.n_inputs == 1:
        n_context = np.int64(0)
        for c in range(max(0, k - window), min(n, k + window + 1)):
            rows[buffer + n_context] = target.row[first + c]
            n_context += c != k
        if options.mean:
            scratch.inverse[at] = ONE / np.float32(1 + n_context)
        for c in range(n_context):
            scale[buffer + c] = scratch.inverse[at]
        combine(target.vectors, hidden, scale, buffer, Selection(source_weights, rows, buffer, n_context))
        add_scaled(target.vectors, hidden, scratch.inverse[at], sentence_weights, s.sentence)
    else:
        copy_scaled(scratch.hidden, hidden * options.n_inputs, ONE, sentence_weights, s.sentence)
        for nth in range(1, options.n_inputs):
            c = k + nth - window - (nth <= window)
            known = 0 <= c < n
            word = np.int64(target.row[first + min(max(c, 0), n - 1)])
            copy_scaled(scratch.hidden, hidden * options.n_inputs + nth, np.float32(known), source_weights, word)
    target.square[hidden] = mean_square(target.vectors, hidden)
    return hidden


@njit(**INLINE_NUMBA)
def learn_windows(s, n, sentence_weights, source_weights, target_weights, options, scratch):
    """PV-DM: each word against frozen vectors; returns the loss."""
    target, errors, loss = scratch.target, scratch.negative_error, 0.0
    first, width = s.target + options.n_noise, scratch.negative_error.shape[1]
    noise = Selection(target_weights, target.row, s.target, options.n_noise)
    hidden_vectors = Selection(target.vectors, scratch.arange, target.capacity + s.a, n)
    for k in range(n):
        hidden, at = join_window(s, k, n, sentence_weights, source_weights, options, scratch), s.a + k
        dots(scratch.error, s.thread, target.vectors, hidden, Selection(target_weights, target.row, first + k, 1))
        dots(errors, at, target.vectors, hidden, noise)
        scratch.error[s.thread, 0] *= -ONE
        loss += logistic(scratch.error, s.thread, 1)
        for j in range(options.n_noise):
            if target.row[s.target + j] == target.row[first + k]:
                errors[at, j] = -np.inf
        loss += logistic(errors, at, options.n_noise)
        target.scale[first + k], target.vector[first + k] = -scratch.error[s.thread, 0], hidden
        combine(scratch.own_joined, at, scratch.negative_error_flat, at * width, noise)
        add_scaled(scratch.own_joined, at, target.scale[first + k], target_weights, np.int64(target.row[first + k]))
    gather_negatives(s, options.n_noise, s.a * width, hidden_vectors, scratch)
    return loss


@njit(**INLINE_NUMBA)
def gather_document_gradients(s, n, options, scratch):
    """PV-DM: what each word gets from the windows that hold it, and what the sentence gets; returns its mean square."""
    source, rows, scale, window = scratch.source, scratch.rows, scratch.scale, options.window
    buffer = s.thread * (rows.shape[0] // scratch.error.shape[0])
    for c in range(n):
        e, n_windows = s.source + c, np.int64(0)
        for k in range(max(0, c - window), min(n, c + window + 1)):
            if k != c:
                nth = c - k + window + (c < k) if options.n_inputs > 1 else 0
                rows[buffer + n_windows] = (s.a + k) * options.n_inputs + nth
                scale[buffer + n_windows] = scratch.inverse[s.a + k]
                n_windows += 1
        source.row[e], source.vector[e], source.scale[e] = scratch.target.row[s.target + options.n_noise + c], e, ONE
        source.square[e] = combine(source.vectors, e, scale, buffer, Selection(scratch.own, rows, buffer, n_windows))
    for k in range(n):
        rows[buffer + k], scale[buffer + k] = (s.a + k) * options.n_inputs, scratch.inverse[s.a + k]
    return combine(scratch.sentence_gradient, s.i, scale, buffer, Selection(scratch.own, rows, buffer, n))


@lean_kernel
def train_paragraphs(text, rows, options, scratch, plan, update, team):
    source, target, losses = scratch.source, scratch.target, scratch.losses
    sentence_rows, source_rows, target_rows = rows
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        first, last, n_before = sentences_of_thread(scratch.run_ptr, plan, block, team)
        first_source = e = n_before
        first_target = t = n_before + first * options.n_noise
        for i in range(first, last):
            sentence, a = sentence_of_block(text, plan, scratch.run_ptr, block, i, target_rows.weights, options.keep)
            losses.loss[i], losses.n_targets[i] = 0.0, 0
            if sentence < 0:
                continue
            prefetch_row(sentence_rows.weights, sentence)
            s = Paragraph(sentence, i, a, e, t, team.thread)
            n = list_kept_words(s, text, options, plan.seed, target_rows.weights, target)
            if n == 0:
                continue
            draw_negatives(s, block, i, options.negatives, options.n_noise, plan.seed, 2, target_rows.weights, target)
            if options.window == 0:
                losses.loss[i], square = learn_bag(s, n, sentence_rows.weights, target_rows.weights, options, scratch)
            else:
                losses.loss[i] = learn_windows(
                    s, n, sentence_rows.weights, source_rows.weights, target_rows.weights, options, scratch
                )
                square = gather_document_gradients(s, n, options, scratch)
                e += n
            losses.n_targets[i] = n
            t += n + options.n_noise
            move_sentence(s, n, sentence_rows, square, block, update, scratch)
        matrices = (source_rows, source), (target_rows, target)
        if end_word_block(matrices, (first_source, first_target), (e, t), update, losses, block, team):
            return


class ParagraphObjective(KernelObjective):
    """What `ParagraphVectorizer` brings to the training loop.

    `losses_of(text, sentences)` finds the vectors of sentences that are not learned from, and returns for each the sum
    of the losses and the number of its words.
    """

    blocks = WordBlocks()

    def __init__(self, vectorizer: Any, state: FittedState, losses_of: Callable[..., np.ndarray]) -> None:
        counts = state.word_counts_.astype(np.float64)
        keep = keep_probability(counts, state.n_tokens, vectorizer.subsample)
        is_bag = vectorizer.algorithm == "dbow"
        times = _NOISE_OF_NEGATIVE if is_bag else 1
        n_noise, drawn = times * int(vectorizer.negative), noise_weights(counts)
        targets = keep * counts + drawn * counts.sum() * n_noise / 15  # about 15 words a sentence
        n_inputs = state.arrays["target_vectors_"].shape[1] // state.arrays["training_vectors_"].shape[1]
        self.options = ParagraphOptions(
            keep=keep,
            negatives=make_negatives(drawn, assign_rows(targets, 2)),
            n_noise=n_noise,
            noise_weight=ONE / np.float32(times),
            window=0 if is_bag else int(vectorizer.window),
            n_inputs=n_inputs,
            mean=vectorizer.combine == "mean",
        )
        self.take_rows_of_text(state.arrays)
        self.matrices = [Matrix.of(state.arrays, "target_vectors_", lambda: targets)]
        if not is_bag:
            self.matrices.append(Matrix.of(state.arrays, "word_vectors_", lambda: keep * counts))
        self.losses_of = losses_of

    def take_rows_of_text(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Learn the vectors of these sentences from now on: those of another text, with the same words."""
        self.sentences = arrays["training_vectors_"], arrays["_training_vectors_accumulator"]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> Paragraphs:
        run_ptr, n_tokens, n_sentences, longest = sizes_of(text, plan)
        n_noise, n_inputs, is_bag = self.options.n_noise, self.options.n_inputs, self.options.window == 0
        n_components = self.sentences[0].shape[1]
        n_target, n_joined = n_tokens + n_sentences * n_noise, n_components * n_inputs
        n_windows = 0 if is_bag else n_tokens
        n_vectors = n_sentences + 1 if is_bag else n_target + n_tokens
        vectors = make.zeros((n_vectors, n_joined), np.float32)
        own = make.zeros((n_windows * n_inputs, n_components), np.float32)
        negative_error = make.zeros(
            (n_threads, unshared_width(n_noise)) if is_bag else (n_tokens, padded(n_noise)), np.float32
        )
        n_buffer = n_threads * unshared_width(longest)
        of_words = make.zeros((n_windows, n_components), np.float32)
        return Paragraphs(
            run_ptr=run_ptr,
            losses=make_losses(n_sentences, make),
            sentence_gradient=make.zeros((n_sentences, n_components), np.float32),
            source=make_gradient(n_windows, of_words, n_threads, make=make),
            target=make_gradient(n_target, vectors, n_threads, make=make),
            hidden=vectors.reshape((n_vectors * n_inputs, n_components)),
            own=own,
            own_joined=own.reshape((n_windows, n_joined)),
            inverse=make.zeros((n_tokens,), np.float32),
            error=make.zeros((n_threads, unshared_width(longest)), np.float32),
            negative_error=negative_error,
            negative_error_flat=negative_error.reshape(-1),
            rows=make.zeros((n_buffer,), np.int32),
            scale=make.zeros((n_buffer,), np.float32),
            arange=make.values(n_vectors, np.int32, lambda: np.arange(n_vectors, dtype=np.int32)),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: Paragraphs, plan: Plan, update: Update, team: Team
    ) -> None:
        if update.learn or plan.first_block == plan.last_block:
            # PV-DBOW has no source vectors: their gradient is empty.
            sentences = Rows(*self.sentences, rows[0].owner)
            train_paragraphs(text, (sentences, rows[-1], rows[0]), self.options, scratch, plan, update, team)
        elif team.thread == 0:
            runs = plan.run_starts[plan.first_block * plan.runs_per_block : plan.last_block * plan.runs_per_block]
            held_out = (runs[:, None] + np.arange(plan.run_length)).ravel()
            losses = self.losses_of(text, held_out[held_out < len(text.document)])
            scratch.losses.total[:] += losses.sum(axis=0)
