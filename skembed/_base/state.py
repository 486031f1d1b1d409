"""Whether fitted attributes fit each other, since compiled code uses some as indices of others and does not check.

They may have been changed, or come from a file that somebody changed. What costs the time of a few shapes is checked at
each call; what takes a look at each word, once for each vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._text.tokenizer import Tokenizer
from .._validation.messages import brief

_CHANGED = "The fitted attributes were changed, or come from a file that was. Fit the estimator again."
_NUMBER, _WHOLE_NUMBER, _LIST = (float, np.floating), (int, np.integer), list
_TYPES: dict[str, type | tuple[type, ...]] = {
    "vocabulary_": dict,
    "_waiting": dict,
    "_tokenizer": Tokenizer,
    **dict.fromkeys(
        ("coverage_", "_unknown_length", "_unknown_weight", "_word_weight", "_ngram_weight", "_spelling_weight"),
        _NUMBER,
    ),
    **dict.fromkeys(("n_features_out_", "n_iter_", "_n_tokens", "_n_steps", "_n_frozen"), _WHOLE_NUMBER),
    **dict.fromkeys(("loss_curve_", "validation_loss_curve_"), _LIST),
}
# An array, and its sizes; None allows any size.
Shaped = tuple[Any, tuple[int | None, ...]]


class CheckedStateMixin:
    """Base of estimators that check their fitted attributes before they use them."""

    vocabulary_: dict[str, int]
    n_features_out_: int

    def _fitted_names(self) -> set[str]:
        return {name for name in vars(self) if name.endswith("_") or (name.startswith("_") and "callback" not in name)}

    def _shapes_of_state(self, n_words: int) -> dict[str, Shaped]:
        """The arrays that `transform` reads, by name, with the shapes that they must have for `n_words` words."""
        return {}

    def _check_state(self) -> None:
        """Raise a ValueError if the arrays that `transform` reads are not of the shapes that it relies on."""
        fitted = vars(self)
        check_types(fitted)
        try:
            expected = self._shapes_of_state(len(self.vocabulary_))
        except (AttributeError, TypeError, IndexError, KeyError) as error:
            raise ValueError(f"{error}. {_CHANGED}") from None
        counts = fitted.get("word_counts_")
        if not isinstance(counts, np.ndarray) or counts.shape != (len(self.vocabulary_),):
            raise ValueError(f"word_counts_ must have a number for each word of vocabulary_. {_CHANGED}")
        for name, (array, shape) in expected.items():
            if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not _has_shape(array, shape):
                expected_sizes = ", ".join("any" if size is None else str(size) for size in shape)
                raise ValueError(f"{name} is {brief(array)}, expected floats of shape ({expected_sizes}). {_CHANGED}")


def check_types(fitted: Mapping[str, Any]) -> None:
    """Raise a ValueError if a fitted attribute is of another type than a fit makes it."""
    for name, wanted in _TYPES.items():
        if name in fitted and not isinstance(fitted[name], wanted):
            kind = wanted[0] if isinstance(wanted, tuple) else wanted
            raise ValueError(f"{name} is {brief(fitted[name])}, expected {kind.__name__}. {_CHANGED}")


def _has_shape(array: np.ndarray, shape: tuple[int | None, ...]) -> bool:
    return array.shape == shape or (
        array.ndim == len(shape) and all(size in (None, found) for size, found in zip(shape, array.shape))
    )


def check_rows(rows: Iterable[Any], n_rows: int, n_words: int) -> np.ndarray:
    """Return rows of the vocabulary as int64, (n_rows,), or say that one is not below `n_words`; -1 is for no word."""
    try:
        found = np.fromiter(rows, np.int64, n_rows)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"vocabulary_ must hold row indices: {error}. {_CHANGED}") from None
    if n_rows and not -1 <= found.min() <= found.max() < n_words:
        wrong = found[(found < -1) | (found >= n_words)][0]
        raise ValueError(f"vocabulary_ has the row {wrong}, but {n_words} words. {_CHANGED}")
    return found


def check_order(vocabulary: Mapping[str, Any]) -> None:
    """Raise a ValueError if the rows of the words do not count up from 0."""
    rows = check_rows(vocabulary.values(), len(vocabulary), len(vocabulary))
    if not np.array_equal(rows, np.arange(len(vocabulary))):
        raise ValueError(f"vocabulary_ must give the words the rows 0, 1, ... in this order. {_CHANGED}")


def check_to_learn_on(fitted: Mapping[str, Any], n_weights: int) -> None:
    """Raise a ValueError if counts and weights of the words do not fit the vocabulary."""
    counts, n_words = fitted.get("word_counts_"), len(fitted["vocabulary_"])
    if (
        not isinstance(counts, np.ndarray)
        or counts.shape != (n_words,)
        or counts.dtype != np.int64
        or n_weights != fitted.get("_n_learned", n_words)  # where a method knows more words than it learns
    ):
        raise ValueError(f"word_counts_ is {brief(counts)}, or there are not {n_words} word weights. {_CHANGED}")
    if n_words and counts.min() < 0:
        raise ValueError(f"word_counts_ has {counts.min()}. {_CHANGED}")
