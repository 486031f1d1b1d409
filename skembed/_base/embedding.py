"""The rows of sentences by a fitted state, in batches and with threads, and their cosines."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compiled.norms import cosines_of_rows
from .._corpus.corpus import SentenceCorpus
from .._text.batches import Batch
from .._text.known_words import EncodedSentences
from .._text.sources import advising, iter_sentences
from .._training.state import FittedState
from .._validation.columns import length_of
from .batches import encode_batch, encoded_batches, in_order
from .coverage import LEAST_SENTENCES, CoverageCounter


def embed(estimator: Any, state: FittedState, X: Any, name: str) -> np.ndarray:
    """The rows of sentences; errors call the sentences `name`."""
    if not isinstance(X, SentenceCorpus):
        iter_sentences(X, name=name)  # checks X before its length is read
    out = np.empty((length_of(X) or 0, state.n_features_out_), np.float32)
    counter = CoverageCounter()

    def embed_batch(batch: tuple[EncodedSentences | Batch, int]) -> np.ndarray:
        sentences, first_row = encode_batch(state, *batch), batch[1]
        n_rows = len(sentences.ptr) - 1
        if first_row or n_rows >= LEAST_SENTENCES:
            counter.add(sentences)
        # If the number of sentences is known, each thread writes its rows in place.
        own_rows = out[first_row : first_row + n_rows]
        rows: np.ndarray = estimator._vectors_of(state, sentences, own_rows if len(own_rows) == n_rows else None)
        return rows

    with advising(X):
        embedded = list(in_order(estimator, embed_batch, encoded_batches(estimator, state, X, name)))
    counter.warn(estimator, state)
    # len(X) may be wrong: the sentences yielded count.
    return out if sum(map(len, embedded)) == len(out) else np.concatenate([out[:0], *embedded])


def similarity(estimator: Any, state: FittedState, a: Any, b: Any) -> Any:
    """The cosine of two sentences, or of each sentence of `a` with that of `b` at the same position."""
    if isinstance(a, str) != isinstance(b, str):
        one, other = ("a", "b") if isinstance(a, str) else ("b", "a")
        raise ValueError(f"{one} is one sentence and {other} is not. Give two sentences, or two collections of them.")
    if isinstance(a, str):
        rows = estimator._embed(state, [a, b], "a").astype(np.float64)
        return float(cosines_of_rows(rows[:1], rows[1:])[0])
    first, second = _embed_named(estimator, state, a, "a"), _embed_named(estimator, state, b, "b")
    n_first, n_second = first.shape[0], second.shape[0]
    if n_first != n_second:
        raise ValueError(f"a has {n_first} sentences and b has {n_second}; they are compared one by one.")
    from ..metrics import paired_cosine_similarity  # no fit needs it

    return paired_cosine_similarity(first, second)


def _embed_named(estimator: Any, state: FittedState, sentences: Any, name: str) -> Any:
    """The rows of sentences; errors begin with `name`, the parameter."""
    if isinstance(sentences, SentenceCorpus):
        return estimator._embed(state, sentences, name)
    iter_sentences(sentences, name=name)
    try:
        return estimator._embed(state, sentences, name)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
