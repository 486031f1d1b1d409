"""A card for people: what a folder holds, in Markdown. Loading does not read it."""

from __future__ import annotations

from inspect import signature

from sklearn.base import BaseEstimator

from .. import __version__
from .._base.text import TextEstimator
from .._validation.messages import brief
from .._validation.values import plain

# What a folder does not keep, or what does not change the model.
_OF_THE_FIT = {"init", "corpus", "embedding", "word_vectors", "n_jobs", "verbose"}


def card_of(estimator: BaseEstimator, *, inference_only: bool, dtype: str, left_out: int) -> str:
    """Return the text of the card of a fitted estimator."""
    name = type(estimator).__name__
    n_features = f"{estimator.n_features_out_:,} dimensions a"
    if isinstance(estimator, TextEstimator):
        facts = [f"{n_features} sentence, {len(estimator.vocabulary_):,} words in the vocabulary."]
        if estimator._state.n_tokens is not None:
            facts.append(f"Fitted on a text of {estimator._state.n_tokens:,} words.")
        facts.append(f"{100 * estimator.coverage_:.1f} % of the words of that text are in the vocabulary.")
    else:
        weights = ", ".join(f"{block} {weight:.3f}" for block, weight in estimator.block_weights_.items())
        facts = [f"{n_features} text, from blocks of these weights: {weights}."]
    if inference_only:
        facts.append(
            f"It transforms, and does not learn on: {left_out / 1e6:,.1f} MB that only training needs are left out."
        )
    if dtype != "float32":
        facts.append(f"The vectors are stored as {dtype}.")
    defaults = signature(type(estimator)).parameters
    params = {key: plain(value) for key, value in estimator.get_params(deep=False).items()}
    settings = [
        f"- `{key}={brief(value)}`"
        for key, value in sorted(params.items())
        if key not in _OF_THE_FIT and not (key in defaults and _is_same(value, defaults[key].default))
    ]
    return "\n".join(
        [
            f"# {name}",
            "",
            f"A model of sentences, written by skembed {__version__}. Edit this file as you like; loading ignores it.",
            "",
            *(f"- {fact}" for fact in facts),
            "",
            "## Settings",
            "",
            *(settings or ["The defaults."]),
            "",
            "## Use",
            "",
            "```python",
            "import skembed",
            "",
            'model = skembed.load("this folder")',
            'rows = model.transform(["A sentence."])',
            "```",
            "",
        ]
    )


def _is_same(value: object, default: object) -> bool:
    return type(value) is type(default) and bool(value == default)
