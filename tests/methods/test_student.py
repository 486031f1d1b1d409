"""StudentVectorizer: ridge regression to a teacher's vectors, against plain linear algebra."""

import warnings

import numpy as np
import pytest
from estimators import bits
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import skembed
from skembed import CBOSVectorizer, SentenceCorpus, StudentVectorizer
from skembed._compiled.threads import Threads
from skembed._training import ridge
from skembed._word_vectors.character_ngrams import count_ngrams

WORDS = "cat dog purr bark tail rain snow storm cloud wind bread soup flour bake cheese train rail ticket".split()
TOPIC = {word: row // 5 for row, word in enumerate(WORDS)}


def text(n, seed=0):
    """Sentences of words of one of four topics, and of endings, so that new words are spelled as known ones."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        topic = generator.integers(4)
        words = [word for word in WORDS if TOPIC[word] == topic]
        found.append(" ".join(f"{word}{end}" for word, end in zip(generator.choice(words, 4), ["", "s", "ing", "ed"])))
    return found


def teacher(sentences, n=12):
    """Vectors by topics, with a part by single words and a large mean: another model than a sum of words."""
    directions = np.random.default_rng(1).normal(size=(4, n))
    of_word = {word: 0.3 * np.random.default_rng(row).normal(size=n) for row, word in enumerate(WORDS)}
    rows = []
    for sentence in sentences:
        known = [word for word in WORDS if word in sentence]
        rows.append(np.tanh(directions[TOPIC[known[0]]] + sum(of_word[word] for word in known)) + 0.5)
    return np.array(rows)


def problem(n=60, n_words=25, n_targets=5, n_given=3):
    generator = np.random.default_rng(0)
    sentences = csr_array(generator.poisson(0.3, (n, n_words)).astype(np.float32))
    ngrams = csr_array(generator.poisson(0.3, (n_words, 40)).astype(np.float32))
    given = generator.normal(size=(n_words, n_given)).astype(np.float32)
    features = ridge.Features(generator.random(n_words).astype(np.float32), ngrams, given)
    targets = generator.normal(size=(n, n_targets)).astype(np.float32)
    targets -= targets.mean(axis=0)
    return sentences, features, targets


def fit_problem(alpha, n_threads=1):
    return ridge.fit_ridge(*problem(), alpha, Threads(n_threads), np.random.RandomState(0))


def table(sentences, features):
    """The features of the sentences, dense."""
    words = np.hstack([np.diag(features.own), features.ngrams.toarray(), features.given])
    return sentences.toarray().astype(np.float64) @ words


def test_rows_left_out_are_those_of_a_model_without_the_sentence():
    sentences, features, targets = problem()
    X, found = table(sentences, features), fit_problem(0.7)
    for row in (0, 17, 59):
        others = np.arange(len(X)) != row
        kernel = X[others] @ X[others].T + 0.7 * np.eye(len(X) - 1)
        expected = X[row] @ X[others].T @ np.linalg.solve(kernel, targets[others])
        np.testing.assert_allclose(found.left_out[row], expected, rtol=1e-4, atol=1e-5)


def test_alpha_is_the_one_with_the_least_errors_left_out():
    errors = [1 - fit_problem(float(alpha)).score for alpha in ridge.ALPHAS]
    assert fit_problem(None).alpha == ridge.ALPHAS[np.argmin(errors)]


def test_of_equal_targets_nothing_is_left_to_explain():
    sentences, features, targets = problem()
    found = ridge.fit_ridge(sentences, features, 0 * targets, 0.7, Threads(1), np.random.RandomState(0))
    assert found.score == 0 and not found.dual.any()


def test_many_sentences_are_solved_as_few_are(monkeypatch):
    few = fit_problem(0.7)
    monkeypatch.setattr(ridge, "_MOST_EXACT", 30)
    monkeypatch.setattr(ridge, "_TOLERANCE", 1e-4)
    monkeypatch.setattr(ridge, "_N_PROBES", 20_000)
    many = fit_problem(0.7)
    np.testing.assert_allclose(many.dual, few.dual, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(many.left_out, few.left_out, atol=0.05)
    assert fit_problem(None).alpha in ridge.ALPHAS


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(ridge, "_MOST_EXACT", 100)
    monkeypatch.setattr(ridge, "_WIDTH", 3)
    X = text(300)
    models = [StudentVectorizer(random_state=0, n_jobs=n_jobs).fit(X, teacher(X)) for n_jobs in (1, 3)]
    assert bits(models[0].word_vectors_) == bits(models[1].word_vectors_)
    assert bits(models[0].ngram_vectors_) == bits(models[1].ngram_vectors_)


def test_it_is_like_the_teacher_on_new_sentences():
    X, new = text(400), text(100, seed=5)
    model = StudentVectorizer(random_state=0).fit(X, teacher(X))
    cosines = (model.transform(new) * model.transform_targets(teacher(new))).sum(axis=1)
    assert cosines.mean() > 0.9
    assert model.score_ > 0.7
    mean = teacher(X) / np.linalg.norm(teacher(X), axis=1, keepdims=True)
    np.testing.assert_allclose(model.target_mean_, mean.mean(axis=0), atol=1e-5)


def test_rows_left_out_are_as_far_from_the_teacher_as_new_ones():
    X, new = text(400), text(200, seed=5)
    targets = teacher(X) + np.random.default_rng(0).normal(scale=1.0, size=(400, 12))  # most of it is noise
    model = StudentVectorizer(alpha=0.02, random_state=0)
    left_out = model.fit_left_out(X, targets)
    expected = model.transform_targets(targets)
    of_left_out, of_seen = ((rows * expected).sum(axis=1).mean() for rows in (left_out, model.transform(X)))
    of_new = (
        (model.transform(new) * model.transform_targets(teacher(new) + np.random.default_rng(1).normal(size=(200, 12))))
        .sum(axis=1)
        .mean()
    )
    assert abs(of_left_out - of_new) < 0.1 < of_seen - of_left_out


def test_a_row_is_the_sum_of_its_words_and_unknown_ones_of_their_ngrams():
    X = text(200)
    model = StudentVectorizer(random_state=0).fit(X, teacher(X))
    known = model.word_vectors_[model.vocabulary_["cat"]]
    unknown = (count_ngrams(["catlike"], (2, 5), len(model.ngram_vectors_)) @ model.ngram_vectors_)[0]
    row = model.transform(["catlike cat"])[0]
    np.testing.assert_allclose(row, (known + unknown) / np.linalg.norm(known + unknown), atol=1e-5)
    assert model.similarity("catlike", "cat") > 0.5
    without = StudentVectorizer(unknown="zero", random_state=0).fit(X, teacher(X))
    assert bits(without.transform(["catlike cat"])) == bits(without.transform(["cat"]))


def test_rare_words_are_as_unknown_ones():
    X = [*text(200), "zebra cat"]
    model = StudentVectorizer(min_count=2, random_state=0).fit(X, teacher(X))
    assert "zebra" not in model.vocabulary_
    assert model.transform(["zebra"]).any()


def test_components_are_the_strongest_directions_of_the_teacher():
    X = text(300)
    model = StudentVectorizer(3, random_state=0).fit(X, teacher(X))
    assert model.transform(X).shape == (300, 3)
    centred = teacher(X) / np.linalg.norm(teacher(X), axis=1, keepdims=True) - model.target_mean_
    strongest = np.linalg.svd(centred, full_matrices=False)[2][:3]
    np.testing.assert_allclose(np.abs(model.components_ @ strongest.T), np.eye(3), atol=1e-3)
    assert np.linalg.norm(model.transform_targets(teacher(X)), axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", ["dict", "model"])
def test_given_words_that_the_text_lacks_get_vectors(kind):
    X = [sentence.replace("tail", "fur") for sentence in text(300)]
    of_topic = np.random.default_rng(2).normal(size=(4, 6))
    given = {word + end: of_topic[TOPIC[word]] for word in WORDS for end in ("", "s", "ing", "ed")}
    given |= {"fur": of_topic[0], "meow": of_topic[0]}
    source = given
    if kind == "model":
        source = skembed.MeanEmbeddingVectorizer(word_vectors=given, unknown="zero").fit(list(given))
    model = StudentVectorizer(word_vectors=source, random_state=0).fit(
        X, teacher([s.replace("fur", "tail") for s in X])
    )
    assert model.word_counts_[model.vocabulary_["meow"]] == 0
    assert model.similarity("meow", "cat") > 0.5 > model.similarity("meow", "train")
    plain = StudentVectorizer(random_state=0).fit(X, teacher([s.replace("fur", "tail") for s in X]))
    assert model.similarity("meow", "cat") > plain.similarity("meow", "cat")


def test_it_can_be_saved_and_exported(tmp_path):
    X = text(200)
    model = StudentVectorizer(unknown="zero", random_state=0).fit(X, teacher(X))
    skembed.save(model, tmp_path / "saved")
    assert bits(skembed.load(tmp_path / "saved").transform(X)) == bits(model.transform(X))
    report = skembed.formats.export_model(model, tmp_path / "exported")
    assert report["smallest_cosine"] > 1 - 1e-6
    back = skembed.formats.import_model(tmp_path / "exported").transform(X)
    np.testing.assert_allclose(back, model.transform(X), atol=1e-5)


def test_ngrams_are_saved(tmp_path):
    X = text(200)
    model = StudentVectorizer(random_state=0).fit(X, teacher(X))
    skembed.save(model, tmp_path / "saved")
    assert bits(skembed.load(tmp_path / "saved").transform(["catlike xyz"])) == bits(model.transform(["catlike xyz"]))
    with pytest.raises(ValueError, match="unknown='ngrams': unknown words have no vector"):
        skembed.formats.export_model(model, tmp_path / "exported")


def test_targets_that_fit_no_sentence():
    X = text(200)
    wrong = np.random.default_rng(0).normal(size=(200, 12))
    with pytest.warns(UserWarning, match="learned nothing.* order of the sentences"):
        StudentVectorizer(random_state=0).fit(X, wrong)


def test_bad_input():
    X = text(20)
    targets = teacher(X)
    model = StudentVectorizer()
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X)
    with pytest.raises(ValueError, match="y has 19 rows, but X has 20 sentences"):
        model.fit(X, targets[1:])
    for value, fault in ((np.nan, "NaN"), (np.inf, "infinity")):
        wrong = targets.copy()
        wrong[3, 0] = value
        with pytest.raises(ValueError, match=f"Row 3 of y has {fault}"):
            model.fit(X, wrong)
    with pytest.raises(ValueError, match="n_components=13, but y has vectors of length 12"):
        StudentVectorizer(13).fit(X, targets)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        StudentVectorizer(alpha=0).fit(X, targets)
    with pytest.raises(NotFittedError, match="word_vectors is a CBOSVectorizer that is not fitted"):
        StudentVectorizer(word_vectors=CBOSVectorizer()).fit(X, targets)
    with pytest.raises(NotFittedError):
        model.transform_targets(targets)
    model.fit(X, targets)
    with pytest.raises(ValueError, match="Y has vectors of length 3, but StudentVectorizer has learned .* 12"):
        model.transform_targets(np.ones((2, 3)))


def test_sentences_without_words_are_rows_of_zeros():
    X = ["", *text(50), "?!"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = StudentVectorizer(random_state=0).fit_left_out(X, np.vstack([teacher(X[1:-1]), np.eye(12)[:2]]))
    assert not rows[[0, -1]].any()
    assert rows[1:-1].any(axis=1).all()


def test_a_corpus_is_the_same_text():
    X = text(100)
    corpus = SentenceCorpus.from_sentences(X)
    models = [StudentVectorizer(random_state=0).fit(text, teacher(X)) for text in (X, corpus)]
    assert bits(models[0].word_vectors_) == bits(models[1].word_vectors_)


def test_more_components_than_the_teacher_has_are_refused():
    with pytest.raises(ValueError, match="n_components=13, but y has vectors of length 12. Use at most that"):
        StudentVectorizer(13).fit(text(30), teacher(text(30)))
