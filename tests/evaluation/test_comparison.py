"""The intervals of a table of methods, and what it says."""

import re

import numpy as np
import pytest
from scipy import stats

from skembed.evaluation._comparison import Run, Task, joint_half_widths, make_comparison
from skembed.evaluation._standard import SIMPLE

RNG = np.random.RandomState(0)


def test_an_interval_is_that_of_students_t_on_paired_differences():
    differences = RNG.standard_normal((50, 1))
    expected = stats.ttest_1samp(differences[:, 0], 0).confidence_interval(0.95)
    assert joint_half_widths(differences, None, 0)[0] == pytest.approx((expected.high - expected.low) / 2, rel=0.03)


def test_rows_of_a_group_are_drawn_together():
    once = RNG.standard_normal((30, 2))
    units = np.repeat(np.arange(30), 4)
    assert joint_half_widths(once.repeat(4, axis=0), units, 0) == pytest.approx(joint_half_widths(once, None, 0))


def test_intervals_hold_together():
    draws = np.random.RandomState(1)
    held = 0
    for seed in range(200):
        differences = draws.standard_normal((40, 5))
        held += (np.abs(differences.mean(axis=0)) <= joint_half_widths(differences, None, seed)).all()
    assert 180 < held < 200


def test_methods_without_a_difference_have_an_interval_of_zero_width():
    assert joint_half_widths(np.zeros((5, 2)), None, 0).tolist() == [0, 0]


def made(*rows, measure="accuracy"):
    runs = {name: Run(np.asarray(values, float), 1.0, 2.0, 3.0) for name, values in rows}
    return make_comparison(Task({}, None, [], SIMPLE, measure, about="About.", what="Rows"), runs, random_state=0)


def test_the_sentence_says_whether_the_difference_matters():
    some = np.arange(100) % 4 > 0
    few, most = np.arange(100) % 4 == 0, np.arange(100) % 20 > 0
    assert re.fullmatch(
        r"mine is 20\.0 points ahead of tf-idf \(95 % interval 1\d\.\d to 2\d\.\d\)\.",
        made(("tf-idf", some), ("mine", most), ("poor", few)).sentence,
    )
    assert made(("tf-idf", some), ("mine", few)).sentence.startswith(
        "tf-idf is ahead of all others: mine is 50.0 points behind tf-idf (95 % interval -"
    )
    one_less = some.copy()
    one_less[1] = False
    assert re.fullmatch(
        r"No difference that matters: mine is 1\.0 points behind tf-idf \(95 % interval -3\.0 to 1\.0\)\. "
        r"Rows show only a difference of more than about 2\.0 points\.",
        made(("tf-idf", some), ("mine", one_less)).sentence,
    )
    assert made(("tf-idf", some), ("characters", few)).sentence == "Only simple methods were tried; tf-idf is the best."
    assert " of f2 " in made(("tf-idf", some), ("mine", few), measure="f2").sentence
