"""Negative samples: alias tables, and which part of the rows a sentence draws from."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import bits, draw_negative, for_python, negative_probability
from scipy import stats

from skembed._training.negatives import alias_table, first_of_second_part, make_negatives

first_of_second_part = for_python(first_of_second_part)

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]
WEIGHT = np.array([0.4, 0.25, 0.0, 0.15, 0.1, 0.06, 0.04])
PART = np.array([1, 0, 0, 0, 1, 0, 1], np.int16)


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
def test_both_parts_together_hold_the_probabilities(words):
    weight, part = np.array(words, float).T
    negatives = make_negatives(weight, part.astype(np.int16))
    np.testing.assert_allclose(negative_probability(negatives), weight / weight.sum(), atol=1e-6)


@pytest.mark.parametrize("part", [0, 1])
def test_a_draw_stays_in_its_part(part):
    negatives = make_negatives(WEIGHT, PART)
    drawn = np.bincount([draw_negative(negatives, part, bits(5, 1, i, 0)) for i in range(4000)], minlength=7)
    possible = (PART == part) & (WEIGHT > 0)
    assert not drawn[~possible].any()
    expected = WEIGHT[possible] / WEIGHT[possible].sum()
    assert stats.chisquare(drawn[possible], 4000 * expected).pvalue > 1e-6


@pytest.mark.parametrize("n_sentences", [1, 3, 64])
def test_each_part_serves_its_share_of_the_sentences(n_sentences):
    negatives = make_negatives(WEIGHT, PART)
    first = np.array([first_of_second_part(negatives, 7, block, n_sentences) for block in range(4000)])
    assert ((first >= 0) & (first <= n_sentences)).all()
    assert len(set(first.tolist())) == 2, "the number next below and above the share"
    assert abs(first.mean() - n_sentences * negatives.share) < 4 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("part", [0, 1])
def test_where_all_words_are_in_one_part_it_serves_all_sentences(part):
    negatives = make_negatives(WEIGHT, np.full(len(WEIGHT), part, np.int16))
    for block in range(200):
        first = first_of_second_part(negatives, 7, block, 64)
        assert first == 0 if part else first >= 64
