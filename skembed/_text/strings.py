"""Compiled reading of Python strings where they lie in memory."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .._compiled.compile import lean_kernel
from .batches import PADDING
from .utf8 import build_prefetch, encode, store_bytes

_N_BEYOND = len(PADDING)
_LINE_FEED = 10
_NO_STRING, _NO_MEMORY = -1, -2
_AHEAD = 16  # strings that are fetched before they are looked at
_HEAD = 40  # about as many bytes stand before the characters of a string; it decides nothing but the speed
# Bits that are not zero if one of eight, or of four, characters is not ASCII.
_ABOVE_8, _ABOVE_16 = np.uint64(0x8080808080808080), np.uint64(0xFF80FF80FF80FF80)
_PAIRS, _FOURS = np.uint64(0x0000FFFF0000FFFF), np.uint64(0x00000000FFFFFFFF)


@intrinsic
def _item(typingctx, items, index):
    """Address of an item of a list, and of the item's type; the list is given by its address."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        item = python.list_getitem(builder.inttoptr(args[0], python.pyobj), args[1])
        found = [builder.ptrtoint(pointer, args[0].type) for pointer in (item, python.get_type(item))]
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(types.intp, 2)(types.intp, types.intp), codegen


@intrinsic
def _fetch_item(typingctx, items, index):
    """Ask for the memory of an item of a list, which will be read soon: what a string is, and its first characters."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        item = python.list_getitem(builder.inttoptr(args[0], python.pyobj), args[1])
        for line in (_HEAD, _HEAD + 64):
            build_prefetch(builder, item, line)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), codegen


@intrinsic
def _string(typingctx, item):
    """Where the characters of a string lie, how many they are, their width in bytes, and whether all are ASCII."""

    def codegen(context, builder, signature, args):
        python = context.get_python_api(builder)
        found = python.string_as_string_size_and_kind(builder.inttoptr(args[0], python.pyobj))
        _, characters, length, kind, is_ascii, _ = found
        number = args[0].type
        numbers = [builder.ptrtoint(characters, number), length, *(builder.zext(n, number) for n in (kind, is_ascii))]
        return context.make_tuple(builder, signature.return_type, numbers)

    return types.UniTuple(types.intp, 4)(types.intp), codegen


@intrinsic
def _copy(typingctx, data, at, address, n):
    """Copy bytes from an address to ``data[at:at + n]``."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        target = cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]], wraparound=False)
        cgutils.raw_memcpy(builder, target, builder.inttoptr(args[2], target.type), args[3], 1)
        return context.get_dummy_value()

    return types.void(data, types.intp, types.intp, types.intp), codegen


def _load(width):
    """Make a function that gives the number of so many bytes at an address, which may be any."""

    @intrinsic
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            number = ir.IntType(8 * width)
            loaded = builder.load(builder.inttoptr(args[0], number.as_pointer()), align=1)
            return loaded if width == 8 else builder.zext(loaded, ir.IntType(64))

        return types.uint64(types.intp), codegen

    return load


_load_1, _load_2, _load_4, _load_8 = map(_load, (1, 2, 4, 8))


@lean_kernel
def _find(sentences, string_type, where, lengths, widths):
    """Find the characters of strings; returns how many bytes they are in UTF-8 at most, _NO_STRING or _NO_MEMORY.

    ``sentences`` and ``string_type`` are the addresses of a list and of the type that all its items must have
    ``where``, ``lengths`` int64 and ``widths`` uint8, each (n_sentences,): addresses, numbers of characters, and bytes
    of each, 0 if all are ASCII
    """
    n_bytes = 0
    for i in range(where.shape[0]):
        if i + _AHEAD < where.shape[0]:
            _fetch_item(sentences, i + _AHEAD)
        item, its_type = _item(sentences, i)
        if its_type != string_type:
            return _NO_STRING
        where[i], lengths[i], width, is_ascii = _string(item)
        if where[i] == 0:
            return _NO_MEMORY
        widths[i] = 0 if is_ascii else width
        n_bytes += lengths[i] * (1 if is_ascii else min(width + 1, 4))
    return n_bytes


@lean_kernel
def _join(where, lengths, widths, data, ends):
    """Write strings in UTF-8, each followed by a line feed, then _N_BEYOND more; returns the bytes without these.

    ``where``, ``lengths`` and ``widths`` as in `_find`
    ``data`` uint8, and ``ends`` (n_sentences,) int64, the places of the line feeds, are written
    """
    at = 0
    for i in range(where.shape[0]):
        start, n, width = where[i], lengths[i], widths[i]
        if width == 0:
            _copy(data, at, start, n)
            at += n
        else:
            j = 0
            while j < n:
                # Most characters of most strings are ASCII: some at a time.
                if width == 1:
                    if j + 8 <= n:
                        bits = _load_8(start + j)
                        if bits & _ABOVE_8 == np.uint64(0):
                            store_bytes(data, at, bits)
                            j, at = j + 8, at + 8
                            continue
                    code = _load_1(start + j)
                elif width == 2:
                    if j + 4 <= n:
                        bits = _load_8(start + 2 * j)
                        if bits & _ABOVE_16 == np.uint64(0):
                            bits = (bits | (bits >> np.uint64(8))) & _PAIRS
                            store_bytes(data, at, (bits | (bits >> np.uint64(16))) & _FOURS)
                            j, at = j + 4, at + 4
                            continue
                    code = _load_2(start + 2 * j)
                else:
                    code = _load_4(start + 4 * j)
                at += encode(np.int64(code), data, at)
                j += 1
        data[at] = _LINE_FEED
        ends[i] = at
        at += 1
    for i in range(at, at + _N_BEYOND):
        data[i] = _LINE_FEED
    return at


class Room:
    """Memory for one text after the other: fresh memory is slow."""

    most = 1 << 23  # bytes that are kept

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def take(self, n_bytes: int) -> np.ndarray:
        """Return so many bytes; what was taken before is free again."""
        if n_bytes > self.most:
            return np.empty(n_bytes, np.uint8)
        if n_bytes > len(self._bytes):
            self._bytes = np.empty(n_bytes + n_bytes // 4, np.uint8)
        return self._bytes[:n_bytes]


def join_strings(sentences: list[Any], room: Room) -> tuple[np.ndarray, np.ndarray]:
    """Return strings in UTF-8, each followed by a line feed, with some more after all, and the places of the former.

    Lone surrogates, which UTF-8 does not allow, become three bytes.

    Parameters
    ----------
    sentences : list
        Nobody else may change it meanwhile: it keeps the strings alive while compiled code reads them without the
        interpreter's lock. They cannot change, and nothing is done to them but to read.
    room : Room
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
    n = len(sentences)
    where, lengths, ends = np.empty((3, n), np.int64)
    widths = np.empty(n, np.uint8)
    most = _find(id(sentences), id(str), where, lengths, widths)
    if most == _NO_STRING:
        sentences = [str.__str__(sentence) for sentence in sentences]  # some may be of a type derived from str
        most = _find(id(sentences), id(str), where, lengths, widths)
    if most < 0:
        raise MemoryError("Python has no memory for a string in its final form.")
    data = room.take(most + n + _N_BEYOND)
    return data[: _join(where, lengths, widths, data, ends) + _N_BEYOND], ends


if config.DISABLE_JIT:

    def join_strings(sentences: list[Any], room: Room) -> tuple[np.ndarray, np.ndarray]:  # noqa: F811
        encoded = [str.encode(sentence, "utf-8", "surrogatepass") + b"\n" for sentence in sentences]
        data = np.frombuffer(bytearray(b"".join([*encoded, b"\n" * _N_BEYOND])), np.uint8)
        return data, np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded))) - 1
