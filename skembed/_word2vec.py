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

from ._blocks import (
    Edges,
    EncodedText,
    Plan,
    Rows,
    Update,
    keep_probability,
    largest_block,
    list_sentences,
    make_edges,
    update_edges,
)
from ._kernels import (
    COMPILE,
    add_scaled,
    alias_draw,
    alias_table,
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
from ._training import Matrix


class Draws(NamedTuple):
    """What is drawn at random, and how often."""

    keep: np.ndarray  # (n_words,) float32, the probability that an occurrence of a word is kept
    threshold: np.ndarray  # (n_words,) float32, alias table of the negatives
    alias: np.ndarray  # (n_words,) int32
    window: int
    negative: int
    skipgram: bool


class Windows(NamedTuple):
    """Work space of one block."""

    first_token: np.ndarray  # (n_sentences_of_block + 1,) int64
    sentence: np.ndarray  # (n_sentences_of_block,) int64
    words: np.ndarray  # (n_tokens,) int32, the words that are kept
    source: Edges
    target: Edges
    loss: np.ndarray  # (n_sentences_of_block,) float64
    n_targets: np.ndarray  # (n_sentences_of_block + 1,) int64; the last is the number of sentences
    total: np.ndarray  # (2,) float64


@njit(**COMPILE)
def learn_word(words, i, near, sentence, source_weights, target_weights, draws, seed, source, target, place):
    """One position of a sentence against frozen weights; ``near`` is the size of its window. Returns the loss.

    Skip-gram predicts each word of the window from the vector of word i, with one set of negatives for all of them,
    counted as often as there are words in the window: the same expectation as a set for each, at a fraction of the
    cost. CBOW predicts word i from the mean of the window.
    """
    span = 2 * draws.window
    first_edge = place * (span + draws.negative)
    hidden, gradient = target.vectors[place], source.vectors[place]
    gradient[:] = 0.0
    hidden[:] = 0.0
    first, last = max(0, i - near), min(words.shape[0], i + near + 1)
    n_context = last - first - 1
    loss = 0.0
    edge = first_edge
    if draws.skipgram:
        hidden[:] = source_weights[words[i]]
        source.row[place * span] = words[i]
        source.vector[place * span] = place
        source.scale[place * span] = 1.0
    else:
        k = place * span
        for c in range(first, last):
            if c != i:
                add_scaled(hidden, np.float32(1.0 / n_context), source_weights[words[c]])
                source.row[k], source.vector[k], source.scale[k] = words[c], place, np.float32(1.0 / n_context)
                k += 1
    for c in range(first, last):
        if (c != i) == draws.skipgram:
            word = words[c]
            z = dot(target_weights[word], hidden)
            loss -= log_sigmoid(z)
            error = np.float32(sigmoid(z) - 1.0)
            add_scaled(gradient, error, target_weights[word])
            target.row[edge], target.vector[edge], target.scale[edge] = word, place, error
            edge += 1
    times = n_context if draws.skipgram else 1
    for j in range(draws.negative):
        bits = random_bits(np.uint64(seed), np.uint64(5 + i), np.uint64(sentence), np.uint64(j))
        word = alias_draw(bits, draws.threshold, draws.alias)
        if word != words[i]:
            z = dot(target_weights[word], hidden)
            loss -= times * log_sigmoid(-z)
            error = np.float32(times * sigmoid(z))
            add_scaled(gradient, error, target_weights[word])
            target.row[edge], target.vector[edge], target.scale[edge] = word, place, error
            edge += 1
    target.square[place] = mean_square(hidden)
    source.square[place] = mean_square(gradient)
    return loss


@njit(**COMPILE)
def train_word2vec(text, source_rows, target_rows, draws, sc, plan, update, sync, thread, n_threads):
    n_passed = 0
    n_words = text.word_weight.shape[0]
    span = 2 * draws.window
    for block in range(plan.first_block, plan.last_block):
        if thread == 0:
            sc.n_targets[-1] = list_sentences(text, plan, block, sc.first_token, sc.sentence)
        n_passed = barrier(sync, n_threads, n_passed)
        n_sentences = sc.n_targets[-1]
        first, last = share(n_sentences, thread, n_threads)
        for s in range(first, last):
            sentence = sc.sentence[s]
            begin, end = sc.first_token[s], sc.first_token[s + 1]
            sc.source.row[begin * span : end * span] = -1
            sc.target.row[begin * (span + draws.negative) : end * (span + draws.negative)] = -1
            words = sc.words[begin:end]
            n = 0
            for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
                word = text.tokens[p]
                if word < n_words:
                    bits = random_bits(
                        np.uint64(plan.seed), np.uint64(3), np.uint64(sentence), np.uint64(p - text.sent_ptr[sentence])
                    )
                    if uniform(bits) < draws.keep[word]:
                        words[n] = word
                        n += 1
            words = words[:n]
            sc.loss[s] = 0.0
            sc.n_targets[s] = 0
            if n < 2:
                continue
            for i in range(n):
                bits = random_bits(np.uint64(plan.seed), np.uint64(4), np.uint64(sentence), np.uint64(i))
                near = 1 + below(bits, draws.window)
                sc.loss[s] += learn_word(
                    words,
                    i,
                    near,
                    sentence,
                    source_rows.weights,
                    target_rows.weights,
                    draws,
                    plan.seed,
                    sc.source,
                    sc.target,
                    begin + i,
                )
                sc.n_targets[s] += (min(n, i + near + 1) - max(0, i - near) - 1) if draws.skipgram else 1
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            for s in range(n_sentences):
                sc.total[0] += sc.loss[s]
                sc.total[1] += sc.n_targets[s]
        if update.learn:
            rate = np.float32(update.rate - update.rate_decay * (block - plan.first_block))
            n_tokens = sc.first_token[n_sentences]
            update_edges(source_rows, sc.source, n_tokens * span, update, rate, 0.0, thread)
            update_edges(target_rows, sc.target, n_tokens * (span + draws.negative), update, rate, 0.0, thread)
        n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class Word2VecObjective:
    """What `MeanEmbeddingVectorizer` brings to the training loop."""

    border = 0

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"].astype(np.float64)
        keep = keep_probability(counts, fitted["_n_tokens"], vectorizer.subsample)
        drawn = np.power(counts, 0.75)  # the power that Mikolov et al. found best
        drawn /= max(drawn.sum(), 1e-300)
        threshold, alias = alias_table(drawn)
        self.draws = Draws(
            keep, threshold, alias, vectorizer.window, vectorizer.negative, vectorizer.algorithm == "skipgram"
        )
        kept = keep * counts
        targets = kept + drawn * kept.sum() * vectorizer.negative
        self.matrices = [
            Matrix(fitted["word_vectors_"], fitted["_accumulator"], kept),
            Matrix(fitted["target_vectors_"], fitted["_target_accumulator"], targets),
        ]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int) -> Windows:
        n_sentences, n_tokens = largest_block(text, plan)
        n_components = self.matrices[0].weights.shape[1]
        span = 2 * self.draws.window
        return Windows(
            first_token=np.zeros(n_sentences + 1, np.int64),
            sentence=np.zeros(n_sentences, np.int64),
            words=np.zeros(n_tokens, np.int32),
            source=make_edges(n_tokens * span, n_tokens, n_components),
            target=make_edges(n_tokens * (span + self.draws.negative), n_tokens, n_components),
            loss=np.zeros(n_sentences, np.float64),
            n_targets=np.zeros(n_sentences + 1, np.int64),
            total=np.zeros(2, np.float64),
        )

    def run(
        self, text: EncodedText, rows: list[Rows], scratch: Windows, plan: Plan, update: Update, *threads: Any
    ) -> None:
        train_word2vec(text, rows[0], rows[1], self.draws, scratch, plan, update, *threads)
