"""Word vectors of several models side by side, and then in fewer dimensions.

The equations are on the page of MeanEmbeddingVectorizer. The first directions, a hundredth of all, say how frequent a
word is more than what it means; they are left out as by J. Mu and P. Viswanath, "All-but-the-Top: Simple and Effective
Postprocessing for Word Representations", ICLR 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .matches import SIF_A, WordVectors, check_given, counts_of, known_fraction
from .processing import strongest_directions
from .read import read_source

_STEP = 10_000  # words at a time, or there would be more copies of all vectors


def join_word_vectors(
    sources: Sequence[WordVectors], corpus: SentenceCorpus, n_components: int, *, whiten: bool = False
) -> tuple[list[str], np.ndarray]:
    """Join word vectors of one or more sources, each as in :func:`read_source`, in at most `n_components` dimensions.

    A word that is not in a source has zeros in its columns. The counts of the text weigh the words. Returns all words,
    those of the first source first, and their vectors, float32: of length one unless ``whiten``, which keeps lengths
    and weights and makes the directions that are left equally strong. A ValueError if a source has no word of the text.
    """
    if not sources:
        raise ValueError("word_vectors is an empty list. Give at least one source of word vectors.")
    found = [_weighed(source) if whiten else read_source(source)[:2] for source in sources]
    found = [(corpus.tokenizer.forms_of(words), vectors) for words, vectors in found]
    for index, (words, _) in enumerate(found):
        if known_fraction(corpus, words) == 0:  # a model without words of the text adds only noise
            check_given(corpus, words, f"word_vectors[{index}]")
    rows = {word: row for row, word in enumerate(dict.fromkeys(word for words, _ in found for word in words))}
    joined = np.zeros((len(rows), sum(vectors.shape[1] for _, vectors in found)), np.float32)
    check_given(corpus, rows)
    counts = counts_of(list(rows), corpus)
    first = 0
    for words, vectors in found:
        last = first + vectors.shape[1]
        chunk = joined[:, first:last]
        chunk[[rows[word] for word in words]] = vectors
        if whiten:
            _scale(chunk, counts)
        else:
            unit_rows(chunk)
        first = last
    if whiten:
        return list(rows), _project(joined, counts, min(n_components, joined.shape[1]), whiten=True)
    if n_components < joined.shape[1]:
        weights = counts * np.square(SIF_A / (SIF_A + counts / max(1, corpus.n_tokens)))
        joined = _project(joined, weights, n_components)
    return list(rows), unit_rows(joined)


def _weighed(source: Any) -> tuple[list[str], np.ndarray]:
    """Words and vectors of a source, times its word weights if it has any."""
    source = copy(source)  # a snapshot: another thread may fit it
    words, vectors, _ = read_source(source)
    if hasattr(source, "word_weights_"):
        vectors = vectors * source.word_weights_[[source.vocabulary_[word] for word in words], None]
    return words, vectors


def _scale(vectors: np.ndarray, counts: np.ndarray) -> None:
    """Make the mean squared length of the words of the text one, in place; if it is zero, change nothing."""
    chunks = (slice(start, start + _STEP) for start in range(0, len(vectors), _STEP))
    total = sum(float(counts[chunk] @ np.square(vectors[chunk], dtype=np.float64).sum(axis=1)) for chunk in chunks)
    if total > 0:
        factor = np.sqrt(counts.sum() / total)
        # The factor may leave the range of float32 although the product does not.
        sound = np.finfo(np.float32).tiny < factor < np.finfo(np.float32).max
        np.multiply(vectors, np.float32(factor) if sound else factor, out=vectors, casting="same_kind")


def _project(vectors: np.ndarray, weights: np.ndarray, n_components: int, *, whiten: bool = False) -> np.ndarray:
    moments = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), _STEP):
        chunk = vectors[start : start + _STEP].astype(np.float64)
        moments += (chunk * weights[start : start + _STEP, None]).T @ chunk
    if not moments.any():
        raise ValueError(
            "None of the words of the text has a vector, or only zeros, so nothing says which directions matter. Give "
            "vectors of words that the text has: lowercase and stemmer must be as they were for the vectors."
        )
    n_common = min(n_components // 100, vectors.shape[1] - n_components)
    directions = strongest_directions(moments, n_common + n_components)[n_common:]
    if whiten:
        strengths = ((directions @ moments) * directions).sum(axis=1) / weights.sum()
        # The strength of a direction in which no word lies is only rounding error; such a direction becomes zero.
        sound = strengths > np.finfo(np.float32).eps * strengths.max()
        strengths[~sound] = np.inf
        directions /= np.sqrt(n_components * strengths).astype(np.float32)[:, None]
    out = np.empty((len(vectors), n_components), np.float32)
    for start in range(0, len(vectors), _STEP):
        out[start : start + _STEP] = vectors[start : start + _STEP] @ directions.T
    return out


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Each row divided by its length, in place; a row of zeros stays."""
    for start in range(0, len(vectors), _STEP):
        chunk = vectors[start : start + _STEP]
        squares = np.square(chunk, dtype=np.float64)
        lengths = np.sqrt(squares.sum(axis=1, keepdims=True))
        np.divide(chunk, lengths, out=chunk, where=lengths > 0, casting="same_kind")
    return vectors
