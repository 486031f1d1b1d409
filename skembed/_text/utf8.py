"""Compiled work on bytes: many at a time, and UTF-8."""

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .._compiled.compile import INLINE, LEAN, lean_kernel

NOT_UTF8, SURROGATE, CONTEXT = 1, 2, 4  # faults of a character; CONTEXT: only Python can lower it
ENDS = 8  # no fault: a word ends after the character
IN_CONTEXT = 0xFFFFFFFF  # instead of a lowered character that is two characters, or depends on those around
_DOTTED_I, _SMALL_I, _SIGMA = 0x130, 0x69, 0x3C3
_LINE_FEED = 10
_BLOCK = ir.VectorType(ir.IntType(8), 64)


def _pointer(context, builder, signature, args):
    """Address of an element of an array; the arguments of the intrinsic begin with the array and the index."""
    item = context.make_array(signature.args[0])(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], item, [args[1]], wraparound=False)


def _load_block(context, builder, signature, args):
    return builder.load(builder.bitcast(_pointer(context, builder, signature, args), _BLOCK.as_pointer()), align=1)


@intrinsic
def load_bytes(typingctx, array, index):
    """The eight bytes from ``array[index]`` on as one uint64, aligned or not."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        return builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(array, types.intp), codegen


@intrinsic
def store_bytes(typingctx, array, index, bits):
    """Write a uint64 to the eight bytes from ``array[index]`` on, aligned or not."""

    def codegen(context, builder, signature, args):
        pointer = builder.bitcast(_pointer(context, builder, signature, args), ir.IntType(64).as_pointer())
        builder.store(args[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64), codegen


@intrinsic
def word_mask(typingctx, array, index):
    """One bit for each of the 64 bytes from ``array[index]`` on: whether it is of [0-9A-Za-z_] or above 127."""

    def codegen(context, builder, signature, args):
        def all_of(byte):
            return ir.Constant(_BLOCK, [byte] * 64)

        block = _load_block(context, builder, signature, args)
        letter = builder.icmp_unsigned("<", builder.sub(builder.or_(block, all_of(32)), all_of(ord("a"))), all_of(26))
        digit = builder.icmp_unsigned("<", builder.sub(block, all_of(ord("0"))), all_of(10))
        other = builder.icmp_unsigned(">", block, all_of(127))
        underscore = builder.icmp_unsigned("==", block, all_of(ord("_")))
        word = builder.or_(builder.or_(letter, digit), builder.or_(other, underscore))
        return builder.bitcast(word, ir.IntType(64))

    return types.uint64(array, types.intp), codegen


@intrinsic
def line_feed_mask(typingctx, array, index):
    """One bit for each of the 64 bytes from ``array[index]`` on: whether it is a line feed."""

    def codegen(context, builder, signature, args):
        block = _load_block(context, builder, signature, args)
        return builder.bitcast(builder.icmp_unsigned("==", block, ir.Constant(_BLOCK, [10] * 64)), ir.IntType(64))

    return types.uint64(array, types.intp), codegen


@intrinsic
def lowest_bit(typingctx, bits):
    """Position of the lowest set bit of a uint64; 64 if there is none."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.intp(types.uint64), codegen


@intrinsic
def bit_count(typingctx, bits):
    """Number of set bits of a uint64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def fold_product(typingctx, a, b):
    """The xor of the two halves of the 128-bit product of two uint64: a fast hash."""

    def codegen(context, builder, signature, args):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(factor, wide) for factor in args))
        high = builder.lshr(product, ir.Constant(wide, 64))
        return builder.trunc(builder.xor(product, high), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def prefetch(typingctx, array, index):
    """Prefetch the cache line of ``array[index]``."""

    def codegen(context, builder, signature, args):
        byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = builder.bitcast(_pointer(context, builder, signature, args), byte)
        # 0, 3, 1: to read, into all caches, data.
        builder.call(instruction, [address, *(ir.Constant(i32, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


if config.DISABLE_JIT:

    def load_bytes(array, index):  # noqa: F811
        return np.uint64(int.from_bytes(array[index : index + 8].tobytes(), "little"))

    def store_bytes(array, index, bits):  # noqa: F811
        array[index : index + 8] = np.frombuffer(int(bits).to_bytes(8, "little"), np.uint8)

    def word_mask(array, index):  # noqa: F811
        block = array[index : index + 64]
        lower = block | 32
        word = (lower >= 97) & (lower <= 122) | (block >= 48) & (block <= 57) | (block > 127) | (block == 95)
        return np.uint64(int.from_bytes(np.packbits(word, bitorder="little").tobytes(), "little"))

    def line_feed_mask(array, index):  # noqa: F811
        line_feed = np.packbits(array[index : index + 64] == 10, bitorder="little")
        return np.uint64(int.from_bytes(line_feed.tobytes(), "little"))

    def lowest_bit(bits):  # noqa: F811
        return (int(bits) & -int(bits)).bit_length() - 1 if bits else 64

    def bit_count(bits):  # noqa: F811
        return np.uint64(int(bits).bit_count())

    def fold_product(a, b):  # noqa: F811
        product = int(a) * int(b)
        return np.uint64((product ^ (product >> 64)) & 0xFFFFFFFFFFFFFFFF)

    def prefetch(array, index):  # noqa: F811
        pass


@njit(**INLINE)
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


@njit(**LEAN)
def _is_small_greek(text, at):
    """Whether a small Greek letter begins at ``text[at]``."""
    first, second = np.int64(text[at]), np.int64(text[at + 1])
    return (first == 0xCE and 0xB1 <= second < 0xC0) or (first == 0xCF and 0x80 <= second < 0x8F)


@njit(**INLINE)
def next_lowered(text, at, lowered):
    """The character at ``text[at]``, lowered, or 0 if it is of no word; its length; and its flags: a fault, or ENDS.

    ``lowered`` (n_characters,) uint32 is the lowered character of each, 0, or IN_CONTEXT
    """
    code, size, flags = np.int64(text[at]), 1, 0
    if code >= 0x80:
        code, size = decode_character(text, at)
        if code < 0:
            return 0, size, NOT_UTF8
        if 0xD800 <= code < 0xE000:
            flags = SURROGATE
    if code >= lowered.shape[0]:
        return 0, size, flags
    lower = np.int64(lowered[np.uint64(code)])
    if lower == IN_CONTEXT:
        if code == _DOTTED_I:  # its dot becomes a character of its own, which is of no word
            return _SMALL_I, size, ENDS
        if not _is_small_greek(text, at + size):
            return 0, size, CONTEXT
        lower = _SIGMA  # a capital one that does not end its word
    return lower, size, flags


@njit(**INLINE)
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


@njit(**INLINE)
def encode_character(code, arena, at):
    """Write a character to ``arena[at : at + 8]``, zeros after it, and return its length."""
    bits, n = utf8(code)
    store_bytes(arena, at, bits)
    return n


@lean_kernel
def line_feeds(text, n_bytes, ends):
    """Write the offsets of the line feeds among the first ``n_bytes`` of a text, and return their number.

    Those beyond the length of ``ends`` are only counted.
    """
    found = 0
    for block in range(0, n_bytes, 64):
        bits = line_feed_mask(text, block)
        if n_bytes - block < 64:
            bits &= (np.uint64(1) << np.uint64(n_bytes - block)) - np.uint64(1)
        while bits != np.uint64(0):
            if found < ends.shape[0]:
                ends[found] = block + lowest_bit(bits)
            found += 1
            bits &= bits - np.uint64(1)
    return found


@lean_kernel
def join_slices(data, offsets, text, ends):
    """Copy slices of ``data`` one after the other, each followed by a line feed, and write the offsets of these.

    ``data`` uint8, ``offsets`` (n + 1,) int64, ``text`` (n_bytes + n + padding,) uint8, ``ends`` (n,) int64.
    """
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
