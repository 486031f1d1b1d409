"""What the blocks of TextVectorizer weigh: found from labels, or fixed."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import normalize
from text_blocks import S, Y, make, rows_by_block, squared_lengths

from skembed._meta_estimators import halves
from skembed._meta_estimators.block_weights import ALPHA, find_weights


def test_weights_are_those_of_ridge_regression_refitted_without_each_row():
    """With the intercept as a column of ones, each left-out prediction is scikit-learn's."""
    random = np.random.default_rng(0)
    n_rows = 60
    rows = {name: normalize(random.normal(size=(n_rows, 4))) for name in ("words", "halves")}
    y = rows["words"] @ random.normal(size=(4, 1)) * 3 + rows["halves"][:, :1] * 0.5 + random.normal(size=(n_rows, 1))
    columns = (y - y.mean()) / y.std()
    losses = []
    weights = 2.0 ** -np.arange(6)
    for dense in weights:
        parts = [np.sqrt(w / (1 + dense)) * rows[name] for name, w in (("words", 1), ("halves", dense))]
        X = np.hstack([*parts, np.ones((n_rows, 1))])
        predicted = cross_val_predict(Ridge(ALPHA, fit_intercept=False), X, columns.ravel(), cv=LeaveOneOut())
        losses.append((predicted - columns.ravel()) ** 2)
    excess = np.array(losses) - losses[np.argmin(np.mean(losses, axis=1))]
    good = excess.mean(axis=1) <= excess.std(axis=1) / np.sqrt(n_rows)
    nearest = weights[np.where(good, abs(np.log(weights / (10 / n_rows))), np.inf).argmin()]
    found = find_weights(rows, y)
    assert found["halves"] / found["words"] == pytest.approx(nearest)


def test_dense_blocks_weigh_what_they_are_worth():
    random = np.random.default_rng(0)
    y = random.integers(2, size=600)
    informed = normalize(np.c_[2 * y - 1 + random.normal(size=600), random.normal(size=600)])
    noise = normalize(random.normal(size=(600, 500)))
    useful = find_weights({"words": noise, "characters": noise, "halves": informed}, y)
    useless = find_weights({"words": informed, "characters": informed, "halves": noise}, y)
    assert useful["halves"] > 5 * useless["halves"]
    few = find_weights({"words": noise[:20], "characters": noise[:20], "halves": noise[:20]}, y[:20])
    assert few["halves"] == pytest.approx(1 / 3)  # the rule, where nothing tells them apart


@pytest.mark.parametrize("y", [None, [0] * 40, [-1] * 40, ["a"] + [None] * 39, [1.5] * 40])
def test_without_two_classes_words_weigh_nothing(y):
    emb = make().fit(S, y)
    assert list(emb.block_weights_.values()) == pytest.approx([0, 4 / 6, 0, 1 / 6, 1 / 6])
    rows = emb.transform(S)
    assert (rows.data != 0).all()  # no zero is stored
    assert rows.shape[1] == make().fit(S, Y).n_features_out_
    assert [name for name, found in squared_lengths(emb, rows).items() if found.any()] == [
        "characters",
        "characters_lsa",
        "halves",
    ]


def test_without_labels_idf_counts_twice_in_lsa():
    emb, labelled = make().fit(S), make().fit(S, Y)
    for name, source in (("words_lsa", "words"), ("characters_lsa", "characters")):
        tfidf = emb.blocks_[source]
        svd = TruncatedSVD(5, random_state=0)
        rows = tfidf.transform(S)[:, : emb.blocks_[name].components_.shape[1]]
        squared = normalize(rows.multiply(tfidf.idf_[: rows.shape[1]]).tocsr())
        expected = normalize(svd.fit_transform(squared) * svd.singular_values_**0.5)
        found = normalize(emb.blocks_[name].transform(rows))
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-3)
        block = labelled.blocks_[name]
        strengths = block.singular_values_ / block.singular_values_[0]
        np.testing.assert_allclose(np.linalg.norm(block.components_, axis=1), strengths**0.5, rtol=5e-4)


def test_directions_of_halves_count_by_their_strength(monkeypatch):
    found = rows_by_block(make().fit(S, Y), S)["halves"]
    monkeypatch.setattr(halves, "multiply_vectors", lambda learner, matrix: None)
    plain = rows_by_block(make().fit(S, Y), S)["halves"].toarray()
    _, strengths, directions = np.linalg.svd(plain, full_matrices=False)
    expected = normalize(plain @ directions.T * strengths**0.5)
    np.testing.assert_allclose((found @ found.T).toarray(), expected @ expected.T, atol=1e-4)


def test_two_labels_are_labels():
    assert list(make().fit(S, ["a", "b", *[None] * 38]).block_weights_.values()) == pytest.approx([0.2] * 5)


def test_weights_in_words():
    emb = make(blocks={"words": TfidfVectorizer(), "mine": TfidfVectorizer()}).fit(S, Y)
    first, *lines = str(emb.block_weights_).splitlines()
    assert first == "Found from 40 labelled rows, each predicted from the others."
    for line, (name, weight) in zip(lines, emb.block_weights_.items(), strict=True):
        kind = "a transformer of yours" if name in ("words", "mine") else ".*"
        assert re.fullmatch(rf'The block "{name}" \({kind}\) is {100 * weight:.2g} % of a row\.', line)
    fixed = make().fit(S).block_weights_
    assert str(fixed).startswith("Fixed, because no two labels differ.\n")
    assert '"words" (tf-idf of words and pairs of words) is left out: its columns are zero.' in str(fixed)
    for copied in (pickle.loads(pickle.dumps(fixed)), copy.copy(fixed), copy.deepcopy(fixed)):
        assert str(copied) == str(fixed) and copied == fixed == dict(fixed)
    assert repr(fixed) == repr(dict(fixed))


def test_words_weigh_where_there_is_nothing_else():
    emb = make().fit(["cat", "dog"])
    assert set(emb.block_weights_) == {"words", "words_lsa"}
    assert emb.transform(["cat"]).nnz > 0


@pytest.mark.parametrize(
    "y",
    [
        Y.astype(str),
        Y + 0.5,
        np.arange(40),
        np.c_[Y, 1 - Y],
        csr_matrix(np.c_[Y, 1 - Y]),
        pd.DataFrame({"a": Y, "b": 0}),
        Y[:, None],
        [True, False] * 20,
    ],
    ids=["strings", "numbers", "one row a class", "indicators", "sparse", "frame", "one column", "bool"],
)
def test_every_kind_of_label(y):
    weights = make().fit(S, y).block_weights_
    assert sum(weights.values()) == pytest.approx(1)
    assert np.isfinite(list(weights.values())).all()
