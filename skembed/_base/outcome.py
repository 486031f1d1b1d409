"""How a fit went: weights that diverged are an error, a pass that learned nothing a warning; a copy to look at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._training.state import FittedState
from .._training.stopping import is_sound, largest_of
from .._validation.messages import brief, warn_at_user


def check_finite(estimator: Any, weights: list[np.ndarray], loss: float, epoch: int) -> None:
    """Raise an error if the weights, or the loss, have diverged."""
    largest = largest_of(weights)
    if not is_sound(loss, largest):
        # Other parameters that cause large steps or scores.
        others = {"n_components": "smaller"} | ({"temperature": "larger"} if hasattr(estimator, "temperature") else {})
        options = "".join(f", {name}={brief(getattr(estimator, name))}" for name in others)
        remedy = "".join(f", or a {than} {name}" for name, than in others.items())
        raise ValueError(
            f"{type(estimator).__name__} diverged in pass {epoch + 1} with learning_rate={estimator.learning_rate}, "
            f"solver={estimator.solver!r}{options} (mean loss {loss:.4g}, largest weight {largest:.4g}). Use a smaller "
            f"learning_rate{remedy}. Nothing of this fit was kept."
        )


def warn_of_nothing(name: str, losses: list[float], validation: list[float]) -> None:
    """Warn of a loss of exactly zero, which means that there was no target."""
    for text, curve, outcome in (
        ("text", losses, "the last pass changed nothing"),
        ("held-out text", validation, "early_stopping could not stop; more can be held out (validation_fraction)"),
    ):
        if curve and curve[-1] == 0.0:
            warn_at_user(
                f"{name} found nothing to predict in the {text}, so {outcome}. Its sentences may be "
                "too few or too short, or their words unknown or too rare."
            )


def copied(state: FittedState) -> FittedState:
    """A state that further passes do not change."""
    return replace(
        state,
        loss_curve_=list(state.loss_curve_),
        validation_loss_curve_=list(state.validation_loss_curve_),
        arrays={name: array.copy() for name, array in state.arrays.items()},
    )
