"""The helpers of the kernels: random numbers, update rule, who works on what, barrier."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numba
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import below, bits, for_python, uniform
from numpy.testing import assert_allclose
from scipy import stats

from skembed._compiled.arrays import unshared_zeros
from skembed._compiled.sync import ABORTED, SYNC_SIZE, Team, barrier, fill_uniform, partition
from skembed._training.encoded_text import EncodedText, Plan, block_of, runs_of_thread
from skembed._training.learned_arrays import (
    COUNT,
    ENTRIES,
    FETCH,
    Rows,
    Update,
    assign_rows,
    make_gradient,
    make_rows,
    shrink,
    sort_by_owner,
    take_step,
    update_rows,
)
from skembed._training.sentence_blocks import Bag, make_scores, make_sentences, sum_sentences

barrier, partition, shrink, take_step = map(for_python, (barrier, partition, shrink, take_step))
block_of, runs_of_thread, sum_sentences = map(for_python, (block_of, runs_of_thread, sum_sentences))
sort_by_owner, update_rows = map(for_python, (sort_by_owner, update_rows))

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]
needs_threads = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
U64 = st.integers(0, 2**64 - 1)


# -- random numbers ----------------------------------------------------------------------------------------------------


@given(U64, U64, U64, U64)
def test_random_bits_are_the_twin_s(seed, stream, item, draw):
    assert int(bits(seed, stream, item, draw)) == reference.random_bits(seed, stream, item, draw)


@pytest.mark.parametrize("changing", range(4), ids=["seed", "stream", "item", "draw"])
def test_random_bits_look_random(changing):
    numbers = [[7, 1, 2, 3][:changing] + [i] + [7, 1, 2, 3][changing + 1 :] for i in range(2000)]
    drawn = np.array([bits(*four) for four in numbers])
    assert len(set(drawn.tolist())) == len(drawn)
    ones = ((drawn[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(axis=0)
    assert np.abs(ones - 0.5).max() < 5 * 0.5 / math.sqrt(len(drawn)), "each of the 64 bits is a fair coin"
    for six_bits in (drawn >> np.uint64(58), drawn & np.uint64(63)):
        assert stats.chisquare(np.bincount(six_bits.astype(np.int64), minlength=64)).pvalue > 1e-6
    change = drawn[1:] ^ drawn[:-1]
    assert 31 < np.mean([int(x).bit_count() for x in change]) < 33, "half of the bits change with the neighbour"


def test_streams_do_not_repeat_each_other():
    streams = {stream: {int(bits(3, stream, item, 0)) for item in range(300)} for stream in range(8)}
    assert len(set.union(*streams.values())) == 8 * 300
    pairs = np.array([[uniform(bits(3, stream, item, 0)) for item in range(1000)] for stream in (1, 2)])
    assert abs(np.corrcoef(pairs)[0, 1]) < 0.15


@given(U64, st.integers(1, 2**31 - 1))
def test_below_stays_below(number, n):
    drawn = below(np.uint64(number), n)
    assert drawn == number // 2**32 * n // 2**32
    assert 0 <= drawn < n


def test_below_reaches_every_number_alike():
    drawn = [below(bits(1, 2, i, 3), 7) for i in range(3000)]
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-6
    assert below(np.uint64(2**64 - 1), 7) == 6 and below(np.uint64(0), 7) == 0


@given(U64)
def test_uniform_is_at_least_zero_and_below_one(number):
    assert 0.0 <= uniform(np.uint64(number)) < 1.0


def test_uniform_is_uniform():
    assert uniform(np.uint64(2**64 - 1)) == 1 - 2**-53 and uniform(np.uint64(0)) == 0.0
    drawn = [uniform(bits(1, 2, 3, i)) for i in range(3000)]
    assert stats.kstest(drawn, "uniform").pvalue > 1e-6


def test_fill_uniform():
    rows, again, taller = np.empty((60, 7), np.float32), np.empty((60, 7), np.float32), np.empty((61, 7), np.float32)
    for array in (rows, again, taller):
        fill_uniform(array, 3, 0.25)
    assert rows.tobytes() == again.tobytes() == taller[:60].tobytes(), "a value depends on its row and column alone"
    assert len(np.unique(rows)) == rows.size
    assert stats.kstest(rows.ravel(), "uniform", (-0.25, 0.5)).pvalue > 1e-6
    fill_uniform(again, 4, 0.25)
    assert (rows != again).all()


# -- steps of rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
def test_take_step(solver):
    rng = np.random.default_rng(0)
    rows, gradients = rng.normal(size=(4, 6)).astype(np.float32), rng.normal(size=(5, 6)).astype(np.float32)
    accumulator = np.array([[0, 0], [0, 0], [0.5, 0], [0, 0]], np.float32)
    expected = rows.astype(float), accumulator[:, 0].astype(float)
    entries = [(2, 0.5 * gradients[0]), (1, gradients[1]), (2, -2 * gradients[2]), (1, gradients[3])]
    reference.take_steps(*expected, entries, 0.1, solver, max_steps=10)
    matrix = make_rows(rows, accumulator, np.ones(len(rows)), 1)
    for row, scale, g in [(2, 0.5, 0), (1, 1, 1), (2, -2, 2), (1, 1, 3)]:
        square = np.float32(np.mean(gradients[g] ** 2))
        take_step(matrix, row, (np.float32(scale), gradients, g, square), np.float32(0.1), solver == "adagrad")
    np.testing.assert_allclose(rows, expected[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(accumulator[:, 0], expected[1], rtol=1e-5)


@pytest.mark.parametrize("size", [0.0, 1e-45, 1e-30, 1e-22, 1e-16, 1e-14, 1.0, 1e15])
def test_adagrad_has_no_nan_for_any_size_of_gradient(size):
    matrix = make_rows(np.ones((1, 3), np.float32), np.zeros((1, 2), np.float32), np.ones(1), 1)
    gradient = np.array([[1, -1, 1]], np.float32) * np.float32(size)
    for _ in range(3):
        entry = np.float32(1), gradient, 0, np.float32(np.mean(gradient**2))
        take_step(matrix, 0, entry, np.float32(0.1), True)
    assert np.isfinite(matrix.weights).all() and np.isfinite(matrix.accumulator).all()
    assert np.abs(matrix.weights - 1).max() < 0.3, "a step is never larger than the rate"


# -- who works on what -------------------------------------------------------------------------------------------------


def team(thread, n_threads):
    return Team(np.zeros(SYNC_SIZE, np.int64), thread, n_threads)


def teams(n_threads):
    return [team(thread, n_threads) for thread in range(n_threads)]


@given(st.integers(0, 10**12), st.integers(1, 40))
def test_ranges_of_threads_are_even(n_items, n_threads):
    ranges = [partition(n_items, team) for team in teams(n_threads)]
    assert ranges[0][0] == 0 and ranges[-1][1] == n_items
    assert all(ranges[t][1] == ranges[t + 1][0] for t in range(n_threads - 1))
    sizes = [last - first for first, last in ranges]
    assert max(sizes) - min(sizes) <= 1


def row_work(mass):
    """What a row costs a block: its entries, and fetching it if there is one."""
    entries = np.array(mass) * (ENTRIES / max(sum(mass), 1e-300))
    return entries + FETCH * (1 - np.exp(-entries))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=400), st.integers(2, 9))
def test_each_row_has_one_owner(mass, n_threads):
    owner = assign_rows(np.array(mass), n_threads)
    assert owner.dtype == np.int16 and len(owner) == len(mass)
    assert ((owner >= 0) & (owner < n_threads)).all()
    groups = [slice(i, i + 16) for i in range(0, len(mass), 16)]
    assert all(len(set(owner[group].tolist())) == 1 for group in groups), "a cache line has one owner"
    work = row_work(mass)
    of_owners = np.bincount(owner, weights=work, minlength=n_threads)
    heaviest = max(work[group].sum() for group in groups)
    assert of_owners.max() <= of_owners.mean() + heaviest + 1e-6, "no group too much for anyone"


@pytest.mark.parametrize("n_threads", [2, 3, 4, 8])
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_owners_have_even_work_in_words_as_a_text_has_them(exponent, n_threads):
    mass = 10**6 / np.arange(1.0, 30_001) ** exponent
    work = row_work(mass)
    of_owners = np.bincount(assign_rows(mass, n_threads), weights=work)
    assert of_owners.max() <= work.sum() / n_threads * 1.05 + work[:16].sum()


def test_each_group_goes_to_the_thread_that_has_least():
    mass = np.random.default_rng(1).pareto(1.0, 650)
    work = np.add.reduceat(row_work(mass), np.arange(0, 650, 16))
    carried, expected = np.zeros(3), np.empty(len(work), int)
    for group in sorted(range(len(work)), key=lambda group: -work[group]):
        expected[group] = np.argmin(carried)
        carried[expected[group]] += work[group]
    np.testing.assert_array_equal(assign_rows(mass, 3), np.repeat(expected, 16)[:650])


def test_one_thread_needs_no_list_of_owners():
    assert len(assign_rows(np.ones(5), 1)) == 0


@given(st.integers(0, 60), st.integers(1, 5), st.booleans(), st.integers(0, 2**31))
@settings(max_examples=60)
def test_every_entry_goes_to_its_owner_in_order(n, n_threads, l1, seed):
    rng = np.random.default_rng(seed)
    gradient = make_gradient(n, np.zeros((1, 4), np.float32), n_threads, l1=l1)
    gradient.row[:n], gradient.scale[:n] = rng.integers(0, 30, n), np.arange(n)
    gradient.threshold[: n if l1 else 0] = np.arange(n if l1 else 0)
    owner = rng.integers(0, n_threads, 30).astype(np.int16)
    bounds = np.sort(np.r_[0, rng.integers(0, n + 1, n_threads - 1), n])
    for team in teams(n_threads):
        sort_by_owner(gradient, owner, bounds[team.thread], bounds[team.thread + 1], team)
    for o in range(n_threads):
        found = []
        for thread in range(n_threads):
            first, last = gradient.bounds[thread, o : o + 2]
            assert n_threads == 1 or (owner[gradient.row[first:last]] == o).all()
            found += gradient.scale[first:last].tolist()
            assert not l1 or (gradient.threshold[first:last] == gradient.scale[first:last]).all()
        assert found == [k for k in range(n) if n_threads == 1 or owner[gradient.row[k]] == o]


@pytest.mark.parametrize("n_frozen", [0, 4])
def test_each_owner_takes_the_steps_of_its_rows(n_frozen):
    results = []
    plan = Plan(np.zeros(1, np.int64), 1, 0, 1, 0, 1, 0)
    for n_threads in (1, 2, 3):
        rng = np.random.default_rng(3)
        gradient = make_gradient(80, np.zeros((5, 20), np.float32), n_threads)
        gradient.row[:80], gradient.vector[:80] = rng.integers(0, 9, 80), rng.integers(0, 5, 80)
        gradient.scale[:80], gradient.vectors[:] = rng.normal(size=80), rng.normal(size=(5, 20))
        gradient.square[:] = (gradient.vectors**2).mean(axis=1)
        gradient.vectors[2] = gradient.square[2] = 0.0
        owner = (np.arange(9 if n_threads > 1 else 0) % n_threads).astype(np.int16)
        weights = rng.normal(size=(9, 20)).astype(np.float32)
        rows, before = Rows(weights, np.zeros((9, 2), np.float32), owner, n_frozen), weights.copy()
        for team in teams(n_threads):
            sort_by_owner(gradient, owner, *partition(80, team), team)
        update = Update(0.1, 0.0, True, 4, True)
        for team in teams(n_threads):
            update_rows(rows, gradient, update, block_of(plan, 0), team)
        assert not rows.accumulator[:, COUNT].any()
        assert (weights == before).all(axis=1).tolist() == [row < n_frozen for row in range(9)]
        results.append(rows.weights.tobytes() + rows.accumulator.tobytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 4, 7])
def test_each_thread_sums_its_sentences(mean, n_threads):
    """All words are listed once, in an order that the steps of a row need, and the sums are those of the words."""
    rng = np.random.default_rng(n_threads)
    lengths = rng.integers(0, 9, 41)
    ptr = np.append(0, np.cumsum(lengths))
    n_words = 70
    tokens = rng.integers(0, n_words + 5, ptr[-1]).astype(np.int32)  # five words are unknown
    text = EncodedText(tokens, ptr, np.arange(41) // 7, rng.uniform(0.5, 2, n_words).astype(np.float32))
    plan = Plan(np.array([8, 0, 40, 16, 32, 24], np.int64), 8, 1, 4, 0, 2, 1)
    weights = rng.normal(size=(n_words, 20)).astype(np.float32)
    rows = make_rows(weights, np.zeros((n_words, 2), np.float32), rng.uniform(1, 9, n_words), n_threads)
    sentences = make_sentences(text, plan, Bag(mean), 20, 3, 4, n_threads)
    gradient = sentences.gradient
    for index in range(2):
        block = block_of(plan, index)
        bag = Bag(mean)
        of_threads = [sum_sentences(text, rows, bag, plan, block, sentences, team) for team in teams(n_threads)]
        members = [member for first, last in of_threads for member in range(first, last)]
        assert members == list(range(len(plan.run_starts[4 * index : 4 * index + 4]) * 10))
        seen = {row: [] for row in range(n_words)}
        for thread in range(n_threads):
            for owner in range(n_threads):
                for k in range(gradient.bounds[thread, owner], gradient.bounds[thread, owner + 1]):
                    assert n_threads == 1 or rows.owner[gradient.row[k]] == owner
                    seen[int(gradient.row[k])].append((int(gradient.vector[k]), float(gradient.scale[k])))
        for member in members:
            sentence = plan.run_starts[4 * index + member // 10] - 1 + member % 10
            inside = 0 <= sentence < 41
            words = [int(w) for w in tokens[ptr[sentence] : ptr[sentence + 1]] if w < n_words] if inside else []
            assert sentences.document[member] == (sentence // 7 if words else -1)
            scale = text.word_weight[words] / (len(words) if mean and words else 1)
            if words:
                assert_allclose(sentences.sums[member], scale @ weights[words], atol=1e-5)
                assert sentences.sentence[member] == sentence
            for row, s in zip(words, scale):
                at, found = seen[row].pop(0)
                assert at == member, "in the order of the block"
                assert found == pytest.approx(float(s), rel=1e-6)
        assert not any(seen.values()), "nothing is listed that does not occur"


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 9))
def test_runs_of_threads_have_even_words(lengths, n_threads):
    run_ptr = np.cumsum([0, 100, *lengths])
    plan = Plan(np.zeros(1 + len(lengths), np.int64), 1, 0, 1 + len(lengths), 0, 1, 0)
    block = block_of(plan, 0)._replace(first_run=1)  # the block begins at the second run
    ranges = [runs_of_thread(run_ptr, block, team) for team in teams(n_threads)]
    assert ranges[0][0] == 1 and ranges[-1][1] == len(lengths) + 1
    assert all(ranges[t][1] == ranges[t + 1][0] for t in range(n_threads - 1))
    work = [int(run_ptr[last] - run_ptr[first]) + 8 * (last - first) for first, last in ranges]
    assert max(work) <= sum(work) / n_threads + max(lengths) + 8 + 1


@needs_threads
@pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
def test_nobody_passes_the_barrier_before_all_have_come(n_threads):
    sync, round_of = np.zeros(SYNC_SIZE, np.int64), np.zeros(n_threads, np.int64)
    ready = threading.Barrier(n_threads)
    barrier(Team(sync, 0, 1))  # compiled before the threads start

    def work(thread):
        early = 0
        ready.wait()
        for i in range(1, 60):
            round_of[thread] = i
            barrier(Team(sync, thread, n_threads))
            early += int(round_of.min() < i)
        return early

    with ThreadPoolExecutor(n_threads) as pool:
        assert sum(pool.map(work, range(n_threads))) == 0


@needs_threads
def test_a_waiting_thread_can_be_told_to_give_up():
    sync = np.zeros(SYNC_SIZE, np.int64)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(barrier, Team(sync, 0, 2))
        sync[ABORTED] = 1
        waiting.result(timeout=30)


@pytest.mark.parametrize("shape", [3, (2, 5), 1000])
def test_what_threads_write_to_shares_no_cache_line(shape):
    arrays = [unshared_zeros(shape, dtype) for dtype in (np.float32, np.int64) for _ in range(20)]
    extents = sorted((a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays)
    assert all(a.shape == np.empty(shape).shape and a.flags.c_contiguous and not a.any() for a in arrays)
    assert all(start % 128 == 0 for start, _ in extents)
    assert all(end + 1024 <= start for (_, end), (start, _) in pairwise(extents))
    assert unshared_zeros((0, 7), np.int32).shape == (0, 7)
    scores = make_scores(11, 3)
    assert scores.values.strides[0] % 1024 == 0 and np.shares_memory(scores.values, scores.flat)
    assert make_gradient(5, np.zeros((5, 4), np.float32), 3).bounds.strides[0] % 1024 == 0
