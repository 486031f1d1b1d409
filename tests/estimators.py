"""The estimators that the common tests run through, each with small, quick settings.

A class is found by its name in `skembed.__all__` or `skembed.research.__all__`; a new one takes part in every common
test by itself. What is listed here are the variants that matter beside its defaults.
"""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from text_alone import LettersAsTargets, TwoByTwo, targets_of

import skembed
from skembed import SentenceCorpus
from skembed._base.text import TextEstimator
from skembed._training.state import FittedState


def stem(word):
    """Drop a plural s; at module level, so that it can be pickled."""
    return word.removesuffix("s")


def as_is(item):
    """An analyzer of sentences that are lists of words; at module level, so that it can be pickled."""
    return item


class Cutter:
    """A stemmer as libraries have them: an object with a state and a method."""

    def __init__(self, length):
        self.length = length

    def stem(self, word):
        return word[: self.length]

    __call__ = stem


def _make_text():
    """Ten documents of nine sentences; each keeps to one of four topics."""
    topics = [
        "cat dog mouse purr bark tail whisker kitten puppy paw",
        "rain snow storm wind cloud thunder sunny forecast frost umbrella",
        "bread butter oven flour bake cheese soup recipe spoon kitchen",
        "train station ticket rail track engine driver delay platform journey",
    ]
    generator = np.random.default_rng(0)
    sentences, groups = [], []
    for document in range(10):
        words = topics[document % 4].split()
        words = words + [word + "s" for word in words]
        for _ in range(9):
            chosen = [*generator.choice(words, 4), *generator.choice(["the", "a", "and", "in"], 3)]
            sentences.append(" ".join(generator.permutation(chosen)).capitalize() + ".")
            groups.append(f"document {document}")
    sentences[13] = ""
    sentences[30] = "?! ..."
    sentences[31] = "Ärger, naïve 北京 word_with_underscore — the END"
    sentences[50] = "cat " * 40
    return sentences, groups


TEXT, GROUPS = _make_text()
OTHER_TEXT = ["The cat and the dog.", "a zzz qqq", "", "Rain in the station!", "soup " * 9, "zzz", "...", TEXT[7]]


@cache
def corpus():
    """TEXT, encoded."""
    return SentenceCorpus.from_sentences(TEXT, GROUPS)


def _given_vectors():
    words = sorted({word.strip(".").lower() for sentence in TEXT[:60] for word in sentence.split()} - {"?!", "..", ""})
    vectors = np.random.default_rng(1).normal(size=(len(words), 10)).astype(np.float32)
    return dict(zip(words, vectors))


GIVEN = _given_vectors()
START, VECTORS = {"init": GIVEN, "n_components": 10}, {"word_vectors": GIVEN, "n_components": 10}
FAST = {"n_components": 8, "min_count": 1, "max_iter": 2, "subsample": 1e-2, "n_buckets": 200, "random_state": 0}
VARIANTS = {
    "AdaptedVectorizer": {"": {"word_vectors": GIVEN}},
    "CBOSVectorizer": {
        "sgd": {"solver": "sgd", "learning_rate": 0.01, "unknown": "zero"},
        "sif": {"weighting": "sif", "window": 2, "unknown": "zero"},
        "hash": {"unknown": "hash", "min_count": 5},
        "stem": {"stemmer": stem, "pooling": "mean"},
        "given": {**START, "interpolation": 0.3, "ngram_range": (1, 2)},
    },
    "SiameseCBOWVectorizer": {
        "sgd": {"solver": "sgd", "learning_rate": 0.5, "temperature": 1.0, "pooling": "sum", "unknown": "zero"},
        "idf-hash": {"weighting": "idf", "unknown": "hash", "min_count": 5},
        "given": {**START, "unknown": "zero"},
    },
    "CPhraseVectorizer": {
        "sgd": {"solver": "sgd", "learning_rate": 0.02, "window": 2, "window_growth": 0, "negative": 3}
        | {"unknown": "zero"},
        "mean": {"pooling": "mean", "window": 1, "window_growth": 1, "min_count": 5},
    },
    "ParaphraseVectorizer": {
        "": {"learning_rate": 0.03},
        "hinge": {"loss": "hinge", "learn": "vectors", "alpha": 1e-3, "unknown": "zero"},
        "given": {**START, "word_dropout": 0.3, "interpolation": 0.7, "batch_size": 7},
        "weights": {"learn": "weights", "pooling": "sum", "min_count": 5},
    },
    "CSEVectorizer": {
        "": {"n_filters": 5, "learning_rate": 0.03},
        "linear": {
            "n_filters": 17,
            "filter_widths": [2],
            "activation": "identity",
            "loss": "hinge",
            "learn": "vectors",
            "alpha": 1e-3,
        },
        "narrow": {"n_filters": 5, "padding": "narrow", "filter_widths": (4, 1), "unknown": "zero", "batch_size": 7},
        "given": {"n_filters": 5, **START, "word_dropout": 0.3, "interpolation": 0.7, "filter_alpha": 1e-3},
    },
    "GRANVectorizer": {
        "": {"n_units": 5, "learning_rate": 0.03},
        "hinge": {
            "n_units": 17,
            "loss": "hinge",
            "learn": "vectors",
            "alpha": 1e-3,
            "unknown": "zero",
            "batch_size": 7,
        },
        "given": {
            "n_units": 5,
            **START,
            "word_dropout": 0.3,
            "shuffled": 0.5,
            "interpolation": 0.7,
            "gate_alpha": 1e-3,
        },
    },
    "FastSentVectorizer": {
        "": {"learning_rate": 0.03},
        "autoencode": {"autoencode": True, "pooling": "mean", "weighting": "sif", "unknown": "zero"},
        "sgd": {"solver": "sgd", "learning_rate": 0.1, "window": 2, "negative": 3, "min_count": 5},
    },
    "ParagraphVectorizer": {
        "dm": {"algorithm": "dm", "window": 2, "store_training_vectors": True},
        "concatenate": {"algorithm": "dm", "combine": "concatenate", "window": 1, "solver": "sgd", "min_count": 5},
    },
    "Sent2VecVectorizer": {
        "bigrams": {"ngram_range": (1, 2), "unknown": "zero"},
        "sgd-trigrams": {"solver": "sgd", "ngram_range": (1, 3), "alpha": 1e-4, "weighting": "sif", "dropout_k": 1},
        "hash": {"unknown": "hash", "min_count": 5, "ngram_range": (1, 2)},
    },
    "RecursiveAutoencoderVectorizer": {
        "": {"learning_rate": 0.01},
        "given": {**START, "min_count": 2},
        "learned words": {**START, "min_count": 2, "learn_words": True, "alpha": 0.1, "learning_rate": 0.01},
    },
    "SequentialDenoisingAutoencoder": {
        "": {"word_components": 6, "learning_rate": 0.01},
        "given": {"init": GIVEN, "word_drop": 0.0, "word_swap": 0.0, "negative": 20, "max_gradient_norm": None},
    },
    "SkipThoughtVectorizer": {
        "": {"word_components": 6, "learning_rate": 0.01},
        "combine": {"direction": "combine", "word_components": 6, "expand_with": GIVEN, "min_count": 3, "negative": 20},
    },
    "StudentVectorizer": {
        "": {"n_components": 4},
        "given": {**VECTORS, "n_components": "auto", "min_count": 3, "alpha": 1},
        "stem": {"n_components": 4, "unknown": "zero", "stemmer": stem},
    },
    "TargetVectorizer": {
        "": {"learning_rate": 0.05},
        "given": {**START, "loss": "softmax", "weighting": "idf", "batch_size": 7},
        "hinge": {"loss": ["hinge", "cosine"], "solver": "adagrad", "learning_rate": 0.05, "unknown": "zero"},
        "similarity": {"loss": "similarity", "solver": "sgd", "learning_rate": 0.1, "pooling": "sum", "min_count": 5},
    },
    "Word2VecVectorizer": {
        "cbow": {"algorithm": "cbow", "solver": "sgd", "learning_rate": 0.1, "unknown": "zero"},
        "sum": {"pooling": "sum", "weighting": "sif", "window": 2, "negative": 3},
    },
    "MeanEmbeddingVectorizer": {
        "removed": {"n_removed_components": 1, "weighting": "sif", "unknown": "zero"},
        "given": {**VECTORS, "unknown": "zero"},
        "given-hash": {**VECTORS, "n_removed_components": 1, "unknown": "hash", "weighting": "idf"},
        "once": {"binary": True, "hash_numbers": True, "weighting": "sif"},
        "spelled": {"hash_numbers": True, "spelling_weight": 0.4, "n_removed_components": 1},
        "joined": {
            "word_vectors": [skembed.CBOSVectorizer(6, min_count=1, max_iter=1), GIVEN],
            "n_removed_components": 1,
            "weighting": "sif",
        },
        "whitened": {
            "word_vectors": skembed.MetaEmbeddingVectorizer(
                [skembed.CBOSVectorizer(6, min_count=1, max_iter=1), GIVEN], 8, whiten=True
            ),
            "spelling_weight": 0.4,
        },
    },
    "MetaEmbeddingVectorizer": {
        "": {
            "word_vectors": [
                cls(6, min_count=1, max_iter=1) for cls in (skembed.CBOSVectorizer, skembed.Sent2VecVectorizer)
            ]
        },
        "whitened": {"whiten": True, "word_vectors": [skembed.Word2VecVectorizer(6, min_count=1, max_iter=1), GIVEN]},
    },
    "BOWPCA": {
        "idf": {"weighting": "idf", "min_count": 2},
        "plain": {"n_components": None},
        "plain-idf": {"n_components": None, "weighting": "idf", "stop_words": ["the"]},
    },
}


def _fed(cls):
    """The class, or where text alone is not enough for it, a subclass of the same name that tests can give text."""
    mixin = {"pairs": TwoByTwo, "targets": LettersAsTargets}.get(getattr(cls, "_learns_from", "text"))
    if mixin is None:
        return cls
    found = type(cls.__name__, (mixin, cls), {"__module__": __name__, "__doc__": cls.__doc__})
    globals()[cls.__name__] = found  # where pickle looks
    return found


def published(estimator):
    """The estimator in its class of skembed, which gets nothing but what a test gives it."""
    found = copy.copy(estimator)
    found.__class__ = PUBLIC[type(estimator).__name__]
    return found


def evidence(name):
    """What a published estimator needs beside TEXT."""
    return {"groups": GROUPS, **({"y": targets_of(corpus())} if name in SUPERVISED else {})}


def rows_of_lengths(texts):
    """A pretrained model: a function from texts to rows."""
    return np.array([[len(text), text.count(" "), 1] for text in texts], np.float32)


PUBLIC = {name: getattr(module, name) for module in (skembed, skembed.research) for name in module.__all__}
CLASSES = [value for value in PUBLIC.values() if isinstance(value, type) and issubclass(value, TextEstimator)]
# Made of others, without their common options: only scikit-learn's checks.
COMPOSED = [skembed.PretrainedVectorizer, skembed.SearchIndex, skembed.TextVectorizer]
REQUIRED = {
    "AdaptedVectorizer": {"word_vectors": GIVEN},
    "MetaEmbeddingVectorizer": {"word_vectors": [GIVEN]},
    "PretrainedVectorizer": {"model": rows_of_lengths},
}


def default(cls):
    """Make an estimator with its defaults, and with values for what has none."""
    return cls(**REQUIRED.get(cls.__name__, {}))


_SETTINGS = {
    cls.__name__ + (f"-{variant}" if variant else ""): (cls, params)
    for cls in map(_fed, CLASSES)
    for variant, params in {"": {}, **VARIANTS.get(cls.__name__, {})}.items()
}
NAMES = list(_SETTINGS)
METHODS = [cls.__name__ for cls in CLASSES]
# For what happens before a method learns, and is the same for many: one for each way from text to rows.
KINDS = [
    *("CBOSVectorizer", "CBOSVectorizer-stem", "Sent2VecVectorizer-hash", "ParaphraseVectorizer", "TargetVectorizer"),
    *("MeanEmbeddingVectorizer-given", "SkipThoughtVectorizer", "BOWPCA", "BOWPCA-plain"),
]
_OPTIONS = {option for cls, _ in _SETTINGS.values() for option in default(cls).get_params()}
# Those that learn by gradient descent, and the same with defaults only.
TRAINED = [name for name, (cls, params) in _SETTINGS.items() if hasattr(default(cls), "learning_rate")]
TRAINED_CLASSES = [name for name in TRAINED if "-" not in name]
RECURRENT = [name for name in TRAINED_CLASSES if hasattr(default(_SETTINGS[name][0]), "word_components")]
_UNKNOWN = {
    name: params.get("unknown", getattr(default(cls), "unknown", None)) for name, (cls, params) in _SETTINGS.items()
}
HASHING = [name for name in NAMES if _UNKNOWN[name] in ("hash", "auto")]
SPELLING = [name for name in NAMES if _UNKNOWN[name] == "ngrams"]  # an unknown word is known by its characters
SPARSE = [
    name
    for name, (cls, params) in _SETTINGS.items()
    if cls.__name__ == "BOWPCA" and params.get("n_components", 8) is None
]
# Those that learn from pairs, and those that cannot learn without `y`.
PAIRED, SUPERVISED = (
    [name for name in NAMES if getattr(_SETTINGS[name][0], "_learns_from", "text") == evidence]
    for evidence in ("pairs", "targets")
)


def _skip_without(cls, options):
    """Skip a test of options that some estimators have, and this one has not."""
    lacking = options.keys() - default(cls).get_params().keys()
    if lacking and lacking <= _OPTIONS:
        pytest.skip(f"{cls.__name__} has no option {', '.join(sorted(lacking))}")


def changed(estimator, **changes):
    """The estimator itself, with some parameters changed."""
    _skip_without(type(estimator), changes)
    return estimator.set_params(**changes)


def make(name, **changes):
    """Make one of NAMES, unfitted, with some parameters changed."""
    cls, params = _SETTINGS[name]
    known = default(cls).get_params()
    _skip_without(cls, changes)
    return cls(**{key: value for key, value in {**FAST, **params, **changes}.items() if key in known or key in changes})


@cache
def fitted(name):
    """One of NAMES, fitted on TEXT. Shared by all tests: do not change it."""
    return make(name).fit(TEXT, groups=GROUPS)


def diverging(name):
    """Parameters with which a fit goes well, and those to change for the next one to diverge."""
    start = {"solver": "sgd"} if "solver" in make(name).get_params() else {}
    return start | {"learning_rate": 1e-3}, {"learning_rate": 1e12, "max_iter": 20}


def bits(value):
    """Return something that compares equal only where every bit does: arrays, sparse arrays, estimators, containers."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    if isinstance(value, np.generic):
        return value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return "dict", [(key, bits(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [bits(item) for item in value]
    if isinstance(value, np.random.RandomState):
        return "RandomState"
    if isinstance(value, FittedState):
        return bits(value.values())
    if isinstance(value, BaseEstimator):
        return type(value), sorted((key, bits(item)) for key, item in vars(value).items())
    return value


def learned(estimator):
    """Everything but the parameters."""
    params = estimator.get_params(deep=False)
    values = {key: value for key, value in vars(estimator).items() if key not in {*params, "_state"}}
    return {key: bits(value) for key, value in (values | estimator._state.values()).items()}


def vectors(estimator):
    """All learned weights."""
    state = estimator._state
    return {record.name: bits(state.arrays[record.name]) for record in estimator._learned_arrays(state)}


def with_state(estimator, arrays=(), **changes):
    """The estimator itself with another state, as no fit would make it."""
    estimator._state = replace(estimator._state, **changes).with_arrays(dict(arrays))
    return estimator


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else rows


# Those of scikit-learn's single checks that do not need numbers as input. check_estimator itself would run only the
# last one. All exist in 1.6 and in 1.9.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_param_validation",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
    "check_estimator_cloneable",
]
