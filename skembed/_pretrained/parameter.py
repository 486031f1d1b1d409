"""The parameter `pretrained` of other estimators."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from typing import Self

from sklearn.base import BaseEstimator, clone

from .._base.scikit_learn import ShortReprMixin
from .models import PretrainedModel
from .vectorizer import PretrainedVectorizer

PRETRAINED = "pretrained"  # the parameter, and the block of its rows
TEACHER = "teacher"


class PretrainedParameter(ShortReprMixin, BaseEstimator):
    """Adds the parameter `pretrained` to an estimator: clones share it, and a `teacher` if there is that parameter."""

    pretrained: PretrainedModel | None
    _shared = (PRETRAINED, TEACHER)

    def _supplier(self) -> PretrainedVectorizer | None:
        """What gives rows, fitted; None if no model is given."""
        return None if self.pretrained is None else as_vectorizer(self.pretrained).fit()

    def _suppliers(self, names: Collection[str]) -> dict[str, PretrainedVectorizer]:
        """What gives rows, not fitted, by name; none if no model is given. `names` are taken."""
        if PRETRAINED in names:
            raise ValueError(f"{PRETRAINED!r} is the block of the parameter of this name. Give yours another one.")
        return {} if self.pretrained is None else {PRETRAINED: as_vectorizer(self.pretrained)}

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters but share the model, which `clone` would otherwise copy or return to before its fit."""
        bare, given = copy(self), {name: getattr(self, name) for name in self._shared if hasattr(self, name)}
        for name in given:
            setattr(bare, name, None)
        cloned = super(PretrainedParameter, bare).__sklearn_clone__()
        for name, model in given.items():
            setattr(cloned, name, clone(model) if isinstance(model, PretrainedVectorizer) else model)
        return cloned


def as_vectorizer(model: PretrainedModel) -> PretrainedVectorizer:
    """Return an estimator of a model that has yet to be fitted, which shares it."""
    return clone(model) if isinstance(model, PretrainedVectorizer) else PretrainedVectorizer(model)
