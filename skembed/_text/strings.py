"""Sentences from Python strings to one text in UTF-8.

Compiled code reads the characters out of CPython's memory: 45 ns a sentence of 92 characters, of the 370 ns from there
to ids. `str.encode` for each sentence takes 150 ns.
"""

import sys
import sysconfig
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .._compiled.compile import LEAN, kernel, lean_kernel
from .batches import PADDING
from .utf8 import encode_character

_LINE_FEED = 10
_NO_STRING = -1


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
    """Address of the characters of a string, their number, the bytes of each, and whether all are ASCII."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        unpacked = python.string_as_string_size_and_kind(builder.inttoptr(args[0], python.pyobj))
        _, characters, length, kind, is_ascii, _ = unpacked
        integer = args[0].type
        values = [builder.ptrtoint(characters, integer), length, *(builder.zext(n, integer) for n in (kind, is_ascii))]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.intp, 4)(types.intp), codegen


@intrinsic
def _copy(typingctx, data, index, address, n):
    """Copy bytes from an address to ``data[index : index + n]``."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        target = cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]], wraparound=False)
        cgutils.raw_memcpy(builder, target, builder.inttoptr(args[2], target.type), args[3], 1)
        return context.get_dummy_value()

    return types.void(data, types.intp, types.intp, types.intp), codegen


def _load(width):
    """Make a function that loads an unsigned integer of ``width`` bytes from an address, aligned or not."""

    @intrinsic
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            integer = ir.IntType(8 * width)
            loaded = builder.load(builder.inttoptr(args[0], integer.as_pointer()), align=1)
            return builder.zext(loaded, ir.IntType(64))

        return types.int64(types.intp), codegen

    return load


_load_1, _load_2, _load_4 = map(_load, (1, 2, 4))


def _find_characters(sentences, string_type, addresses, lengths, widths):
    """Find the characters of strings; returns the bytes that they need in UTF-8 at most, or _NO_STRING.

    ``sentences`` and ``string_type`` are the addresses of a list and of `str`, the type that all its items must have
    ``addresses``, ``lengths`` int64 and ``widths`` uint8, each (n_sentences,): address and number of
    characters of each, and bytes of a character, 0 if all are ASCII
    """
    n_bytes = 0
    for i in range(addresses.shape[0]):
        item, item_type = _item(sentences, i)
        if item_type != string_type:
            return _NO_STRING
        addresses[i], lengths[i], width, is_ascii = _characters(item)
        if addresses[i] == 0:
            return _NO_STRING
        widths[i] = 0 if is_ascii else width
        n_bytes += lengths[i] * (1 if is_ascii else min(width + 1, 4))
    return n_bytes


# With the interpreter's lock, because the string functions of Python need it.
_find_characters = kernel(_find_characters, {**LEAN, "nogil": False})


@lean_kernel
def _join(addresses, lengths, widths, data, ends):
    """Write strings in UTF-8, each followed by a line feed; returns the number of bytes.

    ``addresses``, ``lengths`` and ``widths`` as in `_find_characters`
    ``data`` uint8, and ``ends`` (n_sentences,) int64, the offsets of the line feeds, are written
    """
    at = 0
    for i in range(addresses.shape[0]):
        start, n, width = addresses[i], lengths[i], widths[i]
        if width == 0:
            _copy(data, at, start, n)
            at += n
        for j in range(n if width else 0):
            if width == 1:
                code = _load_1(start + j)
            elif width == 2:
                code = _load_2(start + 2 * j)
            else:
                code = _load_4(start + 4 * j)
            at += encode_character(code, data, at)
        data[at] = _LINE_FEED
        ends[i] = at
        at += 1
    return at


class Buffer:
    """Memory for one text after the other, or for their ids: fresh memory is slow."""

    most = 1 << 23  # elements that are kept

    def __init__(self, dtype: type) -> None:
        self._memory: np.ndarray = np.empty(0, dtype)

    def take(self, size: int) -> np.ndarray:
        """Return an array of this size; the array that was taken before is overwritten."""
        if size > self.most:
            return np.empty(size, self._memory.dtype)
        if size > len(self._memory):
            self._memory = np.empty(size + size // 4, self._memory.dtype)
        return self._memory[:size]


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
    encoded = [str.encode(sentence, "utf-8", "surrogatepass") for sentence in sentences]
    data = np.frombuffer(bytearray(b"\n".join([*encoded, PADDING])), np.uint8)
    return data, np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1


def copy_strings(sentences: list[Any], buffer: Buffer) -> tuple[np.ndarray, np.ndarray]:
    """Do what :func:`join_strings` does, and read the strings in CPython's memory."""
    n = len(sentences)
    addresses, lengths, ends = np.empty((3, n), np.int64)
    widths = np.empty(n, np.uint8)
    n_bytes = _find_characters(id(sentences), id(str), addresses, lengths, widths)
    if n_bytes == _NO_STRING:  # an item may be of a type derived from str
        return encode_strings(sentences)
    data = buffer.take(n_bytes + n + len(PADDING))
    n_bytes = _join(addresses, lengths, widths, data, ends)
    data[n_bytes : n_bytes + len(PADDING)] = _LINE_FEED
    return data[: n_bytes + len(PADDING)], ends


_KINDS = ["plain", "latin \u00e9", "\u20ac two bytes", "\U0001f600 four", "\ud800", "", "long " * 1000, "a\n\x00b"]
# As constants, and as strings that Python has just made.
_KINDS += ["".join([kind, "x"]) for kind in _KINDS]


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
        copied = copy_strings(_KINDS, Buffer(np.uint8))
    except Exception:  # whatever a wrong layout leads to
        return False
    return all(map(np.array_equal, copied, encode_strings(_KINDS)))


COPIES = not config.DISABLE_JIT and is_tested() and copies_well()
