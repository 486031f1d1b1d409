"""The classes that a folder may hold, and the fitted attributes of each: their types, and the sizes of their arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.feature_extraction.text import TfidfTransformer

from .._base.text import TextEstimator
from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
from .._meta_estimators.meta_embedding import MetaEmbeddingVectorizer
from .._methods.adapted import AdaptedVectorizer
from .._methods.bow_pca import BOWPCA
from .._methods.cbos import CBOSVectorizer
from .._methods.cse import CSEVectorizer
from .._methods.fastsent import FastSentVectorizer
from .._methods.paragraph import ParagraphVectorizer
from .._methods.paraphrase import ParaphraseVectorizer
from .._methods.sent2vec import Sent2VecVectorizer
from .._methods.siamese_cbow import SiameseCBOWVectorizer
from .._methods.student import StudentVectorizer
from .._methods.target import TargetVectorizer
from .._methods.word2vec import Word2VecVectorizer
from ..research._cphrase import CPhraseVectorizer
from ..research._denoising_autoencoder import SequentialDenoisingAutoencoder
from ..research._gran import GRANVectorizer
from ..research._recursive_autoencoder import RecursiveAutoencoderVectorizer
from ..research._skip_thought import SkipThoughtVectorizer


class Array(NamedTuple):
    """An array: a name for each of its sizes; equal names mean equal sizes."""

    sizes: tuple[str, ...]
    dtype: str = "float32"

    @property
    def axis_of_words(self) -> int | None:
        """Axis of a matrix that has a row for each word, or word n-gram; None if it is no such matrix."""
        found = [axis for axis, size in enumerate(self.sizes) if size in ("words", "rows", "buckets")]
        return found[0] if found and len(self.sizes) == 2 else None


class Schema(NamedTuple):
    """The fitted attributes of a class, beside `vocabulary_` and the tokenizer."""

    needed: dict[str, Any]  # name -> Array, or type of a scalar
    optional: dict[str, Any] = {}
    training: dict[str, Any] = {}  # what `inference_only` leaves out


_OF_TEXT = {"word_counts_": Array(("words",), "int64"), "coverage_": float, "n_features_out_": int}
_OF_POOLED = {"word_weights_": Array(("words",)), "_unknown_weight": np.float32, "_unknown_length": np.float32}
_OF_TRAINED = _OF_TEXT | {
    "_seed": int,
    "_n_tokens": int,
    "_layout": dict,
    "loss_curve_": list,
    "validation_loss_curve_": list,
    "n_iter_": int,
    "_from_labels": bool,
}


def _for_training(*names: str) -> dict[str, Any]:
    """Words that are not learned yet, and the sums of the solver for these arrays."""
    # Of any shape here: `check` compares with that of training.
    return {"_waiting": dict} | {f"_{name}_accumulator": None for name in names}


_ROWS, _WORDS = Array(("rows", "columns")), Array(("words", "columns"))
_CONTEXT = Schema(
    _OF_TRAINED | _OF_POOLED | {"_source_vectors": _ROWS, "_first_from_labels": bool},
    {"_interpolated_vectors": _ROWS, "_n_frozen": int},
    {"_start_vectors": _ROWS} | _for_training("source_vectors"),
)
_TWO_MATRICES = Schema(
    _OF_TRAINED | _OF_POOLED | {"word_vectors_": _WORDS},
    {"_n_frozen": int},
    {"target_vectors_": _WORDS} | _for_training("word_vectors", "target_vectors"),
)
_START_OF_WORDS = {"_directions": _WORDS, "_scales": Array(("words",)), "_start_vectors": _WORDS, "_n_steps": int}
_FILTERS, _INTERCEPT = Array(("positions", "filters", "columns")), Array(("widths", "filters"))


def _recurrent_unit(name: str) -> Array:
    return Array(("gates", f"units {name}", f"inputs {name}"))


# The states of this unit are no columns of a row.
_UNIT, _GATES = Array(("gates", "states", "inputs")), Array(("columns", "inputs"))
_PAIRED = {"word_vectors_": _WORDS}

SCHEMAS: dict[type[TextEstimator], Schema] = {
    BOWPCA: Schema(
        _OF_TEXT,
        {
            "_tfidf": TfidfTransformer,
            "_pca": (PCA, IncrementalPCA),
            "components_": Array(("components", "words")),
            "mean_": Array(("words",)),
            "explained_variance_ratio_": None,
        },
    ),
    CBOSVectorizer: _CONTEXT,
    SiameseCBOWVectorizer: _CONTEXT,
    Sent2VecVectorizer: Schema(
        _OF_TRAINED | _OF_POOLED | {"_source_vectors": _ROWS},
        {"_n_frozen": int},
        {"target_vectors_": _WORDS} | _for_training("source_vectors", "target_vectors"),
    ),
    FastSentVectorizer: _TWO_MATRICES,
    CPhraseVectorizer: _TWO_MATRICES,
    SequentialDenoisingAutoencoder: Schema(
        _OF_TRAINED | {"word_vectors_": _WORDS, "encoder_weights_": _recurrent_unit("one way")},
        {"_n_steps": int},
        {"decoder_weights_": None, "target_vectors_": None}
        | _for_training("word_vectors", "encoder_weights", "decoder_weights", "target_vectors"),
    ),
    RecursiveAutoencoderVectorizer: Schema(
        _OF_TRAINED
        | {
            "word_vectors_": _WORDS,
            "encoder_weights_": Array(("columns", "pairs")),
            "decoder_weights_": Array(("both", "inputs")),
        },
        {"_n_steps": int},
        {"_start_vectors": _WORDS} | _for_training("word_vectors", "encoder_weights", "decoder_weights"),
    ),
    SkipThoughtVectorizer: Schema(
        _OF_TRAINED | {"word_vectors_": _WORDS, "_n_learned": int},
        {
            "_n_steps": int,
            "encoder_weights_": _recurrent_unit("one way"),
            "forward_weights_": _recurrent_unit("forward"),
            "backward_weights_": _recurrent_unit("backward"),
        },
        dict.fromkeys(("decoder_weights_", "target_vectors_", "bi_decoder_weights_", "bi_target_vectors_"))
        | _for_training("word_vectors", "encoder_weights", "decoder_weights", "target_vectors")
        | _for_training("forward_weights", "backward_weights", "bi_decoder_weights", "bi_target_vectors"),
    ),
    Word2VecVectorizer: _TWO_MATRICES,
    TargetVectorizer: Schema(
        _OF_TRAINED | _OF_POOLED | {"word_vectors_": _WORDS, "coef_": Array(("targets", "columns")), "_n_targets": int},
        {"_n_steps": int, "_n_frozen": int},
        _for_training("word_vectors", "coef"),
    ),
    ParagraphVectorizer: Schema(
        _OF_TRAINED
        | {
            "word_weights_": Array(("words",)),
            "target_vectors_": Array(("words", "joined")),
            "_noise": Array(("noise",), "int64"),
        },
        {"word_vectors_": _WORDS, "training_vectors_": Array(("sentences", "columns"))},
        _for_training("word_vectors", "target_vectors"),
    ),
    ParaphraseVectorizer: Schema(
        _OF_TRAINED | _OF_POOLED | _PAIRED,
        {"_n_frozen": int, "_length_of_new_words": float},
        _START_OF_WORDS | _for_training("directions", "scales"),
    ),
    CSEVectorizer: Schema(
        _OF_TRAINED
        | _PAIRED
        | {
            "word_weights_": Array(("words",)),
            "_unknown_length": np.float32,
            "_windows": tuple,
            "filters_": _FILTERS,
            "intercept_": _INTERCEPT,
        },
        {"_n_frozen": int, "_length_of_new_words": float},
        _START_OF_WORDS
        | {"_filters": _FILTERS, "_start_filters": _FILTERS, "_intercept": _INTERCEPT, "_start_intercept": _INTERCEPT}
        | _for_training("directions", "scales", "filters", "intercept"),
    ),
    GRANVectorizer: Schema(
        _OF_TRAINED
        | _PAIRED
        | {
            "word_weights_": Array(("words",)),
            "_unknown_length": np.float32,
            "unit_weights_": _UNIT,
            "gate_weights_": _GATES,
        },
        {"_n_frozen": int, "_length_of_new_words": float},
        _START_OF_WORDS
        | {"_unit_weights": _UNIT, "_start_unit_weights": _UNIT, "_gate_weights": _GATES, "_start_gate_weights": _GATES}
        | _for_training("directions", "scales", "unit_weights", "gate_weights"),
    ),
    AdaptedVectorizer: Schema(
        _OF_TEXT
        | _OF_POOLED
        | {
            "word_vectors_": _WORDS,
            "ngram_vectors_": Array(("buckets", "columns")),
            "alpha_": float,
            "score_": float,
            "_n_tokens": int,
        }
    ),
    StudentVectorizer: Schema(
        _OF_TEXT
        | _OF_POOLED
        | {
            "word_vectors_": _WORDS,
            "ngram_vectors_": Array(("buckets", "columns")),
            "target_mean_": Array(("targets",)),
            "components_": Array(("columns", "targets")),
            "alpha_": float,
            "score_": float,
            "_n_tokens": int,
        }
    ),
    MetaEmbeddingVectorizer: Schema(_OF_TEXT | _OF_POOLED | {"word_vectors_": _WORDS, "_n_tokens": int}),
    MeanEmbeddingVectorizer: Schema(
        _OF_TEXT
        | _OF_POOLED
        | {
            "word_vectors_": _WORDS,
            "_processed_vectors": _WORDS,
            "components_": Array(("removed", "columns")),
            "ngram_vectors_": Array(("buckets", "columns")),
            "_ngram_lengths": tuple,
            "_n_tokens": int,
            "_hash_numbers": bool,
            "_spelling_weight": float,
        },
        training={"word2vec_": Word2VecVectorizer, "_moments": Array(("columns", "columns"), "float64")},
    ),
}
for _cls, _schema in SCHEMAS.items():
    if "_unknown_weight" in _schema.needed:  # of models with n-grams of characters beside words
        SCHEMAS[_cls] = _schema._replace(
            optional=_schema.optional | {"_word_weight": np.float32, "_ngram_weight": np.float32}
        )
CLASSES = {cls.__name__: cls for cls in SCHEMAS}
