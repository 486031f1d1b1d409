r"""Sent2Vec (Pagliardini, Gupta and Jaggi, 2018, equations 2 and 3).

A sentence is the mean of the source vectors of its words and word n-grams :math:`R(S)`. Each word is predicted from
the sentence without it, with the logistic loss :math:`\ell(x) = \log(1 + e^{-x})` and negative sampling:

.. math::

    v_S = \frac{1}{|R(S)|} \sum_{w \in R(S)} v_w, \qquad
    \min_{U, V} \sum_S \sum_{w_t \in S} q_p(w_t) \Big( \ell(u_{w_t}^T v_{S \setminus \{w_t\}})
    + \sum_{w' \in N_{w_t}} \ell(-u_{w'}^T v_{S \setminus \{w_t\}}) \Big)
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, Allocator, unshared_width
from .._compiled.compile import INLINE_LLVM, INLINE_NUMBA, lean_kernel
from .._compiled.rows import (
    ONE,
    ONE_APART,
    Selection,
    add_scaled,
    blend,
    combine,
    combine_two,
    dots_of_two,
    logistic,
    mean_square,
    padded,
    prefetch_row,
)
from .._compiled.sync import Team, random_bits, uniform
from .._training.encoded_text import EncodedText, Plan, WordBlocks, block_of, keep_probability, sentence_of_block
from .._training.learned_arrays import Rows, SparseGradient, Update, assign_rows, make_gradient
from .._training.negatives import Negatives, make_negatives
from .._training.sentence_blocks import Losses, features_with, list_features, make_losses, source_matrix
from .._training.state import FittedState
from .._training.trainer import KernelObjective, Matrix
from .._training.word_blocks import draw_negatives, end_word_block, sentences_of_thread, sizes_of


class Sent2VecOptions(NamedTuple):
    """What is drawn at random, and how a sentence is averaged."""

    keep: np.ndarray  # (n_words,) float32: q_p, the probability that a word is taken as a target
    negatives: Negatives
    negative: int
    dropout: int
    max_order: int  # of the n-grams that are learned
    n_buckets: int
    mean: bool


class TargetWords(NamedTuple):
    """Scratch space of one block, see `word_blocks`."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    losses: Losses  # by sentences
    max_order: int  # of the n-grams in the sentences
    words: np.ndarray  # (n_tokens,) int32, known words only
    feature: np.ndarray  # (max_order * n_tokens,) int32, the entry of each word and n-gram, or -1 if it is dropped
    source: SparseGradient
    target: SparseGradient  # its vectors are those of the negatives, then v_{S without w_t} of each target
    own: np.ndarray  # (n_tokens + n_sentences, n_components) float32, gradient of each target's v_{S without w_t}
    own_of: np.ndarray  # (n_tokens,) int32, the index of each word's gradient in `own`, -1 if it is no target
    inverse: np.ndarray  # (n_tokens + n_sentences,) float32, 1 / |R(S without w_t)|, or 1 if a sentence is a sum
    error: np.ndarray  # (n_tokens, more than negative + 2) float32, of each target's word and negatives
    error_flat: np.ndarray  # the same memory as one dimension
    candidates: np.ndarray  # (n_threads, more than negative + 1) int32, a target, the negatives, another target
    candidates_flat: np.ndarray  # the same memory as one dimension
    arange: np.ndarray  # 0, 1, 2, ... as int32


class TargetSentence(NamedTuple):
    """One sentence of a block."""

    sentence: int  # its index in the text
    i: int  # in the block
    a: int  # number of words before it in the block
    n: int  # known words
    source: int  # its first entry of the source gradient
    target: int  # its first entry of the target gradient
    thread: int


@njit(**INLINE_LLVM)
def draw_words(s, block, options, seed, target_weights, scratch):
    """Draw the negatives of a sentence, and which of its words are targets: 0 in `own_of`, -1 for the others."""
    target = scratch.target
    draw_negatives(s, block, s.i, options.negatives, options.negative, seed, 2, target_weights, target)
    for j in range(options.negative):
        scratch.candidates[s.thread, 1 + j] = target.row[s.target + j]
        # The vectors of the negatives have the indices of their entries; those of the targets follow.
        target.vector[s.target + j], target.scale[s.target + j] = s.target + j, ONE
    for i in range(s.a, s.a + s.n):
        bits = random_bits(np.uint64(seed), np.uint64(4), np.uint64(s.sentence), np.uint64(i - s.a))
        is_target = np.int64(uniform(bits) < options.keep[scratch.words[i]])
        scratch.own_of[i] = is_target - 1
        prefetch_row(target_weights, scratch.words[i] * is_target)  # row 0 if not; a branch would be mispredicted


@njit(**INLINE_NUMBA)
def leave_targets_out(s, n_features, source_weights, options, scratch):
    """Eq. 2: v_{S without w_t} of each target, the sum of the sentence less the word and the n-grams that hold it.

    So a sentence costs O(words), not O(words^2). Returns the number of targets.
    """
    source, target, feature, first_own = scratch.source, scratch.target, scratch.feature, s.a + s.i
    own, whole, k = first_own, first_own + s.n, s.target + options.negative
    combine(scratch.own, whole, source.scale, s.source, Selection(source_weights, source.row, s.source, n_features))
    for i in range(s.n):
        if scratch.own_of[s.a + i] < 0:
            continue
        scratch.own_of[s.a + i] = -1
        n_left = n_features
        f = s.a * options.max_order
        for order in range(1, options.max_order + 1):
            first, last, f = features_with(i, s.n, order, f)
            for g in range(first, last):
                n_left -= feature[g] >= 0
        if n_left == 0:
            continue
        inverse = np.float32(1.0 / n_left) if options.mean else ONE
        e = np.int64(feature[s.a * options.max_order + i])
        row, scale = np.int64(source.row[e]), -inverse * source.scale[e]
        square = blend(target.vectors, k, (inverse, scratch.own, whole), (scale, source_weights, row))
        f = s.a * options.max_order + s.n
        for order in range(2, options.max_order + 1):
            first, last, f = features_with(i, s.n, order, f)
            for g in range(first, last):
                e = np.int64(feature[g])
                if e >= 0:
                    add_scaled(target.vectors, k, -inverse * source.scale[e], source_weights, np.int64(source.row[e]))
        if options.max_order > 1:
            square = mean_square(target.vectors, k)
        target.row[k], target.vector[k], target.square[k] = scratch.words[s.a + i], k, square
        scratch.own_of[s.a + i], scratch.inverse[own] = own, inverse
        own += 1
        k += 1
    return own - first_own


@njit(**INLINE_NUMBA)
def score_words(s, n_targets, target_weights, options, scratch):
    """Eq. 3: errors of each target and of its negatives; returns the loss.

    Scores are written in one loop and read in the next: a vector that was just stored element by element cannot be
    loaded at once.
    """
    target, error, first = scratch.target, scratch.error, s.target + options.negative
    n_scores, first_of_thread = options.negative + 2, s.thread * scratch.candidates.shape[1]
    candidates = Selection(target_weights, scratch.candidates_flat, first_of_thread, n_scores)
    for i in range(0, n_targets, 2):  # two at a time, since they have the same negatives
        j = min(i + 1, n_targets - 1)
        scratch.candidates[s.thread, 0] = target.row[first + i]
        scratch.candidates[s.thread, n_scores - 1] = target.row[first + j]
        dots_of_two((error, s.a + i, s.a + j), (target.vectors, first + i, first + j), candidates)
        error[s.a + j, 0] = error[s.a + j, n_scores - 1]
    for i in range(n_targets):
        # The word's score with a minus, so that its error and loss are those of the negatives.
        error[s.a + i, 0] *= -ONE
        for j in range(options.negative):
            if target.row[s.target + j] == target.row[first + i]:
                error[s.a + i, 1 + j] = -np.inf
    loss = 0.0
    for i in range(n_targets):
        loss += logistic(error, s.a + i, 1 + options.negative)
        error[s.a + i, 0] *= -ONE
        target.scale[first + i] = error[s.a + i, 0]
    return loss


@njit(**INLINE_NUMBA)
def gather_word_gradients(s, n_targets, target_weights, options, scratch):
    """Gradients of each v_{S without w_t}, of the negatives, and of what all features get from all targets."""
    source, target, own, first = scratch.source, scratch.target, s.a + s.i, s.target + options.negative
    width, negatives = scratch.error.shape[1], Selection(target_weights, target.row, s.target, options.negative)
    without_targets = Selection(target.vectors, scratch.arange, first, n_targets)
    for i in range(0, n_targets, 2):
        j = min(i + 1, n_targets - 1)
        scales = scratch.error_flat, (s.a + i) * width + 1, (s.a + j) * width + 1, ONE_APART
        combine_two((scratch.own, own + i, own + j), scales, negatives)
    for i in range(n_targets):
        add_scaled(scratch.own, own + i, scratch.error[s.a + i, 0], target_weights, np.int64(target.row[first + i]))
    for i in range(0, options.negative, 2):
        e, f = s.target + i, s.target + min(i + 1, options.negative - 1)
        scales = scratch.error_flat, s.a * width + 1 + i, s.a * width + 1 + f - s.target, width
        target.square[e], target.square[f] = combine_two((target.vectors, e, f), scales, without_targets)
    shared, of_targets = source.capacity + s.i, Selection(scratch.own, scratch.arange, own, n_targets)
    source.square[shared] = combine(source.vectors, shared, scratch.inverse, own, of_targets)


@njit(**INLINE_NUMBA)
def gather_feature_gradients(s, n_targets, options, scratch):
    """The gradient of a feature: that of all features of the sentence, less the terms of targets that it contains."""
    source, feature, own_of = scratch.source, scratch.feature, scratch.own_of
    shared, f = source.capacity + s.i, s.a * options.max_order
    for order in range(1, options.max_order + 1):
        for i in range(s.a, s.a + s.n - order + 1):
            e = np.int64(feature[f])
            f += 1
            if e < 0:
                continue
            source.vector[e] = shared
            n_inside = 0
            for j in range(i, i + order):
                n_inside += own_of[j] >= 0
            if n_inside == 0:
                continue
            # A feature that holds every target gets exactly zero, because AdaGrad would amplify rounding errors.
            keeps = np.float32(n_inside < n_targets)
            source.vector[e] = e
            base = shared
            for j in range(i, i + order):
                own = np.int64(own_of[j])
                if own >= 0:
                    scale = -keeps * scratch.inverse[own]
                    before, term = (keeps, source.vectors, base), (scale, scratch.own, own)
                    source.square[e] = blend(source.vectors, e, before, term)
                    base = e


@njit(**INLINE_NUMBA)
def set_thresholds(s, n_features, n_targets, options, scratch):
    """Multiples of the soft threshold: 1 / |R(S without w_t)| for each feature of it, 1 for each update of a target."""
    source, target, feature, first = scratch.source, scratch.target, scratch.feature, s.target + options.negative
    of_all = np.float32(0.0)
    for e in range(s.source, s.source + n_features):
        source.threshold[e] = 0.0
    for i in range(s.n):
        if scratch.own_of[s.a + i] < 0:
            continue
        n_left = n_features
        for step in range(2):  # count the features without the word, then take it out of those with it
            f = s.a * options.max_order
            for order in range(1, options.max_order + 1):
                begin, end, f = features_with(i, s.n, order, f)
                for g in range(begin, end):
                    if feature[g] >= 0 and step == 0:
                        n_left -= 1
                    elif feature[g] >= 0:
                        source.threshold[feature[g]] -= np.float32(1.0 / n_left)
        of_all += np.float32(1.0 / n_left)
    for e in range(s.source, s.source + n_features):
        source.threshold[e] += of_all
    for j in range(options.negative):
        target.threshold[s.target + j] = 0.0
        for i in range(n_targets):
            target.threshold[s.target + j] += np.float32(target.row[s.target + j] != target.row[first + i])
    for i in range(n_targets):
        target.threshold[first + i] = ONE


@njit(**INLINE_NUMBA)
def learn_sentence(s, block, text, rows, options, seed, scratch):
    """All targets of one sentence against frozen weights; returns the loss, and the numbers of targets and features."""
    source_weights, target_weights = rows[0].weights, rows[1].weights
    draw_words(s, block, options, seed, target_weights, scratch)
    n_features = list_features(s, text.word_weight, options, seed, scratch)
    n_targets = leave_targets_out(s, n_features, source_weights, options, scratch)
    if n_targets == 0:
        return 0.0, 0, 0
    loss = score_words(s, n_targets, target_weights, options, scratch)
    gather_word_gradients(s, n_targets, target_weights, options, scratch)
    gather_feature_gradients(s, n_targets, options, scratch)
    if scratch.source.threshold.shape[0] > 0:
        set_thresholds(s, n_features, n_targets, options, scratch)
    return loss, n_targets, n_features


@lean_kernel
def train_sent2vec(text, rows, options, scratch, plan, update, team):
    source, target, losses = scratch.source, scratch.target, scratch.losses
    source_rows, target_rows = rows
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        first, last, n_before = sentences_of_thread(scratch.run_ptr, plan, block, team)
        first_source = e = n_before * options.max_order
        first_target = t = n_before + first * options.negative
        for i in range(first, last):
            sentence, a = sentence_of_block(text, plan, scratch.run_ptr, block, i, source_rows.weights, options.keep)
            losses.loss[i], losses.n_targets[i] = 0.0, 0
            if sentence < 0:
                continue
            n = np.int64(0)
            for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
                scratch.words[a + n] = text.tokens[p]
                n += text.tokens[p] < text.word_weight.shape[0]
            if n > 1:
                s = TargetSentence(sentence, i, a, n, e, t, team.thread)
                found = learn_sentence(s, block, text, rows, options, plan.seed, scratch)
                losses.loss[i], n_targets, n_features = found
                losses.n_targets[i] = n_targets
                e += n_features
                t += n_targets + options.negative * (n_targets > 0)
        matrices = (source_rows, source), (target_rows, target)
        if end_word_block(matrices, (first_source, first_target), (e, t), update, losses, block, team):
            return


class Sent2VecObjective(KernelObjective):
    """What `Sent2VecVectorizer` brings to the training loop."""

    blocks = WordBlocks()

    def __init__(self, vectorizer: Any, state: FittedState) -> None:
        counts = state.word_counts_.astype(np.float64)
        keep = keep_probability(counts, state.n_tokens, vectorizer.subsample)
        keep[counts < vectorizer.min_target_count] = 0.0
        drawn = np.sqrt(counts)
        drawn /= drawn.sum()
        targets = keep * counts + drawn * counts.sum() * vectorizer.negative / 15  # about 15 words a sentence
        max_order = vectorizer._longest_learned(state)
        n_ngram_rows = len(state.arrays["_source_vectors"]) - len(counts)
        self.options = Sent2VecOptions(
            keep=keep,
            negatives=make_negatives(drawn, assign_rows(targets, 2)),
            negative=int(vectorizer.negative),
            dropout=int(vectorizer.dropout_k),
            max_order=max_order,
            n_buckets=max(1, n_ngram_rows),
            mean=vectorizer.pooling == "mean",
        )
        self.penalty = float(vectorizer.alpha)
        self.matrices = [source_matrix(state, max_order), Matrix.of(state.arrays, "target_vectors_", lambda: targets)]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> TargetWords:
        run_ptr, n_tokens, n_sentences, longest = sizes_of(text, plan)
        n_components = self.matrices[0].weights.shape[1]
        # No n-gram is longer than its sentence.
        negative, max_order = self.options.negative, min(self.options.max_order, longest)
        n_source, n_target, l1 = n_tokens * max_order, n_tokens + n_sentences * negative, self.penalty > 0
        error = make.zeros((n_tokens, padded(2 + negative)), np.float32)
        candidates = make.zeros((n_threads, unshared_width(2 + negative)), np.int32)
        sources = make.zeros((n_source + n_sentences, n_components), np.float32)
        targets = make.zeros((n_target, n_components), np.float32)
        return TargetWords(
            run_ptr=run_ptr,
            losses=make_losses(n_sentences, make),
            max_order=max_order,
            words=make.zeros((n_tokens + 1,), np.int32),
            feature=make.zeros((n_source,), np.int32),
            source=make_gradient(n_source, sources, n_threads, l1=l1, make=make),
            target=make_gradient(n_target, targets, n_threads, l1=l1, make=make),
            own=make.zeros((n_tokens + n_sentences, n_components), np.float32),
            own_of=make.zeros((n_tokens,), np.int32),
            inverse=make.zeros((n_tokens + n_sentences,), np.float32),
            error=error,
            error_flat=error.reshape(-1),
            candidates=candidates,
            candidates_flat=candidates.reshape(-1),
            arange=make.values(n_target + 1, np.int32, lambda: np.arange(n_target + 1, dtype=np.int32)),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: TargetWords, plan: Plan, update: Update, team: Team
    ) -> None:
        options, update = self.options._replace(max_order=scratch.max_order), update._replace(penalty=self.penalty)
        train_sent2vec(text, tuple(rows), options, scratch, plan, update, team)
