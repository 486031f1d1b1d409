"""Similarity of sentence pairs: correlations, means, intervals and tests, by hand and against scipy."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Bunch

from benchmarks.papers.report import sts_ranking
from skembed import MeanEmbeddingVectorizer
from skembed.evaluation import (
    _sts,
    pair_features,
    sick_relatedness,
    sick_scores,
    sts_comparison,
    sts_intervals,
    sts_scores,
    sts_similarities,
)
from skembed.evaluation._sts import bootstrap_means
from skembed.metrics import pearson_score, spearman_score

GENERATOR = np.random.default_rng(0)


def similarity(cosine, target, year="2012", name="a", n_unknown=0):
    cosine, target = np.asarray(cosine, float), np.asarray(target, float)
    return Bunch(year=year, set=name, cosine=cosine, target=target, n_unknown=n_unknown)


def noisy(n, noise, seed=0, **names):
    generator = np.random.default_rng(seed)
    target = np.random.default_rng(7).uniform(0, 5, n)
    return similarity(target + noise * generator.normal(size=n), target, **names)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_correlations_are_those_of_scipy(scale):
    x, y = GENERATOR.normal(size=50) * scale, GENERATOR.integers(0, 5, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no overflow on the way
        ours = pearson_score(y, x), spearman_score(y, x)
    np.testing.assert_allclose(ours[0], stats.pearsonr(y, x / scale).statistic, rtol=1e-12)
    np.testing.assert_allclose(ours[1], stats.spearmanr(y, x).statistic, rtol=1e-12)


@pytest.mark.parametrize("score", [pearson_score, spearman_score])
def test_correlation_of_a_constant_is_zero(score):
    assert score([1, 2, 3], [4, 4, 4]) == 0
    assert score([0.1] * 3, [1, 2, 3]) == 0


@pytest.mark.parametrize("score", [pearson_score, spearman_score])
@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([1], [1], "two pairs"),
        ([1, 2], [1, 2, 3], "same length, got"),
        ([1, 2, 3], [1, np.nan, 3], "y_pred has nan in row 1"),
        ([1, 2, np.inf], [1, 2, 3], "y_true has inf in row 2"),
    ],
)
def test_scores_that_cannot_be_correlated(score, y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        score(y_true, y_pred)


PAIRS = Bunch(
    data=[("red", "red"), ("red", "blue"), ("red blue", "red"), ("?", "red"), ("unheard", "of")],
    target=[5.0, 0.0, 3.0, 1.0, 0.5],
    subset=np.array(["x", "y", "x", "x", "y"]),
)
VECTORS = {"red": [1.0, 0.0], "blue": [0.0, 1.0]}


@pytest.mark.parametrize(
    "model",
    [CountVectorizer(), MeanEmbeddingVectorizer(word_vectors=VECTORS, unknown="zero", weighting=None)],
    ids=["sparse", "dense"],
)
def test_cosines_of_pairs_by_hand(model):
    x, y = sts_similarities(model.fit(["red blue"]), {2012: PAIRS})
    assert (x.year, x.set, y.year, y.set) == ("2012", "x", "2012", "y")
    np.testing.assert_allclose(x.cosine, [1, 2**-0.5, 0], atol=1e-6)
    np.testing.assert_allclose(y.cosine, [0, 0], atol=1e-6)
    assert x.target.tolist() == [5, 3, 1] and y.target.tolist() == [0, 0.5]
    assert (x.n_unknown, y.n_unknown) == (1, 1)  # "?" has no word, "unheard of" no known one


@pytest.mark.parametrize("field", ["data", "target", "subset"])
def test_pairs_targets_and_subsets_are_of_one_length(field):
    model = CountVectorizer().fit(["red blue"])
    with pytest.raises(ValueError, match="must have the same length, got"):
        sts_similarities(model, {2012: Bunch(**{**PAIRS, field: PAIRS[field][:4]})})


@pytest.mark.parametrize(
    ("sets", "message"), [(PAIRS, "the pairs without a name"), ([PAIRS], "got a list"), (PAIRS.data, "got a list")]
)
def test_pairs_without_a_name(sets, message):
    with pytest.raises(TypeError, match=rf"sets must be a mapping of a year, .*{message}"):
        sts_similarities(CountVectorizer().fit(["red blue"]), sets)


def test_scores_of_nothing():
    with pytest.raises(ValueError, match="similarities is empty"):
        sts_scores([])


def test_means_by_hand():
    sets = [
        similarity([1, 2, 3], [1, 2, 3], name="up"),  # 1
        similarity([1, 1], [1, 2], name="flat", n_unknown=2),  # 0
        similarity([4, 3, 2, 1], [1, 2, 3, 4], "2013", "down"),  # -1
    ]
    rows = {(row["year"], row["set"]): row for row in sts_scores(sets)}
    assert [row["pearson"] for row in rows.values()][:3] == pytest.approx([1, 0, -1])
    assert rows["2012", "mean"]["pearson"] == pytest.approx(1 / 2)
    assert rows["2012", "weighted mean"]["pearson"] == pytest.approx(3 / 5)
    assert rows["2013", "weighted mean"]["spearman"] == pytest.approx(-1)
    assert rows["all", "mean"]["pearson"] == pytest.approx(0)
    assert rows["all", "weighted mean"]["pearson"] == pytest.approx((3 - 4) / 9)
    assert rows["all", "mean"]["n_pairs"] == 9 and rows["all", "mean"]["n_unknown"] == 2


def test_rows_are_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(sts_scores([similarity([1, 2, 3], [1, 3, 2])]))
    assert list(frame.columns) == ["year", "set", "n_pairs", "n_unknown", "pearson", "spearman"]
    assert not frame.isna().any(axis=None)


def test_an_interval_is_that_of_scipy():
    found = noisy(200, 2.0)
    [row] = sts_intervals({"model": [found]}, random_state=0)
    settings = {"paired": True, "vectorized": False, "method": "percentile", "n_resamples": 4000, "random_state": 1}
    theirs = stats.bootstrap((found.target, found.cosine), pearson_score, **settings).confidence_interval
    assert row["mean"] == pearson_score(found.target, found.cosine)
    np.testing.assert_allclose([row["low"], row["high"]], theirs, atol=0.015)


def test_draws_are_resampled_correlations():
    """The sums of all draws are one product; a draw taken one by one must give the same."""
    a, b = noisy(40, 1.0), noisy(30, 2.0, seed=3, name="b")
    _, draws = bootstrap_means({"m": [a, b]}, 5, random_state=0)
    generator = np.random.RandomState(0)
    counts = [generator.multinomial(len(s.target), np.full(len(s.target), 1 / len(s.target)), size=5) for s in (a, b)]
    expected = [
        np.mean(
            [
                pearson_score(np.repeat(s.target, count[i]), np.repeat(s.cosine, count[i]))
                for s, count in zip((a, b), counts)
            ]
        )
        for i in range(5)
    ]
    np.testing.assert_allclose(draws["m"], expected, rtol=1e-10)


def test_intervals_of_differences_are_paired():
    """Two models that hardly differ: their own intervals overlap, that of the difference is far from zero."""
    rough = noisy(300, 2.0)
    better = similarity(rough.cosine - 0.1 * (rough.cosine - rough.target), rough.target)
    models = {"better": [better], "rough": [rough]}
    alone = {row["method"]: row for row in sts_intervals(models)}
    [difference] = sts_intervals(models, baseline="rough")
    assert alone["better"]["low"] < alone["rough"]["high"]
    assert difference["low"] > 0
    assert difference["mean"] == pytest.approx(alone["better"]["mean"] - alone["rough"]["mean"])
    assert difference["high"] - difference["low"] < 0.2 * (alone["better"]["high"] - alone["better"]["low"])
    first, last = sts_ranking({"rough": [rough], "better": [better]})
    assert (first["method"], first["next"], last["next"], last["lead"]) == ("better", "rough", None, None)
    assert [first[key] for key in ("lead", "lead_low", "lead_high")] == [
        difference[key] for key in ("mean", "low", "high")
    ]
    assert sts_intervals(models) == sts_intervals(models)  # the same seed, the same draws


def test_intervals_cover(monkeypatch):
    """Of 95 % intervals of samples of one population, about 95 % hold its correlation."""
    monkeypatch.setattr(_sts, "N_DRAWS", 300)
    true = 1 / np.sqrt(1 + 1)
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        target = generator.normal(size=150)
        sample = similarity(target + generator.normal(size=150), target)
        [row] = sts_intervals({"m": [sample]}, random_state=generator.integers(2**31 - 1))
        held += row["low"] <= true <= row["high"]
    assert 180 <= held <= 198


def test_the_test_of_two_models_is_that_of_scipy():
    a, b = noisy(60, 1.0), noisy(60, 1.0, seed=5)
    [row] = sts_comparison([a], [b])
    theirs = stats.wilcoxon(a.cosine, b.cosine)
    assert (row["statistic"], row["p"]) == (theirs.statistic, theirs.pvalue)
    assert row["difference"] == pearson_score(a.target, a.cosine) - pearson_score(b.target, b.cosine)
    [same] = sts_comparison([a], [a])
    assert (same["statistic"], same["p"], same["difference"]) == (0, 1, 0)


def test_other_pairs_are_refused():
    a, b = noisy(20, 1.0), noisy(21, 1.0)
    with pytest.raises(ValueError, match="same pairs"):
        sts_comparison([a], [b])
    with pytest.raises(ValueError, match="same pairs"):
        sts_intervals({"a": [a], "b": [a, a]})
    with pytest.raises(ValueError, match="baseline='c'"):
        sts_intervals({"a": [a]}, baseline="c")
    for models in ({}, {"a": []}, {"a": [], "b": []}):
        with pytest.raises(ValueError, match="no similarities to compare"):
            sts_intervals(models)
    with pytest.raises(ValueError, match="no similarities to compare"):
        sts_comparison([], [])


def test_models_that_are_none():
    with pytest.raises(TypeError, match="transform"):
        sts_similarities(lambda sentences: sentences, {2012: PAIRS})
    bad = CountVectorizer().fit(["red"])
    bad.transform = lambda sentences: np.full((len(sentences), 2), [[1.0, np.nan]])
    with pytest.raises(ValueError, match="NaN or infinity for 'red'"):
        sts_similarities(bad, {2012: PAIRS})
    bad.transform = lambda sentences: np.zeros((3, 2))
    with pytest.raises(ValueError, match="one row a sentence"):
        sts_similarities(bad, {2012: PAIRS})


def test_pair_features_by_hand():
    A, B = np.array([[1.0, -2.0], [0.0, 3.0]]), np.array([[4.0, 5.0], [1.0, 1.0]])
    expected = [[4, -10, 3, 7], [0, 3, 1, 2]]
    np.testing.assert_array_equal(pair_features(A, B), expected)
    from scipy.sparse import csr_matrix

    np.testing.assert_array_equal(pair_features(csr_matrix(A), csr_matrix(B)).toarray(), expected)
    np.testing.assert_array_equal(pair_features(csr_matrix(A), B), expected)
    with pytest.raises(ValueError, match="same shape"):
        pair_features(A, B[:1])


def test_sick_rows():
    model = CountVectorizer().fit(["red blue green"])
    train = Bunch(data=[("red", "red"), ("red", "blue"), ("red", "red blue")], target=[5.0, 1.0, 3.0])
    test = Bunch(data=[("green", "green blue"), ("blue", "?"), ("red green", "green red")], target=[2.5, 1.0, 5.0])
    rows = {row["set"]: row for row in sick_scores(model, train=train, test=test)}
    assert list(rows) == ["train", "test", "test + train"]
    cosine, target = [1, 0, 2**-0.5, 2**-0.5, 0, 1], [5, 1, 3, 2.5, 1, 5]
    assert rows["test + train"]["pearson"] == pytest.approx(stats.pearsonr(cosine, target).statistic)
    assert rows["test + train"]["n_pairs"] == 6 and rows["test"]["n_unknown"] == 1


@pytest.mark.parametrize("wrong", ["train", "trial", "test"])
def test_sick_pairs_and_scores_are_of_one_length(wrong):
    model = MeanEmbeddingVectorizer(word_vectors=VECTORS, unknown="zero").fit(["red blue"])
    pairs = Bunch(data=PAIRS.data, target=[1.0, 2.0, 3.0, 4.0, 5.0])
    parts = dict.fromkeys(("train", "trial", "test"), pairs) | {wrong: Bunch(data=pairs.data, target=pairs.target[:4])}
    for evaluate in (sick_scores, sick_relatedness):
        with pytest.raises(ValueError, match=r"data and target of \w+ must have the same length, got 5 and 4"):
            evaluate(model, **parts)


@pytest.mark.filterwarnings("error")
def test_draws_of_one_pair_again_and_again_have_no_correlation():
    """Of three pairs a ninth of the draws are of one pair alone, and rounding leaves it a variance."""
    target = np.array([0.1, 0.2, 0.7])
    similarities = [Bunch(year="a", set="a", cosine=target * 1.1 + 0.3, target=target, n_unknown=0)]
    means, draws = bootstrap_means({"m": similarities}, 2000, 0)
    assert means["m"] == pytest.approx(1)
    values = draws["m"]
    assert np.all((np.abs(values) < 1e-12) | (np.abs(values - 1) < 1e-6))
    assert 0.05 < np.mean(values == 0) < 0.2


def test_a_set_of_one_pair_is_refused():
    similarities = [Bunch(year="2012", set="lonely", cosine=[1.0], target=[2.0], n_unknown=0)]
    with pytest.raises(ValueError, match="A correlation needs two pairs or more, got 1"):
        sts_scores(similarities)
