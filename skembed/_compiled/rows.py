"""Arithmetic on rows of float32 matrices, and on the scores of rows.

The kernels are built from three operations: `dots` (one row against several), `combine` (several rows, weighted, into
one) and `add_scaled` (one row into another), and from the two functions of scores, `softmax` and `logistic`.

If the width of a row is not a multiple of sixteen, its last vector overlaps the one before: masked stores are slow.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .compile import INLINE_LLVM, lean_kernel
from .simd import (
    WIDTH,
    divide,
    larger,
    load,
    load_short,
    multiply_add,
    power_of_two,
    prefetch,
    product,
    replace_last,
    splat,
    store,
    store_short,
    total,
    where_negative,
    zero_first,
)

ONE = np.float32(1.0)
_FOUR = 4 * WIDTH  # a step of a loop is a constant with a name: only then is its code short
ONE_APART = np.int64(1)  # the stride of adjacent scales; for a plain 1, another type, numba would compile again


class Selection(NamedTuple):
    """The ``n`` rows ``rows[which[first + k]]`` of a matrix."""

    rows: np.ndarray  # (n_rows, n_components) float32
    which: np.ndarray  # of int32 or int64
    first: int
    n: int


@njit(**INLINE_LLVM)
def prefetch_row(matrix, row):
    """Prefetch the first 512 bytes of a row; the processor prefetches the rest by itself."""
    for c in range(0, min(matrix.shape[1], 8 * WIDTH), WIDTH):
        prefetch(matrix, row, c)


@njit(**INLINE_LLVM)
def copy_scaled(out, i, scale, a, j):
    """``out[i] = scale * a[j]``."""
    s, zero = splat(scale), splat(np.float32(0.0))
    last = out.shape[1] - WIDTH
    if last < 0:
        store_short(out, i, multiply_add(s, load_short(a, j), zero))
        return
    end = multiply_add(s, load(a, j, last), zero)  # first, because both rows may be the same
    for c in range(0, last, WIDTH):
        store(out, i, c, multiply_add(s, load(a, j, c), zero))
    store(out, i, last, end)


@njit(**INLINE_LLVM)
def add_scaled(out, i, scale, a, j):
    """``out[i] += scale * a[j]``."""
    s = splat(scale)
    last = out.shape[1] - WIDTH
    if last < 0:
        store_short(out, i, multiply_add(s, load_short(a, j), load_short(out, i)))
        return
    end = multiply_add(s, load(a, j, last), load(out, i, last))
    for c in range(0, last, WIDTH):
        store(out, i, c, multiply_add(s, load(a, j, c), load(out, i, c)))
    store(out, i, last, end)


@njit(**INLINE_LLVM)
def _mean_square_of_short(a, i):
    """Mean square of a row of fewer than sixteen numbers, summed in order."""
    square = np.float32(0.0)
    for c in range(a.shape[1]):
        square += a[i, c] * a[i, c]
    return square / np.float32(a.shape[1])


@njit(**INLINE_LLVM)
def blend(out, i, one, other):
    """``out[i] = x * a[j] + y * b[k]`` for ``one = (x, a, j)`` and ``other = (y, b, k)``; returns its mean square."""
    (x, a, j), (y, b, k), n = one, other, out.shape[1]
    s, t, zero = splat(x), splat(y), splat(np.float32(0.0))
    last = n - WIDTH
    if last < 0:
        store_short(out, i, multiply_add(s, load_short(a, j), multiply_add(t, load_short(b, k), zero)))
        return _mean_square_of_short(out, i)
    end = multiply_add(s, load(a, j, last), multiply_add(t, load(b, k, last), zero))
    q = zero
    for c in range(0, last, WIDTH):
        v = multiply_add(s, load(a, j, c), multiply_add(t, load(b, k, c), zero))
        store(out, i, c, v)
        q = multiply_add(v, v, q)
    store(out, i, last, end)
    end = zero_first(end, -n % WIDTH)
    return total(multiply_add(end, end, q)) / np.float32(n)


@njit(**INLINE_LLVM)
def mean_square(a, i):
    """Mean over the columns of ``a[i] ** 2``."""
    n = a.shape[1]
    if n < WIDTH:
        return _mean_square_of_short(a, i)
    s = splat(np.float32(0.0))
    for c0 in range(0, n, WIDTH):
        c = min(c0, n - WIDTH)
        x = zero_first(load(a, i, c), c0 - c)
        s = multiply_add(x, x, s)
    return total(s) / np.float32(n)


@njit(**INLINE_LLVM)
def _next_four(selected, k):
    """Indices of the rows k to k + 3 of a selection; past the end the last one is repeated."""
    _, index, first, n = selected
    k1, k2, k3 = min(k + 1, n - 1), min(k + 2, n - 1), min(k + 3, n - 1)
    return index[first + k], index[first + k1], index[first + k2], index[first + k3]


@njit(**INLINE_LLVM)
def dots(out, o, a, i, selected):
    """``out[o, k]`` is the dot product of ``a[i]`` and row k of a selection, four rows at a time.

    ``out`` has n columns rounded up to a multiple of four; what is written past n means nothing.
    """
    (rows, index, first, n), width = selected, a.shape[1]
    if width < WIDTH:
        x, zero = load_short(a, i), splat(np.float32(0.0))
        for k in range(n):
            out[o, k] = total(multiply_add(x, load_short(rows, index[first + k]), zero))
        return
    for k in range(0, n, 4):
        r0, r1, r2, r3 = _next_four(selected, k)
        s0 = s1 = s2 = s3 = splat(np.float32(0.0))
        for c0 in range(0, width, WIDTH):
            c = min(c0, width - WIDTH)  # of the last vector only what no vector before it had
            x = zero_first(load(a, i, c), c0 - c)
            s0 = multiply_add(x, load(rows, r0, c), s0)
            s1 = multiply_add(x, load(rows, r1, c), s1)
            s2 = multiply_add(x, load(rows, r2, c), s2)
            s3 = multiply_add(x, load(rows, r3, c), s3)
        out[o, k], out[o, k + 1], out[o, k + 2], out[o, k + 3] = total(s0), total(s1), total(s2), total(s3)


@njit(**INLINE_LLVM)
def dots_of_two(outs, pair, selected):
    """`dots` of two rows with the same rows, each of which is loaded once: loads are what takes the time.

    ``outs = (out, o, p)`` and ``pair = (a, i, j)``: of ``a[i]`` into ``out[o]``, of ``a[j]`` into ``out[p]``.
    """
    (out, o, p), (a, i, j) = outs, pair
    rows, width = selected.rows, a.shape[1]
    if width < WIDTH:
        dots(out, o, a, i, selected)
        dots(out, p, a, j, selected)
        return
    for k in range(0, selected.n, 4):
        r0, r1, r2, r3 = _next_four(selected, k)
        s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = splat(np.float32(0.0))
        for c0 in range(0, width, WIDTH):
            c = min(c0, width - WIDTH)
            x, y = zero_first(load(a, i, c), c0 - c), zero_first(load(a, j, c), c0 - c)
            z0, z1, z2, z3 = load(rows, r0, c), load(rows, r1, c), load(rows, r2, c), load(rows, r3, c)
            s0, t0 = multiply_add(x, z0, s0), multiply_add(y, z0, t0)
            s1, t1 = multiply_add(x, z1, s1), multiply_add(y, z1, t1)
            s2, t2 = multiply_add(x, z2, s2), multiply_add(y, z2, t2)
            s3, t3 = multiply_add(x, z3, s3), multiply_add(y, z3, t3)
        out[o, k], out[o, k + 1], out[o, k + 2], out[o, k + 3] = total(s0), total(s1), total(s2), total(s3)
        out[p, k], out[p, k + 1], out[p, k + 2], out[p, k + 3] = total(t0), total(t1), total(t2), total(t3)


@njit(**INLINE_LLVM)
def combine(out, i, scale, s, selected):
    """Write the sum of ``scale[s + k]`` times row k to ``out[i]``, none of the rows; returns its mean square."""
    return combine_strided(out, i, (scale, s, ONE_APART), selected)


@njit(**INLINE_LLVM)
def combine_strided(out, i, scales, selected):
    """`combine` with the scales ``scale[s + k * stride]`` for ``scales = (scale, s, stride)``."""
    (scale, s, stride), (rows, index, first, n) = scales, selected
    width = out.shape[1]
    last = width - WIDTH
    q = splat(np.float32(0.0))
    if last < 0:
        s0 = q
        for k in range(n):
            s0 = multiply_add(splat(scale[s + k * stride]), load_short(rows, index[first + k]), s0)
        store_short(out, i, s0)
        return _mean_square_of_short(out, i)
    for c in range(0, width, _FOUR):  # four vectors of the sum stay in registers
        # A vector that would go past the end overlaps the one before it.
        c0, c1 = min(c, last), min(c + WIDTH, last)
        c2, c3 = min(c + 2 * WIDTH, last), min(c + 3 * WIDTH, last)
        s0 = s1 = s2 = s3 = splat(np.float32(0.0))
        for k in range(n):
            w, r = splat(scale[s + k * stride]), index[first + k]
            s0 = multiply_add(w, load(rows, r, c0), s0)
            s1 = multiply_add(w, load(rows, r, c1), s1)
            s2 = multiply_add(w, load(rows, r, c2), s2)
            s3 = multiply_add(w, load(rows, r, c3), s3)
        store(out, i, c0, s0)
        store(out, i, c1, s1)
        store(out, i, c2, s2)
        store(out, i, c3, s3)
        s0, s1 = zero_first(s0, c - c0), zero_first(s1, c + WIDTH - c1)
        s2, s3 = zero_first(s2, c + 2 * WIDTH - c2), zero_first(s3, c + 3 * WIDTH - c3)
        q = multiply_add(s0, s0, multiply_add(s1, s1, multiply_add(s2, s2, multiply_add(s3, s3, q))))
    return total(q) / np.float32(width)


@njit(**INLINE_LLVM)
def combine_two(outs, scales, selected):
    """`combine` for two sums of the same rows, each of which is loaded once; returns both mean squares.

    ``outs = (out, i, j)`` and ``scales = (scale, s, t, stride)``: ``out[i]`` has the scales ``scale[s + k * stride]``,
    ``out[j]`` those from ``t`` on; i and j may be one.
    """
    (out, i, j), (scale, s, t, stride) = outs, scales
    (rows, index, first, n), width = selected, out.shape[1]
    last = width - WIDTH
    if last < 0:
        q = combine_strided(out, i, (scale, s, stride), selected)
        return q, combine_strided(out, j, (scale, t, stride), selected)
    p = q = splat(np.float32(0.0))
    for c in range(0, width, _FOUR):
        c0, c1 = min(c, last), min(c + WIDTH, last)
        c2, c3 = min(c + 2 * WIDTH, last), min(c + 3 * WIDTH, last)
        s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = splat(np.float32(0.0))
        for k in range(n):
            w, v, r = splat(scale[s + k * stride]), splat(scale[t + k * stride]), index[first + k]
            x0, x1, x2, x3 = load(rows, r, c0), load(rows, r, c1), load(rows, r, c2), load(rows, r, c3)
            s0, t0 = multiply_add(w, x0, s0), multiply_add(v, x0, t0)
            s1, t1 = multiply_add(w, x1, s1), multiply_add(v, x1, t1)
            s2, t2 = multiply_add(w, x2, s2), multiply_add(v, x2, t2)
            s3, t3 = multiply_add(w, x3, s3), multiply_add(v, x3, t3)
        store(out, i, c0, s0)
        store(out, i, c1, s1)
        store(out, i, c2, s2)
        store(out, i, c3, s3)
        store(out, j, c0, t0)
        store(out, j, c1, t1)
        store(out, j, c2, t2)
        store(out, j, c3, t3)
        s0, t0 = zero_first(s0, c - c0), zero_first(t0, c - c0)
        s1, t1 = zero_first(s1, c + WIDTH - c1), zero_first(t1, c + WIDTH - c1)
        s2, t2 = zero_first(s2, c + 2 * WIDTH - c2), zero_first(t2, c + 2 * WIDTH - c2)
        s3, t3 = zero_first(s3, c + 3 * WIDTH - c3), zero_first(t3, c + 3 * WIDTH - c3)
        p = multiply_add(s0, s0, multiply_add(s1, s1, multiply_add(s2, s2, multiply_add(s3, s3, p))))
        q = multiply_add(t0, t0, multiply_add(t1, t1, multiply_add(t2, t2, multiply_add(t3, t3, q))))
    return total(p) / np.float32(width), total(q) / np.float32(width)


_LOG2_E = np.float32(1.44269504)
_LN_2_HIGH, _LN_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUNDER = np.float32(12582912.0)  # 1.5 * 2**23: adding it rounds to an integer


@njit(**INLINE_LLVM)
def _exp(x):
    """``exp(x)`` for x <= 0, to about 1e-7; below -87 it stays at 1.6e-38.

    ``x = n ln 2 + r`` with |r| <= ln(2) / 2, and ``exp(r)`` is its Taylor series of seven terms.
    """
    x = larger(x, splat(np.float32(-87.0)))
    shifted = multiply_add(x, splat(_LOG2_E), splat(_ROUNDER))
    n = multiply_add(splat(np.float32(-1.0)), splat(_ROUNDER), shifted)
    r = multiply_add(n, splat(-_LN_2_HIGH), x)
    r = multiply_add(n, splat(-_LN_2_LOW), r)
    p = splat(np.float32(1 / 5040))
    p = multiply_add(p, r, splat(np.float32(1 / 720)))
    p = multiply_add(p, r, splat(np.float32(1 / 120)))
    p = multiply_add(p, r, splat(np.float32(1 / 24)))
    p = multiply_add(p, r, splat(np.float32(1 / 6)))
    p = multiply_add(p, r, splat(np.float32(1 / 2)))
    p = multiply_add(p, r, splat(np.float32(1.0)))
    p = multiply_add(p, r, splat(np.float32(1.0)))
    return multiply_add(p, power_of_two(shifted), splat(np.float32(0.0)))


def padded(n):
    """The next multiple of sixteen: the width of a matrix of scores for ``n`` of them."""
    return n + -n % WIDTH


@njit(**INLINE_LLVM)
def softmax(scores, i, n):
    """The first ``n`` scores of row ``i`` become their softmax; returns log(sum(exp(score)))."""
    top = scores[i, 0]
    for k in range(1, n):
        top = max(top, scores[i, k])
    below_top = splat(-top)
    z = splat(np.float32(0.0))
    one = splat(np.float32(1.0))
    for c in range(0, n, WIDTH):
        x = replace_last(load(scores, i, c), n - c, np.float32(-np.inf))
        e = _exp(multiply_add(one, x, below_top))
        z = multiply_add(one, e, z)
        store(scores, i, c, e)
    norm = total(z)
    for k in range(n):
        scores[i, k] /= norm
    return math.log(norm) + top


@njit(**INLINE_LLVM)
def logistic(scores, i, n):
    """The first ``n`` scores x of row ``i`` become 1 / (1 + exp(-x)); returns the sum of log(1 + exp(x))."""
    loss = 0.0
    zero, one, minus_one = splat(np.float32(0.0)), splat(np.float32(1.0)), splat(np.float32(-1.0))
    for c in range(0, n, WIDTH):
        x = replace_last(load(scores, i, c), n - c, np.float32(-np.inf))
        # With e = exp(-|x|), nothing overflows: log(1 + exp(x)) = max(x, 0) + log(1 + e).
        size = larger(x, multiply_add(minus_one, x, zero))
        e = _exp(multiply_add(minus_one, size, zero))
        loss += total(larger(x, zero)) + math.log(product(multiply_add(one, e, one)))
        inverse = divide(one, multiply_add(one, e, one))
        store(scores, i, c, multiply_add(where_negative(x, e, one), inverse, zero))
    return loss


# Coefficients of tanh(x) = x p(x ** 2) / q(x ** 2) for |x| below 8, to about 3e-7.
_TANH_LARGEST = np.float32(7.9)
_TANH_P = tuple(
    map(
        np.float32,
        (
            -2.76076847742355e-16,
            2.00018790482477e-13,
            -8.60467152213735e-11,
            5.12229709037114e-08,
            1.48572235717979e-05,
            6.37261928875436e-04,
            4.89352455891786e-03,
        ),
    )
)
_TANH_Q = tuple(
    map(np.float32, (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03))
)


@njit(**INLINE_LLVM)
def tanh(x):
    """The hyperbolic tangent of sixteen numbers."""
    zero = splat(np.float32(0.0))
    x = larger(x, splat(-_TANH_LARGEST))
    x = multiply_add(splat(-ONE), larger(multiply_add(splat(-ONE), x, zero), splat(-_TANH_LARGEST)), zero)
    square = multiply_add(x, x, zero)
    p = splat(_TANH_P[0])
    p = multiply_add(p, square, splat(_TANH_P[1]))
    p = multiply_add(p, square, splat(_TANH_P[2]))
    p = multiply_add(p, square, splat(_TANH_P[3]))
    p = multiply_add(p, square, splat(_TANH_P[4]))
    p = multiply_add(p, square, splat(_TANH_P[5]))
    p = multiply_add(p, square, splat(_TANH_P[6]))
    q = splat(_TANH_Q[0])
    q = multiply_add(q, square, splat(_TANH_Q[1]))
    q = multiply_add(q, square, splat(_TANH_Q[2]))
    q = multiply_add(q, square, splat(_TANH_Q[3]))
    return divide(multiply_add(x, p, zero), q)


@lean_kernel
def renumber(ids, remap, new_ids):
    """Write the entry of ``remap`` for each id, also in place; returns whether one is below zero."""
    dropped = False
    for i in range(ids.shape[0]):
        new_ids[i] = remap[ids[i]]
        dropped |= new_ids[i] < 0
    return dropped
