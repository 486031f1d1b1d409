"""Words as means of the vectors of their character n-grams, which share rows by hashing, as fastText computes them."""

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, lean_kernel
from .._compiled.rows import add_scaled

# 64 bits, of which 32 are kept: numba would widen a product of 32 bits too.
_FNV_OFFSET, _FNV_PRIME, _LOW_BITS = np.uint64(2166136261), np.uint64(16777619), np.uint64(0xFFFFFFFF)
_SIGN = np.uint64(0xFFFFFF00)
_BEFORE, _AFTER = np.uint8(ord("<")), np.uint8(ord(">"))


def average(
    text: np.ndarray,
    ptr: np.ndarray,
    lengths: tuple[int, int],
    ngrams: np.ndarray,
    out: np.ndarray,
    *,
    has_own_row: bool,
) -> None:
    """Write the vector of each word: the mean of those of its n-grams and, with `has_own_row`, of what is in `out`.

    Parameters
    ----------
    text : ndarray of uint8
        The words in UTF-8, one after another.
    ptr : ndarray of shape (n_words + 1,), dtype int64
        Where they begin.
    lengths : tuple of (int, int)
        Least and most characters of an n-gram of the word between ``<`` and ``>``; neither of these is one alone.
    ngrams : ndarray of shape (n_buckets, n_components), dtype float32
        The rows that the n-grams share.
    out : ndarray of shape (n_words, n_components), dtype float32
        Receives the vectors; a word without n-grams and without a row of its own is zero. A word of no bytes has no
        n-grams.
    has_own_row : bool
        Whether `out` has the words' own vectors.
    """
    ngrams, text, ptr = ngrams.view(), text.view(), ptr.view()
    ngrams.flags.writeable = text.flags.writeable = ptr.flags.writeable = False  # so that numba compiles once
    if not has_own_row:
        out[:] = 0
    _average(text, ptr, np.int64(lengths[0]), np.int64(lengths[1]), ngrams, np.int64(has_own_row), out)


@njit(**INLINE)
def _byte(text, start, end, at):
    """A byte of a word between ``<`` and ``>``."""
    if at == 0:
        return _BEFORE
    if start + at - 1 < end:
        return text[start + at - 1]
    return _AFTER


@njit(**INLINE)
def _begins(byte):
    """Whether a byte is the first of a character."""
    return (byte & np.uint8(0xC0)) != np.uint8(0x80)


@lean_kernel
def _average(text, ptr, shortest, longest, ngrams, n_own, out):
    """Add the n-grams of each word in the order of their starts, the shorter ones first, and divide by their number."""
    for word in range(out.shape[0]):
        start, end = ptr[word], ptr[word + 1]
        n_bytes = end - start + 2
        n_summed = np.int64(n_own)
        for first in range(n_bytes if end > start else 0):
            if not _begins(_byte(text, start, end, first)):
                continue
            hashed, at, n_characters = _FNV_OFFSET, first, np.int64(0)
            while at < n_bytes and n_characters < longest:
                more = True
                while more:  # the bytes of a character
                    # Bytes from 128 on are extended by their sign.
                    byte = np.uint64(_byte(text, start, end, at))
                    hashed = ((hashed ^ (byte | _SIGN * (byte >> np.uint64(7)))) * _FNV_PRIME) & _LOW_BITS
                    at += 1
                    more = at < n_bytes and not _begins(_byte(text, start, end, at))
                n_characters += 1
                is_mark = n_characters == 1 and (first == 0 or at == n_bytes)
                if n_characters >= shortest and not is_mark:
                    add_scaled(out, word, np.float32(1.0), ngrams, np.int64(hashed % np.uint64(ngrams.shape[0])))
                    n_summed += 1
        if n_summed > 1:
            for c in range(out.shape[1]):
                out[word, c] *= np.float32(1.0) / np.float32(n_summed)
