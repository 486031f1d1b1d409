"""The helpers of the kernels: random numbers, update rule, plan of blocks, barrier."""

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
from kernel_cases import below, bits, draw_targets, encode, for_python, uniform
from numpy.testing import assert_allclose
from scipy import stats

from skembed._compiled.sync import (
    ABORTED,
    SYNC_SIZE,
    barrier,
    fill_uniform,
    share,
    zeros_apart,
)
from skembed._training.encoded_text import EncodedText, Plan, block_runs, place_runs, share_runs
from skembed._training.plan import SentenceBlocks, WordBlocks, make_plan
from skembed._training.sentence_blocks import (
    HALVED_FROM,
    asking_target,
    list_sentences,
    make_scores,
    make_slots,
    random_target,
    sum_parts,
)
from skembed._training.updates import (
    COUNT,
    FETCH,
    TOUCHES,
    Rows,
    Update,
    deal,
    deal_shelves,
    keep_list,
    make_rows,
    make_touches,
    share_rows,
    shrink,
    take_step,
    update_rows,
)

barrier, share, shrink, take_step = map(for_python, (barrier, share, shrink, take_step))
block_runs, share_runs = map(for_python, (block_runs, share_runs))
list_sentences, sum_parts = map(for_python, (list_sentences, sum_parts))
deal, keep_list = map(for_python, (deal, keep_list))
asking_target, random_target, update_rows = map(for_python, (asking_target, random_target, update_rows))

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
    for part in (drawn >> np.uint64(58), drawn & np.uint64(63)):
        assert stats.chisquare(np.bincount(part.astype(np.int64), minlength=64)).pvalue > 1e-6
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
    assert rows.tobytes() == again.tobytes() == taller[:60].tobytes(), "a number depends on its place alone"
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
    touches = [(2, 0.5 * gradients[0]), (1, gradients[1]), (2, -2 * gradients[2]), (1, gradients[3])]
    reference.take_steps(*expected, touches, 0.1, solver, max_touches=10)
    matrix = make_rows(rows, accumulator, np.ones(len(rows)), 1)
    for row, scale, g in [(2, 0.5, 0), (1, 1, 1), (2, -2, 2), (1, 1, 3)]:
        square = np.float32(np.mean(gradients[g] ** 2))
        take_step(matrix, row, np.float32(scale), gradients, g, square, np.float32(0.1), solver == "adagrad")
    np.testing.assert_allclose(rows, expected[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(accumulator[:, 0], expected[1], rtol=1e-5)


@pytest.mark.parametrize("size", [0.0, 1e-45, 1e-30, 1e-22, 1e-16, 1e-14, 1.0, 1e15])
def test_adagrad_has_no_nan_for_any_size_of_gradient(size):
    matrix = make_rows(np.ones((1, 3), np.float32), np.zeros((1, 2), np.float32), np.ones(1), 1)
    gradient = np.array([[1, -1, 1]], np.float32) * np.float32(size)
    for _ in range(3):
        take_step(matrix, 0, np.float32(1), gradient, 0, np.float32(np.mean(gradient**2)), np.float32(0.1), True)
    assert np.isfinite(matrix.weights).all() and np.isfinite(matrix.accumulator).all()
    assert np.abs(matrix.weights - 1).max() < 0.3, "a step is never larger than the rate"


# -- who works on what -------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**12), st.integers(1, 40))
def test_share_is_a_fair_partition(n_items, n_threads):
    parts = [share(n_items, thread, n_threads) for thread in range(n_threads)]
    assert parts[0][0] == 0 and parts[-1][1] == n_items
    assert all(parts[t][1] == parts[t + 1][0] for t in range(n_threads - 1))
    sizes = [last - first for first, last in parts]
    assert max(sizes) - min(sizes) <= 1


def row_loads(mass):
    """What a row costs a block: its touches, and fetching it if there is one."""
    touches = np.array(mass) * (TOUCHES / max(sum(mass), 1e-300))
    return touches, 1 - np.exp(-touches)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=400), st.integers(2, 9))
def test_rows_have_one_part_and_one_owner_each(mass, n_threads):
    part, owner = share_rows(np.array(mass), n_threads)
    assert owner.dtype == part.dtype == np.int16 and len(owner) == len(part) == len(mass)
    assert set(part.tolist()) <= {0, 1} and ((owner >= 0) & (owner < n_threads)).all()
    shelves = [slice(i, i + 16) for i in range(0, len(mass), 16)]
    for of in (part, owner):
        assert all(len(set(of[shelf].tolist())) == 1 for shelf in shelves), "a cache line has one owner"
    touches, fetches = row_loads(mass)
    loads = np.stack([touches / TOUCHES, fetches / max(fetches.sum(), 1e-300)])
    most = [loads[:, part == half].sum(axis=1).max(initial=0) for half in range(2)]
    heaviest = max(loads[:, shelf].sum(axis=1).max() for shelf in shelves)
    assert abs(most[0] - most[1]) <= heaviest + 1e-6, "no shelf too much for either part"
    if n_threads % 2 == 0:
        assert (part == owner // (n_threads // 2)).all(), "each part has a team"
        work = touches + FETCH * fetches
        heaviest = max(work[shelf].sum() for shelf in shelves)
        for team in np.bincount(owner, weights=work, minlength=n_threads).reshape(2, -1):
            assert team.max() <= team.mean() + heaviest + 1e-6, "no shelf too much for anyone"
    assert (share_rows(np.array(mass), 1)[0] == part).all(), "the parts do not depend on the number of threads"


@pytest.mark.parametrize("n_threads", [2, 3, 4, 8])
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_threads_share_out_words_as_a_text_has_them(exponent, n_threads):
    mass = 10**6 / np.arange(1.0, 30_001) ** exponent
    part, owner = share_rows(mass, n_threads)
    touches, fetches = row_loads(mass)
    for load in (touches, fetches):  # a third of the touches may be of the first shelf
        assert np.bincount(part, weights=load).max() <= load.sum() / 2 * 1.05
    work = touches + FETCH * fetches
    assert np.bincount(owner, weights=work).max() <= work.sum() / n_threads * 1.05 + work[:16].sum()


@pytest.mark.parametrize("n_rows", [1, 16, 17, 64, 1000])
def test_rows_that_are_looked_at_in_steps_have_the_same_parts_and_owners(n_rows, monkeypatch):
    mass = np.random.default_rng(n_rows).pareto(1.0, n_rows)
    at_once = [share_rows(mass, n_threads) for n_threads in (2, 3, 5)]
    monkeypatch.setattr("skembed._training.updates._STEP", 32)
    for n_threads, (part, owner) in zip((2, 3, 5), at_once):
        for found, expected in zip(share_rows(mass, n_threads), (part, owner)):
            np.testing.assert_array_equal(found, expected)


def test_each_shelf_goes_to_the_member_that_has_least():
    rng = np.random.default_rng(1)
    loads, team = rng.random((2, 40)), rng.integers(0, 2, 40).astype(np.int16)
    members = [[(3, 1.0), (1, 0.5)], [(0, 1.0), (2, 1.0), (4, 2.0)]]
    carried = {member: np.zeros(2) for of_team in members for member, _ in of_team}
    expected = np.empty(40, int)
    for shelf in sorted(range(40), key=lambda shelf: -loads[:, shelf].max()):
        chosen, share_of_work = min(members[team[shelf]], key=lambda member: carried[member[0]].max())
        carried[chosen] += loads[:, shelf] / share_of_work
        expected[shelf] = chosen
    np.testing.assert_array_equal(deal_shelves(loads, team, members), expected)


def test_one_thread_needs_no_list_of_owners():
    part, owner = share_rows(np.ones(5), 1)
    assert len(part) == 5 and len(owner) == 0


@given(st.integers(0, 60), st.integers(1, 5), st.integers(0, 2**31))
@settings(max_examples=60)
def test_every_touch_is_dealt_to_its_owner_in_order(n, n_threads, seed):
    rng = np.random.default_rng(seed)
    touches = make_touches(n, np.zeros((1, 4), np.float32), n_threads)
    touches.row[:n], touches.scale[:n] = rng.integers(0, 30, n), np.arange(n)
    owner = rng.integers(0, n_threads, 30).astype(np.int16)
    borders = np.sort(np.r_[0, rng.integers(0, n + 1, n_threads - 1), n])
    for thread in range(n_threads):
        deal(touches, thread, owner, borders[thread], borders[thread + 1], n_threads)
    for o in range(n_threads):
        taken = []
        for thread in range(n_threads):
            first, last = touches.dealt[thread, o : o + 2]
            assert n_threads == 1 or (owner[touches.row[first:last]] == o).all()
            taken += touches.scale[first:last].tolist()
        assert taken == [k for k in range(n) if n_threads == 1 or owner[touches.row[k]] == o]


def test_each_owner_takes_the_steps_of_its_rows():
    rng = np.random.default_rng(3)
    results = []
    for n_threads in (1, 2, 3):
        rng = np.random.default_rng(3)
        touches = make_touches(80, np.zeros((5, 20), np.float32), n_threads)
        touches.row[:80], touches.vector[:80] = rng.integers(0, 9, 80), rng.integers(0, 5, 80)
        touches.scale[:80], touches.vectors[:] = rng.normal(size=80), rng.normal(size=(5, 20))
        touches.square[:] = (touches.vectors**2).mean(axis=1)
        touches.vectors[2] = touches.square[2] = 0.0
        owner = (np.arange(9 if n_threads > 1 else 0) % n_threads).astype(np.int16)
        weights = rng.normal(size=(9, 20)).astype(np.float32)
        rows = Rows(weights, np.zeros((9, 2), np.float32), np.zeros(9, np.int16), owner)
        for thread in range(n_threads):
            deal(touches, thread, owner, 80 * thread // n_threads, 80 * (thread + 1) // n_threads, n_threads)
        update = Update(0.1, 0.0, True, 4, True)
        for thread in range(n_threads):
            update_rows(rows, touches, update, np.float32(0.1), 0.0, thread, n_threads)
        assert not rows.accumulator[:, COUNT].any()
        results.append(rows.weights.tobytes() + rows.accumulator.tobytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("n_threads", [2, 3, 4, 5])
def test_one_thread_forgets_the_lists_of_several(n_threads):
    touches = make_touches(40, np.zeros((4, 20), np.float32), n_threads, by_parts=True)
    owner = (np.arange(9) % n_threads).astype(np.int16)
    for number in range(2 * n_threads):
        touches.dealt[number, : n_threads + 1] = 7
    keep_list(touches.dealt, 0, 0, 0, 40, 1)  # one thread tries what several have done so far
    assert touches.dealt[:, :2].tolist() == [[0, 40]] + [[0, 0]] * (2 * n_threads - 1)
    touches.dealt[1, :2] = 3, 9
    deal(touches, 0, owner, 5, 30, 1)
    assert touches.dealt[:2, :2].tolist() == [[5, 30], [0, 0]]
    for part in range(2):
        keep_list(touches.dealt, part, part, 10, 20, 2)
        assert [(touches.dealt[part, o], touches.dealt[part, o + 1]) for o in range(2)][part] == (10, 20)
        assert touches.dealt[part, 1 - part] == touches.dealt[part, 2 - part], "nothing for the other one"


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 4, 7])
def test_each_thread_sums_its_part_of_the_words(mean, n_threads):
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
    run_ptr, most = place_runs(text, plan)
    slots, touches = make_slots(plan, most, 20, n_threads)
    for block in range(2):
        n_slots = len(plan.run_starts[4 * block : 4 * block + 4]) * 10
        for thread in range(n_threads):
            list_sentences(text, rows, mean, plan, block, run_ptr, slots, touches, thread, n_threads)
        for thread in range(n_threads):
            sum_parts(text, rows, mean, plan, block, run_ptr, slots, touches, thread, n_threads)
        seen = {row: [] for row in range(n_words)}
        for number in range(len(touches.dealt)):
            for owner in range(n_threads):
                for k in range(touches.dealt[number, owner], touches.dealt[number, owner + 1]):
                    assert n_threads == 1 or rows.owner[touches.row[k]] == owner
                    seen[int(touches.row[k])].append((int(touches.vector[k]), float(touches.scale[k])))
        for slot in range(n_slots):
            sentence = plan.run_starts[4 * block + slot // 10] - 1 + slot % 10
            inside = 0 <= sentence < 41
            words = [int(w) for w in tokens[ptr[sentence] : ptr[sentence + 1]] if w < n_words] if inside else []
            assert slots.document[slot] == (sentence // 7 if words else -1)
            scale = text.word_weight[words] / (len(words) if mean and words else 1)
            total = slots.sums[slot] + slots.sums[len(slots.document) + slot]
            assert_allclose(total, scale @ weights[words], atol=1e-5)
            if words:
                assert slots.sentence[slot] == sentence
            for row, s in zip(words, scale):
                at, found = seen[row].pop(0)
                assert at == slot, "in the order of the block"
                assert found == pytest.approx(float(s), rel=1e-6)
        assert not any(seen.values()), "nothing is listed that does not occur"


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 9))
def test_runs_are_shared_by_their_words(lengths, n_threads):
    run_ptr = np.cumsum([0, 100, *lengths])  # the block begins at the second run
    parts = [share_runs(run_ptr, 1, len(lengths) + 1, thread, n_threads) for thread in range(n_threads)]
    assert parts[0][0] == 1 and parts[-1][1] == len(lengths) + 1
    assert all(parts[t][1] == parts[t + 1][0] for t in range(n_threads - 1))
    work = [int(run_ptr[last] - run_ptr[first]) + 8 * (last - first) for first, last in parts]
    assert max(work) <= sum(work) / n_threads + max(lengths) + 8 + 1


@needs_threads
@pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
def test_nobody_passes_the_barrier_before_all_have_come(n_threads):
    sync, round_of = np.zeros(SYNC_SIZE, np.int64), np.zeros(n_threads, np.int64)
    ready = threading.Barrier(n_threads)
    barrier(sync, 1, 0)  # compiled before the threads start

    def work(thread):
        passed = early = 0
        ready.wait()
        for round_number in range(1, 60):
            round_of[thread] = round_number
            passed = barrier(sync, n_threads, passed)
            early += int(round_of.min() < round_number or passed != round_number)
        return early

    with ThreadPoolExecutor(n_threads) as pool:
        assert sum(pool.map(work, range(n_threads))) == 0


@needs_threads
def test_a_waiting_thread_can_be_told_to_give_up():
    sync = np.zeros(SYNC_SIZE, np.int64)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(barrier, sync, 2, 0)
        sync[ABORTED] = 1
        assert waiting.result(timeout=30) == -1


# -- blocks ------------------------------------------------------------------------------------------------------------


def plan_to_draw(run_length, seed=9):
    return Plan(np.zeros(1, np.int64), run_length, 1, 1, 0, 1, seed)


@given(
    seed=st.integers(0, 2**62),
    block=st.integers(0, 10**6),
    run_length=st.integers(1, 9),
    n_targets=st.integers(1, 30) | st.integers(240, 600),
    n_wanted=st.integers(1, 40),
)
@settings(max_examples=60)
def test_draws_are_other_targets_of_the_same_half_and_of_other_runs(seed, block, run_length, n_targets, n_wanted):
    draws = draw_targets(plan_to_draw(run_length, seed), block, n_targets, np.zeros(n_wanted, np.int64))
    halved = n_targets >= HALVED_FROM and n_targets >= 16 * n_wanted
    assert draws.half == (n_targets // 2 if halved else 0)
    n, n_compared = draws.n_random, draws.half or n_targets
    assert n == min(n_wanted, n_compared - 1)
    nearest = min(run_length, max(1, (n_compared + 1 - n_wanted) // 2))  # in a small block there are not enough others
    assert ((draws.offsets[:n] >= nearest) & (draws.offsets[:n] <= n_compared - nearest)).all()
    drawn = [[random_target(draws, i, r) for r in range(n)] for i in range(n_targets)]
    for i in range(n_targets):
        assert len({i, *drawn[i]}) == n + 1
        assert all(0 <= j < n_targets and (j < draws.half) == (i < draws.half) for j in drawn[i])
        assert [drawn[asking_target(draws, i, r)][r] for r in range(n)] == [i] * n


def test_offsets_are_even_and_change_with_the_block():
    drawn = np.zeros(15, np.int64)
    offsets = np.zeros(3, np.int64)
    for block in range(600):
        drawn[draw_targets(plan_to_draw(1), block, 16, offsets).offsets - 1] += 1
    assert drawn.sum() == 1800 and stats.chisquare(drawn).pvalue > 1e-6


BLOCKS = SentenceBlocks(border=1, largest=64, longest_run=4)


def plan_of(text, batch_size, blocks=BLOCKS, seed=0, epoch=0):
    return make_plan(text, blocks.shape(text, batch_size), seed, epoch)


def make_text(n_sentences):
    rng = np.random.default_rng(n_sentences)
    sentences = [[0] * n for n in rng.integers(0, 6, n_sentences)]
    return encode(sentences, [0] * n_sentences, np.ones(1, np.float32))


@given(st.integers(1, 700), st.integers(1, 70) | st.just("auto"), st.integers(1, 6))
@settings(max_examples=60)
def test_plan_takes_every_sentence_once(n_sentences, batch_size, run_length):
    text = make_text(n_sentences)
    plan = plan_of(text, batch_size, SentenceBlocks(1, 64, run_length))
    runs = [range(start, min(start + plan.run_length, n_sentences)) for start in plan.run_starts]
    assert sorted(i for run in runs for i in run) == list(range(n_sentences))
    assert sum(len(run) < plan.run_length for run in runs) == (n_sentences % plan.run_length > 0)
    assert plan.border == min(1, n_sentences - 1)  # one document, which a context never leaves
    assert 1 <= plan.run_length <= max(run_length, 2 * plan.border)
    if batch_size != "auto":
        assert plan.runs_per_block == min(batch_size // plan.run_length, len(runs)), "no more than there are"
        assert batch_size % plan.run_length == 0
    n_blocks = -(-len(runs) // plan.runs_per_block)
    run_ptr, n_tokens = place_runs(text, plan)
    listed, most_tokens = [], 1
    lengths = np.diff(text.sent_ptr)
    for block in range(n_blocks):
        first, last = block_runs(plan, block)
        assert 0 <= first < last <= len(runs)
        for r in range(first, last):
            with_border = range(
                max(0, runs[r].start - plan.border), min(n_sentences, runs[r].start + plan.run_length + plan.border)
            )
            assert run_ptr[r + 1] - run_ptr[r] == lengths[with_border].sum()
        listed += [i for run in runs[first:last] for i in run]
        most_tokens = max(most_tokens, run_ptr[last] - run_ptr[first])
    assert listed == [i for run in runs for i in run]
    assert n_tokens == most_tokens


def test_plan_is_random_and_repeats_with_the_seed():
    text = make_text(400)
    plans = [plan_of(text, 16, seed=seed, epoch=epoch) for seed, epoch in [(0, 0), (0, 0), (0, 1), (1, 0)]]
    assert plans[0].run_starts.tolist() == plans[1].run_starts.tolist() and plans[0].seed == plans[1].seed
    for other in plans[2:]:
        assert plans[0].run_starts.tolist() != other.run_starts.tolist() and plans[0].seed != other.seed
    assert plans[0].run_starts.tolist() != sorted(plans[0].run_starts.tolist())


@pytest.mark.parametrize(("n_sentences", "expected"), [(5, 8), (1000, 16), (64 * 30, 28), (10**5, 64)])
def test_automatic_block_is_a_64th_of_the_text(n_sentences, expected):
    plan = plan_of(make_text(n_sentences), "auto")
    assert plan.run_length == 4 and plan.runs_per_block * plan.run_length == expected


@pytest.mark.parametrize(("n_sentences", "border"), [(40, 5), (1200, 5), (2000, 10), (10**4, 3)])
def test_automatic_block_has_random_sentences_beside_a_wide_border(n_sentences, border):
    plan = plan_of(make_text(n_sentences), "auto", SentenceBlocks(border, 64, 4))
    assert plan.run_length >= 2 * border and plan.runs_per_block >= 2


@pytest.mark.parametrize(("batch_size", "expected"), [(8, 4), (10, 2), (128, 4), (160, 5), (256, 8), (512, 8)])
def test_only_large_blocks_have_long_runs(batch_size, expected):
    plan = plan_of(make_text(5000), batch_size, SentenceBlocks(1, 64, 8))
    assert (plan.run_length, plan.runs_per_block) == (expected, batch_size // expected)


@pytest.mark.parametrize(
    ("n_words", "batch_size", "expected"),
    [
        (2000, "auto", (1, 64)),
        (16, "auto", (1, 64)),
        (15, "auto", (1, 64)),
        (8, "auto", (2, 40)),
        (4, "auto", (4, 24)),
        (1, "auto", (4, 28)),
        (4, 256, (4, 64)),
        (4, 64, (4, 16)),
        (4, 48, (3, 16)),
        (4, 31, (1, 31)),
        (4, 1, (1, 1)),
        (16, 256, (1, 256)),
    ],
)
def test_where_words_are_targets_short_sentences_have_longer_runs_and_larger_blocks(n_words, batch_size, expected):
    text = make_text(20_000)
    text = text._replace(sent_ptr=np.arange(20_001) * n_words)
    plan = plan_of(text, batch_size, WordBlocks())
    assert (plan.run_length, plan.runs_per_block) == expected
    # A text that is a slice of a larger one, as where kernels are compiled, has sentences of the same length.
    later = text._replace(sent_ptr=text.sent_ptr + 10**6)
    assert plan_of(later, batch_size, WordBlocks())[1:4] == plan[1:4]


def test_slots_of_targets():
    plan = Plan(np.zeros(3, np.int64), 4, 2, 3, 0, 0, 0)  # each run has two slots of border on each side
    slots, _ = make_slots(plan, 9, 20, 1)
    assert slots.of_target.tolist() == [2, 3, 4, 5, 10, 11, 12, 13, 18, 19, 20, 21]


@pytest.mark.parametrize("shape", [3, (2, 5), 1000])
def test_what_threads_write_to_shares_no_cache_line(shape):
    arrays = [zeros_apart(shape, dtype) for dtype in (np.float32, np.int64) for _ in range(20)]
    places = sorted((a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays)
    assert all(a.shape == np.empty(shape).shape and a.flags.c_contiguous and not a.any() for a in arrays)
    assert all(start % 128 == 0 for start, _ in places)
    assert all(end + 1024 <= start for (_, end), (start, _) in pairwise(places))
    assert zeros_apart((0, 7), np.int32).shape == (0, 7)
    scores = make_scores(11, 3)
    assert scores.values.strides[0] % 1024 == 0 and np.shares_memory(scores.values, scores.flat)
    assert make_touches(5, np.zeros((5, 4), np.float32), 3).dealt.strides[0] % 1024 == 0
