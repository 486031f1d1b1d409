r"""What all sentences have in common, found in their vectors and removed from the vectors of the words.

With :math:`s` the vectors of sentences and :math:`p` the strongest directions of :math:`\sum s s^T`, not centred
(S. Arora, Y. Liang and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017),

.. math::

    s' = s - \sum_p (s \cdot p) \, p

Removing the components from every word vector removes them from every sentence, and leaves the row of a sentence
independent of the other rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .directions import no_moments, strongest_directions

_STEP = 10_000  # sentences, or words, at a time, or there would be more copies of all of them


def find_components(
    corpus: SentenceCorpus,
    embed: Callable[[SentenceCorpus], np.ndarray],
    shape: tuple[int, int],
    moments: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the strongest common directions of the sentences of a text, and of earlier ones.

    Parameters
    ----------
    corpus : SentenceCorpus
        Sentences.
    embed : callable
        Returns the vectors of some of the sentences.
    shape : tuple of int
        Number of directions to find, and length of the vectors.
    moments : ndarray of shape (n_features, n_features), default=None
        Second moments of the vectors of earlier sentences. Not changed.

    Returns
    -------
    components : ndarray of this shape, dtype float32
        The strongest first.
    moments : ndarray of shape (n_features, n_features)
        Second moments of all the vectors.
    """
    n_components, n_features = shape
    if moments is None:
        moments = no_moments(n_features, f"n_removed_components={n_components}")
    for start in range(0, corpus.n_sentences, _STEP):
        rows = np.asarray(embed(corpus[start : start + _STEP]), np.float64)
        moments = moments + rows.T @ rows  # not in place: copies of the estimator share them
    return strongest_directions(moments, n_components), moments


def remove_components(vectors: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Remove some directions from vectors, in place.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, n_features), dtype float32
        Vectors.
    components : ndarray of shape (n_components, n_features), dtype float32
        Directions of length one, orthogonal to each other.

    Returns
    -------
    vectors : ndarray
        The same array.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed._word_vectors.common_components import remove_components
    >>> remove_components(
    ...     np.array([[1.0, 2.0]], np.float32), np.array([[0.0, 1.0]], np.float32)
    ... )
    array([[1., 0.]], dtype=float32)
    """
    for start in range(0, len(vectors), _STEP):
        chunk = vectors[start : start + _STEP]
        for component in components:
            # Row by row, not as a matrix product, whose last bits may depend on the number of rows.
            chunk -= (chunk * component).sum(axis=1, keepdims=True) * component
    return vectors
