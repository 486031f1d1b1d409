"""Every estimator inside scikit-learn: its own checks that work on text, pipelines, searches, containers, metadata."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from estimators import (
    CHECKS,
    CLASSES,
    COMPOSED,
    GROUPS,
    KINDS,
    METHODS,
    NAMES,
    OTHER_TEXT,
    SPARSE,
    TEXT,
    TRAINED_CLASSES,
    bits,
    corpus,
    default,
    dense,
    fitted,
    learned,
    make,
)
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks

from skembed import SentenceCorpus

every = pytest.mark.parametrize("name", NAMES)
every_method = pytest.mark.parametrize("name", METHODS)
every_kind = pytest.mark.parametrize("name", KINDS)
every_dense_kind = pytest.mark.parametrize("name", [name for name in KINDS if name not in SPARSE])
SCIKIT_LEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
TOPICS = np.array([int(group.split()[1]) % 4 for group in GROUPS])


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("cls", [*CLASSES, *COMPOSED])
def test_scikit_learn_check(cls, check):
    run = getattr(estimator_checks, check, None)
    if run is None:
        pytest.fail(f"scikit-learn {sklearn.__version__} has no {check}: find what replaces it")
    run(cls.__name__, default(cls))


@pytest.mark.parametrize("cls", [*CLASSES, *COMPOSED])
def test_the_checks_can_fail(cls):
    class Wrong(cls):
        def __init__(self, extra=0):
            self.extra = 1  # not what was passed

    with pytest.raises(AssertionError):
        estimator_checks.check_parameters_default_constructible("Wrong", Wrong())


# -- columns and names -----------------------------------------------------------------------------------------------


@every
def test_feature_names(name):
    estimator = fitted(name)
    names = estimator.get_feature_names_out()
    assert names.dtype == object
    assert len(names) == len(set(names)) == estimator.n_features_out_
    assert all(isinstance(column, str) for column in names)
    if name in SPARSE:
        assert list(names) == list(estimator.vocabulary_)
    else:
        prefix = type(estimator).__name__.lower()
        assert list(names) == [f"{prefix}{i}" for i in range(estimator.n_features_out_)]
    assert list(estimator.get_feature_names_out(["text"])) == list(names)


@every_dense_kind
def test_pandas_output(name):
    estimator = make(name).set_output(transform="pandas")
    X = pd.Series(TEXT, index=[f"row {i}" for i in range(len(TEXT))])
    for frame in (estimator.fit_transform(X, groups=GROUPS), estimator.transform(X)):
        assert isinstance(frame, pd.DataFrame)
        if SCIKIT_LEARN >= (1, 9):  # 1.6 keeps the index of a table only
            assert list(frame.index) == list(X.index)
        assert list(frame.columns) == list(estimator.get_feature_names_out())
        assert (frame.dtypes == np.float32).all()
        assert bits(np.ascontiguousarray(frame)) == bits(fitted(name).transform(TEXT))
    assert list(estimator.transform(TEXT).index) == list(range(len(TEXT)))
    assert list(estimator.transform(np.array(TEXT, dtype=object)).index) == list(range(len(TEXT)))


@every_dense_kind
def test_polars_output(name):
    estimator = make(name).set_output(transform="polars")
    for X in (pl.Series("text", TEXT), TEXT):
        frame = estimator.fit_transform(X, groups=GROUPS)
        assert isinstance(frame, pl.DataFrame)
        assert frame.columns == list(estimator.get_feature_names_out())
        assert bits(np.ascontiguousarray(frame.to_numpy())) == bits(fitted(name).transform(TEXT))


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_are_of_the_class_that_scikit_learn_returns(name):
    other = TfidfVectorizer()
    for X in (TEXT, []):
        assert type(fitted(name).transform(X)) is csr_matrix
    assert type(make(name).fit_transform(TEXT)) is type(other.fit_transform(TEXT)) is csr_matrix
    if "sparse_interface" in sklearn.get_config():  # scikit-learn 1.9 or later
        with sklearn.config_context(sparse_interface="sparray"):
            assert type(fitted(name).transform(TEXT)) is type(other.transform(TEXT)) is csr_array


@pytest.mark.parametrize("name", SPARSE)
def test_pandas_output_of_a_sparse_table_is_refused_by_scikit_learn(name):
    with pytest.raises(ValueError, match="sparse"):
        make(name).set_output(transform="pandas").fit_transform(TEXT)


@every_kind
def test_column_transformer(name):
    frame = pd.DataFrame({"length": [len(text) for text in TEXT], "text": TEXT})
    columns = ColumnTransformer([("emb", make(name), "text"), ("rest", "passthrough", ["length"])], sparse_threshold=1)
    rows = dense(columns.fit_transform(frame))
    np.testing.assert_array_equal(rows[:, :-1], dense(make(name).fit(TEXT).transform(TEXT)))
    np.testing.assert_array_equal(rows[:, -1], frame["length"])
    inner = columns.named_transformers_["emb"].get_feature_names_out()
    assert list(columns.get_feature_names_out()) == [*(f"emb__{column}" for column in inner), "rest__length"]


@every_kind
def test_feature_union(name):
    union = FeatureUnion([("a", make(name)), ("b", make("BOWPCA-plain"))]).fit(TEXT)
    rows = dense(union.transform(OTHER_TEXT))
    expected = [dense(make(other).fit(TEXT).transform(OTHER_TEXT)) for other in (name, "BOWPCA-plain")]
    np.testing.assert_array_equal(rows, np.hstack(expected))
    assert len(union.get_feature_names_out()) == rows.shape[1]


# -- pipelines and searches ------------------------------------------------------------------------------------------


@every_method
def test_pipeline_with_a_classifier(name):
    pipeline = make_pipeline(make(name, max_iter=10) if "max_iter" in make(name).get_params() else make(name))
    pipeline.steps.append(("svm", LinearSVC(random_state=0)))
    in_order = {f"{pipeline.steps[0][0]}__groups": GROUPS}
    pipeline.fit(TEXT, TOPICS, **in_order)
    predicted = pipeline.predict(TEXT)
    assert (predicted == TOPICS).mean() > 0.4  # a quarter by chance; words tell the topic
    again = clone(pipeline).fit(TEXT, TOPICS, **in_order)
    assert (again.predict(TEXT) == predicted).all()


@every_kind
def test_frozen(name):
    frozen = FrozenEstimator(fitted(name))
    pipeline = Pipeline([("emb", frozen), ("svm", LinearSVC(random_state=0))]).fit(TEXT[:40], TOPICS[:40])
    assert clone(pipeline)["emb"].estimator is not None
    before = learned(fitted(name))
    pipeline.fit(TEXT[40:], TOPICS[40:])
    assert learned(fitted(name)) == before
    assert bits(pipeline[:-1].transform(OTHER_TEXT)) == bits(fitted(name).transform(OTHER_TEXT))


@every_kind
def test_cross_validation_learns_from_the_corpus(name):
    options = {key: getattr(make(name), key) for key in ("stemmer", "stop_words")}
    pipeline = make_pipeline(
        make(name, corpus=SentenceCorpus.from_sentences(TEXT, GROUPS, **options)), LinearSVC(random_state=0)
    )
    folds = KFold(3, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # shuffled X is no trap here
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the classifier, on two dozen sentences
        scores = cross_val_score(pipeline, TEXT, TOPICS, cv=folds, error_score="raise")
    frozen = make_pipeline(FrozenEstimator(make(name).fit(TEXT, groups=GROUPS)), LinearSVC(random_state=0))
    np.testing.assert_array_equal(scores, cross_val_score(frozen, TEXT, TOPICS, cv=folds))


@pytest.mark.parametrize("name", [name for name in KINDS if name in METHODS])
def test_grid_search_in_two_processes(name, tmp_path):
    corpus().save(tmp_path / "corpus")
    on_disk = SentenceCorpus.load(tmp_path / "corpus")
    option = "n_components" if "n_components" in make(name).get_params() else "min_count"
    grid = {f"emb__{option}": [3, 4], "emb__corpus": [on_disk, corpus()]}
    pipeline = Pipeline([("emb", make(name)), ("svm", LinearSVC(random_state=0))])
    searches = [
        GridSearchCV(pipeline, grid, cv=2, n_jobs=n_jobs, error_score="raise").fit(TEXT, TOPICS) for n_jobs in (1, 2)
    ]
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(scores[0], scores[1])
    by_corpus = {True: [], False: []}
    for params, score in zip(searches[0].cv_results_["params"], scores[0]):
        by_corpus[params["emb__corpus"] is on_disk].append(score)
    assert by_corpus[True] == by_corpus[False]
    rows = [search.best_estimator_["emb"].transform(OTHER_TEXT) for search in searches]
    assert bits(rows[0]) == bits(rows[1])


# -- metadata --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_groups_are_routed_through_a_pipeline(name):
    with sklearn.config_context(enable_metadata_routing=True):
        embedder = make(name).set_fit_request(groups=True)
        pipeline = make_pipeline(embedder, LinearSVC(random_state=0)).fit(TEXT, TOPICS, groups=GROUPS)
        assert learned(pipeline[0]) == {
            **learned(fitted(name)),
            "_metadata_request": learned(pipeline[0])["_metadata_request"],
        }
        rows = make_pipeline(embedder, "passthrough").fit_transform(TEXT, groups=GROUPS)
        assert bits(rows) == bits(fitted(name).transform(TEXT))
        with pytest.raises(Exception, match="groups"):
            make_pipeline(make(name), LinearSVC()).fit(TEXT, TOPICS, groups=GROUPS)


def test_routed_groups_matter():
    one_document = make("CBOSVectorizer").fit(TEXT)
    assert not np.array_equal(one_document.word_vectors_, fitted("CBOSVectorizer").word_vectors_)
