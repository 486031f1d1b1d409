"""Texts cut into spans of characters, which no n-gram crosses."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .character_ngrams import CharacterNgrams
from .sources import offsets
from .words import compose

_LAST_SPACE = 0x3000
_SPACE = np.uint32(ord(" "))


class Lengths(NamedTuple):
    """Least and most characters of an n-gram, and the node of a trie from which they begin."""

    shortest: int
    longest: int
    root: int = 0


class Spans(NamedTuple):
    """Texts cut into spans, which no n-gram crosses: padded words, or whole texts."""

    characters: np.ndarray  # (n,) uint32, code points
    # (n,) int32: length of the longest n-gram that begins at each, 0 if none. Below 0, the span is shorter than the
    # shortest n-gram, and its characters are one of that length.
    reach: np.ndarray
    ptr: np.ndarray  # (n_texts + 1,) int64: offset of each text in the characters
    token_ptr: np.ndarray  # (n_texts + 1,) int64: offset of each text in its n-grams


def cut_to_spans(texts: Sequence[str], analyzer: CharacterNgrams) -> Spans:
    """Return texts cut into spans; a TypeError if one is not a string."""
    lowered = list(map(str.lower, texts)) if analyzer.lowercase else texts
    if analyzer.words:  # which are composed too
        lowered = list(map(compose, lowered))
    text = np.frombuffer("".join(lowered).encode("utf-32-le", "surrogatepass"), "<u4")
    ptr = offsets(np.fromiter(map(len, lowered), np.int64, len(lowered)))
    # Of a word of one letter and the space behind it, three characters are left.
    size = len(text) + len(text) // 2 + 2 * len(texts)
    spans = Spans(np.empty(size, np.uint32), np.empty(size, np.int32), np.empty_like(ptr), np.empty_like(ptr))
    lengths = Lengths(*analyzer.ngram_range)
    if analyzer.analyzer == "char_wb":
        before, after = map(ord, analyzer.ends)
        n = _cut_words(text, ptr, _spaces(), lengths, np.uint32(before), np.uint32(after), spans)
    else:
        n = _cut_texts(text, ptr, _spaces(), lengths, spans)
    return spans._replace(characters=spans.characters[:n], reach=spans.reach[:n])


@functools.cache
def _spaces() -> np.ndarray:
    r"""Return which characters are white space (``\s``), (_LAST_SPACE + 2,) bool; no later one is."""
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 2)])


@njit(**INLINE_LLVM)
def _mark_span(reach, start, end, shortest, longest, keeps_short):
    """Write how far the n-grams of a span reach; returns the number of n-grams."""
    n = end - start
    is_whole = keeps_short and n < shortest
    n_tokens = np.int64(is_whole)
    for i in range(start, end):
        longest_here = min(longest, end - i)
        reach[i] = 0
        if longest_here >= shortest:
            reach[i] = longest_here
            n_tokens += longest_here - shortest + 1
    if is_whole:
        reach[start] = -n
    return n_tokens


@njit(**INLINE_LLVM)
def reach_at(reach, i, shortest):
    """Characters of the longest and of the shortest n-gram that begin at a character."""
    n = np.int64(reach[i])
    return (n, shortest) if n >= 0 else (-n, -n)


@lean_kernel
def _cut_texts(text, text_ptr, is_space, lengths, spans):
    """Fill `spans` with texts in which two or more white spaces are one space; returns the number of characters."""
    characters, reach, ptr, token_ptr = spans
    n = n_tokens = np.int64(0)
    ptr[0] = token_ptr[0] = 0
    for row in range(text_ptr.shape[0] - 1):
        start, at, end = n, text_ptr[row], text_ptr[row + 1]
        while at < end:
            characters[n] = text[at]
            at += 1
            if is_space[min(text[at - 1], is_space.shape[0] - 1)]:
                first = at
                while at < end and is_space[min(text[at], is_space.shape[0] - 1)]:
                    at += 1
                if at > first:
                    characters[n] = _SPACE
            n += 1
        n_tokens += _mark_span(reach, start, n, lengths.shortest, lengths.longest, False)
        ptr[row + 1], token_ptr[row + 1] = n, n_tokens
    return n


@lean_kernel
def _cut_words(text, text_ptr, is_space, lengths, before, after, spans):
    """Fill `spans` with the words between white space, each between two characters; returns how many characters."""
    characters, reach, ptr, token_ptr = spans
    n = n_tokens = np.int64(0)
    ptr[0] = token_ptr[0] = 0
    for row in range(text_ptr.shape[0] - 1):
        at, end = text_ptr[row], text_ptr[row + 1]
        while at < end:
            if is_space[min(text[at], is_space.shape[0] - 1)]:
                at += 1
                continue
            start = n
            characters[n] = before
            n += 1
            while at < end and not is_space[min(text[at], is_space.shape[0] - 1)]:
                characters[n] = text[at]
                n += 1
                at += 1
            characters[n] = after
            n += 1
            n_tokens += _mark_span(reach, start, n, lengths.shortest, lengths.longest, True)
        ptr[row + 1], token_ptr[row + 1] = n, n_tokens
    return n
