"""The compiled part of Sent2Vec: word n-grams, one sentence's targets, and blocks of sentences."""

from typing import NamedTuple

import numpy as np
from numba import njit

from ._base import offsets
from ._blocks import Edges, list_sentences, update_edges
from ._kernels import (
    COMPILE,
    add_scaled,
    alias_draw,
    barrier,
    below,
    dot,
    log_sigmoid,
    mean_square,
    random_bits,
    share,
    sigmoid,
    uniform,
)

NGRAM_MULTIPLIER = np.uint64(116049371)  # of the published program, so that equal ids share a bucket


class Draws(NamedTuple):
    """What is drawn at random, and how often."""

    keep: np.ndarray  # (n_words,) float32: q_p, the probability that a word is taken as a target
    threshold: np.ndarray  # (n_words,) float32, alias table of the negatives
    alias: np.ndarray  # (n_words,) int32
    negative: int
    dropout: int
    max_order: int
    n_buckets: int
    penalty: float


class Sentences(NamedTuple):
    """Scratch space of one block."""

    first_token: np.ndarray  # (n_sentences_of_block + 1,) int64, where each sentence's place begins
    sentence: np.ndarray  # (n_sentences_of_block,) int64
    words: np.ndarray  # (n_tokens,) int32, known words only
    negatives: np.ndarray  # (n_sentences_of_block, negative) int32
    source: Edges
    target: Edges
    loss: np.ndarray  # (n_sentences_of_block,) float64
    n_targets: np.ndarray  # (n_sentences_of_block,) int64
    total: np.ndarray  # (2,) float64


@njit(**COMPILE)
def list_features(words, word_weight, draws, seed, sentence, row, scale):
    """R(S): words, then n-grams of each order. Returns how many places and how many kept features."""
    n = words.shape[0]
    f = n
    for i in range(n):
        row[i] = words[i]
        scale[i] = word_weight[words[i]]
    for order in range(2, draws.max_order + 1):
        for i in range(n - order + 1):
            bits = np.uint64(words[i])
            weight = word_weight[words[i]]
            for j in range(i + 1, i + order):
                bits = bits * NGRAM_MULTIPLIER + np.uint64(words[j])
                weight += word_weight[words[j]]
            row[f] = word_weight.shape[0] + np.int64(bits % np.uint64(draws.n_buckets))
            scale[f] = weight / np.float32(order)
            f += 1
    n_ngrams = f - n
    n_dropped = min(draws.dropout, n_ngrams)
    if n_dropped == n_ngrams:
        row[n:f] = -1
    else:
        draw = 0
        for _ in range(n_dropped):
            fresh = False
            while not fresh:
                g = n + below(
                    random_bits(np.uint64(seed), np.uint64(3), np.uint64(sentence), np.uint64(draw)), n_ngrams
                )
                draw += 1
                fresh = row[g] >= 0
            row[g] = -1
    return f, f - n_dropped


@njit(**COMPILE)
def learn_sentence(
    words, sentence, negatives, source_weights, target_weights, word_weight, mean, draws, seed, source, s0, target, t0
):
    """All targets of one sentence against frozen weights.

    The sum of the sentence is kept and each target taken out of it, so a sentence costs O(words), not O(words^2).
    ``source`` has its places from ``s0`` on (vector ``s0`` holds what all features share), ``target`` from ``t0``.
    Returns the loss and the number of targets.
    """
    n = words.shape[0]
    row, scale = source.row[s0 + 1 :], source.scale[s0 + 1 :]
    n_places, n_features = list_features(words, word_weight, draws, seed, sentence, row, scale)
    n_negative = negatives.shape[0]
    for j in range(n_negative):
        negatives[j] = alias_draw(
            random_bits(np.uint64(seed), np.uint64(2), np.uint64(sentence), np.uint64(j)), draws.threshold, draws.alias
        )
        target.vectors[t0 + j, :] = 0.0
        target.row[t0 + j] = negatives[j]
        target.vector[t0 + j] = t0 + j
        target.scale[t0 + j] = 1.0
        target.threshold[t0 + j] = 0.0
    total = target.vectors[t0 + n_negative + n]
    total[:] = 0.0
    for f in range(n_places):
        source.vector[s0 + 1 + f] = s0
        if row[f] >= 0:
            add_scaled(total, scale[f], source_weights[row[f]])
    source.threshold[s0 + 1 : s0 + 1 + n_places] = 0.0
    shared_threshold = np.float32(0.0)
    shared = source.vectors[s0]
    shared[:] = 0.0
    own = source.vectors[s0 + 1 + n_places]
    loss = 0.0
    n_targets = 0
    for i in range(n):
        word = words[i]
        place = t0 + n_negative + i
        target.row[place] = -1
        u = uniform(random_bits(np.uint64(seed), np.uint64(4), np.uint64(sentence), np.uint64(i)))
        if u >= draws.keep[word]:
            continue
        # v_{S \ {w_t}}, eq. 2: take out the word and the n-grams that hold it.
        hidden = target.vectors[place]
        hidden[:] = total
        n_left = n_features
        begin = 0
        for order in range(1, draws.max_order + 1):
            for f in range(begin + max(0, i - order + 1), begin + min(i, n - order) + 1):
                if row[f] >= 0:
                    add_scaled(hidden, -scale[f], source_weights[row[f]])
                    n_left -= 1
            begin += max(0, n - order + 1)
        if n_left == 0:
            continue
        n_targets += 1
        if mean:
            hidden /= np.float32(n_left)
        target.row[place] = word
        target.vector[place] = place
        z = dot(target_weights[word], hidden)
        loss -= log_sigmoid(z)
        error = np.float32(sigmoid(z) - 1.0)
        target.scale[place] = error
        target.threshold[place] = 1.0
        own[:] = 0.0
        add_scaled(own, error, target_weights[word])
        for j in range(n_negative):
            if negatives[j] != word:
                z = dot(target_weights[negatives[j]], hidden)
                loss -= log_sigmoid(-z)
                error = np.float32(sigmoid(z))
                add_scaled(own, error, target_weights[negatives[j]])
                add_scaled(target.vectors[t0 + j], error, hidden)
                target.threshold[t0 + j] += 1.0
        if mean:
            own /= np.float32(n_left)
        add_scaled(shared, np.float32(1.0), own)
        threshold = np.float32(1.0 / n_left)
        shared_threshold += threshold
        target.square[place] = mean_square(hidden)
        begin = 0
        for order in range(1, draws.max_order + 1):
            for f in range(begin + max(0, i - order + 1), begin + min(i, n - order) + 1):
                if row[f] >= 0:
                    k = s0 + 1 + f
                    if source.vector[k] == s0:
                        source.vector[k] = k
                        source.vectors[k, :] = 0.0
                    add_scaled(source.vectors[k], np.float32(-1.0), own)
                    source.threshold[k] -= threshold
            begin += max(0, n - order + 1)
    source.square[s0] = mean_square(shared)
    for f in range(n_places):
        k = s0 + 1 + f
        source.threshold[k] += shared_threshold
        if source.vector[k] == k:
            add_scaled(source.vectors[k], np.float32(1.0), shared)
            source.square[k] = mean_square(source.vectors[k])
        if n_targets == 0:
            row[f] = -1
    for j in range(n_negative):
        target.square[t0 + j] = mean_square(target.vectors[t0 + j])
        if n_targets == 0:
            target.row[t0 + j] = -1
    return loss, n_targets


@njit(**COMPILE)
def train_sent2vec(text, source_rows, target_rows, mean, draws, sc, plan, update, sync, thread, n_threads):
    n_passed = 0
    n_words = text.word_weight.shape[0]
    for block in range(plan.first_block, plan.last_block):
        if thread == 0:
            sc.n_targets[-1] = list_sentences(text, plan, block, sc.first_token, sc.sentence)
        n_passed = barrier(sync, n_threads, n_passed)
        n_sentences = sc.n_targets[-1]
        first, last = share(n_sentences, thread, n_threads)
        for i in range(first, last):
            s = sc.sentence[i]
            words = sc.words[sc.first_token[i] :]
            n = 0
            for p in range(text.sent_ptr[s], text.sent_ptr[s + 1]):
                if text.tokens[p] < n_words:
                    words[n] = text.tokens[p]
                    n += 1
            s0 = sc.first_token[i] * draws.max_order + 2 * i
            t0 = sc.first_token[i] + i * (draws.negative + 1)
            s1 = sc.first_token[i + 1] * draws.max_order + 2 * i + 2
            t1 = sc.first_token[i + 1] + (i + 1) * (draws.negative + 1)
            sc.source.row[s0:s1] = -1
            sc.target.row[t0:t1] = -1
            sc.loss[i] = 0.0
            sc.n_targets[i] = 0
            if n > 1:
                sc.loss[i], sc.n_targets[i] = learn_sentence(
                    words[:n],
                    s,
                    sc.negatives[i],
                    source_rows.weights,
                    target_rows.weights,
                    text.word_weight,
                    mean,
                    draws,
                    plan.seed,
                    sc.source,
                    s0,
                    sc.target,
                    t0,
                )
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            for i in range(n_sentences):
                sc.total[0] += sc.loss[i]
                sc.total[1] += sc.n_targets[i]
        if update.learn:
            rate = np.float32(update.rate - update.rate_decay * (block - plan.first_block))
            n_edges = sc.first_token[n_sentences] * draws.max_order + 2 * n_sentences
            update_edges(source_rows, sc.source, n_edges, update, rate, draws.penalty, thread)
            n_edges = sc.first_token[n_sentences] + n_sentences * (draws.negative + 1)
            update_edges(target_rows, sc.target, n_edges, update, rate, draws.penalty, thread)
        n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


def add_ngrams(
    rows: np.ndarray,
    weights: np.ndarray,
    is_unknown: np.ndarray,
    ptr: np.ndarray,
    max_order: int,
    n_words: int,
    n_buckets: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Append to each sentence the n-grams of its known words, hashed as in training.

    Unknown words are bridged over, as the training does.
    """
    sentence = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    known = ~is_unknown
    ids, owner, weight = rows[known].astype(np.uint64), sentence[known], weights[known]
    all_rows, all_weights, all_unknown, all_owners = [rows], [weights], [is_unknown], [sentence]
    bits, total = ids, weight
    for order in range(2, max_order + 1):
        # Position i of bits holds the hash of words i .. i + order - 2: take one more word in.
        bits = bits[:-1] * NGRAM_MULTIPLIER + ids[order - 1 :]
        total = total[:-1] + weight[order - 1 :]
        inside = owner[: len(bits)] == owner[order - 1 :]
        all_rows.append(n_words + (bits[inside] % np.uint64(n_buckets)).astype(np.int64))
        all_weights.append(total[inside] / np.float32(order))
        all_unknown.append(np.zeros(int(inside.sum()), bool))
        all_owners.append(owner[: len(bits)][inside])
    owners = np.concatenate(all_owners)
    order_of_sentences = np.argsort(owners, kind="stable")
    lengths = np.bincount(owners, minlength=len(ptr) - 1)
    return (
        np.concatenate(all_rows)[order_of_sentences],
        np.concatenate(all_weights)[order_of_sentences],
        np.concatenate(all_unknown)[order_of_sentences],
        offsets(lengths),
    )
