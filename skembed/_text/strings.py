"""Python strings to one text in UTF-8.

Compiled code copies the characters from CPython's memory, whose layout numba's C functions know. With `str.join` and
`str.encode` instead, a corpus from a list takes 1.25 times as long, and `transform` of strings 1.1 to 1.17 times. Where
the interpreter was not tested, or the check at the first use fails, `str.encode` does it.
"""

import functools
import sys
import sysconfig
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic as numba_intrinsic

from .._compiled.compile import LEAN, kernel, lean_kernel
from .._compiled.intrinsic import ARRAY, intrinsic, item_pointer, no_operation
from .._compiled.simd import prefetch_address
from .batches import PADDING, Buffer, Text
from .utf8 import encode_character, store_bytes

_LINE_FEED = 10
_NO_STRING = -1
_AHEAD = 16  # how many items ahead strings are prefetched
_CACHE_LINE = 64
_U0, _U8, _U16 = (np.uint64(n) for n in (0, 8, 16))
# Bits of eight characters of one byte, or four of two, none of which an ASCII character has.
_NOT_ASCII_1, _NOT_ASCII_2 = np.uint64(0x8080808080808080), np.uint64(0xFF80FF80FF80FF80)
_PAIRS = np.uint64(0x0000FFFF0000FFFF)


@numba_intrinsic
def _item(typingctx, items, index):
    """Address of an item of a list, which is given by its address."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        return builder.ptrtoint(python.list_getitem(builder.inttoptr(args[0], python.pyobj), args[1]), args[0].type)

    return types.intp(types.intp, types.intp), codegen


@numba_intrinsic
def _type_of(typingctx, item):
    """Address of the type of an object."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        return builder.ptrtoint(python.get_type(builder.inttoptr(args[0], python.pyobj)), args[0].type)

    return types.intp(types.intp), codegen


@numba_intrinsic
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


@intrinsic(types.void, ARRAY, types.intp, types.intp, types.intp, python=no_operation)
def _copy(builder, data, index, address, n):
    """Copy ``n`` bytes from an address to ``data[index : index + n]``."""
    target = item_pointer(builder, data, index)
    cgutils.raw_memcpy(builder, target, builder.inttoptr(address, target.type), n, 1)


def _integer_loader(width):
    """Make a function that loads an unsigned integer of ``width`` bytes from an address, aligned or not."""

    @intrinsic(types.uint64 if width == 8 else types.int64, types.intp, python=no_operation)
    def load(builder, address):
        integer = ir.IntType(8 * width)
        loaded = builder.load(builder.inttoptr(address, integer.as_pointer()), align=1)
        return loaded if width == 8 else builder.zext(loaded, ir.IntType(64))

    return load


_load_1, _load_2, _load_4, _load_8 = map(_integer_loader, (1, 2, 4, 8))


def _find_characters(sentences, string_type, addresses, lengths, widths):
    """Find the characters of strings; returns the bytes that they need in UTF-8 at most, or _NO_STRING.

    ``sentences`` and ``string_type`` are the addresses of a list and of `str`, the type that all its items must have
    ``addresses``, ``lengths`` int64 and ``widths`` uint8, each (n_sentences,): address and number of
    characters of each, and bytes of a character, 0 if all are ASCII
    """
    n_bytes = 0
    for i in range(addresses.shape[0]):
        if i + _AHEAD < addresses.shape[0]:
            ahead = _item(sentences, i + _AHEAD)
            prefetch_address(ahead)
            prefetch_address(ahead + _CACHE_LINE)
        item = _item(sentences, i)
        if _type_of(item) != string_type:
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
        j = 0
        while j < n and width:
            # Most characters of most strings are ASCII: eight, or four, at a time.
            if width == 1:
                bits = _load_8(start + j) if j + 8 <= n else _NOT_ASCII_1
                if bits & _NOT_ASCII_1 == _U0:
                    store_bytes(data, at, bits)
                    j, at = j + 8, at + 8
                    continue
                code = _load_1(start + j)
            elif width == 2:
                bits = _load_8(start + 2 * j) if j + 4 <= n else _NOT_ASCII_2
                if bits & _NOT_ASCII_2 == _U0:
                    bits = (bits | (bits >> _U8)) & _PAIRS
                    store_bytes(data, at, bits | (bits >> _U16))
                    j, at = j + 4, at + 4
                    continue
                code = _load_2(start + 2 * j)
            else:
                code = _load_4(start + 4 * j)
            at += encode_character(code, data, at)
            j += 1
        data[at] = _LINE_FEED
        ends[i] = at
        at += 1
    return at


def join_strings(sentences: list[Any], buffer: Buffer) -> tuple[Text, np.ndarray]:
    """Return strings as a text, and the offsets of the line feeds after them; TypeError if an item is not a string.

    No other thread may change the list meanwhile. Lone surrogates, which UTF-8 does not allow, become three bytes.
    """
    if len(sentences) < _FEW:  # not worth compiling for
        return encode_strings(sentences)
    return copy_strings(sentences, buffer) if can_copy() else encode_strings(sentences)


def encode_strings(sentences: list[Any]) -> tuple[Text, np.ndarray]:
    """Do what :func:`join_strings` does with `str.encode` alone."""
    encoded = [str.encode(sentence, "utf-8", "surrogatepass") for sentence in sentences]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1
    return Text(np.frombuffer(b"\n".join([*encoded, PADDING]), np.uint8)), ends


def copy_strings(sentences: list[Any], buffer: Buffer) -> tuple[Text, np.ndarray]:
    """Do what :func:`join_strings` does with the strings in CPython's memory; the text is in the buffer."""
    n = len(sentences)
    addresses, lengths, ends = np.empty((3, n), np.int64)
    widths = np.empty(n, np.uint8)
    n_bytes = _find_characters(id(sentences), id(str), addresses, lengths, widths)
    if n_bytes == _NO_STRING:  # an item may be of a type derived from str
        return encode_strings(sentences)
    data = buffer.take(n_bytes + n + len(PADDING), np.uint8)
    n_bytes = _join(addresses, lengths, widths, data, ends)
    data = data[: n_bytes + len(PADDING)]
    data[n_bytes:] = _LINE_FEED
    data.flags.writeable = False
    return Text(data), ends


_FEW = 200  # sentences: to encode them in Python takes less than 0.1 ms longer
TESTED = (3, 11), (3, 12), (3, 13)
_KINDS = ["plain", "eight letters, \u00e9", "eight letters, \u20ac", "\U0001f600 four", "\ud800", ""]
_KINDS += ["long " * 1000, "a\n\x00b"]
# As constants, some of which are interned, and as strings that Python has just made.
_KINDS += ["".join([kind, "x"]) for kind in _KINDS]


@functools.cache
def can_copy() -> bool:
    """Whether compiled code may copy strings; found out at the first use, since to compile would slow every import."""
    return not config.DISABLE_JIT and is_tested() and copies_well()


def is_tested() -> bool:
    """Whether tests read strings on such an interpreter: CPython of 64 bits with its lock, no debug build."""
    return (
        sys.implementation.name == "cpython"
        and sys.version_info[:2] in TESTED
        and sys.maxsize > 2**32
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and not hasattr(sys, "gettotalrefcount")  # built with Py_REF_DEBUG
        and not hasattr(sys, "getobjects")  # built with Py_TRACE_REFS
    )


def copies_well() -> bool:
    """Whether compiled code copies what `str.encode` gives, for strings of each kind in memory."""
    expected = encode_strings(_KINDS)
    try:
        copied = copy_strings(_KINDS, Buffer())
    except Exception:  # a wrong layout may raise anything
        return False
    return np.array_equal(copied[0].data, expected[0].data) and np.array_equal(copied[1], expected[1])
