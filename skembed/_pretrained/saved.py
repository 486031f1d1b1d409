"""What a saved folder holds of a pretrained model: its path or name, and how to know it again."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._validation.messages import brief
from .identity import PROBES, Identity
from .models import PretrainedModel, is_path, name_of
from .parameter import as_vectorizer
from .vectorizer import PretrainedVectorizer


def saved_parameter(pretrained: PretrainedModel | None) -> str | None:
    """Return what stands for the parameter `pretrained`: a path, or None for an object."""
    model = pretrained.model if isinstance(pretrained, PretrainedVectorizer) else pretrained
    return os.fspath(model) if is_path(model) else None


def saved_identity(fitted: PretrainedVectorizer) -> tuple[dict[str, str | int], np.ndarray]:
    """Return the name and the width of a fitted model, and its rows of a few sentences."""
    name, width, probes = fitted._identity
    return {"name": name, "width": width}, np.zeros((0, width), np.float32) if probes is None else probes


def reopened(
    given: PretrainedModel | None, path: PretrainedModel | None, entries: Any, probes: np.ndarray | None
) -> PretrainedVectorizer:
    """Return the fitted estimator of a saved model: the one that is `given` to `load`, or that at the saved `path`.

    ``entries`` and ``probes`` are those of `saved_identity`. A ValueError if they are damaged, no model is given, or it
    is another one.
    """
    is_sound = isinstance(entries, dict) and set(entries) == {"name", "width"} and type(entries["name"]) is str
    if not is_sound or type(entries["width"]) is not int or entries["width"] < 1:
        raise ValueError(f"the pretrained model is {brief(entries)}.")
    name, width = entries["name"], entries["width"]
    shapes = (0, width), (len(PROBES), width)
    if probes is None or probes.dtype != np.float32 or probes.shape not in shapes or not np.isfinite(probes).all():
        raise ValueError(f"the rows of the pretrained model are {brief(probes)}.")
    model = path if given is None else given
    if model is None:
        raise MissingModelError(
            f"This was fitted with a pretrained model that a folder does not hold, {name}. Pass it: load(path, "
            "pretrained=model)."
        )
    estimator = as_vectorizer(model)
    try:
        estimator.fit()
    except FileNotFoundError as error:
        raise MissingModelError(f"{error} If it was moved, pass its path: load(path, pretrained=...).") from None
    except (TypeError, ValueError) as error:  # so that the folder is not called damaged
        raise MissingModelError(f"The pretrained model cannot be used: {error}") from error
    identity = Identity(name, width, probes if len(probes) else None)
    found = estimator._identity
    if found.width != width or (found.probes is not None and not identity.is_same(found.probes)):
        widths = "" if found.width == width else f": rows of {found.width} numbers, and those were of {width}"
        raise MissingModelError(
            f"The pretrained model {name_of(estimator.model)} gives other rows than that of the fit, {name}{widths}."
        )
    estimator._identity = identity if found.probes is not None else found
    return estimator


class MissingModelError(ValueError):
    """A saved folder is sound, but the pretrained model that it needs is not there or is another one."""
