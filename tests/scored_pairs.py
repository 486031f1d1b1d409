"""Scored pairs to learn from, and small encoders for `FineTunedRelatednessRegressor`."""

import numpy as np

from skembed import CSEVectorizer, ParaphraseVectorizer
from skembed.evaluation import FineTunedRelatednessRegressor

COLOURS = "red green blue pink grey black white brown amber ivory".split()
ANIMALS = "cat dog cow hen".split()
SENTENCES = [f"a {colour} {animal}" for colour in COLOURS for animal in ANIMALS]
ENCODERS = {
    "PP": ParaphraseVectorizer(24, random_state=0),
    "CSE": CSEVectorizer(24, filter_widths=(1, 2), n_filters=16, random_state=0),
    "linear CSE": CSEVectorizer(24, filter_widths=(1, 2), n_filters=16, activation="identity", random_state=0),
}


def scored(n, seed=0):
    """Pairs of which only the animal counts, which no start knows."""
    random = np.random.default_rng(seed)
    pairs = [tuple(random.choice(SENTENCES, 2).tolist()) for _ in range(n)]
    return pairs, np.array([5.0 if a.split()[-1] == b.split()[-1] else 1.0 for a, b in pairs])


def make(encoder="PP", **options):
    settings = {"n_hidden": 16, "dropout": 0.2, "encoder_learning_rate": 5e-3, "max_iter": 15, "random_state": 0}
    encoder = ENCODERS[encoder] if isinstance(encoder, str) else encoder
    return FineTunedRelatednessRegressor(encoder, **settings | options)


def state(model):
    """All that a fit has learned, by name, to compare."""
    names = [name for name in vars(model) if name.endswith("_") or name.startswith("_")]
    found = {name: _frozen(vars(model)[name]) for name in names if name != "encoder_" and "callback" not in name}
    words = list(model.encoder_.vocabulary_.items())
    return found | {"words": words, "rows": _frozen(model.encoder_.transform(SENTENCES))}


def _frozen(value):
    if isinstance(value, list):
        return [_frozen(item) for item in value]
    return (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
