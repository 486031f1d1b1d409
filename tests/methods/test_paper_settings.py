"""The settings of the papers learn from a small text.

A class declares them in `_paper_settings`, from where the pages of `doc/methods` show them. Every parameter that a
default could change is written out, so a new default leaves a paper's setting alone.
"""

import re

import numpy as np
import pytest
from estimators import CLASSES, TEXT, evidence

from skembed import MeanEmbeddingVectorizer

GOOGLE_NEWS = "GoogleNews-vectors-negative300.bin.gz"

# Of vectors that the user brings, so these are not settings of learning.
# start of means
given = {"word_vectors": GOOGLE_NEWS, "lowercase": False, "weighting": None, "unknown": "zero"}
MEANS = {
    "MOWE": {**given, "pooling": "mean", "n_removed_components": 0},
    "SOWE": {**given, "pooling": "sum", "n_removed_components": 0},
    "Arora et al., W + R": {**given, "pooling": "mean", "weighting": "sif", "n_removed_components": 1},
}
# end of means

SETTINGS = {cls: cls._paper_settings for cls in CLASSES if cls._paper_settings} | {MeanEmbeddingVectorizer: MEANS}
by_name = {"ids": lambda value: getattr(value, "__name__", value)}


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls in SETTINGS for name in SETTINGS[cls]], **by_name)
def test_setting_learns_from_a_small_text(cls, name):
    small = {"n_components": 8, "n_buckets": 1000, "min_count": 1, "min_target_count": 1, "subsample": 1e-2}
    params = cls(**SETTINGS[cls][name]).get_params()
    if params.get("stemmer") is not None:
        pytest.importorskip("snowballstemmer")
    if params["n_components"] is None:
        del small["n_components"]
    if params.get("word_vectors") is not None:
        words = sorted({word.strip(".") for sentence in TEXT[:40] for word in sentence.split()})
        small["word_vectors"] = dict(zip(words, np.random.default_rng(0).normal(size=(len(words), 8))))
    model = cls(**params).set_params(**{key: value for key, value in small.items() if key in params})
    if "random_state" in params:
        model.set_params(random_state=0)
    text = [f"({sentence})" for sentence in TEXT] if params.get("trees") == "bracketed" else TEXT
    rows = model.fit_transform(text, **evidence(cls.__name__))
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    assert len(rows) == len(TEXT)
    assert np.isfinite(rows).all() and rows.any()
    assert np.isfinite(getattr(model, "loss_curve_", [])).all()


def test_setting_in_the_docstring_is_one_of_these():
    cls = MeanEmbeddingVectorizer
    text = re.search(r"The papers?'s? own settings?[:,].*", cls.__doc__, re.DOTALL).group()
    calls = re.findall(rf"``({cls.__name__}\(.*?\))``", text, re.DOTALL)
    assert calls
    for call in calls:
        made = eval(call, {cls.__name__: cls, "path": GOOGLE_NEWS})
        assert any(repr(made.get_params()) == repr(cls(**one).get_params()) for one in SETTINGS[cls].values()), call
