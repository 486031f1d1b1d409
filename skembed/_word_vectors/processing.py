"""What is done to given vectors of words: common directions removed, numbers hashed, spelling added."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .._text.sources import offsets


def strongest_directions(moments: np.ndarray, n_directions: int) -> np.ndarray:
    """First eigenvectors of a symmetric matrix, the strongest first: (n_directions, n_components) float32."""
    _, directions = np.linalg.eigh(moments)
    components = directions[:, ::-1][:, :n_directions].T
    # The sign of an eigenvector is arbitrary; fix it, so that results repeat.
    components *= np.sign(components[np.arange(len(components)), np.abs(components).argmax(axis=1)])[:, None]
    return np.ascontiguousarray(components, np.float32)


_STEP = 10_000  # sentences, or words, at a time, or there would be more copies of all of them


def second_moments(
    corpus: SentenceCorpus, embed: Callable[[SentenceCorpus], np.ndarray], n_features: int
) -> np.ndarray:
    """Return the sum of the outer products of the vectors of a text, (n_features, n_features) float64."""
    moments = np.zeros((n_features, n_features))
    for start in range(0, corpus.n_sentences, _STEP):
        rows = np.asarray(embed(corpus[start : start + _STEP]), np.float64)
        moments += rows.T @ rows
    return moments


def remove_components(vectors: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Remove directions of length one, orthogonal to each other, from float32 vectors, in place."""
    for start in range(0, len(vectors), _STEP):
        chunk = vectors[start : start + _STEP]
        for component in components:
            # Row by row, not as a matrix product, whose last bits may depend on the number of rows.
            chunk -= (chunk * component).sum(axis=1, keepdims=True) * component
    return vectors


def hash_numbers(vectors: np.ndarray, words: Sequence[str], length: np.float32) -> np.ndarray:
    """Replace the vector of each word with a digit by a random one of a length, from its text alone, in place."""
    from .bag import hash_vectors  # numba takes a while to import

    rows = [row for row, word in enumerate(words) if any(map(str.isdigit, word))]
    vectors[rows] = hash_vectors([words[row] for row in rows], vectors.shape[1]) * length
    return vectors


NGRAM_LENGTHS = (3, 4, 5)  # characters
_WORDS_AT_ONCE = 1_000  # words at a time whose n-grams have vectors


def add_spelling(vectors: np.ndarray, words: Sequence[str], weight: float) -> np.ndarray:
    """Turn each float32 vector towards the direction of its word's n-grams, in place; ``weight`` is from 0 to 1."""
    for start in range(0, len(vectors), _WORDS_AT_ONCE):
        chunk = vectors[start : start + _WORDS_AT_ONCE].astype(np.float64)
        lengths = np.linalg.norm(chunk, axis=1, keepdims=True)
        spelled = _sums_of_ngrams(words[start : start + _WORDS_AT_ONCE], vectors.shape[1])
        mixed = np.sqrt(1 - weight**2) * chunk + weight * _of_length(spelled, lengths)
        has_ngrams = spelled.any(axis=1, keepdims=True)
        vectors[start : start + _WORDS_AT_ONCE] = np.where(has_ngrams, _of_length(mixed, lengths), chunk)
    return vectors


def _of_length(rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.divide(lengths, norms, out=np.zeros_like(norms), where=norms > 0)


def _sums_of_ngrams(words: Sequence[str], n_components: int) -> np.ndarray:
    """Sum the directions of each word's n-grams: (n_words, n_components) float64."""
    from .bag import SUM, hash_vectors, sum_rows  # numba takes a while to import

    indices: dict[str, int] = {}
    rows: list[int] = []
    n_ngrams = []
    for word in words:
        marked = f"<{word}>" if word else ""
        ngrams = [marked[i : i + n] for n in NGRAM_LENGTHS for i in range(len(marked) - n + 1)]
        rows += [indices.setdefault(ngram, len(indices)) for ngram in ngrams]
        n_ngrams.append(len(ngrams))
    directions = hash_vectors(list(indices), n_components)
    directions.flags.writeable = False  # as the kernel takes them
    out = np.empty((len(words), n_components), np.float32)
    ptr = offsets(np.array(n_ngrams, np.int64))
    sum_rows(np.array(rows, np.int64), np.ones(len(rows), np.float32), ptr, directions, directions[:0], SUM, out)
    return out.astype(np.float64)
