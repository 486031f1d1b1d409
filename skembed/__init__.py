"""Sentence embeddings learned from ordered text, as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> file. The methods are loaded at first use, so that `import skembed` stays quick: files with compiled kernels
# import numba.
_HOMES = {
    "AdaptedVectorizer": "_methods.adapted",
    "BOWPCA": "_methods.bow_pca",
    "CBOSVectorizer": "_methods.cbos",
    "CSEVectorizer": "_methods.cse",
    "CharacterNgrams": "_text.character_ngrams",
    "FastSentVectorizer": "_methods.fastsent",
    "MeanEmbeddingVectorizer": "_meta_estimators.mean_embedding",
    "MetaEmbeddingVectorizer": "_meta_estimators.meta_embedding",
    "PairCorpus": "_corpus.pairs",
    "ParagraphVectorizer": "_methods.paragraph",
    "ParaphraseVectorizer": "_methods.paraphrase",
    "PretrainedVectorizer": "_pretrained.vectorizer",
    "SearchIndex": "search._search_index",
    "Sent2VecVectorizer": "_methods.sent2vec",
    "SentenceCorpus": "_corpus.corpus",
    "SiameseCBOWVectorizer": "_methods.siamese_cbow",
    "StudentVectorizer": "_methods.student",
    "TargetVectorizer": "_methods.target",
    "TextVectorizer": "_meta_estimators.text_vectorizer",
    "Word2VecVectorizer": "_methods.word2vec",
    "load": "_saving.folder",
    "save": "_saving.folder",
    "show_versions": "_validation.messages",
}
_SUBMODULES = [
    "arrow",
    "dask",
    "datasets",
    "evaluation",
    "formats",
    "inspection",
    "metrics",
    "precompile",
    "research",
    "search",
]

__all__ = [
    "AdaptedVectorizer",
    "BOWPCA",
    "CBOSVectorizer",
    "CSEVectorizer",
    "CharacterNgrams",
    "FastSentVectorizer",
    "MeanEmbeddingVectorizer",
    "MetaEmbeddingVectorizer",
    "PairCorpus",
    "ParagraphVectorizer",
    "ParaphraseVectorizer",
    "PretrainedVectorizer",
    "SearchIndex",
    "Sent2VecVectorizer",
    "SentenceCorpus",
    "SiameseCBOWVectorizer",
    "StudentVectorizer",
    "TargetVectorizer",
    "TextVectorizer",
    "Word2VecVectorizer",
    "__version__",
    "load",
    "save",
    "show_versions",
]

if TYPE_CHECKING:
    from . import arrow as arrow
    from . import dask as dask
    from . import datasets as datasets
    from . import evaluation as evaluation
    from . import formats as formats
    from . import inspection as inspection
    from . import metrics as metrics
    from . import precompile as precompile
    from . import research as research
    from . import search as search
    from ._corpus.corpus import SentenceCorpus as SentenceCorpus
    from ._corpus.pairs import PairCorpus as PairCorpus
    from ._meta_estimators.mean_embedding import MeanEmbeddingVectorizer as MeanEmbeddingVectorizer
    from ._meta_estimators.meta_embedding import MetaEmbeddingVectorizer as MetaEmbeddingVectorizer
    from ._meta_estimators.text_vectorizer import TextVectorizer as TextVectorizer
    from ._methods.adapted import AdaptedVectorizer as AdaptedVectorizer
    from ._methods.bow_pca import BOWPCA as BOWPCA
    from ._methods.cbos import CBOSVectorizer as CBOSVectorizer
    from ._methods.cse import CSEVectorizer as CSEVectorizer
    from ._methods.fastsent import FastSentVectorizer as FastSentVectorizer
    from ._methods.paragraph import ParagraphVectorizer as ParagraphVectorizer
    from ._methods.paraphrase import ParaphraseVectorizer as ParaphraseVectorizer
    from ._methods.sent2vec import Sent2VecVectorizer as Sent2VecVectorizer
    from ._methods.siamese_cbow import SiameseCBOWVectorizer as SiameseCBOWVectorizer
    from ._methods.student import StudentVectorizer as StudentVectorizer
    from ._methods.target import TargetVectorizer as TargetVectorizer
    from ._methods.word2vec import Word2VecVectorizer as Word2VecVectorizer
    from ._pretrained.vectorizer import PretrainedVectorizer as PretrainedVectorizer
    from ._saving.folder import load as load
    from ._saving.folder import save as save
    from ._text.character_ngrams import CharacterNgrams as CharacterNgrams
    from ._validation.messages import show_versions as show_versions
    from .search._search_index import SearchIndex as SearchIndex


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_SUBMODULES]
