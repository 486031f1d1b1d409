"""The methods of the tables, by name: baselines, defaults, and the settings of the papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import skembed
from skembed import research
from skembed._corpus.corpus import SentenceCorpus
from skembed._corpus.input import iter_texts, takes_corpus
from skembed._methods.bow_pca import BOWPCA
from skembed._methods.cbos import CBOSVectorizer
from skembed.evaluation._baselines import TFIDF, make_baseline

ALL = ("sts", "sick", "senteval", "semantic", "training")
SIMILARITY = ("sts", "sick", "training")
PAIRS = ("phrases", "sentences")


Maker = Callable[[SentenceCorpus, Any, int | None], Any]


class Method(NamedTuple):
    """How to make an estimator, where it is shown, and how to make the one that learns from the folds of a task."""

    make: Maker
    tables: tuple[str, ...] = ALL
    make_in_fold: Maker | None = None
    by_default: bool = True  # whether it is evaluated if no method is named
    pairs: tuple[str, ...] = ()  # the kinds of pairs that it learns from, one after the other; else from the corpus
    from_words: bool = False  # whether it starts from word vectors learned from the corpus
    is_slow: bool = False  # whether the quick preset lets it learn from fewer words or pairs than the others


def _tfidf(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(token_pattern=r"(?u)\b\w+\b")


def _baseline(name: str, **settings: Any) -> Maker:
    def make(corpus: SentenceCorpus, seed: Any, n_jobs: int | None) -> Any:
        return make_baseline(name, random_state=seed, n_jobs=n_jobs, **settings)

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
_RECURRENT: dict[str, Any] = {**_AS_HERE, "word_components": 100, "negative": 512}
_EMBEDDED: dict[str, Any] = {"is_slow": True, "from_words": True}


class Row(NamedTuple):
    """A row of a class: its defaults or a paper's setting, parameters that differ, and other fields of `Method`."""

    paper: str | None = None
    changes: dict[str, Any] = {}
    fields: dict[str, Any] = {}


# Rows of classes that have others than "X, defaults" and "X, paper".
_ROWS: dict[str, dict[str, Row]] = {
    "Sent2VecVectorizer": {
        "Sent2Vec, defaults": Row(),
        "Sent2Vec, paper (wiki unigrams, d=100)": Row("Sent2Vec, Wikipedia", _AS_HERE),
        "Sent2Vec, paper (wiki uni+bi, d=100)": Row("Sent2Vec, Wikipedia, bigrams", {**_AS_HERE, "n_buckets": 500_000}),
    },
    "FastSentVectorizer": {
        "FastSent, defaults": Row(),
        "FastSent+AE, defaults": Row(changes={"autoencode": True}),
        "FastSent, paper": Row("FastSent", _AS_HERE),
        "FastSent+AE, paper": Row("FastSent+AE", _AS_HERE),
    },
    "Word2VecVectorizer": {
        "skip-gram mean, defaults": Row(),
        "skip-gram sum, defaults": Row(changes={"pooling": "sum"}, fields={"tables": ("semantic", "training")}),
        "CBOW mean, defaults": Row(changes={"algorithm": "cbow"}),
        "skip-gram mean, as published": Row("skip-gram", _AS_HERE),
        "CBOW mean, as published": Row("CBOW", _AS_HERE),
    },
    "ParagraphVectorizer": {
        "PV-DBOW, defaults": Row(),
        "PV-DM, defaults": Row(changes={"algorithm": "dm"}),
        "PV-DBOW, paper": Row("PV-DBOW", _AS_HERE),
        "PV-DM, paper": Row("PV-DM", _AS_HERE),
    },
    # The corpora have no parses.
    "CPhraseVectorizer": {
        "C-PHRASE on balanced trees": Row(),
        "C-PHRASE, paper, on balanced trees": Row("C-PHRASE", {**_AS_HERE, "trees": "balanced"}),
    },
    "RecursiveAutoencoderVectorizer": {
        "URAE, defaults": Row(fields={"is_slow": True}),
        # The paper's word vectors were learned before, by another method.
        "URAE, paper": Row("URAE", {**_AS_HERE, "trees": "balanced"}, _EMBEDDED),
    },
    "SequentialDenoisingAutoencoder": {
        "SDAE, defaults": Row(fields={"is_slow": True}),
        "SAE, paper": Row("SAE", _RECURRENT, {"is_slow": True}),
        "SAE + embs., paper": Row("SAE + embs.", _RECURRENT, _EMBEDDED),
        "SDAE, paper": Row("SDAE", _RECURRENT, {"is_slow": True}),
        "SDAE + embs., paper": Row("SDAE + embs.", _RECURRENT, _EMBEDDED),
    },
    "SkipThoughtVectorizer": {
        "SkipThought, defaults": Row(fields={"is_slow": True}),
        "SkipThought, paper": Row("combine-skip", _RECURRENT, {"is_slow": True}),
    },
}
# Rates and passes at which pairs of each kind do not undo what the vectors knew before.
_OF_PAIRS: dict[tuple[str, ...], dict[str, Any]] = {
    ("phrases",): {"learn": "directions", "learning_rate": 3e-4, "max_iter": 12},
    ("sentences",): {"learning_rate": 3e-4, "max_iter": 4},
    ("phrases", "sentences"): {"learning_rate": 3e-4, "max_iter": 4},
}


def _classes(learns_from: str) -> Iterator[Any]:
    """The estimators that learn from text, or pairs, and are not made of others: a new one needs no line here."""
    for module in (skembed, research):
        for name in module.__all__:
            value = getattr(module, name)
            home = getattr(value, "__module__", "")
            is_method = home.startswith(("skembed._methods.", "skembed.research."))
            if is_method and value._learns_from == learns_from and name != "AdaptedVectorizer":  # needs a model
                yield value


def _rows_of(cls: Any) -> dict[str, Method]:
    """The rows of a class: those listed above, or its defaults and its papers' settings."""
    title = next(iter(cls._paper_settings), cls.__name__)
    rows = {f"{title}, defaults": Row()}
    # The corpora of the tables are not stemmed.
    stemmed = {paper for paper, settings in cls._paper_settings.items() if "stemmer" in settings}
    rows |= {
        f"{paper}, paper": Row(paper, {"stemmer": None} if paper in stemmed else {}) for paper in cls._paper_settings
    }
    return {
        name: Method(_trained(cls, row.paper, **row.changes), **row.fields)
        for name, row in _ROWS.get(cls.__name__, rows).items()
    }


def _rows_of_pairs(cls: Any) -> dict[str, Method]:
    """The paper's setting, and one for a start that knows words already, for each order of the kinds of pairs."""
    title = next(iter(cls._paper_settings), cls.__name__)
    # Vectors, and states of a recurrent unit, of the length of the start.
    rows, sizes = {}, {name: value for name, value in cls().get_params().items() if name in ("n_components", "n_units")}
    fields: dict[str, Any] = {"from_words": True, "is_slow": "n_units" in sizes}
    for kinds, settings in _OF_PAIRS.items():
        offered = {name: value for name, value in settings.items() if name in cls().get_params()}
        learned_from = ", then ".join(kinds)
        rows[f"{title} from {learned_from}"] = Method(_trained(cls, **offered), SIMILARITY, pairs=kinds, **fields)
        if cls._paper_settings:
            make = _trained(cls, title, **sizes)
            rows[f"{title} from {learned_from}, paper"] = Method(make, SIMILARITY, pairs=kinds, **fields)
    return rows


METHODS: dict[str, Method] = {
    "tf-idf cosine": Method(_tfidf, make_in_fold=_tfidf),
    TFIDF: Method(_baseline(TFIDF), SIMILARITY),
    "tf-idf on stems of the compared sentences": Method(
        _baseline(TFIDF, stemmer="english"), SIMILARITY, by_default=find_spec("snowballstemmer") is not None
    ),
    "LSA": Method(_baseline("LSA")),
    "random vectors": Method(_baseline("random vectors")),
    "SIF": Method(_baseline("SIF")),
    "uSIF": Method(_baseline("uSIF")),
    "BOW": Method(_bag(None), ("sts", "sick", "semantic", "training"), _bag(None, token_pattern=_TOKENS)),
    "BOWPCA, 100 components": Method(_bag(100, min_count=5), SIMILARITY, by_default=False),
    "BOWPCA": Method(_bag(300), ("semantic", "training"), _bag(300, token_pattern=_TOKENS)),
    **{name: row for cls in _classes("text") if cls is not BOWPCA for name, row in _rows_of(cls).items()},
    "CBOS, SIF weights": Method(_trained(CBOSVectorizer, weighting="sif"), by_default=False),
    **{name: row for cls in _classes("pairs") for name, row in _rows_of_pairs(cls).items()},
}
DEFAULT_METHODS = [name for name, method in METHODS.items() if method.by_default]
START = "CBOS, defaults"  # whose word vectors are those of methods with `from_words`


def fit_to_corpus(model: Any, corpus: SentenceCorpus) -> Any:
    """Fit to the corpus; scikit-learn's own vectorizers get its sentences as text."""
    return model.fit(corpus if takes_corpus(model) else iter_texts(corpus))
