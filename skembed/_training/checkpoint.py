"""The state of a fit on disk, so that a fit that was killed goes on and ends with the same bits."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._storage.folders import FolderKind, new_folder, open_folder, read_header
from .._validation.messages import brief
from .._validation.values import PathLike, user_path
from .learned_arrays import LearnedArray, moving
from .state import FittedState
from .stopping import EarlyStopping, largest_of

_KIND = FolderKind("checkpoint", "checkpoint.json", {"seed": int, "fit": dict, "progress": dict})
# Between the rounds of a pass a checkpoint is written no more often than this: a round may take 5 ms.
_SECONDS_BETWEEN_ROUNDS = 60.0
_BEST = "best "  # before the names of the best weights so far
_HOW_TO_GO_ON = "Fit with the same data and settings to go on, choose another path, or delete the folder."


class Checkpoint:
    """A folder with the state of a fit after some passes; without a path, nothing.

    A new state takes the place of the last one in one step. What the state consists of is not known here.
    """

    def __init__(self, path: PathLike | None, every: int = 1) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
            raise ValueError(f"checkpoint_every must be a number of passes, at least 1, got {brief(every)}.")
        self.path, self.every = None if path is None else user_path(path), int(every)
        self._entries: dict[str, Any] = {}
        self._found = self._read_header()
        self._written_at = time.monotonic()  # or began

    def refuse(self, given: str) -> None:
        """Raise an error if there is a path, but no fit to keep: what is `given` has its word vectors already."""
        if self.path is not None:
            raise ValueError(f"checkpoint keeps a fit of word vectors, but {given} has them already. Leave it out.")

    @property
    def seed(self) -> int | None:
        """Seed of the fit that began; None if none has."""
        return None if self._found is None else self._found["seed"]

    def begin(self, seed: int, fit: Mapping[str, Any]) -> None:
        """Write a checkpoint of no pass; if there is one, check that it is of this fit.

        `fit` says by name what decides the result, as JSON can hold it. A ValueError says what differs.
        """
        if self.path is None:
            return
        self._entries = {"seed": seed, "fit": dict(fit)}
        if self._found is None:
            self.write({}, {})  # now, since an error after the first pass would come late
            return
        then, now = self._found["fit"], json.loads(json.dumps(dict(fit)))
        changes = [
            f"{name} was {brief(then.get(name), 200)}, now it is {brief(now.get(name), 200)}"
            for name in dict.fromkeys([*now, *then])
            if then.get(name) != now.get(name)
        ]
        if self._found["seed"] != seed:
            changes.append("random_state gave another seed")
        if changes:
            raise ValueError(f"The checkpoint at {self.path} is of another fit: {'; '.join(changes)}. {_HOW_TO_GO_ON}")

    def write(self, arrays: Mapping[str, np.ndarray], progress: Mapping[str, Any]) -> None:
        """Replace the state; an OSError says why that is not possible, and the last state is still there."""
        if self.path is not None:
            with new_folder(self.path, _KIND) as new:
                new.write(self._entries | {"progress": dict(progress)}, arrays)
            self._written_at = time.monotonic()

    def is_due_in_a_pass(self) -> bool:
        """Whether to write between rounds: if each pass is written, and it has been long since."""
        return self.every == 1 and time.monotonic() - self._written_at >= _SECONDS_BETWEEN_ROUNDS

    def read(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The arrays, mapped into memory, and the progress that were written last; both empty before the first pass."""
        found = self._found
        if self.path is None or found is None:
            return {}, {}
        header, arrays, _ = open_folder(self.path, _KIND, mmap=True)
        if found["seed"] != header["seed"] or found["fit"] != header["fit"]:
            raise ValueError(f"Another fit has replaced the checkpoint at {self.path}. {_HOW_TO_GO_ON}")
        return arrays, header["progress"]

    def _read_header(self) -> dict[str, Any] | None:
        with suppress(FileNotFoundError):
            return None if self.path is None else read_header(self.path, _KIND)
        return None


class PartOfPass(NamedTuple):
    """What the first rounds of a pass have found, beside the arrays."""

    n_rounds: int = 0
    loss: float = 0.0  # sum over the targets
    n_targets: float = 0.0


class LearningState:
    """All that passes change: arrays in place, curves, and what the trainer and early stopping count."""

    def __init__(self, state: FittedState, records: list[LearnedArray], stopping: EarlyStopping, trainer: Any) -> None:
        self.state, self.records, self.stopping, self.trainer = state, records, stopping, trainer
        self.losses, self.validation_losses = list(state.loss_curve_), list(state.validation_loss_curve_)
        self.n_iter = state.n_iter_

    def result(self) -> FittedState:
        """What was learned so far."""
        return replace(
            self.state,
            loss_curve_=self.losses,
            validation_loss_curve_=self.validation_losses,
            n_iter_=self.n_iter,
            n_steps=self.trainer.n_steps,
        )

    def write(self, checkpoint: Checkpoint, n_passes: int, *, is_last: bool, part: PartOfPass | None = None) -> None:
        """Write a checkpoint after a pass, or a part of the next one, if it is time for one."""
        if checkpoint.path is None:
            return
        is_time = is_last or n_passes % checkpoint.every == 0 if part is None else checkpoint.is_due_in_a_pass()
        if not is_time:
            return
        n_rounds, loss, n_targets = part or PartOfPass()
        arrays = {name: self.state.arrays[name] for name in self._names}
        best = dict(zip(self._best_names, self.stopping.best_weights))
        if not all(map(np.array_equal, self.stopping.best_weights, self.stopping.weights)):
            arrays |= best
        checkpoint.write(
            arrays,
            {
                "n_passes": n_passes,
                "is_finished": is_last,
                "part": [n_rounds, _json_number(loss), _json_number(n_targets)],
                "n_steps": self.trainer.n_steps,
                "losses": list(map(_json_number, self.losses)),
                "validation_losses": list(map(_json_number, self.validation_losses)),
                "best_loss": _json_number(self.stopping.best_loss),
                "n_worse": self.stopping.n_worse,
                "has_best": bool(best),
            },
        )

    def restore(self, checkpoint: Checkpoint, n_passes: int) -> tuple[int, bool, PartOfPass]:
        """Go back to a checkpoint.

        Returns how many passes are over, whether the fit was finished, and the rounds of the next pass.
        """
        arrays, progress = checkpoint.read()
        if not progress:
            return 0, False, PartOfPass()
        try:
            n_rounds, loss, n_targets = progress["part"]
            part = PartOfPass(int(n_rounds), float(loss), float(n_targets))
            return self._restore(arrays, progress, n_passes), bool(progress["is_finished"]), part
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"The checkpoint at {checkpoint.path} is damaged: {error!r}") from None

    def _restore(self, arrays: dict[str, np.ndarray], progress: dict[str, Any], n_passes: int) -> int:
        n_made, n_steps, n_worse = (progress[name] for name in ("n_passes", "n_steps", "n_worse"))
        has_best = progress["has_best"] and bool(self._best_names)
        best_names = [name for name in self._best_names if has_best and name in arrays]
        expected = {name: self.state.arrays[name].shape for name in self._names}
        expected |= dict(zip(best_names, (weights.shape for weights in self.stopping.weights)))
        if {name: array.shape for name, array in arrays.items()} != expected:
            raise ValueError("it does not hold the arrays of this fit.")
        for name, array in arrays.items():
            if array.dtype != np.float32 or array.size and not largest_of([array]) < np.inf:
                raise ValueError(f"{name} has numbers that are not finite.")
        counts = n_made, n_worse, 0 if n_steps is None else n_steps
        if not all(type(n) is int and 0 <= n < 2**62 for n in counts) or n_made > n_passes:
            raise ValueError(f"it has {brief(counts)} passes and steps.")
        for name in self._names:
            self.state.arrays[name][...] = arrays[name]
        if has_best:
            of_best = best_names or [array.name for array in moving(self.records)]
            self.stopping.best_weights = [np.array(arrays[name]) for name in of_best]
        self.stopping.best_loss, self.stopping.n_worse = float(progress["best_loss"]), n_worse
        losses = list(map(float, progress["losses"]))
        self.n_iter += len(losses) - len(self.losses)  # fewer than n_made if a set stopped
        self.losses[:] = losses
        self.validation_losses[:] = map(float, progress["validation_losses"])
        if n_steps is not None:
            self.trainer.n_steps = n_steps
        return n_made

    @property
    def _names(self) -> list[str]:
        return [name for array in moving(self.records) for name in (array.name, array.accumulator)]

    @property
    def _best_names(self) -> list[str]:
        return [_BEST + array.name for array in moving(self.records)]


def _json_number(number: float) -> float | str:
    """A number; as a string where JSON has none."""
    return float(number) if math.isfinite(number) else repr(float(number))
