r"""The spelling of a word as a direction, added to its learned vector.

With :math:`h(x)` the random direction of a text that unknown words have too, and :math:`N_w` the n-grams of three to
five characters of a word between ``<`` and ``>`` (as P. Bojanowski, E. Grave, A. Joulin and T. Mikolov, "Enriching
Word Vectors with Subword Information", TACL 2017, mark its ends),

.. math::

    g_w = \frac{\sum_{x \in N_w} h(x)}{\lVert \sum_{x \in N_w} h(x) \rVert}, \qquad
    m_w = \sqrt{1 - t^2} \, \frac{v_w}{\lVert v_w \rVert} + t \, g_w, \qquad
    v'_w = \lVert v_w \rVert \frac{m_w}{\lVert m_w \rVert}

The more n-grams two words share, the nearer these directions are. Nothing is learned, so the vector of a word that was
never seen depends on its text alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._text.batches import offsets

NGRAM_LENGTHS = (3, 4, 5)  # characters
_STEP = 1_000  # words at a time whose n-grams have vectors


def add_spelling(vectors: np.ndarray, words: Sequence[str], weight: float) -> np.ndarray:
    """Turn the vector of each word towards the direction of its n-grams, in place.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words. Their lengths stay; so does a vector of zeros.
    words : sequence of str
        The words. An empty one has no n-gram, and keeps its vector.
    weight : float
        From 0, where nothing changes, to 1, where only the spelling counts.

    Returns
    -------
    vectors : ndarray
        The same array.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed._word_vectors.spelling import add_spelling
    >>> vectors = add_spelling(
    ...     np.eye(3, 200, dtype=np.float32), ["teacher", "teachers", "cat"], weight=1.0
    ... )
    >>> similarity = vectors @ vectors.T
    >>> bool(similarity[0, 1] > 0.7), bool(abs(similarity[0, 2]) < 0.3)
    (True, True)
    """
    for start in range(0, len(vectors), _STEP):
        chunk = vectors[start : start + _STEP].astype(np.float64)
        lengths = np.linalg.norm(chunk, axis=1, keepdims=True)
        spelled = _sums_of_ngrams(words[start : start + _STEP], vectors.shape[1])
        mixed = np.sqrt(1 - weight**2) * chunk + weight * _of_length(spelled, lengths)
        has_ngrams = spelled.any(axis=1, keepdims=True)
        vectors[start : start + _STEP] = np.where(has_ngrams, _of_length(mixed, lengths), chunk)
    return vectors


def _of_length(rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.divide(lengths, norms, out=np.zeros_like(norms), where=norms > 0)


def _sums_of_ngrams(words: Sequence[str], n_components: int) -> np.ndarray:
    """Sum the directions of each word's n-grams: (n_words, n_components) float64."""
    from .._encoders.bag import hash_vectors, sum_rows  # numba takes a while to import

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
    sum_rows(np.array(rows, np.int64), np.ones(len(rows), np.float32), ptr, directions, directions[:0], False, out)
    return out.astype(np.float64)
