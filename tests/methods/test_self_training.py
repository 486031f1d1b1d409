"""TextVectorizer's dense blocks, stretched along directions that tell classes apart in text without labels."""

import numpy as np
import pytest
from estimators import bits
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from text_blocks import squared_lengths

import skembed
from skembed import TextVectorizer
from skembed._meta_estimators import given_blocks, self_training
from skembed._meta_estimators.block_weights import ALPHA

TOPICS = [[f"{stem}{i}" for i in range(60)] for stem in "abc"]


def texts_of(n, seed):
    """Texts of two words of a topic among eight that all topics have, and their topics."""
    random = np.random.default_rng(seed)
    y = random.integers(3, size=n)
    shared = [f"d{i}" for i in range(60)]
    rows = [[*random.choice(TOPICS[topic], 2), *random.choice(shared, 8)] for topic in y]
    return [" ".join(random.permutation(row)) for row in rows], y


OWN, TEST = texts_of(900, 0), texts_of(300, 1)


@pytest.fixture(scope="module")
def labels():
    return np.where(np.arange(900) < 36, OWN[1], -1)


def without(monkeypatch):
    monkeypatch.setattr(self_training, "_LEAST_UNLABELLED", 10**9)


def test_topics_of_own_text_are_found_from_few_labels(labels, monkeypatch):
    def accuracy():
        emb = TextVectorizer(random_state=0).fit(OWN[0], labels)
        known = emb.transform(OWN[0][:36])
        return LinearSVC(random_state=0).fit(known, OWN[1][:36]).score(emb.transform(TEST[0]), TEST[1])

    found = accuracy()
    without(monkeypatch)
    assert found > accuracy() + 0.05


def test_rows_are_those_of_the_stretched_blocks(labels, tmp_path, monkeypatch):
    emb = TextVectorizer(random_state=0)
    rows = emb.fit_transform(OWN[0], labels)
    assert bits(emb.transform(OWN[0])) == bits(rows)
    assert bits(clone(emb).set_params(n_jobs=2).fit(OWN[0], labels).transform(TEST[0])) == bits(emb.transform(TEST[0]))
    lengths = squared_lengths(emb, rows)
    for name, weight in emb.block_weights_.items():
        np.testing.assert_allclose(lengths[name], weight, rtol=1e-4)
    skembed.save(emb, tmp_path / "model")
    assert bits(skembed.load(tmp_path / "model").transform(TEST[0])) == bits(emb.transform(TEST[0]))
    classifier = LinearSVC(random_state=0).fit(rows[:36], OWN[1][:36])
    explained = emb.explain(TEST[0][0], classifier)
    np.testing.assert_allclose(
        explained.decision, classifier.decision_function(emb.transform(TEST[0][:1]))[0], atol=1e-4
    )
    without(monkeypatch)
    assert bits(clone(emb).fit_transform(OWN[0], labels)) != bits(rows)


def test_labels_by_chance_change_nothing(labels, monkeypatch):
    chance = np.where(labels >= 0, np.random.default_rng(0).permutation(labels), -1)
    chance[:36] = np.random.default_rng(0).permutation(OWN[1][:36])
    rows = TextVectorizer(random_state=0).fit_transform(OWN[0], chance)
    without(monkeypatch)
    assert bits(TextVectorizer(random_state=0).fit_transform(OWN[0], chance)) == bits(rows)


def test_only_some_of_much_text_is_read(labels, monkeypatch):
    monkeypatch.setattr(self_training, "_MOST_UNLABELLED", 600)
    X, y, corpus = OWN[0][:36], OWN[1][:36], OWN[0][36:]
    rows = TextVectorizer(corpus=corpus, random_state=0).fit(X, y).transform(TEST[0])
    assert bits(TextVectorizer(corpus=corpus, random_state=0).fit(X, y).transform(TEST[0])) == bits(rows)
    without(monkeypatch)
    assert bits(TextVectorizer(corpus=corpus, random_state=0).fit(X, y).transform(TEST[0])) != bits(rows)


@pytest.mark.parametrize(
    ("y", "n_unlabelled"),
    [(OWN[1][:36] + 0.5, 500), (np.c_[OWN[1] == 0, OWN[1] == 1][:36], 500), (OWN[1][:36], 499)],
    ids=["numbers", "many", "too few without a label"],
)
def test_other_targets_change_nothing(y, n_unlabelled, monkeypatch):
    X, corpus = OWN[0][:36], OWN[0][36 : 36 + n_unlabelled]
    rows = TextVectorizer(corpus=corpus, random_state=0).fit_transform(X, y)
    without(monkeypatch)
    assert bits(TextVectorizer(corpus=corpus, random_state=0).fit_transform(X, y)) == bits(rows)


def test_directions_are_those_of_ridge_regression_of_guesses():
    """The slow twin: in the first round the guesses are those of kernel ridge regression."""
    random = np.random.default_rng(0)
    known, others = (normalize(random.normal(size=(n, 4))) for n in (12, 50))
    classes = np.arange(12) % 3
    rows = np.c_[others, np.ones(50)]
    targets = np.eye(3)[classes]
    blocks = {"words": csr_array(others[:, :2].astype(np.float32)), "halves": others[:, 2:].astype(np.float32)}
    rows_of_known, weights = csr_array(known * 0.5**0.5), {"words": 0.5, "halves": 0.5}
    first = self_training._first_scores(rows_of_known, known @ known.T / 2, classes, blocks, weights)
    kernel = known @ known.T / 2 + 1 + ALPHA * np.eye(12)
    scores = others @ known.T / 2 @ np.linalg.solve(kernel, targets - targets.mean(axis=0))
    np.testing.assert_allclose(first, scores, atol=1e-6)
    for _ in range(self_training._N_ROUNDS):
        guesses = np.exp(self_training._SHARPNESS * scores / scores.std())
        guesses /= guesses.sum(axis=1, keepdims=True)
        gram = rows.T @ rows + self_training._PENALTY * np.eye(5)
        directions = np.linalg.solve(gram, rows.T @ (guesses - guesses.mean(axis=0)))
        scores = rows @ directions
    solved = self_training.cho_factor(gram)
    found = self_training._directions(first.copy(), rows, solved)
    np.testing.assert_allclose(found, directions[:-1], atol=1e-5)
    stretch = self_training._stretch(others, found)
    added = (np.linalg.norm(others @ stretch, axis=1) ** 2).mean() - 1
    np.testing.assert_allclose(added, self_training._SHARE, rtol=1e-4)


def of_topics(texts):
    """Rows of a model that knows topics a little."""
    words = [*np.ravel(TOPICS), *(f"d{i}" for i in range(60))]
    vectors = dict(zip(words, np.random.default_rng(0).normal(size=(240, 8)) + np.eye(8)[np.arange(240) // 60]))
    return np.array([1e-3 + sum(vectors.get(word, np.zeros(8)) for word in text.split()) for text in texts])


@pytest.mark.parametrize(
    "models",
    [{"pretrained": of_topics}, {"teacher": of_topics}, dict.fromkeys(["pretrained", "teacher"], of_topics)],
    ids="-".join,
)
def test_rows_of_models_are_stretched_too(models, labels, tmp_path, monkeypatch):
    emb = TextVectorizer(corpus=OWN[0][36:], random_state=0, **models)
    X, y = OWN[0][:36], OWN[1][:36]
    rows = emb.fit_transform(X, y)
    assert all(block.stretch is not None for block in emb._given.values())
    lengths = squared_lengths(emb, rows)
    for name, weight in emb.block_weights_.items():
        np.testing.assert_allclose(lengths[name], weight, rtol=1e-4)
    test = emb.transform(TEST[0])
    np.testing.assert_allclose(emb.fit(X, y).transform(TEST[0]).toarray(), test.toarray(), atol=1e-6)
    classifier = LinearSVC(random_state=0).fit(rows, y)
    explained = emb.explain(TEST[0][0], classifier)
    np.testing.assert_allclose(explained.decision, classifier.decision_function(test[:1])[0], atol=1e-4)
    skembed.save(emb, tmp_path / "model")
    back = skembed.load(tmp_path / "model", **{name: models[name] for name in models if name == "pretrained"})
    assert bits(back.transform(TEST[0])) == bits(test)
    found = classifier.score(test, TEST[1])
    without(monkeypatch)
    before = LinearSVC(random_state=0).fit(emb.fit_transform(X, y), y).score(emb.transform(TEST[0]), TEST[1])
    assert found > before


def test_a_model_embeds_some_of_much_text(monkeypatch):
    monkeypatch.setattr(given_blocks, "_MOST_EMBEDDED", 560)

    def fit(scale, y):
        def model(texts):
            asked.extend(set(texts) & set(OWN[0]))
            return scale * of_topics(texts)  # rows of another model would be those in memory

        asked = []
        emb = TextVectorizer(corpus=OWN[0][36:] * 2, pretrained=model, random_state=0).fit(OWN[0][:36], y)
        assert len(asked) == len(set(asked))
        return len(asked), emb._given["pretrained"].stretch is not None

    assert fit(2, OWN[1][:36]) == (560, True)
    assert fit(3, None) == (500, False)  # which the directions need


def test_blocks_of_the_user_are_not_stretched(labels, monkeypatch):
    def rows():
        blocks = {"mine": TfidfVectorizer()}
        return TextVectorizer(blocks=blocks, pretrained=of_topics, random_state=0).fit_transform(OWN[0], labels)

    found = bits(rows())
    without(monkeypatch)
    assert bits(rows()) == found
