"""N-grams of characters that share rows by hashing, with the hash of fastText's models: their numbers as tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .character_ngrams import CharacterNgrams
from .character_spans import Lengths, Spans, reach_at
from .sources import encode_words
from .utf8 import utf8

# FNV-1a with 64 bits, of which 32 are kept: numba would widen a product of 32 bits too.
FNV_OFFSET = np.uint64(2166136261)
_FNV_PRIME, _LOW_BITS, _SIGN = np.uint64(16777619), np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFF00)
_BYTE, _U7, _U8 = np.uint64(0xFF), np.uint64(7), np.uint64(8)


@njit(**INLINE_LLVM)
def hash_byte(hashed, byte):
    """The hash with one more byte, uint64; those from 128 on are extended by their sign."""
    return ((hashed ^ (byte | _SIGN * (byte >> _U7))) * _FNV_PRIME) & _LOW_BITS


@lean_kernel
def hash_ngrams(spans, lengths, n_buckets, tokens):
    """Write the rows of all n-grams in the order of the text."""
    characters, reach, _, _ = spans
    n_tokens = np.int64(0)
    for i in range(characters.shape[0]):
        n, least = reach_at(reach, i, lengths.shortest)
        hashed = FNV_OFFSET
        for k in range(n):
            encoded, n_bytes = utf8(np.int64(characters[i + k]))
            for _ in range(n_bytes):
                hashed = hash_byte(hashed, encoded & _BYTE)
                encoded >>= _U8
            if k + 1 >= least:
                tokens[n_tokens] = np.int32(hashed % np.uint64(n_buckets))
                n_tokens += 1


class SharedRows:
    """The rows that n-grams share, as numbers of nodes; takes the place of a trie, and does not grow."""

    def __init__(self, analyzer: CharacterNgrams) -> None:
        self._analyzer, self._lengths = analyzer, Lengths(*analyzer.ngram_range)
        self.n_nodes = int(analyzer.n_buckets or 0)

    def read(self, spans: Spans) -> np.ndarray:
        """Return the rows of all n-grams of some texts, int32."""
        tokens = np.empty(spans.token_ptr[-1], np.int32)
        hash_ngrams(spans, self._lengths, np.int64(self.n_nodes), tokens)
        return tokens

    def nodes_of(self, names: Sequence[str]) -> np.ndarray:
        """Return the row that each token names; a ValueError if one names none."""
        found = [_NAME.fullmatch(name) for name in names]
        rows = np.fromiter((int(name[1]) if name else self.n_nodes for name in found), np.int64, len(names))
        if (wrong := np.flatnonzero(rows >= self.n_nodes)).size:
            raise ValueError(f"{names[wrong[0]]!r:.60} is none of the {self.n_nodes} rows of n-grams of characters.")
        return rows

    def packed(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the names of some rows as :func:`~skembed._text.sources.encode_words` packs words."""
        return encode_words([self._analyzer.name_of_row(row) for row in nodes.tolist()])

    def distinct(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct rows among some, and the position of each among them."""
        return np.unique(nodes, return_inverse=True)


_NAME = re.compile("~?#([0-9]{1,9})", re.ASCII)
