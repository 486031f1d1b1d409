"""Sentence embeddings learned from ordered text, as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> file. The methods are loaded at first use, so that `import skembed` stays quick: files with compiled kernels
# import numba.
_HOMES = {
    "AdaptedVectorizer": "_methods.adapted",
    "ApproximateIndex": "_search.approximate",
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
    "SearchIndex": "_search.search_index",
    "Sent2VecVectorizer": "_methods.sent2vec",
    "SentenceCorpus": "_corpus.corpus",
    "SiameseCBOWVectorizer": "_methods.siamese_cbow",
    "StudentVectorizer": "_methods.student",
    "TargetVectorizer": "_methods.target",
    "TextVectorizer": "_meta_estimators.text_vectorizer",
    "Word2VecVectorizer": "_methods.word2vec",
    "communities": "_search.communities",
    "export_model": "_interchange.exporting",
    "import_model": "_interchange.importing",
    "load": "_saving.folder",
    "near_duplicates": "_search.near_duplicates",
    "nearest": "_search.nearest",
    "read_word_vectors": "_word_vectors.read",
    "save": "_saving.folder",
    "show_versions": "_validation.versions",
    "to_gensim": "_word_vectors.write",
    "write_word_vectors": "_word_vectors.write",
}
_SUBMODULES = ["arrow", "dask", "datasets", "evaluation", "inspection", "metrics", "precompile", "research", "testing"]

__all__ = [
    "AdaptedVectorizer",
    "ApproximateIndex",
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
    "communities",
    "export_model",
    "import_model",
    "load",
    "near_duplicates",
    "nearest",
    "read_word_vectors",
    "save",
    "show_versions",
    "to_gensim",
    "write_word_vectors",
]

if TYPE_CHECKING:
    from . import arrow as arrow
    from . import dask as dask
    from . import datasets as datasets
    from . import evaluation as evaluation
    from . import inspection as inspection
    from . import metrics as metrics
    from . import precompile as precompile
    from . import research as research
    from . import testing as testing
    from ._corpus.corpus import SentenceCorpus as SentenceCorpus
    from ._corpus.pairs import PairCorpus as PairCorpus
    from ._interchange.exporting import export_model as export_model
    from ._interchange.importing import import_model as import_model
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
    from ._search.approximate import ApproximateIndex as ApproximateIndex
    from ._search.communities import communities as communities
    from ._search.near_duplicates import near_duplicates as near_duplicates
    from ._search.nearest import nearest as nearest
    from ._search.search_index import SearchIndex as SearchIndex
    from ._text.character_ngrams import CharacterNgrams as CharacterNgrams
    from ._validation.versions import show_versions as show_versions
    from ._word_vectors.read import read_word_vectors as read_word_vectors
    from ._word_vectors.write import to_gensim as to_gensim
    from ._word_vectors.write import write_word_vectors as write_word_vectors


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
