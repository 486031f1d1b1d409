"""A hash of the content of each sentence.

`PairedVectorizer` finds equal training sentences by it. It can also seed random draws of a `transform`, so that a row
depends on its sentence and the model alone. No method of this package makes such draws.
"""

from __future__ import annotations

import numpy as np

from .._compiled.compile import lean_kernel
from .._compiled.random import random_bits

_STREAM = np.uint64(7)


def content_seeds(rows: np.ndarray, ptr: np.ndarray, seed: int) -> np.ndarray:
    """Return a hash of each sentence, (n_sentences,) uint64: a function of its known words, their order and ``seed``.

    Parameters
    ----------
    rows : ndarray of shape (n_tokens,), dtype int32 or int64
        Row of each word in the vocabulary; below 0 for unknown words, which do not count.
    ptr : ndarray of shape (n_sentences + 1,), dtype int64
        Where the sentences begin.
    seed : int
        Another seed gives other hashes. That of the model, where they seed draws.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed._encoders.content_seeds import content_seeds
    >>> first, second, third = content_seeds(
    ...     np.array([3, 5, 3, -1, 5, 5, 3]), np.array([0, 2, 5, 7]), 0
    ... )
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    seeds = np.empty(len(ptr) - 1, np.uint64)
    _fill_seeds(np.asarray(rows), np.asarray(ptr), seed, seeds)
    return seeds


@lean_kernel
def _fill_seeds(rows, ptr, seed, seeds):
    for sentence in range(seeds.shape[0]):
        bits = np.uint64(seed)
        n_known = np.uint64(0)
        for token in range(ptr[sentence], ptr[sentence + 1]):
            if rows[token] >= 0:
                bits = random_bits(bits, _STREAM, np.uint64(rows[token]), n_known)
                n_known += np.uint64(1)
        seeds[sentence] = bits
