"""The methods of the tables, by name: baselines, defaults, and the settings of the papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, NamedTuple

import numpy as np

from .. import _methods
from .._corpus.corpus import SentenceCorpus
from .._corpus.input import iter_texts, takes_corpus
from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
from .._methods.bow_pca import BOWPCA
from .._methods.cbos import CBOSVectorizer
from .._methods.fastsent import FastSentVectorizer
from .._methods.paragraph import ParagraphVectorizer
from .._methods.sent2vec import Sent2VecVectorizer
from .._methods.word2vec import Word2VecVectorizer
from ._compared import tfidf_of_compared

ALL = ("sts", "sick", "senteval", "semantic")


Maker = Callable[[SentenceCorpus, Any, int | None], Any]


class Method(NamedTuple):
    """How to make an estimator, where it is shown, and how to make the one that learns from the folds of a task."""

    make: Maker
    tables: tuple[str, ...] = ALL
    make_in_fold: Maker | None = None
    by_default: bool = True  # whether it is evaluated if no method is named


def random_vectors(corpus: SentenceCorpus, seed: Any = 0, n_components: int = 100) -> dict[str, np.ndarray]:
    """Normally distributed vectors of all words that occur five times or more."""
    words = corpus.vocabulary.prune(5).words
    return dict(zip(words, np.random.default_rng(seed).standard_normal((len(words), n_components))))


def _tfidf(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b")


def _tfidf_of_stems(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
    return tfidf_of_compared("english")


def _random(**settings: Any) -> Maker:
    def make(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
        return MeanEmbeddingVectorizer(word_vectors=random_vectors(corpus, seed), unknown="zero", **settings)

    return make


def _trained(cls: Any, paper: str | None = None, **settings: Any) -> Maker:
    """Defaults of a class or a paper's setting, with some parameters changed."""
    if paper is not None:
        settings = {**cls._paper_settings[paper], **settings}

    def make(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
        return cls(**settings, random_state=seed, n_jobs=n_jobs)

    return make


def _bag(n_components: int | None, **settings: Any) -> Maker:
    def make(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
        return BOWPCA(n_components=n_components, random_state=seed, **settings)

    return make


# "each token, including punctuation", section 3.2.4 of White et al.; with numbers and contractions left whole the
# vocabulary of the MSRP groups has 2,964 words, theirs 2,976.
_TOKENS = r"(?u)\w+(?:[.,']\w+)*|[^\w\s]"
# At the length of the default vectors, and with blocks of the default size.
_AS_HERE: dict[str, Any] = {"n_components": 100, "batch_size": "auto"}
# Classes whose rows are not just "X, defaults" and "X, paper".
_ROWS: dict[Any, dict[str, Method]] = {
    Sent2VecVectorizer: {
        "Sent2Vec, defaults": Method(_trained(Sent2VecVectorizer)),
        "Sent2Vec, paper (wiki unigrams, d=100)": Method(
            _trained(Sent2VecVectorizer, "Sent2Vec, Wikipedia", **_AS_HERE)
        ),
        "Sent2Vec, paper (wiki uni+bi, d=100)": Method(
            _trained(Sent2VecVectorizer, "Sent2Vec, Wikipedia, bigrams", n_buckets=500_000, **_AS_HERE),
            by_default=False,
        ),
    },
    FastSentVectorizer: {
        "FastSent, defaults": Method(_trained(FastSentVectorizer)),
        "FastSent+AE, defaults": Method(_trained(FastSentVectorizer, autoencode=True)),
        "FastSent, paper": Method(_trained(FastSentVectorizer, "FastSent", **_AS_HERE)),
        "FastSent+AE, paper": Method(_trained(FastSentVectorizer, "FastSent+AE", **_AS_HERE)),
    },
    ParagraphVectorizer: {
        "PV-DBOW, defaults": Method(_trained(ParagraphVectorizer)),
        "PV-DM, defaults": Method(_trained(ParagraphVectorizer, algorithm="dm")),
        "PV-DBOW, paper": Method(_trained(ParagraphVectorizer, "PV-DBOW", **_AS_HERE), by_default=False),
        "PV-DM, paper": Method(_trained(ParagraphVectorizer, "PV-DM", **_AS_HERE), by_default=False),
    },
    Word2VecVectorizer: {
        "skip-gram mean, defaults": Method(_trained(Word2VecVectorizer)),
        "skip-gram sum, defaults": Method(_trained(Word2VecVectorizer, pooling="sum"), tables=("semantic",)),
        "CBOW mean, defaults": Method(_trained(Word2VecVectorizer, algorithm="cbow")),
        "skip-gram mean, as published": Method(_trained(Word2VecVectorizer, "skip-gram", **_AS_HERE)),
        "CBOW mean, as published": Method(_trained(Word2VecVectorizer, "CBOW", **_AS_HERE)),
    },
    BOWPCA: {
        "BOW": Method(_bag(None), ("sts", "sick", "semantic"), _bag(None, token_pattern=_TOKENS)),
        "BOWPCA, 100 components": Method(_bag(100, min_count=5), ("sts", "sick"), by_default=False),
        "BOWPCA": Method(_bag(300), ("semantic",), _bag(300, token_pattern=_TOKENS)),
    },
}


def _classes() -> Iterator[Any]:
    """The estimators in the files of `skembed._methods` that learn from text alone: a new file needs no line here."""
    for file in iter_modules(_methods.__path__):
        module = import_module(f"{_methods.__name__}.{file.name}")
        yield from (
            value
            for name, value in vars(module).items()
            if hasattr(value, "fit")
            and value.__module__ == module.__name__
            and not name.startswith("_")
            and value._learns_from == "text"
        )


def _rows_of(cls: Any) -> dict[str, Method]:
    """The defaults and the papers' settings of a class; the corpora of the tables are not stemmed."""
    title = next(iter(cls._paper_settings), cls.__name__)
    rows = {f"{title}, defaults": Method(_trained(cls))}
    for paper, settings in cls._paper_settings.items():
        unstemmed = {"stemmer": None} if "stemmer" in settings else {}
        rows[f"{paper}, paper"] = Method(_trained(cls, paper, **unstemmed))
    return rows


METHODS: dict[str, Method] = {
    "tf-idf cosine": Method(_tfidf, make_in_fold=_tfidf),
    "tf-idf on stems of the compared sentences": Method(
        _tfidf_of_stems, ("sts", "sick"), by_default=find_spec("snowballstemmer") is not None
    ),
    "random vectors": Method(_random(), by_default=False),
    "random vectors, SIF": Method(_random(weighting="sif"), by_default=False),
    **{name: row for cls in _classes() for name, row in (_ROWS.get(cls) or _rows_of(cls)).items()},
    "skip-gram mean, SIF weights, 1 removed": Method(
        _trained(MeanEmbeddingVectorizer, weighting="sif", n_removed_components=1), by_default=False
    ),
    "CBOS, SIF weights": Method(_trained(CBOSVectorizer, weighting="sif"), by_default=False),
}
DEFAULT_METHODS = [name for name, method in METHODS.items() if method.by_default]


def learn(model: Any, corpus: SentenceCorpus) -> Any:
    """Fit to the corpus; scikit-learn's own vectorizers get its sentences as text."""
    return model.fit(corpus if takes_corpus(model) else iter_texts(corpus))
