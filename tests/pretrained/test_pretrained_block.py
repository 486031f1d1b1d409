"""TextVectorizer with a pretrained model: one more block, never copied."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from test_pretrained_vectorizer import Model, nothing_kept, rows_of  # noqa: F401

from skembed import PretrainedVectorizer, TextVectorizer, load, save
from skembed.evaluation import compare, compare_search

S = ["the cat drinks milk", "the bank lends money", "a dog eats meat", "the river is wide and cold"] * 10
Y = np.array([0, 1, 0, 1] * 10)


def test_its_rows_are_a_block_of_length_one():
    emb = TextVectorizer(pretrained=rows_of, random_state=0).fit(S, Y)
    assert list(emb.blocks_)[-1] == list(emb.block_weights_)[-1] == "pretrained"
    assert isinstance(emb.blocks_["pretrained"], PretrainedVectorizer)
    names = [name for name in emb.get_feature_names_out() if name.startswith("pretrained__")]
    rows = emb.transform(S).toarray()[:, -len(names) :] / emb.block_weights_["pretrained"] ** 0.5
    expected = rows_of(S) / np.linalg.norm(rows_of(S), axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected, rtol=1e-5)


def test_without_a_model_nothing_changes():
    emb = TextVectorizer(random_state=0).fit(S, Y)
    assert "pretrained" not in emb.block_weights_


def test_a_model_is_never_copied_and_embeds_a_text_once():
    model = Model()
    emb = TextVectorizer(pretrained=model, random_state=0)
    assert clone(emb).pretrained is model
    search = GridSearchCV(make_pipeline(emb, LinearSVC(random_state=0)), {"linearsvc__C": [0.1, 1]}, cv=3).fit(S, Y)
    assert search.best_estimator_[0].pretrained is model
    assert model.n_embedded == 4
    wrapped = PretrainedVectorizer(model, cache=None)
    grid = {"textvectorizer__pretrained": [None, wrapped], "textvectorizer__pretrained__cache": [None]}
    assert clone(emb.set_params(pretrained=wrapped)).pretrained.model is model
    search = GridSearchCV(
        make_pipeline(emb, LinearSVC(random_state=0)),
        {"textvectorizer__pretrained": grid["textvectorizer__pretrained"]},
    )
    search.fit(S, Y)


def test_a_pickle_has_the_model():
    emb = TextVectorizer(pretrained=Model(), random_state=0).fit(S, Y)
    back = pickle.loads(pickle.dumps(emb))
    np.testing.assert_array_equal(back.transform(S).toarray(), emb.transform(S).toarray())


def test_rows_are_not_all_shown():
    rows = dict.fromkeys(map(str, range(100_000)), [1.0])
    assert repr(PretrainedVectorizer(rows)) == "PretrainedVectorizer(model=<rows of 100,000 texts>)"
    assert repr(TextVectorizer(pretrained=rows)) == "TextVectorizer(pretrained=<rows of 100,000 texts>)"
    assert repr(TextVectorizer(teacher=rows)) == "TextVectorizer(teacher=<rows of 100,000 texts>)"
    inner = "PretrainedVectorizer(model=<rows of 100,000 texts>)"
    assert repr(TextVectorizer(pretrained=PretrainedVectorizer(rows))) == f"TextVectorizer(pretrained={inner})"
    assert repr(TextVectorizer(3)) == "TextVectorizer(n_components=3)"


def test_wrong_models_are_named():
    with pytest.raises(TypeError, match="got 5"):
        TextVectorizer(pretrained=5).fit(S, Y)
    with pytest.raises(FileNotFoundError, match="no pretrained model at"):
        TextVectorizer(pretrained="no/such/folder").fit(S, Y)
    for model in (rows_of, None):
        with pytest.raises(ValueError, match="'pretrained' is the block of the parameter"):
            TextVectorizer(pretrained=model, blocks={"pretrained": PretrainedVectorizer(rows_of)}).fit(S, Y)


# --- Its weight -------------------------------------------------------------------------------------------------------


def test_without_labels_or_with_two_it_weighs_as_much_as_all_others():
    for X, y in ((S, None), (S[:2], [0, 1]), (S, np.zeros(40))):
        weights = TextVectorizer(pretrained=rows_of, random_state=0).fit(X, y).block_weights_
        assert weights["pretrained"] == 0.5 and sum(weights.values()) == pytest.approx(1)


def drawn(n_rows=120):
    """Texts whose words say nothing of their labels, and two models: one knows the labels, the other nothing."""
    random = np.random.default_rng(0)
    X = [" ".join(random.choice(list("abcdefghijklmnopqrstuvwxyz"), 8)) for _ in range(n_rows)]
    y = random.integers(0, 2, n_rows)
    of = dict(zip(X, y))
    return X, y, lambda texts: np.array([[of.get(text, 0) * 2 - 1, 0.1] for text in texts])


def test_a_model_that_knows_the_labels_weighs_more_and_one_that_knows_nothing_less():
    X, y, knowing = drawn()
    weights = TextVectorizer(pretrained=knowing, random_state=0).fit(X, y).block_weights_
    assert weights["pretrained"] > 0.9
    letters = [f"{text} {'cat' if label else 'dog'}" for text, label in zip(X, y)]
    noise = dict(zip(letters, np.random.default_rng(1).normal(size=(len(X), 50))))
    weights = TextVectorizer(pretrained=noise, random_state=0).fit(letters, y).block_weights_
    assert weights["pretrained"] < 0.1
    # numbers instead of classes
    weights = TextVectorizer(pretrained=knowing, random_state=0).fit(X, y + 0.5).block_weights_
    assert weights["pretrained"] > 0.9


# --- Comparisons ------------------------------------------------------------------------------------------------------


def test_comparisons_have_rows_of_a_model():
    texts = [f"{a} {b}" for a in ("cats", "dogs", "shares", "stocks") for b in "abcdefgh"]
    y = ["animals"] * 16 + ["money"] * 16
    model = Model()
    for result in (compare(texts, y, cv=2, pretrained=model), compare(texts, cv=2, pretrained=model)):
        assert {"pretrained", "TextVectorizer", "TextVectorizer, pretrained"} <= {row["method"] for row in result.rows}
    documents = ["a cat purrs", "the dog barks", "cats and dogs", "shares fell", "a bank"]
    relevant = {0: {0: 1, 2: 1}, 1: {3: 1, 4: 1}}
    result = compare_search(documents, ["cats purr", "bank shares"], relevant, pretrained=model)
    added = {"pretrained", "TextVectorizer, pretrained", "SearchIndex, pretrained"}
    assert added <= {row["method"] for row in result.rows}


# --- Its directions ---------------------------------------------------------------------------------------------------

MANY = [
    f"{a} {b} {c}" for a in ("cat", "dog", "bank", "river", "milk", "meat") for b in "abcdefghij" for c in "klmnopqrst"
]
NUMBERS = dict(zip(MANY, np.random.default_rng(0).normal(size=(600, 6)) * [5, 4, 3, 2, 1, 0.5]))


def block_of(emb, texts):
    """The rows of the pretrained model, of length one."""
    rows = emb.transform(texts).toarray()[:, -emb.blocks_["pretrained"].n_features_out_ :]
    return rows / emb.block_weights_["pretrained"] ** 0.5


def test_directions_count_by_the_root_of_their_strength():
    emb = TextVectorizer(pretrained=NUMBERS, random_state=0).fit(MANY)
    expected = np.array([NUMBERS[text] for text in MANY])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    _, strengths, directions = np.linalg.svd(expected, full_matrices=False)
    expected = expected @ directions.T * strengths**0.5
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = block_of(emb, MANY)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-5)


def test_few_texts_are_joined_by_some_of_the_corpus():
    for factor, corpus, n_embedded in ((1.0, MANY * 3, 500), (2.0, MANY[::2], 75)):  # of the second there are too few
        model = Model(factor)
        TextVectorizer(pretrained=model, corpus=corpus, random_state=0).fit(MANY[::8])
        assert model.n_embedded == n_embedded
    known = {text: NUMBERS[text] for text in MANY[:450]}
    few = TextVectorizer(pretrained=known, corpus=MANY, random_state=0).fit(MANY[:50])
    expected = np.array([NUMBERS[text] for text in MANY[:50]])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(block_of(few, MANY[:50]), expected, rtol=1e-5)  # too few to weigh directions


def test_a_saved_model_has_its_weights(tmp_path):
    emb = TextVectorizer(pretrained=NUMBERS, random_state=0).fit(MANY)
    save(emb, tmp_path / "model")
    back = load(tmp_path / "model", pretrained=NUMBERS)
    np.testing.assert_array_equal(back.transform(MANY).toarray(), emb.transform(MANY).toarray())
