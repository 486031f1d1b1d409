"""The sentences of a block (see `encoded_text`): their words and n-grams, sums, random sentences, losses.

The *members* of a block are its sentences, borders included.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, unshared_width
from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT
from .._compiled.rows import ONE, Selection, combine, prefetch_row
from .._compiled.sync import aborted, barrier, below, random_bits
from .._text.ngrams import ngram_row
from .encoded_text import count_words_of_runs, longest_sentence, prefetch_run, runs_of_thread
from .learned_arrays import AHEAD, SparseGradient, make_gradient, sort_by_owner, update_rows
from .state import FittedState
from .trainer import Matrix

# The random sentences of a block are drawn from this many distances, or this many for each draw if that is more. With
# few, most of the random sentences of a thread's targets are in that thread's cache.
_DISTANCES, _DISTANCES_PER_DRAW = 128, 8


_NO_TOKEN = np.zeros(0, np.bool_)


class Bag(NamedTuple):
    """What a sentence is made of in training: its words, and the n-grams of them up to an order."""

    mean: bool  # or their sum
    kept: float = 1.0  # probability that a word or an n-gram is not dropped
    max_order: int = 1
    n_buckets: int = 1  # rows of the n-grams
    # (n_words,) bool, the tokens that are n-grams of characters, behind the words of a sentence; or (0,).
    is_of_characters: np.ndarray = _NO_TOKEN

    @classmethod
    def of(cls, vectorizer: Any, state: FittedState) -> Self:
        mean, kept = vectorizer._option("pooling", state) == "mean", 1.0 - float(vectorizer.word_dropout)
        options = mean, kept, vectorizer._longest_learned(state), int(vectorizer.n_buckets)
        return cls(*options, state.is_of_characters if options[2] > 1 else _NO_TOKEN)


class Scores(NamedTuple):
    """Buffers for the scores of one vector against others, one for each thread."""

    values: np.ndarray  # (n_threads, n) float32, n a multiple of 16
    flat: np.ndarray  # the same memory as one dimension
    which: np.ndarray  # (n_threads * n,) int32, the indices of the others
    column: np.ndarray  # (n_threads * n,) int32, the column of `error` for each score


class Losses(NamedTuple):
    """What a block adds to the mean loss of a target, by targets or by sentences."""

    loss: np.ndarray  # (n,) float64
    n_targets: np.ndarray  # (n,) int64
    total: np.ndarray  # (2,) float64: sum of the losses, number of targets


class Sentences(NamedTuple):
    """The sentences of one block, and what is computed of them."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64, words before each run of the plan
    sums: np.ndarray  # (n_members, n_components) float32
    sentence: np.ndarray  # (n_members,) int64
    document: np.ndarray  # (n_members,) int64, -1 where there is no sentence, or none with a known word
    classes: np.ndarray  # (n_sentences, n) int64 of the text, or (0, 0): sentences of a class are not compared
    of_target: np.ndarray  # (n_targets,) int64, the member that each target is; the others are border alone
    gradient: SparseGradient  # of the words; its vectors are the gradients of the members
    error: np.ndarray  # (n_targets, n_columns) float32, derivative of the loss of each target by its scores
    scores: Scores
    offsets: np.ndarray  # (n_threads, negative) int64
    max_order: int  # of the n-grams, none of which is longer than its sentence


def make_scores(n, n_threads, make=ALLOCATOR):
    width = unshared_width(n)
    arrays = make.named(
        values=((n_threads, width), np.float32),
        which=((n_threads * width,), np.int32),
        column=((n_threads * width,), np.int32),
    )
    return Scores(flat=arrays["values"].reshape(-1), **arrays)


def make_losses(n, make=ALLOCATOR):
    return Losses(**make.named(loss=((n,), np.float64), n_targets=((n,), np.int64), total=((2,), np.float64)))


def make_sentences(text, plan, bag, n_components, negative, n_columns, n_threads, make=ALLOCATOR):
    """Buffers for the blocks of a plan, with ``negative`` random sentences a target; `error` has ``n_columns``."""
    n_targets, width = plan.runs_per_block * plan.run_length, plan.run_length + 2 * plan.border
    n_members = plan.runs_per_block * width
    run_ptr, n_words = count_words_of_runs(text, plan)
    max_order = min(bag.max_order, longest_sentence(text))
    positions = plan.border + np.arange(plan.run_length)
    arrays = make.named(
        sums=((n_members, n_components), np.float32),
        vectors=((n_members, n_components), np.float32),
        sentence=((n_members,), np.int64),
        document=((n_members,), np.int64),
        error=((n_targets, n_columns), np.float32),
        offsets=((n_threads, negative), np.int64),
    )
    # A thread writes one entry past the words that it has found.
    gradient = make_gradient(n_words * max_order + n_threads, arrays.pop("vectors"), n_threads, make=make)
    return Sentences(
        run_ptr=run_ptr,
        classes=text.annotations[0] if text.annotations else np.zeros((0, 0), np.int64),
        of_target=make.values(
            n_targets, np.int64, lambda: np.add.outer(width * np.arange(plan.runs_per_block), positions).reshape(-1)
        ),
        gradient=gradient,
        scores=make_scores(max(n_columns, 2 * plan.border), n_threads, make),
        max_order=max_order,
        **arrays,
    )


@njit(**INLINE_LLVM)
def list_words_and_ngrams(text, bag, member, sentence, gradient, first):
    """List the words of a sentence, then its n-grams, as entries from ``first`` on; returns their number."""
    n_words, beside = text.word_weight.shape[0], bag.is_of_characters.shape[0] > 0
    k = last_word = first
    for p in range(np.uint64(text.sent_ptr[sentence]), np.uint64(text.sent_ptr[sentence + 1])):
        # An unknown word is overwritten by the next one; a branch would be mispredicted.
        row = min(text.tokens[p], n_words - 1)
        gradient.row[k], gradient.vector[k], gradient.scale[k] = row, member, text.word_weight[np.uint64(row)]
        is_known = text.tokens[p] < n_words
        k += np.int64(is_known)
        if not beside or (is_known and not bag.is_of_characters[np.uint64(row)]):
            last_word = k
    for order in range(2, bag.max_order + 1):
        for i in range(first, last_word - order + 1):
            weight = gradient.scale[i]
            for j in range(i + 1, i + order):
                weight += gradient.scale[j]
            gradient.row[k] = ngram_row(gradient.row, i, order, n_words, bag.n_buckets)
            gradient.vector[k], gradient.scale[k] = member, weight / np.float32(order)
            k += 1
    return k - first


@njit(**INLINE_LLVM)
def drop_features(bag, seed, first_draw, gradient, first, n):
    """Drop entries at random; returns how many stay. In a sum their weights grow, so that its expected value stays."""
    kept = np.int64(bag.kept * 2.0**31)
    k = first
    for f in range(n):
        gradient.row[k], gradient.scale[k] = gradient.row[first + f], gradient.scale[first + f]
        bits = random_bits(np.uint64(seed), np.uint64(7), np.uint64(first_draw + f), np.uint64(0))
        k += np.int64(np.int64(bits >> np.uint64(33)) < kept)
    if not bag.mean:
        for entry in range(first, k):
            gradient.scale[entry] /= np.float32(bag.kept)
    return k - first


@njit(**INLINE_LLVM)
def list_entries(text, bag, seed, member, sentence, gradient, first):
    """List what a sentence is the sum or mean of, with the weights of its gradient too; returns how many."""
    n = list_words_and_ngrams(text, bag, member, sentence, gradient, first)
    if bag.kept < 1.0:
        n = drop_features(bag, seed, text.sent_ptr[sentence] * bag.max_order, gradient, first, n)
    if bag.mean and n > 1:
        scale = ONE / np.float32(n)
        for entry in range(np.uint64(first), np.uint64(first + n)):
            gradient.scale[entry] *= scale
    return n


@njit(**NO_REFCOUNT)
def sum_sentences(text, rows, bag, plan, block, sentences, team):
    """Phase 1: ``sums[member] = sum_j weight_j * word_j`` (CBOS, eq. 4), or its mean; returns a thread's members."""
    gradient, run_ptr, width = sentences.gradient, sentences.run_ptr, plan.run_length + 2 * plan.border
    bag = Bag(bag.mean, bag.kept, sentences.max_order, bag.n_buckets, bag.is_of_characters)
    first_run, last_run = runs_of_thread(run_ptr, block, team)
    first_member, last_member = (first_run - block.first_run) * width, (last_run - block.first_run) * width
    first = last = (run_ptr[first_run] - run_ptr[block.first_run]) * sentences.max_order + team.thread
    for member in range(first_member, last_member):
        run, position = block.first_run + member // width, member % width
        if position == 0:
            prefetch_run(text, plan, run)
        sentence, n_known = plan.run_starts[run] - plan.border + position, np.int64(0)
        if 0 <= sentence < text.document.shape[0]:
            n_known = list_entries(text, bag, plan.seed, member, sentence, gradient, last)
            last += n_known
        sentences.document[member] = -1
        if n_known > 0:
            sentences.sentence[member], sentences.document[member] = sentence, text.document[sentence]
    begin = end = first
    for member in range(first_member, last_member):
        while end < last and gradient.vector[end] == member:
            prefetch_row(rows.weights, np.int64(gradient.row[min(end + AHEAD, last - 1)]))
            end += 1
        words = Selection(rows.weights, gradient.row, begin, end - begin)
        combine(sentences.sums, member, gradient.scale, begin, words)
        begin = end
    sort_by_owner(gradient, rows.owner, first, last, team)
    return first_member, last_member


@njit(**INLINE_LLVM)
def is_neighbour(sentences, plan, a, b):
    """Whether two members, of any runs, are different sentences of one document, at most ``border`` apart."""
    distance = abs(sentences.sentence[a] - sentences.sentence[b])
    in_one_document = sentences.document[a] == sentences.document[b] and sentences.document[a] >= 0
    return in_one_document and 0 < distance <= plan.border


@njit(**INLINE_LLVM)
def is_negative(sentences, plan, a, b):
    """Whether member b may be a random sentence of member a: it is no neighbour, and shares no class."""
    if sentences.document[b] < 0 or is_neighbour(sentences, plan, a, b):
        return False
    if sentences.classes.shape[0] > 0:
        for i in range(sentences.classes.shape[1]):
            for j in range(sentences.classes.shape[1]):
                mine, other = sentences.classes[sentences.sentence[a], i], sentences.classes[sentences.sentence[b], j]
                if mine == other and mine >= 0:
                    return False
    return True


class RandomTargets(NamedTuple):
    """Which targets of a block each one is compared with: those at some distances, modulo the block."""

    offsets: np.ndarray  # (at least n_random,) int64, distances, distinct and the same for all targets
    n_random: int
    n_targets: int


@njit(**NO_REFCOUNT)
def draw_targets(plan, block, offsets):
    """Draw as many distances as ``offsets`` holds, or fewer in a small block, near ones only if there are no others."""
    nearest = max(1, min(plan.run_length, (block.n_targets + 1 - offsets.shape[0]) // 2))
    n_distances = min(block.n_targets - 2 * nearest + 1, max(_DISTANCES, _DISTANCES_PER_DRAW * offsets.shape[0]))
    n = min(offsets.shape[0], n_distances)
    draw = 0
    for i in range(n):
        fresh = False
        while not fresh:
            bits = random_bits(np.uint64(plan.seed), np.uint64(1), np.uint64(block.position), np.uint64(draw))
            offsets[i] = nearest + below(bits, n_distances)
            draw += 1
            fresh = True
            for j in range(i):
                fresh = fresh and offsets[j] != offsets[i]
    return RandomTargets(offsets, n, block.n_targets)


@njit(**INLINE_LLVM)
def random_target(random, i, r):
    """The target that is random sentence r of target i. Uses a comparison, because a division is slow."""
    target = i + random.offsets[r]
    return target - (random.n_targets if target >= random.n_targets else 0)


@njit(**INLINE_LLVM)
def target_compared_with(random, i, r):
    """The target whose random sentence r is target i."""
    target = i - random.offsets[r]
    return target + (random.n_targets if target < 0 else 0)


@njit(**NO_REFCOUNT)
def end_block(matrices, update, losses, block, team):
    """Last phase: add the losses and update ``matrices``, pairs of rows and gradient; returns whether to stop."""
    barrier(team)
    if team.thread == 0:
        for i in range(block.n_targets):
            losses.total[0] += losses.loss[i]
            losses.total[1] += losses.n_targets[i]
    if update.learn:
        for rows, gradient in matrices:
            update_rows(rows, gradient, update, block, team)
    barrier(team)
    return aborted(team)


@njit(**INLINE_LLVM)
def drop_ngrams(s, seed, options, feature, first, n_ngrams):
    """Draw the n-grams that a sentence is learned without: -1 in ``feature`` from ``first`` on, 0 for the others."""
    n_dropped = min(options.dropout, n_ngrams)
    for f in range(first, first + n_ngrams):
        feature[f] = -np.int64(n_dropped == n_ngrams)
    if n_dropped == n_ngrams:
        return
    draw = 0
    for _ in range(n_dropped):
        fresh = False
        while not fresh:
            bits = random_bits(np.uint64(seed), np.uint64(3), np.uint64(s.sentence), np.uint64(draw))
            f = first + below(bits, n_ngrams)
            draw += 1
            fresh = feature[f] >= 0
        feature[f] = -1


@njit(**INLINE_LLVM)
def list_features(s, word_weight, options, seed, scratch):
    """R(S): words, then n-grams of each order, as entries of the source gradient; returns their number."""
    words, feature, source = scratch.words, scratch.feature, scratch.source
    n_words, f, e = word_weight.shape[0], s.a * options.max_order, s.source
    n_ngrams = 0
    for order in range(2, options.max_order + 1):
        n_ngrams += max(0, s.n - order + 1)
    for word in range(s.n):
        feature[f + word] = 0
    drop_ngrams(s, seed, options, feature, f + s.n, n_ngrams)
    for order in range(1, options.max_order + 1):
        for i in range(s.a, s.a + s.n - order + 1):
            if feature[f] >= 0:
                weight = word_weight[words[i]]
                row = np.int64(words[i])
                if order > 1:
                    row = ngram_row(words, i, order, n_words, options.n_buckets)
                    for j in range(i + 1, i + order):
                        weight += word_weight[words[j]]
                source.row[e], source.scale[e] = row, weight / np.float32(order)
                feature[f] = e
                e += 1
            f += 1
    return e - s.source


@njit(**INLINE_LLVM)
def features_with(i, n, order, f):
    """First and last+1 of the features of an order that hold word i of n words; ``f`` of this order and the next."""
    return f + max(0, i - order + 1), f + min(i, n - order) + 1, f + max(0, n - order + 1)


def source_matrix(state: FittedState, max_order: int) -> Matrix:
    """The rows of the words, then those that all n-grams share, with the expected number of updates of each."""
    counts = state.word_counts_.astype(np.float64)
    n_rows = len(state.arrays["_source_vectors"]) - len(counts)
    of_ngram = counts.sum() * (max_order - 1) / max(1, n_rows)

    def mass() -> np.ndarray:  # not yet: an estimate of the memory does not need it
        return np.concatenate([counts, np.full(n_rows, of_ngram)])

    return Matrix.of(state.arrays, "_source_vectors", mass, state.n_frozen)
