"""Weights of words in the sum that is a sentence: idf, sif or 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .._training.state import FittedState
from .._word_vectors.join import SIF_A


def word_weights(
    estimator: Any, corpus: SentenceCorpus, state: FittedState, earlier: FittedState | None = None
) -> FittedState:
    """The state with the weights of the words, and of a word that is not in the vocabulary.

    `earlier` has those of a text that was learned before, for the same words, and its counts.
    """
    vocabulary, weighting = state.vocabulary_, estimator._option("weighting", state)
    unknown: float = 1.0
    if weighting is None:
        weights = np.ones(len(vocabulary))
    elif weighting == "sif":
        counts, n_tokens = corpus.vocabulary.look_up(corpus.vocabulary.counts, vocabulary), corpus.n_tokens
        if earlier:
            counts, n_tokens = counts + earlier.word_counts_, n_tokens + earlier.n_tokens
        weights = SIF_A / (SIF_A + counts / max(1, n_tokens))
    else:
        n_sentences = corpus.n_sentences
        frequencies = corpus.vocabulary.look_up(corpus.sentence_frequencies(), vocabulary)
        if earlier:  # the weights tell in how many sentences a word was
            n_earlier = np.exp(float(earlier.unknown_weight) - 1)
            frequencies = frequencies + np.rint(n_earlier / np.exp(earlier.word_weights_.astype(float) - 1) - 1)
            n_sentences += round(n_earlier - 1)
        weights = np.log((1 + n_sentences) / (1 + frequencies)) + 1
        unknown = np.log(1 + n_sentences) + 1
    balance = estimator._balance(corpus, state, weights)
    if not balance.is_even:
        weights = weights * balance.factors(vocabulary)
    return replace(
        state,
        unknown_weight=np.float32(unknown),
        word_weight=balance.words,
        ngram_weight=balance.ngrams,
        word_weights_=weights.astype(np.float32),
    )
