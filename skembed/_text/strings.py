"""Sentences from Python strings to one text in UTF-8.

Compiled code copies the characters of ASCII strings out of CPython's memory: 50 ns a sentence of 92 characters, of the
370 ns that it takes to make it ids, where `str.encode` for each takes 150 ns. Other strings go through `str.encode`.
"""

import sys
import sysconfig
from typing import Any

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .._compiled.compile import LEAN, kernel, lean_kernel
from .batches import PADDING
from .utf8 import build_prefetch

_LINE_FEED = 10
_AHEAD = 16  # strings: this one is prefetched
_HEADER = 40  # about the bytes before the characters of a string; it decides nothing but the speed


@intrinsic
def _prefetch_item(typingctx, items, index):
    """Prefetch the header and the first characters of an item of a list."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        item = python.list_getitem(builder.inttoptr(args[0], python.pyobj), args[1])
        for line in (_HEADER, _HEADER + 64):
            build_prefetch(builder, item, line)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), codegen


@intrinsic
def _item(typingctx, items, index):
    """Address of an item of a list, and of the item's type; the list is given by its address."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        item = python.list_getitem(builder.inttoptr(args[0], python.pyobj), args[1])
        addresses = [builder.ptrtoint(pointer, args[0].type) for pointer in (item, python.get_type(item))]
        return context.make_tuple(builder, signature.return_type, addresses)

    return types.UniTuple(types.intp, 2)(types.intp, types.intp), codegen


@intrinsic
def _characters(typingctx, item):
    """Address of the characters of a string, their number, and whether all are ASCII."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        found = python.string_as_string_size_and_kind(builder.inttoptr(args[0], python.pyobj))
        _, characters, length, _, is_ascii, _ = found
        integer = args[0].type
        values = [builder.ptrtoint(characters, integer), length, builder.zext(is_ascii, integer)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.intp, 3)(types.intp), codegen


@intrinsic
def _copy(typingctx, data, index, address, n):
    """Copy bytes from an address to ``data[index : index + n]``."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        target = cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]], wraparound=False)
        cgutils.raw_memcpy(builder, target, builder.inttoptr(args[2], target.type), args[3], 1)
        return context.get_dummy_value()

    return types.void(data, types.intp, types.intp, types.intp), codegen


def _find_ascii(sentences, string_type, addresses, sizes):
    """Find the characters of the ASCII strings of a list; the size of any other item is -1.

    ``sentences`` and ``string_type`` are the addresses of the list and of `str`
    ``addresses`` and ``sizes`` (n_sentences,) int64, in bytes, are written
    """
    n = addresses.shape[0]
    for i in range(n):
        if i + _AHEAD < n:
            _prefetch_item(sentences, i + _AHEAD)
        item, item_type = _item(sentences, i)
        sizes[i] = -1
        if item_type == string_type:
            addresses[i], size, is_ascii = _characters(item)
            if is_ascii and addresses[i] != 0:
                sizes[i] = size


# With the interpreter's lock, because the string functions of Python need it.
_find_ascii = kernel(_find_ascii, {**LEAN, "nogil": False})


@lean_kernel
def _copy_all(addresses, sizes, data, ends):
    """Copy bytes one after the other, each followed by a line feed; ``ends``, the offsets of these, are written."""
    at = 0
    for i in range(addresses.shape[0]):
        _copy(data, at, addresses[i], sizes[i])
        at += sizes[i]
        data[at] = _LINE_FEED
        ends[i] = at
        at += 1


class Buffer:
    """Memory for one text after the other: fresh memory is slow."""

    most = 1 << 23  # bytes that are kept

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def take(self, n_bytes: int) -> np.ndarray:
        """Return this many bytes; what was taken before is free again."""
        if n_bytes > self.most:
            return np.empty(n_bytes, np.uint8)
        if n_bytes > len(self._bytes):
            self._bytes = np.empty(n_bytes + n_bytes // 4, np.uint8)
        return self._bytes[:n_bytes]


def join_strings(sentences: list[Any], buffer: Buffer) -> tuple[np.ndarray, np.ndarray]:
    """Return strings in UTF-8, each followed by a line feed, then PADDING; and the offsets of the line feeds.

    Lone surrogates, which UTF-8 does not allow, become three bytes.

    Parameters
    ----------
    sentences : list
        No other thread may change it meanwhile: it keeps the strings alive.
    buffer : Buffer
        For the text.

    Returns
    -------
    data : ndarray of shape (n_bytes + len(PADDING),), dtype uint8
    ends : ndarray of shape (n_sentences,), dtype int64

    Raises
    ------
    TypeError
        If an item is not a string.
    """
    return copy_strings(sentences, buffer) if COPIES else encode_strings(sentences)


def encode_strings(sentences: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Do what :func:`join_strings` does with `str.encode` alone."""
    encoded = list(map(_encode, sentences))
    data = np.frombuffer(bytearray(b"\n".join([*encoded, PADDING])), np.uint8)
    return data, np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1


def copy_strings(sentences: list[Any], buffer: Buffer) -> tuple[np.ndarray, np.ndarray]:
    """Do what :func:`join_strings` does, and copy ASCII strings out of CPython's memory."""
    n = len(sentences)
    addresses, sizes, ends = np.empty((3, n), np.int64)
    _find_ascii(id(sentences), id(str), addresses, sizes)
    others = np.flatnonzero(sizes < 0)
    if len(others):
        encoded = [_encode(sentences[i]) for i in others.tolist()]
        sizes[others] = sizes_of_others = np.fromiter(map(len, encoded), np.int64, len(encoded))
        joined = np.frombuffer(b"".join([*encoded, b"\n"]), np.uint8)
        addresses[others] = joined.ctypes.data + np.cumsum(sizes_of_others) - sizes_of_others
    n_bytes = int(sizes.sum()) + n
    data = buffer.take(n_bytes + len(PADDING))
    _copy_all(addresses, sizes, data, ends)
    data[n_bytes:] = _LINE_FEED
    return data, ends


def _encode(sentence: str) -> bytes:
    return str.encode(sentence, "utf-8", "surrogatepass")


class _Derived(str):
    __slots__ = ()


_KINDS = ["plain", "latin \u00e9", "\u20ac two bytes", "\U0001f600 four", "\ud800", "", "long " * 1000, "a\n\x00b"]
# As constants and as strings that Python has just made, and of a derived type.
_KINDS += [*("".join([kind, "x"]) for kind in _KINDS), _Derived("derived")]


def is_tested() -> bool:
    """Whether tests read strings on such an interpreter: CPython 3.11 to 3.14 with its lock, no debug build."""
    return (
        sys.implementation.name == "cpython"
        and (3, 11) <= sys.version_info[:2] <= (3, 14)
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and not hasattr(sys, "gettotalrefcount")  # built with Py_REF_DEBUG
        and not hasattr(sys, "getobjects")  # built with Py_TRACE_REFS
    )


def copies_well() -> bool:
    """Whether compiled code copies what `str.encode` gives, for strings of each kind in memory."""
    try:
        copied = copy_strings(_KINDS, Buffer())
    except Exception:  # whatever a wrong layout leads to
        return False
    return all(map(np.array_equal, copied, encode_strings(_KINDS)))


COPIES = not config.DISABLE_JIT and is_tested() and copies_well()
