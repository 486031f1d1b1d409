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

from .._compiled.buffers import ARRAYS, Arrays
from .._compiled.compile import INLINE, PASTE, lean_kernel
from .._compiled.rows import (
    ADJACENT,
    add_scaled,
    blend,
    combine,
    combine_two,
    dots_two,
    logistic,
    mean_square,
    padded,
    prefetch_row,
)
from .._compiled.sync import barrier, below, random_bits, uniform, width_apart
from .._text.ngrams import NGRAM_MULTIPLIER
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
from .._training.negatives import Negatives, draw_negative, first_of_second_part, make_negatives, prefetch_draw
from .._training.plan import WordBlocks
from .._training.trainer import Matrix
from .._training.updates import Rows, Touches, Update, deal, make_touches, share_rows, update_rows


class Draws(NamedTuple):
    """What is drawn at random, and how often."""

    keep: np.ndarray  # (n_words,) float32: q_p, the probability that a word is taken as a target
    negatives: Negatives
    negative: int
    dropout: int
    max_order: int
    n_buckets: int
    penalty: float


class Sentences(NamedTuple):
    """Work space of one block.

    A sentence whose first word has ``a`` words before it in the block has its features, vectors and touches at places
    that follow from ``a`` and the sentence's number, so that no two threads meet.
    """

    max_order: int  # of the n-grams in the sentences
    run_ptr: np.ndarray  # (n_runs + 1,) int64
    words: np.ndarray  # (n_tokens,) int32, known words only
    feature: np.ndarray  # (max_order * n_tokens,) int32, the touch of each word and n-gram, or -1 if it is dropped
    source: Touches
    target: Touches  # its vectors are those of the negatives, then v_{S without w_t} of each target
    own: np.ndarray  # (n_tokens + n_sentences, n_components) float32, gradient of each target's v_{S without w_t}
    own_of: np.ndarray  # (n_tokens,) int32, where each word's gradient is, -1 if it is no target
    share: np.ndarray  # (n_tokens + n_sentences,) float32, 1 / |R(S without w_t)|, or 1 if a sentence is a sum
    error: np.ndarray  # (n_tokens, more than negative + 1) float32, of each target's word and negatives
    error_flat: np.ndarray  # the same memory as one dimension
    candidates: np.ndarray  # (n_threads * columns of bits,) int32, a target, the negatives, and another target
    bits: np.ndarray  # (n_threads, more than negative + 1) uint64, the random bits of the negatives
    number: np.ndarray  # 0, 1, 2, ... as int32
    loss: np.ndarray  # (n_sentences_of_block,) float64
    n_targets: np.ndarray  # (n_sentences_of_block,) int64
    total: np.ndarray  # (2,) float64


@njit(**INLINE)
def list_features(words, a, n, word_weight, draws, seed, sentence, feature, f0, touches, e):
    """R(S): words, then n-grams of each order, as touches from ``e`` on; ``feature`` says which touch each one is.

    Returns how many touches there are.
    """
    n_words = word_weight.shape[0]
    n_features = n
    for order in range(2, draws.max_order + 1):
        n_features += max(0, n - order + 1)
    for f in range(f0, f0 + n_features):
        feature[f] = 0
    n_dropped = min(draws.dropout, n_features - n)
    if n_dropped == n_features - n:
        for f in range(f0 + n, f0 + n_features):
            feature[f] = -1
    else:
        draw = 0
        for _ in range(n_dropped):
            fresh = False
            while not fresh:
                bits = random_bits(np.uint64(seed), np.uint64(3), np.uint64(sentence), np.uint64(draw))
                g = f0 + n + below(bits, n_features - n)
                draw += 1
                fresh = feature[g] >= 0
            feature[g] = -1
    f = f0
    first = e
    for order in range(1, draws.max_order + 1):
        for i in range(a, a + n - order + 1):
            if feature[f] >= 0:
                weight = word_weight[words[i]]
                row = np.int64(words[i])
                if order > 1:
                    bits = np.uint64(words[i])
                    for j in range(i + 1, i + order):
                        bits = bits * NGRAM_MULTIPLIER + np.uint64(words[j])
                        weight += word_weight[words[j]]
                    row = n_words + np.int64(bits % np.uint64(draws.n_buckets))
                touches.row[e] = row
                touches.scale[e] = weight / np.float32(order)
                touches.threshold[e] = 0.0
                feature[f] = e
                e += 1
            f += 1
    return e - first


@njit(**INLINE)
def features_with(i, n, order, f0):
    """First and last+1 of the features of an order that hold word i of a sentence of n words; next order's f0."""
    return f0 + max(0, i - order + 1), f0 + min(i, n - order) + 1, f0 + max(0, n - order + 1)


@njit(**PASTE)
def learn_sentence(
    sentence, i0, a, n, source_weights, target_weights, word_weight, mean, draws, part, seed, sc, e, t, thread
):
    """All targets of one sentence, number ``i0`` of its block, against frozen weights.

    The sum of the sentence is kept and each target taken out of it, so a sentence costs O(words), not O(words^2). Its
    negatives are of one part of the rows, its touches go to ``e`` and ``t`` on. Returns the loss and the numbers of
    targets, source touches and target touches.
    """
    source, target, words = sc.source, sc.target, sc.words
    f0, own0, width = a * draws.max_order, a + i0, sc.error.shape[1]
    index, error_flat = sc.candidates, sc.error_flat
    candidate = thread * sc.bits.shape[1]
    for j in range(draws.negative):
        bits = random_bits(np.uint64(seed), np.uint64(2), np.uint64(sentence), np.uint64(j))
        sc.bits[thread, j] = bits
        prefetch_draw(draws.negatives, part, bits)
    n_features = list_features(words, a, n, word_weight, draws, seed, sentence, sc.feature, f0, source, e)
    for i in range(n):
        bits = random_bits(np.uint64(seed), np.uint64(4), np.uint64(sentence), np.uint64(i))
        is_target = np.int64(uniform(bits) < draws.keep[words[a + i]])
        sc.own_of[a + i] = is_target - 1
        prefetch_row(target_weights, words[a + i] * is_target)  # row 0 if not; a branch would be guessed wrong
    # The vectors of the negatives are numbered like their touches; those of the targets follow.
    for j in range(draws.negative):
        word = draw_negative(draws.negatives, part, sc.bits[thread, j])
        prefetch_row(target_weights, word)
        index[candidate + 1 + j] = target.row[t + j] = word
        target.vector[t + j] = t + j
        target.scale[t + j] = 1.0
        target.threshold[t + j] = 0.0
    place = t + draws.negative
    own = own0
    whole = own0 + n
    combine(sc.own, whole, source.scale, e, source_weights, source.row, e, n_features)
    threshold = np.float32(0.0)
    for i in range(n):
        word = words[a + i]
        if sc.own_of[a + i] < 0:
            continue
        sc.own_of[a + i] = -1
        n_left = n_features
        f = f0
        for order in range(1, draws.max_order + 1):
            first, last, f = features_with(i, n, order, f)
            for g in range(first, last):
                n_left -= sc.feature[g] >= 0
        if n_left == 0:
            continue
        # v_{S without w_t}, eq. 2: take out the word and the n-grams that hold it.
        share = np.float32(1.0 / n_left) if mean else np.float32(1.0)
        k = np.int64(sc.feature[f0 + i])
        row = np.int64(source.row[k])
        square = blend(target.vectors, place, share, sc.own, whole, -share * source.scale[k], source_weights, row)
        source.threshold[k] -= np.float32(1.0 / n_left)
        f = f0 + n
        for order in range(2, draws.max_order + 1):
            first, last, f = features_with(i, n, order, f)
            for g in range(first, last):
                k = np.int64(sc.feature[g])
                if k >= 0:
                    row = np.int64(source.row[k])
                    add_scaled(target.vectors, place, -share * source.scale[k], source_weights, row)
                    source.threshold[k] -= np.float32(1.0 / n_left)
        if draws.max_order > 1:
            square = mean_square(target.vectors, place)
        threshold += np.float32(1.0 / n_left)
        target.row[place], target.vector[place] = word, place
        target.threshold[place], target.square[place] = np.float32(1.0), square
        sc.own_of[a + i], sc.share[own] = own, share
        own += 1
        place += 1
    n_targets = own - own0
    if n_targets == 0:
        return 0.0, 0, 0, 0
    place = t + draws.negative
    # Eq. 3. What is written is read in another loop: a vector that was written in pieces is there only after a while.
    # Two at a time, for the targets have the same negatives, and the negatives the same targets.
    n_scores = draws.negative + 2
    for k in range(0, n_targets, 2):
        m = min(k + 1, n_targets - 1)
        index[candidate], index[candidate + n_scores - 1] = target.row[place + k], target.row[place + m]
        dots_two(
            sc.error, a + k, a + m, target.vectors, place + k, place + m, target_weights, index, candidate, n_scores
        )
        sc.error[a + m, 0] = sc.error[a + m, n_scores - 1]
    for i in range(n_targets):
        # The word's score with a minus, so that its error and loss are those of the negatives.
        sc.error[a + i, 0] *= np.float32(-1.0)
        for j in range(draws.negative):
            if target.row[t + j] == target.row[place + i]:
                sc.error[a + i, 1 + j] = -np.inf
            else:
                target.threshold[t + j] += np.float32(1.0)
    loss = 0.0
    for i in range(n_targets):
        loss += logistic(sc.error, a + i, 1 + draws.negative)
        sc.error[a + i, 0] *= np.float32(-1.0)
        target.scale[place + i] = sc.error[a + i, 0]
    for k in range(0, n_targets, 2):
        m = min(k + 1, n_targets - 1)
        e0, e1 = (a + k) * width + 1, (a + m) * width + 1
        combine_two(
            sc.own, own0 + k, own0 + m, error_flat, e0, e1, ADJACENT, target_weights, target.row, t, draws.negative
        )
    for i in range(n_targets):
        add_scaled(sc.own, own0 + i, sc.error[a + i, 0], target_weights, np.int64(target.row[place + i]))
    for j in range(0, draws.negative, 2):
        m = min(j + 1, draws.negative - 1)
        e0, e1 = a * width + 1 + j, a * width + 1 + m
        target.square[t + j], target.square[t + m] = combine_two(
            target.vectors, t + j, t + m, error_flat, e0, e1, width, target.vectors, sc.number, place, n_targets
        )
    # What all features share, less what comes from targets that hold them.
    shared = source.n_touches + i0
    source.square[shared] = combine(source.vectors, shared, sc.share, own0, sc.own, sc.number, own0, n_targets)
    f = f0
    for order in range(1, draws.max_order + 1):
        for i in range(a, a + n - order + 1):
            k = np.int64(sc.feature[f])
            f += 1
            if k < 0:
                continue
            source.vector[k] = shared
            source.threshold[k] += threshold
            n_inside = 0
            for j in range(i, i + order):
                n_inside += sc.own_of[j] >= 0
            if n_inside == 0:
                continue
            # A feature that holds every target gets nothing: exactly nothing, for AdaGrad makes much of little.
            keeps = np.float32(n_inside < n_targets)
            source.vector[k] = k
            n_inside = 0
            for j in range(i, i + order):
                own = np.int64(sc.own_of[j])
                if own >= 0:
                    base = k if n_inside > 0 else shared
                    source.square[k] = blend(
                        source.vectors, k, keeps, source.vectors, base, -keeps * sc.share[own], sc.own, own
                    )
                    n_inside += 1
    return loss, n_targets, n_features, n_targets + draws.negative


@lean_kernel
def train_sent2vec(text, source_rows, target_rows, mean, draws, sc, plan, update, sync, thread, n_threads):
    n_passed = np.int64(0)
    n_words = text.word_weight.shape[0]
    for block in range(plan.first_block, plan.last_block):
        block_start, block_end = block_runs(plan, block)
        first_run, last_run = share_runs(sc.run_ptr, block_start, block_end, thread, n_threads)
        a = sc.run_ptr[first_run] - sc.run_ptr[block_start]
        first_e = e = a * draws.max_order
        first_t = t = a + (first_run - block_start) * plan.run_length * draws.negative
        n_sentences = (block_end - block_start) * plan.run_length
        second_part = first_of_second_part(draws.negatives, plan.seed, block, n_sentences)
        for i in range((first_run - block_start) * plan.run_length, (last_run - block_start) * plan.run_length):
            sentence, a = sentence_of_block(text, plan, sc.run_ptr, block_start, i, source_rows.weights, draws.keep)
            sc.loss[i] = 0.0
            sc.n_targets[i] = 0
            if sentence < 0:
                continue
            n = np.int64(0)
            for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
                sc.words[a + n] = text.tokens[p]
                n += text.tokens[p] < n_words
            if n > 1:
                sc.loss[i], sc.n_targets[i], n_source, n_target = learn_sentence(
                    sentence,
                    i,
                    a,
                    n,
                    source_rows.weights,
                    target_rows.weights,
                    text.word_weight,
                    mean,
                    draws,
                    np.int64(i >= second_part),
                    plan.seed,
                    sc,
                    e,
                    t,
                    thread,
                )
                e += n_source
                t += n_target
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
            update_rows(source_rows, sc.source, update, rate, draws.penalty, thread, n_threads)
            update_rows(target_rows, sc.target, update, rate, draws.penalty, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class Sent2VecObjective:
    """What `Sent2VecVectorizer` brings to the training loop."""

    blocks = WordBlocks()

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"].astype(np.float64)
        keep = keep_probability(counts, fitted["_n_tokens"], vectorizer.subsample)
        keep[counts < vectorizer.min_target_count] = 0.0
        drawn = np.sqrt(counts)
        drawn /= drawn.sum()
        targets = keep * counts + drawn * counts.sum() * vectorizer.negative / 15  # about 15 words a sentence
        max_order, n_ngram_rows = int(vectorizer.ngram_range[1]), len(fitted["_source_vectors"]) - len(counts)
        self.draws = Draws(
            keep,
            make_negatives(drawn, share_rows(targets, 1)[0]),
            int(vectorizer.negative),
            int(vectorizer.dropout_k),
            max_order,
            max(1, n_ngram_rows),
            float(vectorizer.alpha),
        )
        self.mean = vectorizer.pooling == "mean"
        self.matrices = [
            Matrix.of(fitted, "_source_vectors", lambda: _with_ngrams(counts, n_ngram_rows, max_order)),
            Matrix.of(fitted, "target_vectors_", lambda: targets),
        ]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Arrays = ARRAYS) -> Sentences:
        run_ptr, n_tokens = place_runs(text, plan)
        n_sentences = plan.runs_per_block * plan.run_length
        n_components = self.matrices[0].weights.shape[1]
        # No n-gram is longer than its sentence.
        negative, max_order = self.draws.negative, min(self.draws.max_order, longest_sentence(text))
        n_source, n_target = n_tokens * max_order, n_tokens + n_sentences * negative
        room = width_apart(2 + negative)
        error = make.zeros((n_tokens, padded(2 + negative)), np.float32)
        gradients = make.zeros((n_source + n_sentences, n_components), np.float32)
        return Sentences(
            max_order=max_order,
            run_ptr=run_ptr,
            words=make.zeros((n_tokens + 1,), np.int32),
            feature=make.zeros((n_source,), np.int32),
            source=make_touches(n_source, gradients, n_threads, make=make),
            target=make_touches(n_target, make.zeros((n_target, n_components), np.float32), n_threads, make=make),
            own=make.zeros((n_tokens + n_sentences, n_components), np.float32),
            own_of=make.zeros((n_tokens,), np.int32),
            share=make.zeros((n_tokens + n_sentences,), np.float32),
            error=error,
            error_flat=error.reshape(-1),
            candidates=make.zeros((n_threads * room,), np.int32),
            bits=make.zeros((n_threads, room), np.uint64),
            number=make.values(n_target + 1, np.int32, lambda: np.arange(n_target + 1, dtype=np.int32)),
            loss=make.zeros((n_sentences,), np.float64),
            n_targets=make.zeros((n_sentences,), np.int64),
            total=make.zeros((2,), np.float64),
        )

    def run(
        self, text: EncodedText, rows: list[Rows], scratch: Sentences, plan: Plan, update: Update, *threads: Any
    ) -> None:
        draws = self.draws._replace(max_order=scratch.max_order)
        train_sent2vec(text, rows[0], rows[1], self.mean, draws, scratch, plan, update, *threads)


def _with_ngrams(counts: np.ndarray, n_rows: int, max_order: int) -> np.ndarray:
    """Expected number of touches of each row: words first, then the rows shared by all n-grams."""
    return np.concatenate([counts, np.full(n_rows, counts.sum() * (max_order - 1) / max(1, n_rows))])
