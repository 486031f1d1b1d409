"""Compiled work on bytes: many at a time, and UTF-8."""

import numpy as np
from llvmlite import ir
from numba import njit, types

from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT, lean_kernel
from .._compiled.simd import ARRAY, intrinsic, item_pointer
from .sources import IN_CONTEXT

NOT_UTF8, SURROGATE, CONTEXT = 1, 2, 4  # faults of a character; CONTEXT: only Python can lower it
_CAPITAL_SIGMA, _SIGMA = 0x3A3, 0x3C3
_LINE_FEED = 10
_VECTOR, _EIGHT_BYTES = ir.VectorType(ir.IntType(8), 64), ir.IntType(64)


def _bytes_of(byte):
    return ir.Constant(_VECTOR, [byte] * 64)


def _load_vector(builder, array, index):
    return builder.load(item_pointer(builder, array, index, _VECTOR), align=1)


def _as_bits(mask):
    return np.uint64(int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little"))


def _store_bytes(array, index, bits):
    array[index : index + 8] = np.frombuffer(int(bits).to_bytes(8, "little"), np.uint8)


def _word_mask(array, index):
    vector = array[index : index + 64]
    lower = vector | 32
    return _as_bits((lower >= 97) & (lower <= 122) | (vector >= 48) & (vector <= 57) | (vector > 127) | (vector == 95))


def _fold_product(a, b):
    product = int(a) * int(b)
    return np.uint64((product ^ (product >> 64)) & 0xFFFFFFFFFFFFFFFF)


@intrinsic(
    types.uint64,
    ARRAY,
    types.intp,
    python=lambda array, i: np.uint64(int.from_bytes(array[i : i + 8].tobytes(), "little")),
)
def load_bytes(builder, array, index):
    """The eight bytes from ``array[index]`` on as one uint64, aligned or not."""
    return builder.load(item_pointer(builder, array, index, _EIGHT_BYTES), align=1)


@intrinsic(types.void, ARRAY, types.intp, types.uint64, python=_store_bytes)
def store_bytes(builder, array, index, bits):
    """Write a uint64 to the eight bytes from ``array[index]`` on, aligned or not."""
    builder.store(bits, item_pointer(builder, array, index, _EIGHT_BYTES), align=1)


@intrinsic(types.uint64, ARRAY, types.intp, python=_word_mask)
def word_mask(builder, array, index):
    """One bit for each of the 64 bytes from ``array[index]`` on: whether it is of [0-9A-Za-z_] or above 127."""
    vector = _load_vector(builder, array, index)
    letter = builder.icmp_unsigned(
        "<", builder.sub(builder.or_(vector, _bytes_of(32)), _bytes_of(ord("a"))), _bytes_of(26)
    )
    digit = builder.icmp_unsigned("<", builder.sub(vector, _bytes_of(ord("0"))), _bytes_of(10))
    other = builder.icmp_unsigned(">", vector, _bytes_of(127))
    underscore = builder.icmp_unsigned("==", vector, _bytes_of(ord("_")))
    word = builder.or_(builder.or_(letter, digit), builder.or_(other, underscore))
    return builder.bitcast(word, _EIGHT_BYTES)


@intrinsic(types.uint64, ARRAY, types.intp, python=lambda array, i: _as_bits(array[i : i + 64] == _LINE_FEED))
def line_feed_mask(builder, array, index):
    """One bit for each of the 64 bytes from ``array[index]`` on: whether it is a line feed."""
    is_line_feed = builder.icmp_unsigned("==", _load_vector(builder, array, index), _bytes_of(_LINE_FEED))
    return builder.bitcast(is_line_feed, _EIGHT_BYTES)


@intrinsic(types.intp, types.uint64, python=lambda bits: (int(bits) & -int(bits)).bit_length() - 1 if bits else 64)
def lowest_bit(builder, bits):
    """Position of the lowest set bit of a uint64; 64 if there is none."""
    return builder.cttz(bits, ir.Constant(ir.IntType(1), 0))


@intrinsic(types.uint64, types.uint64, python=lambda bits: np.uint64(int(bits).bit_count()))
def bit_count(builder, bits):
    """Number of set bits of a uint64."""
    return builder.ctpop(bits)


@intrinsic(types.uint64, types.uint64, types.uint64, python=_fold_product)
def fold_product(builder, a, b):
    """The xor of the two halves of the 128-bit product of two uint64: a fast hash."""
    wide = ir.IntType(128)
    product = builder.mul(builder.zext(a, wide), builder.zext(b, wide))
    high = builder.lshr(product, ir.Constant(wide, 64))
    return builder.trunc(builder.xor(product, high), _EIGHT_BYTES)


@njit(**INLINE_LLVM)
def decode_character(text, at):
    """Code point of the character that begins at ``text[at]``, a byte above 127, and its length; or -1 if not UTF-8."""
    first = np.int64(text[at])
    b1, b2, b3 = np.int64(text[at + 1]), np.int64(text[at + 2]), np.int64(text[at + 3])
    code, n = -1, 1
    if 0xC2 <= first < 0xE0:
        if b1 & 0xC0 == 0x80:
            code, n = ((first & 0x1F) << 6) | (b1 & 0x3F), 2
    elif 0xE0 <= first < 0xF0:
        if b1 & 0xC0 == 0x80 and b2 & 0xC0 == 0x80:
            code, n = ((first & 0x0F) << 12) | ((b1 & 0x3F) << 6) | (b2 & 0x3F), 3
            if code < 0x800:
                code = -1
    elif 0xF0 <= first < 0xF5 and b1 & 0xC0 == 0x80 and b2 & 0xC0 == 0x80 and b3 & 0xC0 == 0x80:
        code, n = ((first & 0x07) << 18) | ((b1 & 0x3F) << 12) | ((b2 & 0x3F) << 6) | (b3 & 0x3F), 4
        if code < 0x10000 or code > 0x10FFFF:
            code = -1
    return code, n


@njit(**NO_REFCOUNT)
def _is_small_greek(text, at):
    """Whether a small Greek letter begins at ``text[at]``."""
    first, second = np.int64(text[at]), np.int64(text[at + 1])
    return (first == 0xCE and 0xB1 <= second < 0xC0) or (first == 0xCF and 0x80 <= second < 0x8F)


@njit(**INLINE_LLVM)
def next_lowered(text, at, lowered):
    """What ``lowered`` says of the character at ``text[at]``, or 0 if it is of no word; its length; and its fault."""
    code, size, fault = np.int64(text[at]), 1, 0
    if code >= 0x80:
        code, size = decode_character(text, at)
        if code < 0:
            return 0, size, NOT_UTF8
        if 0xD800 <= code < 0xE000:
            fault = SURROGATE
    if code >= lowered.shape[0]:
        return 0, size, fault
    lower = np.int64(lowered[np.uint64(code)])
    if lower == IN_CONTEXT:
        if code != _CAPITAL_SIGMA or not _is_small_greek(text, at + size):
            return 0, size, CONTEXT
        lower = _SIGMA  # a capital one that does not end its word
    return lower, size, fault


@njit(**INLINE_LLVM)
def utf8(code):
    """The bytes of a character as one uint64, and their number."""
    if code < 0x80:
        return np.uint64(code), 1
    last = 0x80 | (code & 0x3F)
    if code < 0x800:
        return np.uint64(0xC0 | (code >> 6) | (last << 8)), 2
    third = 0x80 | ((code >> 6) & 0x3F)
    if code < 0x10000:
        return np.uint64(0xE0 | (code >> 12) | (third << 8) | (last << 16)), 3
    second = 0x80 | ((code >> 12) & 0x3F)
    return np.uint64(0xF0 | (code >> 18) | (second << 8) | (third << 16) | (last << 24)), 4


@njit(**INLINE_LLVM)
def encode_character(code, arena, at):
    """Write a character to ``arena[at : at + 8]``, zeros after it, and return its length."""
    bits, n = utf8(code)
    store_bytes(arena, at, bits)
    return n


@lean_kernel
def line_feeds(text, n_bytes, ends):
    """Write the offsets of the first ``len(ends)`` line feeds of a text, and return the number of all."""
    found = 0
    for at in range(0, n_bytes, 64):
        bits = line_feed_mask(text, at)
        if n_bytes - at < 64:
            bits &= (np.uint64(1) << np.uint64(n_bytes - at)) - np.uint64(1)
        while bits != np.uint64(0):
            if found < ends.shape[0]:
                ends[found] = at + lowest_bit(bits)
            found += 1
            bits &= bits - np.uint64(1)
    return found


@lean_kernel
def join_slices(data, offsets, text, ends):
    """Copy slices of ``data`` one after the other, each followed by a line feed, and write the offsets of these."""
    at = 0
    for i in range(ends.shape[0]):
        for j in range(offsets[i], offsets[i + 1]):
            text[at] = data[j]
            at += 1
        text[at] = _LINE_FEED
        ends[i] = at
        at += 1
    for i in range(at, text.shape[0]):
        text[i] = _LINE_FEED
