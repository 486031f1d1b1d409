"""Negative samples: alias tables, and from which half of the words a sentence draws."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import bits, block_of_targets, draw_negative, for_python, negative_probability
from scipy import stats

from skembed._training.negatives import alias_table, half_of_words, make_negatives

half_of_words = for_python(half_of_words)

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]
WEIGHT = np.array([0.4, 0.25, 0.0, 0.15, 0.1, 0.06, 0.04])
HALF = np.array([1, 0, 0, 0, 1, 0, 1], np.int16)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40).filter(any))
@settings(max_examples=60)
def test_alias_table_holds_the_probabilities(counts):
    probability = np.array(counts) / np.sum(counts)
    threshold, alias = alias_table(probability.copy())
    assert alias.dtype == np.int32
    assert ((threshold >= 0) & (threshold <= 1)).all()
    np.testing.assert_allclose(reference.alias_probability(threshold, alias), probability, atol=1e-6)
    assert not reference.alias_probability(threshold, alias)[probability == 0].any()


def test_alias_table_takes_counts_and_leaves_them():
    counts = np.array([1.0, 2.0, 5.0])
    threshold, alias = alias_table(counts)
    np.testing.assert_allclose(reference.alias_probability(threshold, alias), counts / 8, atol=1e-7)
    assert counts.tolist() == [1, 2, 5]


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 1)), min_size=1, max_size=40))
@settings(max_examples=60)
def test_both_halves_together_hold_the_probabilities(words):
    weight, half = np.array(words, float).T
    negatives = make_negatives(weight, half.astype(np.int16))
    np.testing.assert_allclose(negative_probability(negatives), weight / weight.sum(), atol=1e-6)


@pytest.mark.parametrize("half", [0, 1])
def test_a_draw_stays_in_its_half(half):
    negatives = make_negatives(WEIGHT, HALF)
    rows = (negatives.middle, 7) if half else (0, negatives.middle)
    drawn = np.bincount([draw_negative(negatives, rows, bits(5, 1, i, 0)) for i in range(4000)], minlength=7)
    possible = (HALF == half) & (WEIGHT > 0)
    assert not drawn[~possible].any()
    expected = WEIGHT[possible] / WEIGHT[possible].sum()
    assert stats.chisquare(drawn[possible], 4000 * expected).pvalue > 1e-6


@pytest.mark.parametrize("n_sentences", [1, 3, 64])
def test_each_half_has_its_fraction_of_the_sentences(n_sentences):
    negatives = make_negatives(WEIGHT, HALF)
    first = []
    for block in range(1500):
        targets = block_of_targets(n_sentences, block)
        is_second = [half_of_words(negatives, 7, targets, i)[0] > 0 for i in range(n_sentences)]
        assert is_second == sorted(is_second)
        first.append(n_sentences - sum(is_second))
    assert len(set(first)) == 2, "the integers next below and above the fraction"
    assert abs(np.mean(first) - n_sentences * negatives.first) < 4 * 0.5 / np.sqrt(1500)


@pytest.mark.parametrize("half", [0, 1])
def test_where_all_words_are_in_one_half_it_serves_all_sentences(half):
    negatives = make_negatives(WEIGHT, np.full(len(WEIGHT), half, np.int16))
    for block in range(200):
        targets = block_of_targets(64, block)
        assert {half_of_words(negatives, 7, targets, i) for i in (0, 31, 63)} == {(0, 7)}
