"""Words as means of the vectors of their character n-grams, which share rows by hashing, as fastText computes them."""

from collections.abc import Sequence

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from .._compiled.arrays import read_only_view
from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT, lean_kernel
from .._compiled.rows import add_scaled
from .._compiled.simd import WIDTH, load_int8, multiply_add, prefetch, splat, store
from .._text.ngram_hash import FNV_OFFSET, hash_byte
from .._text.sources import encode_words

_LARGEST = 127  # of int8
_LINE = 64  # bytes of a cache line
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

    Word i is ``text[ptr[i]:ptr[i + 1]]`` in UTF-8. ``lengths`` are least and most characters of an n-gram of the word
    between ``<`` and ``>``; neither of these is one alone. ``ngrams`` are the shared rows.
    """
    ngrams, text, ptr = map(read_only_view, (ngrams, text, ptr))  # so that numba compiles once
    if not has_own_row:
        out[:] = 0
    found = np.empty(_most(np.diff(ptr).max(initial=0), lengths), np.int64)
    _sum(text, ptr, np.int64(lengths[0]), np.int64(lengths[1]), ngrams, np.int64(has_own_row), found, out)


def in_8_bits(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows rounded to 8 bits, uint8 that hold int8, and the scale of each, (n_rows,) float32.

    A word has some thirty n-grams, whose rows come from memory: a quarter of the bytes makes it twice as fast.
    """
    scales = np.abs(rows).max(axis=1, initial=0).astype(np.float32) / np.float32(_LARGEST)
    codes = np.rint(rows / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return codes.view(np.uint8), scales


def from_8_bits(codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Undo :func:`in_8_bits`, but for the rounding."""
    return np.asarray(codes.view(np.int8) * scales[:, None])


def sum_ngrams(words: Sequence[str], lengths: tuple[int, int], codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return the sum of the rows, those of :func:`in_8_bits`, that the n-grams of each word share, float32."""
    rows, ptr = _rows_of(words, lengths, len(codes))
    out = np.empty((len(words), codes.shape[1]), np.float32)
    _sum_codes(rows, ptr, *map(read_only_view, (np.ascontiguousarray(codes).view(np.int8), scales)), out)
    return out


def count_ngrams(words: Sequence[str], lengths: tuple[int, int], n_buckets: int) -> csr_array:
    """Return how often each word has the n-grams that share each row, (n_words, n_buckets) float32."""
    rows, ptr = _rows_of(words, lengths, n_buckets)
    counts = csr_array((np.ones(len(rows), np.float32), rows, ptr), shape=(len(words), n_buckets))
    counts.sum_duplicates()
    return counts


def _rows_of(words: Sequence[str], lengths: tuple[int, int], n_buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the n-grams of all words one after another, and where those of each word begin."""
    text, ptr = map(read_only_view, encode_words(words))  # as in `average`
    found_ptr = np.empty(len(ptr), np.int64)
    found = np.empty(_most(int(ptr[-1]), lengths) + len(words) * _most(0, lengths), np.int64)
    _list_buckets(text, ptr, np.int64(lengths[0]), np.int64(lengths[1]), np.int64(n_buckets), found, found_ptr)
    return found[: found_ptr[-1]], found_ptr


def _most(n_bytes: int, lengths: tuple[int, int]) -> int:
    """The most n-grams that a word of so many bytes may have."""
    return (int(n_bytes) + 2) * max(0, lengths[1] - max(lengths[0], 1) + 1)


@njit(**INLINE_LLVM)
def _byte(text, start, end, at):
    """A byte of a word between ``<`` and ``>``."""
    if at == 0:
        return _BEFORE
    if start + at - 1 < end:
        return text[start + at - 1]
    return _AFTER


@njit(**INLINE_LLVM)
def _begins(byte):
    """Whether a byte is the first of a character."""
    return (byte & np.uint8(0xC0)) != np.uint8(0x80)


@njit(**NO_REFCOUNT)
def _buckets_of(text, start, end, shortest, longest, n_buckets, found, first_found):
    """Write the rows of the n-grams of a word, by where they start, the shorter ones first; returns the end."""
    n_bytes = end - start + 2
    n_found = first_found
    for first in range(n_bytes if end > start else 0):
        if not _begins(_byte(text, start, end, first)):
            continue
        hashed, at, n_characters = FNV_OFFSET, first, np.int64(0)
        while at < n_bytes and n_characters < longest:
            more = True
            while more:  # the bytes of a character
                hashed = hash_byte(hashed, np.uint64(_byte(text, start, end, at)))
                at += 1
                more = at < n_bytes and not _begins(_byte(text, start, end, at))
            n_characters += 1
            is_mark = n_characters == 1 and (first == 0 or at == n_bytes)
            if n_characters >= shortest and not is_mark:
                found[n_found] = hashed % np.uint64(n_buckets)
                n_found += 1
    return n_found


@lean_kernel
def _sum(text, ptr, shortest, longest, ngrams, n_own, found, out):
    """Add the n-grams of each word to its ``n_own`` rows in ``out``, 0 or 1, and divide by their number."""
    for word in range(out.shape[0]):
        n_found = _buckets_of(text, ptr[word], ptr[word + 1], shortest, longest, ngrams.shape[0], found, np.int64(0))
        for i in range(n_found):
            add_scaled(out, word, np.float32(1.0), ngrams, np.int64(found[i]))
        n_summed = n_own + n_found
        if n_summed > 1:
            for c in range(out.shape[1]):
                out[word, c] *= np.float32(1.0) / np.float32(n_summed)


@lean_kernel
def _sum_codes(rows, ptr, codes, scales, out):
    """``out[i]`` is the sum of the rows ``rows[ptr[i] : ptr[i + 1]]`` of codes, each times its scale."""
    n, width = out.shape
    end = width - WIDTH
    for word in range(n):
        first, last = ptr[word], ptr[word + 1]
        for k in range(last, ptr[min(word + 2, n)]):  # the rows of the next word
            for c in range(0, width, _LINE):
                prefetch(codes, rows[k], c)
        for c in range(width if end < 0 else 0):
            out[word, c] = 0.0
            for k in range(first, last):
                out[word, c] += scales[rows[k]] * np.float32(codes[rows[k], c])
        for c in range(0, width if end >= 0 else 0, 4 * WIDTH):
            # A vector that would go past the end overlaps the one before it.
            c0, c1, c2, c3 = min(c, end), min(c + WIDTH, end), min(c + 2 * WIDTH, end), min(c + 3 * WIDTH, end)
            s0 = s1 = s2 = s3 = splat(np.float32(0.0))
            for k in range(first, last):
                scale, row = splat(scales[rows[k]]), rows[k]
                s0 = multiply_add(scale, load_int8(codes, row, c0), s0)
                s1 = multiply_add(scale, load_int8(codes, row, c1), s1)
                s2 = multiply_add(scale, load_int8(codes, row, c2), s2)
                s3 = multiply_add(scale, load_int8(codes, row, c3), s3)
            store(out, word, c0, s0)
            store(out, word, c1, s1)
            store(out, word, c2, s2)
            store(out, word, c3, s3)


@lean_kernel
def _list_buckets(text, ptr, shortest, longest, n_buckets, found, found_ptr):
    """Write the rows of the n-grams of all words one after another, and where those of each word begin."""
    n_found = np.int64(0)
    for word in range(ptr.shape[0] - 1):
        found_ptr[word] = n_found
        n_found = _buckets_of(text, ptr[word], ptr[word + 1], shortest, longest, n_buckets, found, n_found)
    found_ptr[ptr.shape[0] - 1] = n_found
