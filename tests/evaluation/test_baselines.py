"""Baselines by name: random vectors, uSIF against plain numpy, LSA against scikit-learn."""

import numpy as np
import pytest
from estimators import TEXT, corpus
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from skembed import SentenceCorpus, Word2VecVectorizer
from skembed.evaluation import make_baseline


def test_every_baseline_learns_and_embeds():
    for name in ("BOW", "tf-idf of the compared sentences", "LSA", "random vectors", "SIF", "uSIF"):
        model = make_baseline(name, 10, random_state=0).fit(corpus())
        rows = model.transform(["the cat and a dog", "..."])
        assert rows.shape[0] == 2 and abs(rows).sum() > 0, name
        assert rows.shape[1] == 10 or name in ("BOW", "tf-idf of the compared sentences"), name


def test_a_name_that_is_none_is_refused():
    with pytest.raises(ValueError, match="name must be one of 'BOW', .*'uSIF', got 'usif'"):
        make_baseline("usif")


def test_a_stemmer_joins_the_forms_of_a_word():
    model = make_baseline("tf-idf of the compared sentences", stemmer=lambda word: word.removesuffix("s"))
    rows = model.fit([]).transform(["cats", "cat"])
    assert rows.shape == (2, 1) and np.allclose(rows.toarray(), 1)


def test_lsa_is_that_of_scikit_learn():
    mine = make_baseline("LSA", 8, random_state=0).fit_transform(TEXT)
    counts = SentenceCorpus.from_sentences(TEXT).vocabulary.prune(5).words
    tfidf = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", vocabulary=counts, sublinear_tf=True)
    theirs = normalize(TruncatedSVD(8, random_state=0).fit_transform(tfidf.fit_transform(TEXT)))
    assert np.allclose(mine @ mine.T, theirs @ theirs.T, atol=1e-5)


def test_random_vectors_are_means_and_repeat():
    model = make_baseline("random vectors", 12, random_state=3).fit(corpus())
    rows = model.transform(["the cat", "the", "cat", "never seen"])
    assert np.allclose(rows[0], (rows[1] + rows[2]) / 2, atol=1e-6) and not rows[3].any()
    assert 0.7 < model.word_vectors_.std() < 1.3
    again = make_baseline("random vectors", 12, random_state=3).fit(corpus())
    assert np.array_equal(again.word_vectors_, model.word_vectors_)


def usif(sentences, vectors, n_removed):
    """The paper's equations, sentence by sentence."""
    words = [sentence.split() for sentence in sentences]
    flat = [word for sentence in words for word in sentence]
    p = {word: flat.count(word) / len(flat) for word in set(flat)}
    n_words = len(p)
    threshold = 1 - (1 - 1 / n_words) ** 11
    alpha = sum(value > threshold for value in p.values()) / n_words
    a = (1 - alpha) / (alpha * n_words / 2)
    rows = []
    for sentence in words:
        known = [a / (a / 2 + p[word]) * vectors[word] for word in sentence if word in vectors]
        rows.append(np.sum(known, axis=0) / len(sentence) if known else np.zeros(len(next(iter(vectors.values())))))
    rows = np.array(rows, np.float64)
    values, directions = np.linalg.eigh(rows.T @ rows)
    values, directions = values[::-1][:n_removed], directions[:, ::-1][:, :n_removed]
    for value, direction in zip(values, directions.T):
        rows = rows - value / values.sum() * np.outer(rows @ direction, direction)
    return rows


def test_usif_follows_the_equations_of_its_paper():
    kept = [words for words in corpus() if words and "北京" not in words]  # which gives more than one word
    sentences = [" ".join([*words, "the", "the"]) for words in kept]  # "the" is frequent for a vocabulary
    model = make_baseline("uSIF", 9, random_state=0).set_params(min_count=1, unknown="zero").fit(sentences)
    learned = Word2VecVectorizer(9, min_count=1, random_state=0).fit(sentences)
    vectors = dict(zip(learned.vocabulary_, learned.word_vectors_.astype(np.float64)))
    expected = usif(sentences, vectors, 5)
    assert np.allclose(model.transform(sentences), expected, atol=1e-4 * np.abs(expected).max())
