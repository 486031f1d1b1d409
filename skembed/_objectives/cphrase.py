r"""C-PHRASE (Pham and others, 2015), the compiled kernel and its objective.

Each constituent :math:`C` of the tree of a sentence, from single words up, is the mean of the source vectors of its
words. It predicts the words :math:`A_C` at most ``window + window_growth * height`` positions before and behind it,
with the logistic loss :math:`\ell(x) = \log(1 + e^{-x})` and negative sampling:

.. math::

    h_C = \frac{1}{|C|} \sum_{w \in C} v_w, \qquad
    \min_{U, V} \sum_C \Big( \sum_{a \in A_C} \ell(-u_a^T h_C)
    + |A_C| \sum_{n \in N, n \notin A_C} \ell(u_n^T h_C) \Big)

"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, Allocator, unshared_width
from .._compiled.compile import INLINE_LLVM, INLINE_NUMBA, lean_kernel
from .._compiled.rows import ONE, Selection, add_scaled, combine, dots, logistic, mean_square, prefetch_row
from .._compiled.sync import Team, random_bits, uniform
from .._training.encoded_text import EncodedText, Plan, WordBlocks, block_of, keep_probability, sentence_of_block
from .._training.learned_arrays import Rows, SparseGradient, Update, assign_rows, make_gradient
from .._training.negatives import Negatives, make_negatives, noise_weights
from .._training.sentence_blocks import Losses, make_losses
from .._training.state import FittedState
from .._training.trainer import KernelObjective, Matrix
from .._training.word_blocks import draw_negatives, end_word_block, sentences_of_thread, sizes_of


class CPhraseOptions(NamedTuple):
    """What is drawn at random, how far a constituent predicts, and where the trees are from."""

    keep: np.ndarray  # (n_words,) float32, the probability that an occurrence of a word is kept
    negatives: Negatives
    negative: int
    window: int
    window_growth: int
    opening: int  # row of the word that is the opening bracket, or -1 for balanced trees
    closing: int  # of the closing one


class Phrases(NamedTuple):
    """The constituents of a sentence with two words or more, and the brackets that are open; a row for each thread."""

    left: np.ndarray  # (n_threads, most words of a sentence, or more) int32, position of the first word
    right: np.ndarray  # int32, of the word behind the last
    height: np.ndarray  # int32, of the tree below; that of a word is 0
    open_left: np.ndarray  # int32, where open brackets begin
    open_height: np.ndarray  # int32, the greatest height of what they hold so far


class Constituents(NamedTuple):
    """Scratch space of one block, see `word_blocks`."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    losses: Losses  # by sentences
    words: np.ndarray  # (n_tokens,) int32, the words that are kept
    phrases: Phrases
    source: SparseGradient  # its vectors: gradients of the words, then one of a constituent for each thread
    target: SparseGradient  # its vectors: gradients of negatives and words, then a constituent for each thread
    error: np.ndarray  # (n_threads, most words of a sentence, or more) float32
    negative_error: np.ndarray  # (n_threads, negative or more) float32
    rows: np.ndarray  # (n_threads * n,) int32, a list of rows for each thread
    scale: np.ndarray  # (n_threads * n,) float32, and what each is multiplied by


class PhraseSentence(NamedTuple):
    """One sentence of a block."""

    sentence: int  # its index in the text
    a: int  # number of words before it in the block
    source: int  # its first entry of the source gradient
    target: int  # its first entry of the target gradient
    thread: int
    buffer: int  # where the thread's list of rows begins


@njit(**INLINE_LLVM)
def list_phrase(phrases, thread, i, left, right, height):
    phrases.left[thread, i], phrases.right[thread, i], phrases.height[thread, i] = left, right, height


@njit(**INLINE_NUMBA)
def read_sentence(s, text, seed, options, target_weights, scratch):
    """Subsampling: write the words of a sentence that are kept, from ``s.a`` on; list what its brackets hold of them.

    Two brackets around the same words are one constituent, and a word in brackets is a word. Returns the numbers of
    words and constituents.
    """
    phrases, thread, start = scratch.phrases, s.thread, text.sent_ptr[s.sentence]
    n = n_phrases = depth = np.int64(0)
    for p in range(start, text.sent_ptr[s.sentence + 1]):
        word = text.tokens[p]
        if word == options.opening:
            phrases.open_left[thread, depth], phrases.open_height[thread, depth] = n, 0
            depth += 1
        elif word == options.closing:
            depth -= 1
            left, height, last = phrases.open_left[thread, depth], phrases.open_height[thread, depth], n_phrases - 1
            is_new = n - left > 1
            if is_new and n_phrases > 0:
                is_new = phrases.left[thread, last] != left or phrases.right[thread, last] != n
            if is_new:
                height += 1
                list_phrase(phrases, thread, n_phrases, left, n, height)
                n_phrases += 1
            if depth > 0:
                phrases.open_height[thread, depth - 1] = max(phrases.open_height[thread, depth - 1], height)
        elif word < text.word_weight.shape[0]:
            bits = random_bits(np.uint64(seed), np.uint64(3), np.uint64(s.sentence), np.uint64(p - start))
            if uniform(bits) < options.keep[word]:
                scratch.words[s.a + n] = word
                prefetch_row(target_weights, word)
                n += 1
    return n, n_phrases


@njit(**INLINE_NUMBA)
def list_balanced(n, phrases, thread):
    """List the constituents of the balanced tree over ``n`` words: pairs, pairs of these, and so on."""
    n_phrases, half, height = np.int64(0), np.int64(1), np.int64(1)
    while half < n:
        for left in range(0, n - half, 2 * half):
            list_phrase(phrases, thread, n_phrases, left, min(left + 2 * half, n), height)
            n_phrases += 1
        half, height = 2 * half, height + 1
    return n_phrases


@njit(**INLINE_LLVM)
def begin_gradients(s, n, options, scratch):
    """Set the gradients of the words and negatives of a sentence to zero."""
    source, target = scratch.source, scratch.target
    for e in range(s.source, s.source + n):
        source.square[e] = 0.0
        for column in range(source.vectors.shape[1]):
            source.vectors[e, column] = 0.0
    for t in range(s.target, s.target + options.negative + n):
        for column in range(target.vectors.shape[1]):
            target.vectors[t, column] = 0.0


@njit(**INLINE_NUMBA)
def learn_phrase(s, n, phrase, weights, options, scratch):
    """One constituent against frozen weights; adds to the gradients of its words, those around it and the negatives.

    Returns the loss and the number of words predicted. Negatives count as often as there are words around.
    """
    source, target, rows, scale, thread = scratch.source, scratch.target, scratch.rows, scratch.scale, s.thread
    errors, negative_errors, negative = scratch.error, scratch.negative_error, options.negative
    (left, right, height), (source_weights, target_weights) = phrase, weights
    hidden, gradient, n_own = target.capacity + thread, source.capacity + thread, right - left
    width = options.window + options.window_growth * height
    first, last = max(np.int64(0), left - width), min(n, right + width)
    n_around = left - first + last - right
    if n_around == 0:
        return 0.0, n_around
    for i in range(n_own):
        scale[s.buffer + i] = ONE / np.float32(n_own)
    combine(target.vectors, hidden, scale, s.buffer, Selection(source_weights, scratch.words, s.a + left, n_own))
    for k in range(n_around):
        position = first + k + (n_own if first + k >= left else 0)
        rows[s.buffer + k] = scratch.words[s.a + position]
    dots(errors, thread, target.vectors, hidden, Selection(target_weights, rows, s.buffer, n_around))
    dots(negative_errors, thread, target.vectors, hidden, Selection(target_weights, target.row, s.target, negative))
    for k in range(n_around):
        errors[thread, k] *= -ONE  # so that errors and losses are those of negatives
    loss = logistic(errors, thread, n_around)
    for j in range(negative):
        for k in range(n_around):
            if rows[s.buffer + k] == target.row[s.target + j]:
                negative_errors[thread, j] = -np.inf
    loss += n_around * logistic(negative_errors, thread, negative)
    for k in range(n_around):
        position = first + k + (n_own if first + k >= left else 0)
        add_scaled(target.vectors, s.target + negative + position, -errors[thread, k], target.vectors, hidden)
        scale[s.buffer + k] = -errors[thread, k] / np.float32(n_own)
    for j in range(negative):
        error = np.float32(n_around) * negative_errors[thread, j]
        add_scaled(target.vectors, s.target + j, error, target.vectors, hidden)
        rows[s.buffer + n_around + j] = target.row[s.target + j]
        scale[s.buffer + n_around + j] = error / np.float32(n_own)
    n_rows = n_around + negative
    square = combine(source.vectors, gradient, scale, s.buffer, Selection(target_weights, rows, s.buffer, n_rows))
    for e in range(s.source + left, s.source + right):
        add_scaled(source.vectors, e, ONE, source.vectors, gradient)
        # AdaGrad gets the sum of the squared terms: as they point alike, the square of their sum is too large.
        source.square[e] += square
    return loss, n_around


@njit(**INLINE_LLVM)
def list_gradients(s, n, options, scratch):
    """What each word and negative gets, as entries."""
    source, target = scratch.source, scratch.target
    for i in range(n):
        e = s.source + i
        source.row[e], source.vector[e], source.scale[e] = scratch.words[s.a + i], e, ONE
        target.row[s.target + options.negative + i] = scratch.words[s.a + i]
    for t in range(s.target, s.target + options.negative + n):
        target.vector[t], target.scale[t], target.square[t] = t, ONE, mean_square(target.vectors, t)


@lean_kernel
def train_cphrase(text, rows, options, scratch, plan, update, team):
    source, target, losses, phrases = scratch.source, scratch.target, scratch.losses, scratch.phrases
    source_rows, target_rows = rows
    weights = source_rows.weights, target_rows.weights
    buffer = scratch.rows.shape[0] // team.n_threads * team.thread
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        first, last, n_before = sentences_of_thread(scratch.run_ptr, plan, block, team)
        first_source = e = n_before
        first_target = t = n_before + first * options.negative
        for i in range(first, last):
            sentence, a = sentence_of_block(text, plan, scratch.run_ptr, block, i, weights[0], options.keep)
            losses.loss[i], losses.n_targets[i] = 0.0, 0
            if sentence < 0:
                continue
            s = PhraseSentence(sentence, a, e, t, team.thread, buffer)
            n, n_phrases = read_sentence(s, text, plan.seed, options, weights[1], scratch)
            if n < 2:
                continue
            if options.opening < 0:
                n_phrases = list_balanced(n, phrases, team.thread)
            draw_negatives(s, block, i, options.negatives, options.negative, plan.seed, 5, weights[1], target)
            begin_gradients(s, n, options, scratch)
            for phrase in range(-n, n_phrases):
                left, right, height = phrase + n, phrase + n + 1, np.int64(0)
                if phrase >= 0:
                    left, right = np.int64(phrases.left[s.thread, phrase]), np.int64(phrases.right[s.thread, phrase])
                    height = np.int64(phrases.height[s.thread, phrase])
                loss, n_predicted = learn_phrase(s, n, (left, right, height), weights, options, scratch)
                losses.loss[i] += loss
                losses.n_targets[i] += n_predicted
            list_gradients(s, n, options, scratch)
            e += n
            t += n + options.negative
        matrices = (source_rows, source), (target_rows, target)
        if end_word_block(matrices, (first_source, first_target), (e, t), update, losses, block, team):
            return


class CPhraseObjective(KernelObjective):
    """What `CPhraseVectorizer` brings to the training loop; `brackets` are the rows of both, or None."""

    blocks = WordBlocks()

    def __init__(self, vectorizer: Any, state: FittedState, brackets: tuple[int, int] | None) -> None:
        counts = state.word_counts_.astype(np.float64)
        n_brackets = 0.0
        if brackets is not None:
            n_brackets = counts[list(brackets)].sum()
            counts[list(brackets)] = 0
        keep = keep_probability(counts, int(state.n_tokens - n_brackets), vectorizer.subsample)
        drawn, kept = noise_weights(counts), keep * counts
        targets = kept + drawn * kept.sum() * vectorizer.negative
        self.options = CPhraseOptions(
            keep=keep,
            negatives=make_negatives(drawn, assign_rows(targets, 2)),
            negative=int(vectorizer.negative),
            window=int(vectorizer.window),
            window_growth=int(vectorizer.window_growth),
            opening=-1 if brackets is None else brackets[0],
            closing=-1 if brackets is None else brackets[1],
        )
        self.matrices = [
            Matrix.of(state.arrays, "word_vectors_", lambda: kept),
            Matrix.of(state.arrays, "target_vectors_", lambda: targets),
        ]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> Constituents:
        run_ptr, n_tokens, n_sentences, longest = sizes_of(text, plan)
        n_components = self.matrices[0].weights.shape[1]
        negative = self.options.negative
        n_buffer = n_threads * unshared_width(longest + negative)
        n_target = n_tokens + n_sentences * negative

        def of_words(dtype: Any) -> Any:
            return make.zeros((n_threads, unshared_width(longest)), dtype)

        gradients = make.zeros((n_tokens + n_threads, n_components), np.float32)
        targets = make.zeros((n_target + n_threads, n_components), np.float32)
        return Constituents(
            run_ptr=run_ptr,
            losses=make_losses(n_sentences, make),
            words=make.zeros((n_tokens,), np.int32),
            phrases=Phrases(*(of_words(np.int32) for _ in Phrases._fields)),
            source=make_gradient(n_tokens, gradients, n_threads, make=make),
            target=make_gradient(n_target, targets, n_threads, make=make),
            error=of_words(np.float32),
            negative_error=make.zeros((n_threads, unshared_width(negative)), np.float32),
            rows=make.zeros((n_buffer,), np.int32),
            scale=make.zeros((n_buffer,), np.float32),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: Constituents, plan: Plan, update: Update, team: Team
    ) -> None:
        train_cphrase(text, tuple(rows), self.options, scratch, plan, update, team)
