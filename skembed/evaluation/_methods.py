"""The methods of the tables, by name: baselines, defaults, and the settings of the papers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import iter_texts, takes_corpus

ALL = ("sts", "sick", "senteval", "semantic")


Maker = Callable[[SentenceCorpus, Any, int | None], Any]


class Method(NamedTuple):
    """How to make an estimator, where it is shown, and how to make the one that learns from the folds of a task."""

    make: Maker
    tables: tuple[str, ...] = ALL
    make_in_fold: Maker | None = None


def random_vectors(corpus: SentenceCorpus, seed: Any = 0, n_components: int = 100) -> dict[str, np.ndarray]:
    """Normally distributed vectors of all words that occur five times or more."""
    words = corpus.vocabulary.prune(5).words
    return dict(zip(words, np.random.default_rng(seed).standard_normal((len(words), n_components))))


def _tfidf(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b")


def _random(**settings: Any) -> Maker:
    def make(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
        from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer

        return MeanEmbeddingVectorizer(word_vectors=random_vectors(corpus, seed), unknown="zero", **settings)

    return make


def _trained(name: str, **settings: Any) -> Maker:
    def make(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
        from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
        from .._methods.cbos import CBOSVectorizer
        from .._methods.sent2vec import Sent2VecVectorizer
        from .._methods.siamese_cbow import SiameseCBOWVectorizer
        from .._methods.word2vec import Word2VecVectorizer

        classes = {
            "cbos": CBOSVectorizer,
            "mean": MeanEmbeddingVectorizer,
            "sent2vec": Sent2VecVectorizer,
            "siamese": SiameseCBOWVectorizer,
            "word2vec": Word2VecVectorizer,
        }
        return classes[name](**settings, random_state=seed, n_jobs=n_jobs)

    return make


def _bag(n_components: int | None, **settings: Any) -> Maker:
    def make(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
        from .._methods.bow_pca import BOWPCA

        return BOWPCA(n_components=n_components, random_state=seed, **settings)

    return make


# "each token, including punctuation", section 3.2.4 of White et al.; with numbers and contractions left whole the
# vocabulary of the MSRP groups has 2,964 words, theirs 2,976.
_TOKENS = r"(?u)\w+(?:[.,']\w+)*|[^\w\s]"
_SENT2VEC: dict[str, Any] = {
    "min_count": 8,
    "min_target_count": 20,
    "solver": "sgd",
    "learning_rate": 0.2,
    "max_iter": 9,
    "max_sentence_length": None,
    "unknown": "zero",
}
_WORD2VEC: dict[str, Any] = {"solver": "sgd", "subsample": 1e-5, "max_iter": 5, "unknown": "zero"}
_SKIPGRAM: dict[str, Any] = {**_WORD2VEC, "learning_rate": 0.025}

METHODS: dict[str, Method] = {
    "tf-idf cosine": Method(_tfidf, make_in_fold=_tfidf),
    "random vectors": Method(_random()),
    "random vectors, SIF": Method(_random(weighting="sif")),
    "CBOS, defaults": Method(_trained("cbos")),
    "CBOS, paper": Method(
        _trained(
            "cbos",
            negative=2,
            solver="sgd",
            learning_rate=0.01,
            batch_size=10,
            max_sentence_length=119,
            max_iter=10,
            unknown="zero",
        )
    ),
    "Siamese CBOW, defaults": Method(_trained("siamese")),
    "Siamese CBOW, paper": Method(
        _trained(
            "siamese",
            n_components=300,
            negative=2,
            temperature=1.0,
            solver="sgd",
            learning_rate=1e-4,
            batch_size=100,
            max_sentence_length=None,
            max_iter=1,
            unknown="zero",
        )
    ),
    "Sent2Vec, defaults": Method(_trained("sent2vec")),
    "Sent2Vec, paper (wiki unigrams, d=100)": Method(_trained("sent2vec", subsample=1e-5, **_SENT2VEC)),
    "Sent2Vec, paper (wiki uni+bi, d=100)": Method(
        _trained("sent2vec", ngram_range=(1, 2), dropout_k=4, subsample=5e-6, **_SENT2VEC)
    ),
    "skip-gram mean, defaults": Method(_trained("word2vec")),
    "skip-gram sum, defaults": Method(_trained("word2vec", pooling="sum"), tables=("semantic",)),
    "CBOW mean, defaults": Method(_trained("word2vec", algorithm="cbow")),
    "skip-gram mean, as published": Method(_trained("word2vec", **_SKIPGRAM)),
    "CBOW mean, as published": Method(_trained("word2vec", algorithm="cbow", learning_rate=0.05, **_WORD2VEC)),
    "skip-gram mean, SIF weights, 1 removed": Method(_trained("mean", weighting="sif", n_removed_components=1)),
    "CBOS, SIF weights": Method(_trained("cbos", weighting="sif")),
    "BOW": Method(_bag(None), ("sts", "sick", "semantic"), _bag(None, token_pattern=_TOKENS)),
    "BOWPCA, 100 components": Method(_bag(100, min_count=5), ("sts", "sick")),
    "BOWPCA": Method(_bag(300), ("semantic",), _bag(300, token_pattern=_TOKENS)),
}
DEFAULT_METHODS = [
    "tf-idf cosine",
    "CBOS, defaults",
    "CBOS, paper",
    "Siamese CBOW, defaults",
    "Siamese CBOW, paper",
    "Sent2Vec, defaults",
    "Sent2Vec, paper (wiki unigrams, d=100)",
    "skip-gram mean, defaults",
    "skip-gram sum, defaults",
    "CBOW mean, defaults",
    "skip-gram mean, as published",
    "CBOW mean, as published",
    "BOW",
    "BOWPCA",
]


def learn(model: Any, corpus: SentenceCorpus) -> Any:
    """Fit to the corpus; scikit-learn's own vectorizers get its sentences as text."""
    return model.fit(corpus if takes_corpus(model) else iter_texts(corpus))
