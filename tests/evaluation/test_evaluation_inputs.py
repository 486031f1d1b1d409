"""Every function of evaluation, inspection and metrics gives the same for each form of input."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from labelled_sentences import NAMES, PAIRS, RNG, SCORES, X, Y
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

from skembed import BOWPCA, SentenceCorpus
from skembed.evaluation import (
    MTEBEncoder,
    RelatednessRegressor,
    _classification,  # noqa: I001
    error_agreement,
    nested_classification,
    pair_classification,
    pair_features,
    semantic_classification,
    sick_relatedness,
    sick_scores,
    split_classification,
    sts_comparison,
    sts_intervals,
    sts_scores,
    sts_similarities,
)
from skembed.metrics import paired_cosine_similarity, pearson_score, spearman_score

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
plt = pytest.importorskip("matplotlib.pyplot")

ODD_INDEX = range(100, 0, -1)


def by_name(kinds):
    return {"argvalues": list(kinds.values()), "ids": list(kinds)}


COLUMNS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "array of objects": lambda values: np.array(values, object),
    "generator": lambda values: (value for value in values),
    "pandas": lambda values: pd.Series(values, index=ODD_INDEX[: len(values)]),
    "pandas category": lambda values: pd.Series(values, index=ODD_INDEX[: len(values)]).astype("category"),
    "pandas nullable": lambda values: pd.Series(values, index=ODD_INDEX[: len(values)]).convert_dtypes(),
    "pandas Arrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.Series,
    "Arrow": pa.array,
    "Arrow chunks": lambda values: pa.chunked_array([values[:5], values[5:]]),
    "Arrow dictionary": lambda values: pa.array(values).dictionary_encode(),
}
TEXTS = COLUMNS | {"corpus": SentenceCorpus.from_sentences}
TABLES = {
    "pandas": lambda columns: pd.DataFrame(columns, index=ODD_INDEX[: len(next(iter(columns.values())))]),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "dict": dict,
    "structured": lambda columns: np.rec.fromarrays(
        [np.array(column) for column in columns.values()], names=list(columns)
    ).view(np.ndarray),
}
PAIR_KINDS = {
    "list": list,
    "zip": lambda pairs: zip(*zip(*pairs)),
    "lists": lambda pairs: [list(pair) for pair in pairs],
    "generator": lambda pairs: (pair for pair in pairs),
    "array": np.array,
    "dicts": lambda pairs: [{"a": a, "b": b} for a, b in pairs],
    "Arrow lists": lambda pairs: pa.array([list(pair) for pair in pairs]),
    "polars lists": lambda pairs: pl.Series([list(pair) for pair in pairs]),
    "pandas tuples": lambda pairs: pd.Series(pairs, index=ODD_INDEX[: len(pairs)]),
    "corpora": lambda pairs: dict(zip("ab", map(SentenceCorpus.from_sentences, zip(*pairs)))),
    **{
        f"table {name}": lambda pairs, make=make: make(dict(zip("ab", map(list, zip(*pairs)))))
        for name, make in TABLES.items()
    },
}
SETS = {
    "Bunch": lambda data, target: Bunch(data=data, target=target),
    "dict": lambda data, target: {"data": data, "target": target},
    "attributes": lambda data, target: SimpleNamespace(data=data, target=target),
    "tuple": lambda data, target: (data, target),
}
SENTENCE_SETS = SETS | {
    name: lambda data, target, make=make: make({"data": data, "target": target}) for name, make in TABLES.items()
}
PAIR_SETS = SETS | {
    f"table {name}": lambda data, target, make=make: make(
        {"sentence1": [a for a, _ in data], "sentence2": [b for _, b in data], "target": list(target)}
    )
    for name, make in TABLES.items()
}
MATRICES = {
    "list": list,
    "array": np.array,
    "generator": lambda rows: (row for row in rows),
    "zip": lambda rows: zip(*np.transpose(rows)),
    "pandas": lambda rows: pd.DataFrame(rows, index=ODD_INDEX[: len(rows)]),
    "polars": lambda rows: pl.DataFrame(np.array(rows)),
    "Arrow": lambda rows: pa.table(dict(zip("abcdefgh", np.transpose(rows)))),
    "structured": lambda rows: np.rec.fromarrays(np.transpose(rows)).view(np.ndarray),
}
BAGS = BOWPCA(n_components=None)
FEW_FOLDS = {"cv": 3, "inner_cv": 2}
LABELS = {"numbers": Y, "strings": NAMES}


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(found, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            same(a, b)
    elif isinstance(found, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(_classification, "C_GRID", (1.0,))
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("model", "kind"),
    [(BAGS, kind) for kind in TEXTS]
    + [
        (model, kind)
        for model in (TfidfVectorizer(), make_pipeline(BOWPCA(n_components=None)))
        for kind in ("generator", "polars", "corpus")
    ],
    ids=repr,
)
def test_sentences(model, kind):
    kind = TEXTS[kind]
    expected, nested = of_sentences(model)
    same(semantic_classification(model, kind(X), Y), expected)
    same(semantic_classification(model.fit(X), kind(X), Y), expected)
    same(nested_classification(model, kind(X), Y, **FEW_FOLDS), nested)


@cache
def of_sentences(model):
    return semantic_classification(model, X, Y), nested_classification(model, X, Y, **FEW_FOLDS)


class Seen(TransformerMixin, BaseEstimator):
    """Remembers what it was given; `corpus` makes it an estimator that takes a corpus."""

    seen: list = []  # shared by all clones on purpose

    def fit(self, X, y=None):
        self.seen.append(X)
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.arange(len(X) * 2.0).reshape(-1, 2)


class SeenCorpus(Seen):
    def __init__(self, corpus=None):
        self.corpus = corpus


def test_a_corpus_goes_to_the_estimators_that_take_one_and_as_text_to_others():
    Seen.seen.clear()
    corpus = SentenceCorpus.from_sentences(["Red, the cat!", "A dog."] * 10)
    y = [0, 1] * 10
    for model in (SeenCorpus(), make_pipeline(SeenCorpus(), Seen())):
        semantic_classification(model, corpus, y, cv=2)
        assert isinstance(Seen.seen[0], SentenceCorpus)
        assert list(Seen.seen[0]) == [["red", "the", "cat"], ["a", "dog"]] * 5
        Seen.seen.clear()
    semantic_classification(Seen(), corpus, y, cv=2)
    assert Seen.seen[0] == ["red the cat", "a dog"] * 5


@cache
def of_labels(name):
    labels = LABELS[name]
    return (
        semantic_classification(BAGS, X, labels),
        nested_classification(BAGS, X, labels, **FEW_FOLDS),
        split_classification(BAGS, (X, labels), (X, labels), inner_cv=2),
    )


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("kind", **by_name(COLUMNS))
def test_labels(name, kind):
    labels = LABELS[name]
    expected, nested, split = of_labels(name)
    same_predictions(semantic_classification(BAGS, X, kind(labels)), expected)
    same_predictions(nested_classification(BAGS, X, kind(labels), **FEW_FOLDS), nested)
    target = Bunch(data=X, target=kind(labels))
    same_predictions(split_classification(BAGS, target, (X, labels), inner_cv=2), split)
    said = {"a": labels[::-1], "b": labels[1:] + labels[:1]}
    expected = error_agreement(labels, said)
    same(error_agreement(kind(labels), {name: kind(values) for name, values in said.items()}), expected)
    subset = Bunch(data=PAIRS, target=SCORES, subset=kind(labels[:24]))
    expected = sts_similarities(BAGS.fit(X), {"a": Bunch(data=PAIRS, target=SCORES, subset=labels[:24])})
    same(sts_similarities(BAGS, {"a": subset}), expected)


def same_predictions(found, expected):
    assert found.predictions.tolist() == expected.predictions.tolist()
    assert found.accuracy == expected.accuracy


ALPHAS = [1e-2, 1e-3]


@cache
def of_scores():
    pairs = Bunch(data=PAIRS, target=SCORES)
    return sick_relatedness(BOWPCA(n_components=3, random_state=0).fit(X), pairs, pairs, pairs, alphas=ALPHAS)


@pytest.mark.parametrize("kind", **by_name(COLUMNS))
def test_scores(kind):
    model = BOWPCA(n_components=3, random_state=0).fit(X)
    pairs, given = Bunch(data=PAIRS, target=SCORES), Bunch(data=PAIRS, target=kind(SCORES))
    other = SCORES[::-1]
    for score in (pearson_score, spearman_score):
        assert score(kind(SCORES), kind(other)) == score(SCORES, other)
    same(sick_scores(model, test=given), sick_scores(model, test=pairs))
    given = [Bunch(data=PAIRS, target=kind(SCORES)) for _ in range(3)]
    same(sick_relatedness(model, *given, alphas=kind(ALPHAS)), of_scores())
    same(sts_similarities(model, {"a": Bunch(data=PAIRS, target=kind(SCORES))}), sts_similarities(model, {"a": pairs}))


@cache
def of_pairs():
    return pair_classification(BOWPCA(n_components=None).fit(X), (PAIRS, Y[:24]), (PAIRS, Y[:24]), inner_cv=2)


@pytest.mark.parametrize("kind", **by_name(PAIR_KINDS))
def test_pairs(kind):
    model = BOWPCA(n_components=None).fit(X)
    y = Y[:24]
    part = lambda pairs: Bunch(data=kind(pairs), target=y)  # noqa: E731
    expected = of_pairs()
    same(pair_classification(model, part(PAIRS), part(PAIRS), inner_cv=2), expected)
    same(pair_classification(BAGS, part(PAIRS), part(PAIRS), inner_cv=2), expected)
    same(sick_scores(model, test=part(PAIRS)), sick_scores(model, test=(PAIRS, y)))
    same(sts_similarities(model, {2012: part(PAIRS)}), sts_similarities(model, {2012: (PAIRS, y)}))


@pytest.mark.parametrize("kind", **by_name(SENTENCE_SETS))
def test_sets_of_sentences(kind):
    same(split_classification(BAGS, kind(X, NAMES), kind(X, NAMES), inner_cv=2), of_labels("strings")[2])


@pytest.mark.parametrize("kind", **by_name(PAIR_SETS))
def test_sets_of_pairs(kind):
    model, y = BOWPCA(n_components=3, random_state=0).fit(X), Y[:24]
    pairs, labelled = Bunch(data=PAIRS, target=SCORES), Bunch(data=PAIRS, target=y)
    expected = pair_classification(model, labelled, labelled, inner_cv=2)
    same(pair_classification(model, kind(PAIRS, y), kind(PAIRS, y), inner_cv=2), expected)
    same(sick_scores(model, train=kind(PAIRS, SCORES)), sick_scores(model, train=pairs))
    three = [kind(PAIRS, SCORES) for _ in range(3)]
    same(sick_relatedness(model, *three, alphas=[0.1]), sick_relatedness(model, pairs, pairs, pairs, alphas=[0.1]))
    expected = sts_similarities(model, {2012: pairs})
    for sets in ({2012: kind(PAIRS, SCORES)}, [(2012, kind(PAIRS, SCORES))], zip([2012], [kind(PAIRS, SCORES)])):
        same(sts_similarities(model, sets), expected)


def test_similarities_are_bunches_or_dicts():
    one, other = (
        sts_similarities(model, {"a": (PAIRS, SCORES)}) for model in (BAGS.fit(X), BOWPCA(3, random_state=0).fit(X))
    )
    stored = [[{**row, "cosine": row.cosine.tolist()} for row in rows] for rows in (one, other)]
    same(sts_scores(stored[0]), sts_scores(one))
    same(sts_comparison(*stored), sts_comparison(one, other))
    expected = sts_intervals({"one": one, "other": other}, baseline="one")
    same(sts_intervals(dict(zip(("one", "other"), stored)), baseline="one"), expected)


PREDICTIONS = {
    "list": lambda said: list(said.values()),
    "generator": lambda said: (row for row in said.values()),
    "array": lambda said: np.array(list(said.values())),
    "named tuples": lambda said: list(said.items()),
    "zip": lambda said: zip(said, said.values()),
    **{f"table {name}": make for name, make in TABLES.items()},
}


@pytest.mark.parametrize("kind", **by_name(PREDICTIONS))
def test_predictions(kind):
    said = {"a": NAMES[::-1], "b": NAMES[1:] + NAMES[:1]}
    expected = error_agreement(NAMES, said)
    found = error_agreement(NAMES, kind(said))
    assert found.n_shared.tolist() == expected.n_shared.tolist()
    assert found.names in (["a", "b"], ["model 0", "model 1"])


@pytest.mark.parametrize("kind", **by_name(MATRICES))
def test_rows_of_numbers(kind):
    A, B = RNG.normal(size=(2, 6, 3))
    np.testing.assert_array_equal(pair_features(kind(A), kind(B)), pair_features(A, B))
    np.testing.assert_array_equal(paired_cosine_similarity(kind(A), kind(B)), paired_cosine_similarity(A, B))


@pytest.mark.parametrize("kind", **by_name({name: MATRICES[name] for name in ("list", "array", "pandas", "polars")}))
@pytest.mark.parametrize("column", [list, np.array, pd.Series, pl.Series])
def test_the_regressor_takes_what_scikit_learn_takes(kind, column):
    A, y = np.random.default_rng(0).normal(size=(24, 3)), SCORES
    expected = RelatednessRegressor(n_hidden=2, max_iter=50, random_state=0, tol=1.0).fit(A, y)
    found = RelatednessRegressor(n_hidden=2, max_iter=50, random_state=0, tol=1.0).fit(kind(A), column(y))
    np.testing.assert_allclose(found.predict(kind(A)), expected.predict(A), rtol=1e-9)


@pytest.mark.parametrize("kind", **by_name(TEXTS))
def test_mteb_batches(kind):
    encoder = MTEBEncoder(BAGS.fit(X))
    expected = BAGS.transform(X).toarray()
    batches = lambda: [{"text": kind(X[:24])}, {"text": kind(X[24:])}]  # noqa: E731
    for inputs in (batches(), (batch for batch in batches()), X):
        np.testing.assert_array_equal(encoder.encode(inputs), expected)
