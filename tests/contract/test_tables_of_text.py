"""A column of text in a table of one column, and rows without a sentence: what pipelines and other libraries pass."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import GROUPS, KINDS, METHODS, OTHER_TEXT, SPARSE, TEXT, bits, dense, fitted, learned, make
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

import skembed
from skembed import PairCorpus, SentenceCorpus
from skembed._saving.header import class_of
from skembed.evaluation import nested_classification

every_class = pytest.mark.parametrize("name", METHODS)


def table(column, name="text"):
    return pd.DataFrame({name: column})


def with_text_under_nulls(text):
    """An array of Arrow that keeps the bytes of its nulls, as masking in place does."""
    _, *offsets_and_bytes = pa.array(["a hidden cat" if item is None else item for item in text]).buffers()
    present = pa.array([item is not None for item in text]).buffers()[1]
    return pa.StringArray.from_buffers(len(text), *offsets_and_bytes, present)


TABLES = {
    "pandas": table,
    "pandas, a number as name": lambda text: table(text, 0),
    "pandas, objects": lambda text: table(pd.Series(text, dtype=object)),
    "pandas, Arrow": lambda text: table(pd.Series(text, dtype="string[pyarrow]")),
    "pandas, categories": lambda text: table(pd.Series(text, dtype="category")),
    "polars": lambda text: pl.DataFrame({"text": text}),
    "pyarrow": lambda text: pa.table({"text": text}),
    "array of objects": lambda text: np.array(text, object)[:, None],
    "masked array": lambda text: np.ma.masked_array(
        np.array([item or "" for item in text])[:, None], [[item is None] for item in text]
    ),
}
COLUMNS = {
    "list": list,
    "iterator": iter,
    "NaN": lambda text: [float("nan") if item is None else item for item in text],
    "NA": lambda text: [pd.NA if item is None else item for item in text],
    "NaT": lambda text: (pd.NaT if item is None else item for item in text),
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow, a part": lambda text: pa.array(["before", None, *text])[2:],
    "pyarrow, text under a null": with_text_under_nulls,
    "pyarrow, chunks": lambda text: pa.chunked_array([text[:7], text[7:]], pa.large_string()),
}
every_table = pytest.mark.parametrize("kind", [*TABLES, "array of strings"])
GAPS = [None if row in (0, 40, 89) else text for row, text in enumerate(TEXT)]
FILLED = [text or "" for text in GAPS]


def goes_on(name):
    """Whether a class has `partial_fit`."""
    return hasattr(make(name), "partial_fit")


def classified(model, text):
    topics = [int(group.split()[1]) % 4 for group in GROUPS]
    return nested_classification(model, text, topics, cv=3, inner_cv=2).accuracy


def as_table(kind, text):
    return np.array(text)[:, None] if kind == "array of strings" else TABLES[kind](text)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("kind", ["pandas, a number as name", "pyarrow", "array of strings"])
def test_a_table_of_one_column_is_text(name, kind):
    expected = bits(dense(fitted(name).transform(TEXT)))
    X = as_table(kind, TEXT)
    assert bits(dense(fitted(name).transform(X))) == expected
    assert bits(dense(make(name).fit_transform(X, groups=GROUPS))) == expected
    assert learned(make(name).fit(X, groups=GROUPS)) == learned(fitted(name))
    if goes_on(name):
        assert learned(make(name).partial_fit(X, groups=GROUPS)) == learned(make(name).partial_fit(TEXT, groups=GROUPS))


@every_table
def test_other_doors_take_a_table_of_one_column(kind):
    X, model = as_table(kind, TEXT), fitted("CBOSVectorizer")
    assert SentenceCorpus.from_sentences(X, np.array(GROUPS)[:, None]) == SentenceCorpus.from_sentences(TEXT, GROUPS)
    np.testing.assert_array_equal(model.coverage(X), model.coverage(TEXT))
    np.testing.assert_array_equal(model.similarity(X, TEXT), model.similarity(TEXT, TEXT))
    np.testing.assert_array_equal(model.transform(X), model.transform(TEXT))
    found, expected = (classified(model, text) for text in (X, TEXT))
    assert found == expected


def test_pairs_are_in_two_columns():
    with pytest.raises(ValueError, match=r"two columns.*it has 'text'"):
        PairCorpus.from_pairs(table(TEXT))


@every_class
def test_missing_sentences_are_taken_as_empty_ones(name):
    options = {"missing": "empty"}
    expected = make(name).fit(FILLED, groups=GROUPS)
    model = make(name, **options).fit(table(GAPS), groups=GROUPS)
    assert learned(model) == learned(expected)
    assert bits(dense(model.transform(GAPS))) == bits(dense(expected.transform(FILLED)))
    if goes_on(name):
        parts = make(name, **options).partial_fit(GAPS, groups=GROUPS), make(name).partial_fit(FILLED, groups=GROUPS)
        assert learned(parts[0]) == learned(parts[1])
    with pytest.raises(TypeError, match=r"Row 0 .* missing .*Set missing=\"empty\", or replace .* first: "):
        make(name).fit(GAPS)


@pytest.mark.parametrize("form", [*TABLES.values(), *COLUMNS.values()], ids=[*TABLES, *(f"{c}, flat" for c in COLUMNS)])
@pytest.mark.parametrize("options", [{}, {"token_pattern": r"\S+"}], ids=["compiled", "Python"])
def test_missing_sentences_of_any_container(form, options):
    expected = SentenceCorpus.from_sentences(FILLED, GROUPS, **options)
    assert SentenceCorpus.from_sentences(form(GAPS), GROUPS, missing="empty", **options) == expected
    for text in (GAPS, TEXT):
        model = make("BOWPCA-plain", missing="empty", **options).fit(form(text))
        rows = dense(model.transform(form([None, *OTHER_TEXT])))
        np.testing.assert_array_equal(rows, dense(model.transform(["", *OTHER_TEXT])))
    with pytest.raises(TypeError, match=r"^Row 0 is missing .*Set missing=\"empty\""):
        SentenceCorpus.from_sentences(form(GAPS), GROUPS, **options)


def test_a_number_is_not_missing():
    with pytest.raises(TypeError, match=r"^Row 2 is 5 of type int"):
        SentenceCorpus.from_sentences([None, "a cat", 5], missing="empty")


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "masked array"])
def test_the_code_that_replaces_missing_sentences_works(kind):
    X = as_table(kind, GAPS)
    with pytest.raises(TypeError) as caught:
        fitted("CBOSVectorizer").transform(X)
    code = str(caught.value).split("first: ")[1]
    again = fitted("CBOSVectorizer").transform(eval(code, {"X": X, "pl": pl}))
    np.testing.assert_array_equal(again, fitted("CBOSVectorizer").transform(FILLED))


@every_class
def test_the_option_is_a_parameter(name, tmp_path):
    model = make(name, missing="empty").fit(TEXT, groups=GROUPS)
    expected = bits(dense(model.transform(FILLED)))
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    if class_of(type(model).__name__) is type(
        model
    ):  # not a class of the tests, which makes the evidence of some methods
        skembed.save(model, tmp_path / "model")
        copies.append(skembed.load(tmp_path / "model"))
    for again in copies:
        assert again.get_params()["missing"] == clone(again).missing == "empty"
        assert bits(dense(again.transform(GAPS))) == expected
    model.set_params(missing="error")
    with pytest.raises(TypeError, match="Row 0 is missing"):
        model.transform(GAPS)
    for wrong in ("drop", None, ["empty"], np.array(["empty", "error"])):
        with pytest.raises(ValueError, match="The 'missing' parameter"):
            model.set_params(missing=wrong).transform(TEXT)
        with pytest.raises(ValueError, match=f"The 'missing' parameter of {name} must be"):
            clone(model).fit(TEXT, groups=GROUPS)


# On some processors the solver of scikit-learn 1.6 stops early.
@pytest.mark.filterwarnings("ignore:(?i).*line search")
def test_evaluation_asks_the_model_what_to_do():
    model = make("BOWPCA-plain", missing="empty").fit(FILLED)
    scores = [classified(each, text) for each in (model, make_pipeline(model)) for text in (table(GAPS), FILLED)]
    assert scores == scores[:1] * 4
    with pytest.raises(TypeError, match="Row 0 of X is missing"):
        classified(make("BOWPCA-plain"), GAPS)


# -- pipelines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("columns", ["text", ["text"]], ids=["a name", "a list"])
def test_a_column_transformer_may_name_the_column_in_a_list(name, columns):
    frame = pd.DataFrame({"stars": range(len(GAPS)), "text": GAPS})
    model = make(name, missing="empty")
    of_columns = ColumnTransformer([("text", model, columns)], remainder="passthrough", sparse_threshold=1)
    rows = dense(of_columns.fit_transform(frame))
    np.testing.assert_array_equal(rows[:, :-1], dense(clone(model).fit_transform(FILLED)))
    if name not in SPARSE:
        of_columns.set_output(transform="pandas")
        shift = 7 if isinstance(columns, list) else 0  # scikit-learn 1.6 keeps no index of a Series
        found = of_columns.fit_transform(frame.set_index(frame.index + shift))
        assert list(found.columns) == list(of_columns.get_feature_names_out()) and found.index[0] == shift
        np.testing.assert_array_equal(found.to_numpy(np.float32), rows.astype(np.float32))


class Selected(TransformerMixin, BaseEstimator):
    """A step that gives a table of some columns, as many libraries have one."""

    def __init__(self, columns=("text",)):
        self.columns = columns

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[list(self.columns)]


def test_steps_before_may_give_a_table():
    """Whose missing rows no user can fill."""
    frame = pd.DataFrame({"stars": range(len(GAPS)), "text": GAPS})
    pipeline = make_pipeline(Selected(), make("Sent2VecVectorizer", missing="empty"))
    rows = pipeline.fit_transform(frame)
    np.testing.assert_array_equal(rows, make("Sent2VecVectorizer").fit_transform(FILLED))
    np.testing.assert_array_equal(pipeline.transform(frame), rows)
    with pytest.raises(ValueError, match=r"shape \(90, 2\). Pass one column, for example X\[\"text\"\]"):
        pipeline.set_params(selected__columns=("text", "stars")).fit(frame)


def test_a_table_vectorizer_of_skrub():
    skrub = pytest.importorskip("skrub")
    frame = pd.DataFrame({"stars": range(len(GAPS)), "text": GAPS})
    model = make("Sent2VecVectorizer", missing="empty")
    found = skrub.TableVectorizer(high_cardinality=model).fit_transform(frame)
    np.testing.assert_array_equal(found.to_numpy(np.float32)[:, 1:], model.fit_transform(FILLED))


def test_a_sampler_of_imbalanced_learn():
    imblearn = pytest.importorskip("imblearn")
    from imblearn.over_sampling import RandomOverSampler
    from sklearn.linear_model import LogisticRegression

    y = [int(row < 30) for row in range(len(TEXT))]
    steps = RandomOverSampler(random_state=0), make("Sent2VecVectorizer"), LogisticRegression()
    pipeline = imblearn.pipeline.make_pipeline(*steps)
    assert pipeline.fit(np.array(TEXT, object)[:, None], y).predict(OTHER_TEXT).shape == (len(OTHER_TEXT),)
