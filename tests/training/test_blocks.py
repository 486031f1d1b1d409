"""Blocks of a pass: which sentences, in which order, the targets that are compared, and words left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import block_of_targets, draw_targets, encode, for_python, one_thread
from numpy.testing import assert_allclose
from scipy import stats

from skembed._training.encoded_text import (
    EncodedText,
    Plan,
    SentenceBlocks,
    WordBlocks,
    block_of,
    count_words_of_runs,
    make_plan,
)
from skembed._training.learned_arrays import make_rows
from skembed._training.sentence_blocks import Bag, make_sentences, random_target, sum_sentences, target_compared_with

block_of, random_target, sum_sentences, target_compared_with = map(
    for_python, (block_of, random_target, sum_sentences, target_compared_with)
)

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]


def plan_to_draw(run_length, seed=9):
    return Plan(np.zeros(1, np.int64), run_length, 1, 1, 0, 1, seed)


@given(
    seed=st.integers(0, 2**62),
    block=st.integers(0, 10**6),
    run_length=st.integers(1, 9),
    n_targets=st.integers(1, 30) | st.integers(100, 600),
    n_wanted=st.integers(1, 40),
)
@settings(max_examples=60)
def test_draws_are_other_targets_of_other_runs(seed, block, run_length, n_targets, n_wanted):
    targets = block_of_targets(n_targets, block)
    draws = draw_targets(plan_to_draw(run_length, seed), targets, np.zeros(n_wanted, np.int64))
    n = draws.n_random
    assert n == min(n_wanted, n_targets - 1)
    nearest = min(run_length, max(1, (n_targets + 1 - n_wanted) // 2))  # in a small block there are not enough others
    farthest = min(n_targets - nearest, nearest + max(128, 8 * n_wanted) - 1)
    assert ((draws.offsets[:n] >= nearest) & (draws.offsets[:n] <= farthest)).all()
    drawn = [[random_target(draws, i, r) for r in range(n)] for i in range(n_targets)]
    for i in range(n_targets):
        assert len({i, *drawn[i]}) == n + 1
        assert all(0 <= j < n_targets for j in drawn[i])
        assert [drawn[target_compared_with(draws, i, r)][r] for r in range(n)] == [i] * n


def test_offsets_are_even_and_change_with_the_block():
    drawn = np.zeros(15, np.int64)
    offsets = np.zeros(3, np.int64)
    for block in range(600):
        drawn[draw_targets(plan_to_draw(1), block_of_targets(16, block), offsets).offsets - 1] += 1
    assert drawn.sum() == 1800 and stats.chisquare(drawn).pvalue > 1e-6


BLOCKS = SentenceBlocks(border=1, largest=64, longest_run=4)


def plan_of(text, batch_size, blocks=BLOCKS, seed=0, epoch=0):
    return make_plan(text, blocks, batch_size, seed, epoch)


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
    run_ptr, n_tokens = count_words_of_runs(text, plan)
    listed, most_tokens = [], 1
    lengths = np.diff(text.sent_ptr)
    for block in range(n_blocks):
        _, first, last, n_targets, n_members = block_of(plan, block)
        assert n_targets == (last - first) * plan.run_length and n_members == n_targets + 2 * plan.border * (
            last - first
        )
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


@pytest.mark.parametrize("mean", [False, True])
def test_dropped_words_leave_the_scale_of_a_sentence(mean):
    """A word is left out as often as it should be, and on average over the passes the sum is that of all words."""
    n_words = 12
    tokens = np.arange(n_words + 1, dtype=np.int32)  # the last is unknown
    text = EncodedText(tokens, np.array([0, n_words + 1]), np.zeros(1, np.int64), np.ones(n_words, np.float32))
    weights = np.random.default_rng(0).normal(2.0, 1.0, (n_words, 20)).astype(np.float32)
    rows = make_rows(weights, np.zeros((n_words, 2), np.float32), np.ones(n_words), 1)
    sums, n_kept = [], np.zeros(n_words)
    for seed in range(2000):
        plan = Plan(np.zeros(1, np.int64), 1, 0, 1, 0, 1, seed)
        sentences = make_sentences(text, plan, Bag(mean), 20, 1, 2, 1)
        sum_sentences(text, rows, Bag(mean, 0.75), plan, block_of(plan, 0), sentences, one_thread())
        first, last = sentences.gradient.bounds[0, :2]
        n_kept[sentences.gradient.row[first:last]] += 1
        sums.append(sentences.sums[0].copy())
    assert_allclose(n_kept / 2000, 0.75, atol=0.05)
    assert_allclose(np.mean(sums, axis=0), weights.mean(axis=0) if mean else weights.sum(axis=0), rtol=0.03)


def test_members_that_are_targets():
    plan = Plan(np.zeros(3, np.int64), 4, 2, 3, 0, 0, 0)  # each run has two members of border on each side
    text = EncodedText(np.zeros(9, np.int32), np.array([0, 9]), np.zeros(1, np.int64), np.ones(1, np.float32))
    sentences = make_sentences(text, plan, Bag(False), 20, 1, 2, 1)
    assert sentences.of_target.tolist() == [2, 3, 4, 5, 10, 11, 12, 13, 18, 19, 20, 21]
