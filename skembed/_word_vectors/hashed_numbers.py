"""Hashed directions for numbers, whose learned vectors are alike because numbers are used in like contexts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def hash_numbers(vectors: np.ndarray, words: Sequence[str], length: np.float32) -> np.ndarray:
    """Replace the vector of each word with a digit by a random one, made from the word's text alone, in place.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words.
    words : sequence of str
        The words.
    length : float32
        Length of the random vectors.

    Returns
    -------
    vectors : ndarray
        The same array.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed._word_vectors.hashed_numbers import hash_numbers
    >>> vectors = hash_numbers(
    ...     np.ones((3, 100), np.float32), ["cat", "1914", "1945"], np.float32(10.0)
    ... )
    >>> bool(np.all(vectors[0] == 1)), bool(abs(vectors[1] @ vectors[2]) < 30)
    (True, True)
    """
    from .._encoders.bag import hash_vectors  # numba takes a while to import

    rows = [row for row, word in enumerate(words) if any(map(str.isdigit, word))]
    vectors[rows] = hash_vectors([words[row] for row in rows], vectors.shape[1]) * length
    return vectors
