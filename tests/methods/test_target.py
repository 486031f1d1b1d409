"""TargetVectorizer: its objective against a slow twin, what it learns, and what it says of targets that are wrong."""

import numpy as np
import pandas as pd
import pytest
import reference
from estimators import GIVEN, TEXT, bits, corpus, learned
from kernel_cases import encode
from reference import numeric_gradient
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skembed import TargetVectorizer
from skembed._objectives.target import LOSSES, Options, TargetObjective
from skembed._training.dense import Chunk, RowGradients

SENTENCES = [[0, 1, 1, 7], [2, 3], [], [4], [7, 8], [5, 0, 2], [6, 1], [3, 3, 5]]  # 7 and 8 are unknown
LEARNING = {"n_components": 8, "min_count": 1, "random_state": 0, "max_iter": 3}
Y = np.random.default_rng(5).normal(size=(len(TEXT), 5))


def make_case():
    draws = np.random.default_rng(0)
    targets = draws.normal(size=(len(SENTENCES), 3))
    targets[6] = 2 * targets[1]  # the same target
    text = encode(SENTENCES, np.zeros(len(SENTENCES), int), draws.uniform(0.5, 2, 7).astype(np.float32))
    fitted = {"word_vectors_": draws.normal(size=(7, 4)), "coef_": draws.normal(size=(3, 4))}
    chunk = Chunk(text._replace(annotations=(targets,)), np.array([6, 0, 1, 2, 3, 4, 5, 7]), None)
    return fitted, chunk


def twin(fitted, chunk, losses, margin):
    text = chunk.text
    known = [i for i in chunk.sentences if any(word < 7 for word in SENTENCES[i])]
    words = [[word for word in SENTENCES[i] if word < 7] for i in known]
    weights = text.word_weight.astype(float)
    vectors, image, targets = fitted["word_vectors_"], fitted["coef_"], text.annotations[0][known]
    return reference.target_loss(words, weights, vectors, image, targets, losses, 0.3, margin)


def dense(gradient, shape):
    if not isinstance(gradient, RowGradients):
        return gradient
    rows = np.zeros(shape)
    np.add.at(rows, gradient.rows, gradient.vectors)
    return rows


@pytest.mark.parametrize("losses", [*[(name,) for name in LOSSES], LOSSES], ids="+".join)
def test_the_objective_is_its_twin_and_its_gradient_the_numeric_one(losses):
    fitted, chunk = make_case()
    margin = 0.7
    found = TargetObjective(fitted, Options(losses, 0.3, margin)).gradients(chunk, True)
    assert found.n_targets == 6
    np.testing.assert_allclose(found.loss, twin(fitted, chunk, losses, margin), rtol=1e-6)
    for name, array in fitted.items():
        expected = numeric_gradient(lambda: twin(fitted, chunk, losses, margin), array)
        np.testing.assert_allclose(dense(found.of[name], array.shape), expected, rtol=1e-4, atol=1e-6)
    only_loss = TargetObjective(fitted, Options(losses, 0.3, margin)).gradients(chunk, False)
    assert only_loss.loss == found.loss and only_loss.of == {}


def test_a_chunk_without_known_words_or_with_one_sentence():
    fitted, chunk = make_case()
    objective = TargetObjective(fitted, Options(LOSSES, 0.3, 0.1))
    assert objective.gradients(chunk._replace(sentences=np.array([2, 4])), True) == (0.0, 0, {})
    alone = objective.gradients(chunk._replace(sentences=np.array([3])), True)
    assert alone.n_targets == 1
    np.testing.assert_allclose(alone.loss, twin(fitted, chunk._replace(sentences=[3]), ("cosine",), 0.1), rtol=1e-6)


# -- learning --------------------------------------------------------------------------------------------------------


def make_sums(n, seed=0):
    """Sentences whose targets are the sums of hidden vectors of their words."""
    draws = np.random.default_rng(seed)
    hidden = np.random.default_rng(99).normal(size=(40, 10))
    words = draws.integers(0, 40, (n, 5))
    return [" ".join(f"w{word}" for word in row) for row in words], hidden[words].sum(axis=1)


def cosines(a, b):
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@pytest.mark.parametrize("loss", ["cosine", "softmax", "hinge"])
def test_the_image_finds_the_target(loss):
    X, y = make_sums(1000)
    model = TargetVectorizer(16, loss=loss, max_iter=15, learning_rate=0.01, random_state=0).fit(X, y)
    new, truth = make_sums(100, 1)
    images = model.predict(new)
    np.testing.assert_allclose(np.linalg.norm(images, axis=1), 1, rtol=1e-5)
    nearest = (images @ (truth / np.linalg.norm(truth, axis=1)[:, None]).T).argmax(axis=1)
    assert (nearest == np.arange(100)).mean() > 0.8
    if loss == "cosine":
        assert cosines(images, truth).mean() > 0.9


@pytest.mark.parametrize("loss", ["similarity", ("cosine", "similarity")])
def test_sentences_are_as_similar_as_their_targets(loss):
    X, y = make_sums(1000)
    model = TargetVectorizer(16, loss=loss, max_iter=15, learning_rate=0.01, random_state=0).fit(X, y)
    new, truth = make_sums(200, 1)
    of_sentences, of_targets = (cosines(rows[:100], rows[100:]) for rows in (model.transform(new), truth))
    assert np.corrcoef(of_sentences, of_targets)[0, 1] > 0.9


def test_only_directions_of_targets_count():
    y = Y.astype(np.float32)
    expected = TargetVectorizer(**LEARNING).fit(TEXT, y)
    lengths = 2.0 ** np.random.default_rng(0).integers(-3, 4, len(y)).astype(np.float32)[:, None]
    assert bits(TargetVectorizer(**LEARNING).fit(TEXT, y * lengths).word_vectors_) == bits(expected.word_vectors_)


@pytest.mark.parametrize("loss", LOSSES)
def test_order_of_the_losses_and_a_list_change_nothing(loss):
    names = [loss, *[name for name in LOSSES if name != loss]]
    expected = TargetVectorizer(loss=LOSSES, **LEARNING).fit(TEXT, Y)
    assert bits(TargetVectorizer(loss=names, **LEARNING).fit(TEXT, Y).coef_) == bits(expected.coef_)


def test_predict_of_a_sentence_depends_on_it_alone():
    model = TargetVectorizer(**LEARNING).fit(TEXT, Y)
    images = model.predict(TEXT)
    assert images.dtype == np.float32 and images.shape == (len(TEXT), 5)
    np.testing.assert_allclose(
        images[0],
        (model.coef_ @ model.transform(TEXT)[0]) / np.linalg.norm(model.coef_ @ model.transform(TEXT)[0]),
        rtol=1e-4,
    )
    assert all(bits(model.predict([sentence])[0]) == bits(image) for sentence, image in zip(TEXT, images))
    assert not model.predict([""]).any()
    with pytest.raises(NotFittedError):
        TargetVectorizer().predict(TEXT)


# -- init ------------------------------------------------------------------------------------------------------------


def test_init_is_scaled_to_the_rate():
    start = TargetVectorizer(init=GIVEN, **LEARNING | {"n_components": 10, "learning_rate": 1e-12}).fit(TEXT, Y)
    median = np.median(np.linalg.norm(list(GIVEN.values()), axis=1))
    np.testing.assert_allclose(start.word_vectors_[: len(GIVEN)], np.array(list(GIVEN.values())) / median, rtol=1e-5)


# -- targets that are wrong ------------------------------------------------------------------------------------------


def changed(row, value):
    y = Y.copy()
    y[row] = value
    return y


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        (Y[:7], ValueError, f"y has 7 rows, but the text has {len(TEXT)} sentences"),
        (changed(13, np.nan), ValueError, "Row 13 of y has NaN"),
        (changed((13, 1), np.inf), ValueError, "Row 13 of y has infinity"),
        (changed((13, 1), 1e16), ValueError, "Row 13 of y has too large numbers"),
        (changed(77, 0), ValueError, "Row 77 of y has only zeros"),
        (changed(77, 1e-30), ValueError, "Row 77 of y has too small numbers"),
        (Y[:, :1], ValueError, "y has vectors of length 1, but only their directions are learned"),
        (Y[:, 0], ValueError, "a column for each number of its vector, got shape"),
        (csr_array(Y), TypeError, "must be a dense array"),
        (Y.astype(complex), TypeError, "an array of complex128"),
        (TEXT, TypeError, "y must hold a vector of numbers for each sentence, got list of length"),
        ([[1.0], [1.0, 2.0]], ValueError, "a vector of the same length for each sentence"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_transform", "estimate_memory"])
def test_wrong_targets(y, error, message, method):
    model = TargetVectorizer(**LEARNING)
    with pytest.raises(error, match=message):
        getattr(model, method)(TEXT, y)
    assert not hasattr(model, "vocabulary_")


def test_targets_of_another_text_than_corpus():
    model = TargetVectorizer(corpus=corpus(), **LEARNING)
    with pytest.raises(ValueError, match=f"y has 2 rows, but the parameter corpus.* has {len(TEXT)} sentences"):
        model.fit(["a cat", "a dog"], Y[:2])
    assert learned(model.fit(["a cat"], Y)) == learned(TargetVectorizer(**LEARNING).fit(TEXT, Y))


@pytest.mark.parametrize("losses", [(), "cosines", ("cosine", "none"), [1], [np.array([1, 2])]])
def test_wrong_losses(losses):
    with pytest.raises(ValueError, match="'?loss'?"):
        TargetVectorizer(loss=losses).fit(TEXT, Y)


def test_targets_of_another_length_cannot_go_on():
    model = TargetVectorizer(**LEARNING).fit(TEXT, Y)
    before = learned(model)
    with pytest.raises(ValueError, match="y has vectors of length 2, but TargetVectorizer was fitted to .* length 5"):
        model.partial_fit(TEXT, Y[:, :2])
    assert learned(model) == before


# -- an estimator like any other -------------------------------------------------------------------------------------


def test_kinds_of_targets_give_the_same_bits(tmp_path):
    np.save(tmp_path / "y.npy", Y.astype(np.float32))
    expected = learned(TargetVectorizer(**LEARNING).fit(TEXT, Y.astype(np.float32)))
    pd = pytest.importorskip("pandas")
    for y in (np.load(tmp_path / "y.npy", mmap_mode="r"), pd.DataFrame(Y.astype(np.float32))):
        assert learned(TargetVectorizer(**LEARNING).fit(TEXT, y)) == expected
    half = TargetVectorizer(**LEARNING).fit(TEXT, Y.astype(np.float16))
    assert np.allclose(half.word_vectors_, TargetVectorizer(**LEARNING).fit(TEXT, Y).word_vectors_, atol=0.02)


def test_early_stopping_holds_out_targets_with_their_sentences():
    X, y = make_sums(400)
    options = {"max_iter": 12, "learning_rate": 0.01, "random_state": 0, "early_stopping": True}
    model = TargetVectorizer(16, **options).fit(X, y)
    curve = model.validation_loss_curve_
    assert len(curve) == model.n_iter_ and min(curve) < 0.7 * curve[0]


def test_memory_counts_the_image_and_the_held_out_targets():
    model = TargetVectorizer(**LEARNING)
    memory = model.estimate_memory(TEXT, Y)
    model.fit(TEXT, Y)
    assert memory["weights"] == model.word_vectors_.nbytes + model.coef_.nbytes
    held = TargetVectorizer(early_stopping=True, **LEARNING).estimate_memory(TEXT, Y)
    assert held["copies"] - memory["copies"] > Y.nbytes


def test_tags_and_a_grid_search_over_the_losses():
    tags = TargetVectorizer().__sklearn_tags__().target_tags
    assert tags.required and tags.multi_output and not tags.single_output

    def score(model, X, y):
        return cosines(model[-1].predict(X), y).mean()

    X, y = make_sums(1000)
    search = GridSearchCV(
        make_pipeline(TargetVectorizer(16, max_iter=15, learning_rate=0.01, random_state=0)),
        {"targetvectorizer__loss": ["cosine", "similarity"]},
        scoring=score,
        cv=2,
        error_score="raise",
    )
    search.fit(X, y)
    assert search.best_score_ > 0.8 and search.best_params_ == {"targetvectorizer__loss": "cosine"}


def test_targets_in_a_column_of_arrays():
    column = pd.Series(list(np.float32([[1, 0], [0, 1]] * 20)))
    sentences = ["a b", "c d"] * 20
    fitted = [TargetVectorizer(4, min_count=1, random_state=0).fit(sentences, y) for y in (column, np.stack(column))]
    assert np.array_equal(*(emb.transform(sentences) for emb in fitted))
