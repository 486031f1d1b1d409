"""A list without groups may be in no reading order: titles, tickets, shuffled rows. Methods that need order say so."""

import warnings

import numpy as np
import pytest
from estimators import CLASSES

from skembed import MeanEmbeddingVectorizer, Sent2VecVectorizer, SentenceCorpus
from skembed._base.reading import order_score
from skembed.datasets import load_docstrings

ORDERED = [cls for cls in CLASSES if cls._needs_order]
TEXT = load_docstrings(packages=["joblib"]).data[:600]
SHUFFLED = [TEXT[i] for i in np.random.default_rng(0).permutation(600)]
FAST = {"max_iter": 1, "random_state": 0}
STRANGERS = "all 600 sentences are one document in reading order, but consecutive ones have no more words"


def in_silence(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit()


@pytest.mark.parametrize("cls", ORDERED)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_strangers_are_named(cls, method):
    with pytest.warns(UserWarning, match=f"{STRANGERS}.* {cls.__name__} would learn from unrelated sentences"):
        getattr(cls(2, **FAST), method)(SHUFFLED)
    in_silence(lambda: getattr(cls(2, **FAST), method)(TEXT))


def test_strangers_in_a_corpus_and_behind_another_estimator_are_named():
    source = ORDERED[0](4, **FAST)
    with pytest.warns(UserWarning, match=f"{STRANGERS}.*word_vectors=Sent2VecVectorizer"):
        corpus = SentenceCorpus.from_sentences(SHUFFLED)
        MeanEmbeddingVectorizer(word_vectors=source, corpus=corpus).fit(TEXT)
    in_silence(lambda: MeanEmbeddingVectorizer(word_vectors=source).fit(TEXT))
    in_silence(lambda: Sent2VecVectorizer(4, **FAST).fit(SHUFFLED))


def test_what_the_user_says_about_documents_is_believed():
    documents = np.arange(600) // 6
    in_silence(lambda: ORDERED[0](4, **FAST).fit(SHUFFLED, groups=documents))
    in_silence(lambda: ORDERED[0](4, **FAST).fit(SHUFFLED[:400]))  # too few to say


def test_the_score_is_that_of_a_plain_reference():
    corpus = SentenceCorpus.from_sentences(TEXT[:200])
    counts = dict(zip(corpus.vocabulary.words, corpus.vocabulary.counts))

    def row(words):
        weights = {word: words.count(word) * np.log(1 + corpus.n_tokens / counts[word]) for word in words}
        length = sum(weight**2 for weight in weights.values()) ** 0.5
        return {word: weight / length for word, weight in weights.items()}

    def cosine(a, b):
        return sum(weight * b.get(word, 0.0) for word, weight in a.items())

    rows = [row(words) for words in corpus]
    generator = np.random.default_rng(0)
    first = generator.choice(199, 199, replace=False)
    other = generator.permutation(first) + 1
    found = [cosine(rows[i], rows[i + 1]) - cosine(rows[i], rows[j]) for i, j in zip(first, other) if i != j]
    assert order_score(corpus) == pytest.approx(np.mean(found) / (np.std(found) / len(found) ** 0.5))


def test_text_without_a_common_word_has_no_score():
    assert order_score(SentenceCorpus.from_sentences([f"a{i} b{i}" for i in range(600)])) == np.inf
    assert np.isfinite(order_score(SentenceCorpus.from_sentences(["the cat"] * 600)))
