"""TextVectorizer: its blocks, the weights that the labels find, what it reads, and its place inside scikit-learn."""

import pickle
import unicodedata

import numpy as np
import pandas as pd
import pytest
from estimators import bits
from scipy.sparse import csr_matrix, vstack
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from text_blocks import BLOCKS, OWN, S, Y, make, rows_by_block, squared_lengths

from skembed import SentenceCorpus
from skembed._meta_estimators.block_weights import find_weights

# -- rows ------------------------------------------------------------------------------------------------------------


def test_each_block_has_its_weight_in_every_row():
    emb = make().fit(S, Y)
    assert list(emb.block_weights_) == list(emb.blocks_) == BLOCKS
    assert sum(emb.block_weights_.values()) == pytest.approx(1)
    for name, found in squared_lengths(emb, emb.transform(S)).items():
        np.testing.assert_allclose(found, emb.block_weights_[name], rtol=1e-4)


def test_the_first_block_is_tf_idf_of_words_and_of_the_pairs_of_two_texts():
    texts = [*S, "the cat drinks water", "rare pair"]
    emb = make().fit(texts, np.arange(42) % 2)
    whole = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+", ngram_range=(1, 2)).fit(texts)
    counter = CountVectorizer(vocabulary=whole.vocabulary_, token_pattern=r"\w+", ngram_range=(1, 2))
    n_texts = np.asarray((counter.transform(texts) > 0).sum(axis=0)).ravel()
    kept = [w for w, n in zip(whole.get_feature_names_out(), n_texts) if " " not in w or n > 1]
    kept.sort(key=lambda term: " " in term)  # words, then pairs
    assert "cat drinks" in kept and not {"rare pair", "drinks water"} & set(kept)
    assert list(emb.get_feature_names_out()[: len(kept)]) == [f"words__{word}" for word in kept]
    columns = [whole.vocabulary_[word] for word in kept]
    expected = normalize(whole.transform(texts)[:, columns])
    rows = emb.transform(texts)[:, : len(kept)] / emb.block_weights_["words"] ** 0.5
    np.testing.assert_allclose(rows.toarray(), expected.toarray(), rtol=1e-5)


@pytest.mark.parametrize("texts", [S, ["猫喝牛奶", "狗吃牛奶 和肉", "猫吃肉。"]], ids=["words", "unsegmented"])
def test_sparse_rows_are_those_of_scikit_learn(texts):
    emb = make().fit(texts, np.arange(len(texts)) % 2)
    new = [*texts, "", "zebra", f"{texts[0]}\n {texts[0].upper()} {texts[1]}"]
    for name, found in rows_by_block(emb, new).items():
        if name in ("words", "characters"):
            expected = emb.blocks_[name].transform(new)
            np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-5)


def test_a_row_depends_on_its_text_alone():
    emb = make().fit(S, Y)
    rows = emb.transform([*S, *OWN])
    assert bits(vstack([emb.transform([text]) for text in [*S, *OWN]], format="csr")) == bits(rows)


def test_rows_of_many_texts_are_put_side_by_side_in_parts(monkeypatch):
    emb = make().fit(S, Y)
    rows = emb.transform([*S, *OWN])
    monkeypatch.setattr("skembed._meta_estimators.block_rows._STEP", 7)
    assert bits(emb.transform([*S, *OWN])) == bits(rows)
    assert bits(make().fit_transform(S, Y)) == bits(rows[: len(S)])


def test_rows_are_a_sparse_matrix_of_named_columns():
    emb = make()
    rows = emb.fit_transform(S, Y)
    assert type(rows) is type(emb.transform([])) is csr_matrix
    assert rows.dtype == np.float32
    names = emb.get_feature_names_out()
    assert len(set(names)) == len(names) == emb.n_features_out_ == rows.shape[1] == emb.transform([]).shape[1]
    assert bits(rows) == bits(emb.transform(S))


def test_seed_and_threads():
    rows = make().fit_transform(S, Y)
    assert bits(make(n_jobs=2).fit_transform(S, Y)) == bits(rows)
    assert bits(make(random_state=1).fit_transform(S, Y)) != bits(rows)


def test_scripts_without_spaces():
    chinese = ["猫喝牛奶", "银行借钱", "狗吃肉和牛奶", "河很宽很冷", "猫吃肉", "银行有钱"]
    emb = make().fit(chinese)
    assert emb.blocks_["characters"].analyzer == "char"
    assert "猫" in emb.blocks_["words"].vocabulary_
    assert "halves" in emb.blocks_
    assert make().fit(S).blocks_["characters"].analyzer == "char_wb"


# -- dense rows ------------------------------------------------------------------------------------------------------


def test_dense_rows_are_the_strongest_directions_of_the_sparse_ones():
    emb = make(n_components=3)
    rows = emb.fit_transform(S, Y)
    assert type(rows) is np.ndarray and rows.dtype == np.float32 and rows.shape == (40, 3) == (40, emb.n_features_out_)
    assert bits(emb.transform(S)) == bits(rows)
    left, strengths, _ = np.linalg.svd(make().fit_transform(S, Y).toarray(), full_matrices=False)
    expected = left[:, :3] * strengths[:3]
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=5e-4)  # with 16 bits
    assert list(emb.get_feature_names_out()) == ["textvectorizer0", "textvectorizer1", "textvectorizer2"]
    assert emb.transform([]).shape == (0, 3)
    assert not emb.transform(["", "zebra"])[0].any()
    assert bits(make(n_components=3, n_jobs=2).fit_transform(S, Y)) == bits(rows)


def test_directions_are_those_of_own_text_too():
    with pytest.warns(UserWarning, match="n_components=8, but the texts have 2 directions"):
        few = make(n_components=8).fit(S[:2])
    assert few.n_features_out_ == few.transform(S).shape[1] == len(few.get_feature_names_out()) == 2
    assert make(n_components=8, corpus=S + OWN).fit_transform(S[:2]).shape == (2, 8)


def test_directions_of_many_texts_are_those_of_some(monkeypatch):
    monkeypatch.setattr("skembed._meta_estimators.projections._MOST_PROJECTED", 25)
    emb = make(n_components=8, corpus=OWN)
    rows = emb.fit_transform(S, Y)
    assert rows.shape == (40, 8) and bits(clone(emb).fit_transform(S, Y)) == bits(rows) == bits(emb.transform(S))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)  # 25 texts have all eight


def test_dense_rows_of_other_blocks():
    emb = make(n_components=2, blocks={"words": "drop", "mine": TfidfVectorizer()})
    assert emb.fit_transform(S, Y).shape == (40, 2)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library):
    emb = make(n_components=2).set_output(transform=library)
    frame = emb.fit_transform(pd.Series(S, index=range(5, 45)), Y)
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == ["textvectorizer0", "textvectorizer1"]
    np.testing.assert_array_equal(frame.to_numpy(), make(n_components=2).fit_transform(S, Y))
    sparse = make().fit(S).set_output(transform=library)
    for call in (sparse.fit_transform, sparse.transform):
        with pytest.raises(ValueError, match=f"set_output.transform='{library}'.*Set n_components to make them dense"):
            call(S)


@pytest.mark.parametrize("estimator", [HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=2), KMeans(2)])
def test_estimators_that_need_dense_rows(estimator):
    pipeline = make_pipeline(make(n_components=3), estimator).fit(S, Y)
    assert pipeline.predict(S).shape == (40,)


def test_vowel_signs_and_points_do_not_split_a_word():
    words = ["हिन्दी", "தமிழ்", "বাংলা", "قُرآن", unicodedata.normalize("NFC", "שָׁלוֹם"), "café"]
    emb = make().fit([unicodedata.normalize("NFD", " ".join(words))] * 3)
    assert sorted(word for word in emb.blocks_["words"].vocabulary_ if " " not in word) == sorted(words)


# -- own text and labels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, iter, SentenceCorpus.from_sentences])
def test_own_text_in_every_form_is_learned_from(kind):
    emb = make(corpus=kind(OWN)).fit(S[:4], Y[:4])
    assert emb.blocks_["words"].vocabulary_.keys() == make(corpus=OWN).fit(S[:4]).blocks_["words"].vocabulary_.keys()
    a, b, c = normalize(emb.transform(["cats purr", "kittens", "stocks"])).toarray()
    assert a @ b > a @ c


def cut(word):
    return word[:3]


@pytest.mark.parametrize("options", [{"stemmer": cut}, {"stop_words": ["the"]}, {"analyzer": "char_wb"}])
def test_a_corpus_without_the_words_of_its_text_is_refused(options):
    """Its stems would stand beside the words of raw text."""
    corpus = SentenceCorpus.from_sentences(OWN, **options)
    message = f"is a SentenceCorpus made with {next(iter(options))}=.* Pass the sentences themselves"
    with pytest.raises(ValueError, match=f"corpus {message}"):
        make(corpus=corpus).fit(S, Y)
    with pytest.raises(ValueError, match=f"X {message}"):
        make().fit(corpus)
    with pytest.raises(ValueError, match=f"X {message}"):
        make().fit(S, Y).transform(corpus)


def test_capitals_without_a_small_letter():
    assert "ℝ" in make().fit(["the line ℝ", "the plane ℝ"]).blocks_["words"].vocabulary_  # and no warning


@pytest.mark.parametrize("y", [[1.5, np.inf], [None, -np.inf], [1, np.inf], np.array([[1, np.inf], [2, 1]])])
def test_infinity_is_an_error_that_names_y(y):
    with pytest.raises(ValueError, match="y (has infinity in row 1|contains infinity)"):
        make().fit(S[:2], y)


@pytest.mark.parametrize("missing", [-1, None, np.nan])
def test_rows_without_a_label_are_text_and_change_no_weight(missing):
    y = [*(2 * Y), *[missing] * len(OWN)]
    emb = make().fit([*S, *OWN], y)
    assert "kittens" in emb.blocks_["words"].vocabulary_
    rows = {name: block[: len(S)] for name, block in rows_by_block(emb, [*S, *OWN]).items()}
    assert emb.block_weights_ == find_weights(rows, Y)


# -- inside scikit-learn ---------------------------------------------------------------------------------------------


def test_one_line_in_place_of_tf_idf():
    pipeline = make_pipeline(make(corpus=OWN), LinearSVC(random_state=0)).fit(["cats purr", "shares fell"], [0, 1])
    assert list(pipeline.predict(["kittens", "stocks"])) == [0, 1]
    search = GridSearchCV(make_pipeline(make(), LinearSVC()), {"textvectorizer__n_components": [2, None]}, cv=2).fit(
        S, Y
    )
    assert search.best_score_ == 1


def test_copies():
    emb = make(corpus=OWN).fit(S, Y)
    assert bits(pickle.loads(pickle.dumps(emb)).transform(S)) == bits(emb.transform(S))
    assert bits(clone(emb).fit_transform(S, Y)) == bits(emb.transform(S))
    union = FeatureUnion([("a", make(corpus=OWN)), ("b", TfidfVectorizer())]).fit(S, Y)
    assert bits(union.transform(S)[:, : emb.n_features_out_]) == bits(emb.transform(S).astype(np.float64))
    assert list(union.get_feature_names_out()[:1]) == [f"a__{emb.get_feature_names_out()[0]}"]


def test_a_table_of_one_column_and_an_iterator():
    expected = bits(make().fit_transform(S, Y))
    for X in (pd.DataFrame({"text": S}), np.array(S, dtype=object)[:, None], iter(S)):
        assert bits(make().fit_transform(X, Y)) == expected


def test_global_settings_of_scikit_learn():
    expected = make(n_components=2).fit_transform(S, Y)
    with config_context(transform_output="pandas"):
        np.testing.assert_array_equal(make(n_components=2).fit_transform(S, Y).to_numpy(), expected)
    with config_context(assume_finite=True, skip_parameter_validation=True):
        assert bits(make(n_components=2).fit_transform(S, Y)) == bits(expected)


# -- what can go wrong -----------------------------------------------------------------------------------------------


def test_missing_text():
    holes = [*S, None, np.nan]
    with pytest.raises(TypeError, match='Row 40 is missing.*missing="empty"'):
        make().fit(holes)
    emb = make(missing="empty").fit(holes)
    assert bits(emb.transform([None, "cat"])) == bits(emb.transform(["", "cat"]))
    assert emb.transform([None]).nnz == 0


@pytest.mark.parametrize("few", [["cat"], ["cat", "dog"], ["cat cat"], ["a b"] * 2, ["cat", ""], ["!!", "!!"]])
def test_little_text_leaves_blocks_out(few):
    emb = make().fit(few)
    rows = emb.transform([*few, "zebra"])
    assert np.isfinite(rows.data).all()
    assert rows.shape == (len(few) + 1, len(emb.get_feature_names_out()))
    assert sum(emb.block_weights_.values()) == pytest.approx(1)


def test_own_text_in_another_language_is_warned_of():
    german = ["der hund trinkt milch und schläft heute lange"] * 500
    with pytest.warns(UserWarning, match="corpus has only 0% of the words of X, and not 'the', 'cat'.*language"):
        make(corpus=german).fit(S)
    make(corpus=[text + " a dog and a cat" for text in german]).fit(["a dog", "a cat"] * 10)
    make(corpus=german[:300]).fit(S)  # too short to tell


@pytest.mark.parametrize("y", [None, [0, 1] * 3])
def test_duplicates(y):
    for texts in (["a cat"] * 6, ["a cat", "a cat", "a dog"] * 2):
        emb = make().fit(texts, y)
        rows = emb.transform(texts)
        assert np.isfinite(rows.data).all() and bits(rows[0]) == bits(rows[3])


@pytest.mark.parametrize(
    ("X", "y", "params", "error", "message"),
    [
        ([], None, {}, ValueError, "X has no text"),
        ([""], None, {}, ValueError, "Pass more text"),
        ("text", None, {}, ValueError, r"Wrap it in a list: \[X\]"),
        (S, None, {"corpus": "text"}, ValueError, r"Wrap it in a list: \[corpus\]"),
        (S, None, {"corpus": 3}, TypeError, "corpus must be an iterable"),
        (S, None, {"corpus": [*S, 3]}, TypeError, "Row 40 of corpus is 3 of type int"),
        ([*S, 3], None, {}, TypeError, "Row 40 is 3 of type int"),
        ([["a", "list"]], None, {}, TypeError, "Row 0 of X is a list. Join its words"),
        (S, Y[:3], {}, ValueError, "y has 3 values, but X has 40 sentences"),
        (S, iter(Y[:3]), {}, ValueError, "y has 3 values, but X has 40 sentences"),
        (S, np.full((40, 2), np.nan), {}, ValueError, "y contains NaN"),
        (S, None, {"n_components": 0}, ValueError, "n_components"),
        (S, None, {"n_jobs": 0}, ValueError, "n_jobs"),
        (S, None, {"missing": "drop"}, ValueError, "missing"),
    ],
)
def test_errors_say_what_to_do(X, y, params, error, message):
    with pytest.raises(error, match=message):
        make(**params).fit(X, y)
