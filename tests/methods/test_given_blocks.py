"""Blocks of TextVectorizer that are switched off, replaced or added, and those that learn from labels."""

import pickle

import numpy as np
import pandas as pd
import pytest
from estimators import bits
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, normalize
from sklearn.svm import LinearSVC

from skembed import CBOSVectorizer, TextVectorizer

S = ["the cat drinks milk", "the bank lends money", "a dog eats meat", "the river is wide and cold"] * 10
Y = np.array([0, 1, 0, 1] * 10)
BUILT_IN = ["words", "characters", "words_lsa", "characters_lsa", "halves"]
FEW = {"words_lsa": "drop", "characters_lsa": "drop", "halves": "drop"}


def make(**blocks):
    return TextVectorizer(blocks=blocks, random_state=0)


def rows_of(emb, rows, name):
    """The columns of a block, without its weight."""
    columns = [column for column, label in enumerate(emb.get_feature_names_out()) if label.startswith(f"{name}__")]
    return rows[:, columns].toarray() / emb.block_weights_[name] ** 0.5


class Returns(TransformerMixin, BaseEstimator):
    """A transformer that returns what it is told, for each text."""

    def __init__(self, rows=None, sparse=False):
        self.rows = rows
        self.sparse = sparse

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        rows = np.array([self.rows] * len(X)) if np.ndim(self.rows) == 1 else self.rows
        return csr_matrix(rows) if self.sparse else rows


# -- names -----------------------------------------------------------------------------------------------------------


def test_a_block_that_is_dropped_is_not_there():
    for name in BUILT_IN:
        emb = make(**{name: "drop"}).fit(S, Y)
        assert list(emb.blocks_) == list(emb.block_weights_) == [other for other in BUILT_IN if other != name]
        assert sum(emb.block_weights_.values()) == pytest.approx(1)
        assert emb.transform(S).shape == (40, len(emb.get_feature_names_out()))


def test_a_projection_does_not_need_the_block_that_it_projects():
    whole, alone = make().fit(S, Y), make(words="drop", characters="drop").fit(S, Y)
    for name in ("words_lsa", "characters_lsa"):
        expected = rows_of(whole, whole.transform(S), name)
        np.testing.assert_allclose(rows_of(alone, alone.transform(S), name), expected, atol=1e-6)


def test_default_changes_nothing():
    expected = bits(TextVectorizer(random_state=0).fit_transform(S, Y))
    assert bits(make().fit_transform(S, Y)) == expected
    assert bits(make(words="default", halves="default").fit_transform(S, Y)) == expected


@pytest.mark.parametrize(
    "transformer",
    [
        TfidfVectorizer(ngram_range=(1, 2)),
        make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0)),
        FunctionTransformer(lambda texts: np.array([[len(text), text.count("a")] for text in texts])),
        FunctionTransformer(lambda texts: pd.DataFrame({"n": [len(text) for text in texts], "one": 1.0})),
        CBOSVectorizer(5, min_count=1, max_iter=1, random_state=0),
    ],
    ids=["sparse", "pipeline", "function", "frame", "skembed"],
)
def test_any_transformer_has_unit_rows_and_a_weight(transformer):
    for name, order in (("mine", [*BUILT_IN, "mine"]), ("words", BUILT_IN)):
        emb = make(**{name: transformer})
        rows = emb.fit_transform(S, Y)
        assert list(emb.blocks_) == order
        found = np.asarray(clone(transformer).fit(S).transform(S), dtype=object)
        found = found.item().toarray() if found.ndim == 0 else found.astype(float)
        np.testing.assert_allclose(rows_of(emb, rows, name), normalize(found), atol=1e-6)
        assert bits(emb.transform(S)) == bits(rows)
        assert emb.transform([]).shape == (0, rows.shape[1])


def test_names_of_columns():
    emb = make(mine=TfidfVectorizer(), dense=Returns([1.0, 2.0]), **FEW).fit(S)
    names = list(emb.get_feature_names_out())
    assert "mine__cat" in names
    assert names[-2:] == ["dense__0", "dense__1"]


def test_weights_fade_by_kind():
    """A sparse block, or one in its place, keeps its weight; another dense one fades with the built-in ones."""
    emb = make(words=Returns([1.0, 2.0]), mine=TfidfVectorizer(), dense=Returns([1.0, 2.0])).fit(S, Y)
    weights = emb.block_weights_
    assert weights["words"] == weights["characters"] == weights["mine"] >= 1.9 * weights["dense"]
    assert weights["dense"] == weights["halves"]


# -- parameters ------------------------------------------------------------------------------------------------------


def test_nested_parameters():
    own = {"mine": TfidfVectorizer(), "halves": "drop"}
    emb = TextVectorizer(blocks=own)
    params = emb.get_params()
    assert params["blocks__words"] == "default" and params["blocks__halves"] == "drop"
    assert params["blocks__mine"] is own["mine"] and params["blocks__mine__min_df"] == 1
    assert emb.set_params(blocks__words="drop", blocks__mine__min_df=2, blocks__new=HashingVectorizer()) is emb
    assert own.keys() == {"mine", "halves"}  # the dict that was passed is not changed
    assert emb.blocks.keys() == {"mine", "halves", "words", "new"}
    assert emb.blocks["mine"].min_df == 2
    emb.set_params(blocks__other__norm=None, blocks__other=HashingVectorizer())
    assert emb.blocks["other"].norm is None
    assert emb.set_params(blocks=None, n_jobs=2).blocks is None
    for name in ("blocks__words__min_df", "blocks__absent__min_df", "blocks__other__no_such", "no_such"):
        with pytest.raises(ValueError, match="Invalid parameter"):
            clone(emb).set_params(**{"blocks__other": HashingVectorizer(), name: 1})


def test_clones_share_nothing_and_repr_is_short():
    emb = make(mine=TfidfVectorizer(), **FEW).fit(S)
    copied = clone(emb)
    assert copied.blocks["mine"] is not emb.blocks["mine"]
    assert not hasattr(emb.blocks["mine"], "vocabulary_")  # `fit` learns in a clone
    assert bits(copied.fit_transform(S)) == bits(emb.transform(S))
    assert bits(pickle.loads(pickle.dumps(emb)).transform(S)) == bits(emb.transform(S))
    assert "TfidfVectorizer" in repr(emb) and "TfidfVectorizer" in emb._repr_html_()


def test_a_grid_tries_blocks():
    pipeline = make_pipeline(make(mine=TfidfVectorizer(), **FEW), LinearSVC())
    grid = {
        "textvectorizer__blocks__words": ["default", "drop"],
        "textvectorizer__blocks__mine": ["drop", TfidfVectorizer(analyzer="char")],
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(S, Y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ == 1


# -- transformers that learn from labels -----------------------------------------------------------------------------


def random_labels():
    random = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(400)])
    return [" ".join(random.choice(words, 8)) for _ in range(150)], random.integers(2, size=150).astype(str)


FROM_LABELS = {
    "CBOS": CBOSVectorizer(20, context="labels", random_state=0),
    "chosen words": make_pipeline(
        TfidfVectorizer(), SelectFromModel(LogisticRegression()), TruncatedSVD(20, random_state=0)
    ),
}


@pytest.mark.parametrize("learner", FROM_LABELS)
def test_no_row_of_fit_transform_has_seen_its_label(learner):
    """Labels that no text tells cannot be predicted, and do not make the block weigh more."""
    X, y = random_labels()
    emb = make(words="drop", characters="drop", mine=FROM_LABELS[learner], **FEW)
    held_out = cross_val_score(LogisticRegression(), emb.fit_transform(X, y), y).mean()
    seen = cross_val_score(LogisticRegression(), emb.transform(X), y).mean()
    assert abs(held_out - 0.5) < 0.12 < seen - 0.5


def test_held_out_rows_are_in_the_space_of_the_whole_model():
    X, y = S + ["a cat eats meat", "the bank is cold"] * 3, np.r_[Y, [0, 1] * 3].astype(object)
    y[-6:] = None
    emb = make(words="drop", characters="drop", mine=FROM_LABELS["CBOS"], **FEW)
    held_out, whole = emb.fit_transform(X, y), emb.transform(X)
    assert np.diag((held_out @ whole.T).toarray())[:40].min() > 0.6
    assert bits(held_out[40:]) == bits(whole[40:])  # no label was learned from these
    assert bits(clone(emb).fit_transform(X, y)) == bits(held_out)
    assert make_pipeline(emb, LinearSVC()).fit(S, Y).score(S, Y) == 1


@pytest.mark.parametrize("y", [["a"] * 39 + ["b"], ["a", "b", "c"] + ["d"] * 37, Y + 0.5, np.c_[Y, 1 - Y]])
def test_every_kind_of_label_is_split(y):
    class Means(Returns):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.target_tags.required = True
            return tags

        def fit(self, X, y):
            assert len(X) == len(y) in (32, 40)
            return self

    assert make(mine=Means([1.0, 0.0]), **FEW).fit_transform(S, y).shape[0] == 40


def test_a_fitted_model_is_not_fitted_again():
    fitted = FrozenEstimator(CBOSVectorizer(5, context="labels", random_state=0).fit(S, Y))
    emb = make(mine=fitted, **FEW).fit(S)
    np.testing.assert_allclose(rows_of(emb, emb.transform(S), "mine"), normalize(fitted.transform(S)), rtol=1e-5)


# -- what can go wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        (["words"], ValueError, "'blocks' parameter"),
        ({"words": None}, TypeError, r"blocks\['words'\] must be 'default', 'drop' or a transformer"),
        ({"mine": "default"}, TypeError, r"blocks\['mine'\] must be 'drop' or a transformer.*words_lsa"),
        ({"mine": TfidfVectorizer}, TypeError, "an instance with fit and transform"),
        ({"a__b": TfidfVectorizer()}, ValueError, "A name is a string without '__'"),
        ({3: TfidfVectorizer()}, ValueError, "blocks has the name 3"),
        (dict.fromkeys(BUILT_IN, "drop"), ValueError, "drops every block"),
        ({"mine": Returns([1.0, np.nan])}, ValueError, "The block 'mine' must turn texts into finite rows.*NaN"),
        ({"mine": Returns([1.0, np.inf], sparse=True)}, ValueError, "The block 'mine' must.*infinity"),
        ({"mine": Returns(["a", "b"])}, ValueError, "The block 'mine' must turn texts into finite rows of numbers"),
        ({"mine": Returns(np.ones((3, 2)))}, ValueError, r"has turned 40 texts into shape \(3, 2\), expected \(40"),
        ({"mine": Returns(np.ones((40, 0)))}, ValueError, "The block 'mine' must.*0 feature"),
        ({"mine": CBOSVectorizer(context="labels")}, ValueError, "learns from labels, but 0 of 40 texts have one"),
    ],
)
def test_errors_say_what_to_do(blocks, error, message):
    with pytest.raises(error, match=message):
        TextVectorizer(blocks=blocks).fit(S)


def test_errors_of_a_transformer_name_its_block():
    with pytest.raises(ValueError, match="empty vocabulary") as caught:
        make(mine=TfidfVectorizer(token_pattern="zzz")).fit(S)
    assert "In the block 'mine'" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="sparse rows, whose columns differ between folds") as caught:
        make(mine=make_pipeline(TfidfVectorizer(), SelectFromModel(LogisticRegression()))).fit(S, Y)
    assert "In the block 'mine'" in caught.value.__notes__[0]


def test_another_number_of_columns_than_at_fit():
    emb = make(mine=FunctionTransformer(lambda texts: np.ones((len(texts), len(texts)))), **FEW).fit(S)
    with pytest.raises(ValueError, match=r"turned 1 texts into shape \(1, 1\), expected \(1, 40\)"):
        emb.transform(["cat"])


def test_very_large_and_small_numbers():
    emb = make(mine=Returns([1e300, 1e300]), small=Returns([1e-200, 0.0]), none=Returns([0.0, 0.0]), **FEW).fit(S)
    rows = emb.transform(["cat"])
    assert rows_of(emb, rows, "mine")[0] == pytest.approx([0.5**0.5] * 2)
    assert rows_of(emb, rows, "small")[0] == pytest.approx([1, 0])
    assert not rows_of(emb, rows, "none").any()


def test_a_misspelt_name_is_warned_of():
    with pytest.warns(UserWarning, match="blocks drops 'word_lsa'.*Did you mean 'words_lsa'"):
        make(word_lsa="drop").fit(S)
    make(mine="drop").fit(S)  # as in a grid
