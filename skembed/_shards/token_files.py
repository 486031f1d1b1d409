"""Token ids in files that workers open where they lie, so that they need not be sent."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._corpus.storage import CORPUS

LARGE = 1 << 20  # bytes, from which on arrays travel as files
_DTYPE = np.dtype("<i4")  # on all machines, as a corpus is saved
_N_SAMPLES, _SAMPLE = 16, 1024  # number of samples that are compared, and tokens in each


class TokensNotFoundError(OSError):
    """A worker has no such file, or one with other token ids."""


class TokenFile(NamedTuple):
    """Token ids in a file, as they travel to a worker that can read it."""

    path: str
    offset: int  # bytes
    n_tokens: int
    digest: bytes  # of samples, and of the header of the corpus: a worker may have another file of this name

    def is_here(self) -> bool:
        """Whether this process can read them."""
        try:
            self.open()
        except TokensNotFoundError:
            return False
        return True

    def open(self) -> np.ndarray:
        """Map them into memory."""
        try:
            if not os.path.isfile(self.path):
                raise FileNotFoundError("there is no such file")
            tokens = np.memmap(self.path, _DTYPE, "r", self.offset, (self.n_tokens,))
            digest = _digest(tokens, self.path)
        except (OSError, ValueError) as error:  # a shorter file is a ValueError
            raise TokensNotFoundError(f"{self.path} cannot be read: {error}") from error
        if digest != self.digest:
            raise TokensNotFoundError(f"{self.path} or {CORPUS.header} beside it differs from that of the fit")
        return tokens


class TokenSpans(NamedTuple):
    """Spans of the token ids in a file."""

    file: TokenFile
    starts: np.ndarray  # (n_spans,) int64
    ends: np.ndarray  # (n_spans,) int64

    def read(self) -> np.ndarray:
        """Their token ids, one span after the other."""
        return cut_spans(self.file.open(), self.starts, self.ends)


def cut_spans(tokens: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """A copy of spans, one after the other, (n_tokens,) int32."""
    return np.concatenate([tokens[a:b] for a, b in zip(starts.tolist(), ends.tolist())], dtype=np.int32)


def file_of(tokens: np.ndarray) -> TokenFile | None:
    """The file that token ids are mapped from; None if there is none, or if there are few of them."""
    mapped = memory_map_of(tokens)
    if mapped is None or mapped.filename is None or mapped.mode == "c":  # a map of this mode may differ from its file
        return None
    if tokens.dtype != _DTYPE or not tokens.flags.c_contiguous or tokens.nbytes < LARGE:
        return None
    path, offset = os.fspath(mapped.filename), mapped.offset + tokens.ctypes.data - mapped.ctypes.data
    try:
        return TokenFile(path, offset, len(tokens), _digest(tokens, path))
    except OSError:  # of a header that cannot be read
        return None


def memory_map_of(array: np.ndarray) -> np.memmap | None:
    """The memory map that an array is a view of; None if there is none, or if its file has no name."""
    found: np.memmap | None = None
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.filename is not None:
            found = base
        base = base.base
    return found


def _digest(tokens: np.ndarray, path: str) -> bytes:
    starts = np.linspace(0, max(0, len(tokens) - _SAMPLE), _N_SAMPLES).astype(np.int64)
    samples = [tokens[start : start + _SAMPLE].tobytes() for start in starts.tolist()]
    header = Path(path).with_name(CORPUS.header)  # which has a digest of all tokens
    samples += [header.read_bytes()] if header.is_file() else []
    return hashlib.blake2b(b"".join(samples), digest_size=16).digest()
