"""What passes change, and the best of it so far; all of it on disk, so that a killed fit ends with the same bits."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from .._corpus.corpus import SentenceCorpus
from .._storage.folders import FolderKind, new_folder, open_folder, read_header
from .._validation.messages import brief
from .._validation.values import PathLike, user_path
from .encoded_text import Annotations
from .learned_arrays import LearnedArray, moving
from .state import FittedState

_KIND = FolderKind("checkpoint", "checkpoint.json", {"seed": int, "fit": dict, "progress": dict})
# Between the rounds of a pass a checkpoint is written no more often than this: a round may take 5 ms.
_SECONDS_BETWEEN_ROUNDS = 60.0
_BEST = "best "  # before the names of the best weights so far
_HOW_TO_GO_ON = "Fit with the same data and settings to go on, choose another path, or delete the folder."
# No useful weight, and no useful mean loss of a target, comes near this.
LARGEST_SOUND_VALUE = 1e6
# Parameters that do not change the result, or that the text, the seed or the start say more of.
_LEFT_OUT = {"corpus", "init", "n_jobs", "random_state", "verbose"}


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


def identity_of(estimator: Any, corpus: SentenceCorpus, annotations: Annotations, state: FittedState) -> dict[str, Any]:
    """Describe a fit by name, as JSON can hold it; `state` is that before the first pass."""
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _LEFT_OUT}
    return {
        "the version of skembed": __version__,
        "the class": type(estimator).__name__,
        **{name: _as_plain(value) for name, value in sorted(params.items())},
        "the text": f"{corpus.n_documents} documents, {corpus.n_sentences} sentences, {corpus.n_tokens} words, "
        f"digest {corpus.digest}",
        "what y, groups or pairs say": _digest_of(annotations),
        "the start (vocabulary, init, or the model that warm_start goes on from)": _digest_of(
            item for name, value in sorted(state.values().items()) for item in (name, value)
        ),
    }


def _as_plain(value: Any) -> Any:
    """A value as JSON has it; of what is no number and no string the type alone, since it decides text or start."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_as_plain(item) for item in value]
    return type(value).__name__


def _digest_of(items: Iterable[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for item in items:
        if isinstance(item, np.ndarray):
            digest.update(f"{item.dtype.str} {item.shape};".encode())
            digest.update(np.ascontiguousarray(item).reshape(-1).view(np.uint8).data)
        elif isinstance(item, dict):
            for key in item:
                digest.update(f"{key} ".encode("utf-8", "surrogatepass"))
        elif item is None or isinstance(item, (bool, int, float, str, list, tuple, np.generic)):
            plain = item.item() if isinstance(item, np.generic) else item
            digest.update(f"{plain!r};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class PartOfPass(NamedTuple):
    """What the first rounds of a pass have found, beside the arrays."""

    n_rounds: int = 0
    loss: float = 0.0  # sum over the targets
    n_targets: float = 0.0


class EarlyStopping:
    """Keeps the weights of the best pass, and says to stop after too many worse ones."""

    def __init__(self, weights: list[np.ndarray], options: Any) -> None:
        self.weights, self.tol, self.n_iter_no_change = weights, options.tol, options.n_iter_no_change
        self.best_weights: list[np.ndarray] = []
        self.begin_set()

    def begin_set(self) -> None:
        """Begin with a set of the text, from the best weights of the set before."""
        self.restore_best()
        self.best_loss, self.best_weights, self.n_worse = np.inf, [], 0

    def should_stop(self, loss: float) -> bool:
        if loss < self.best_loss - self.tol:
            self.best_loss, self.n_worse = loss, 0
            self.best_weights = [weights.copy() for weights in self.weights]
        else:
            self.n_worse += 1
        return self.n_worse >= self.n_iter_no_change

    def restore_best(self) -> None:
        for weights, best in zip(self.weights, self.best_weights):
            weights[...] = best


def largest_of(weights: list[np.ndarray]) -> float:
    """Largest absolute value, without a second copy of the weights."""
    return max((float(np.maximum(array.max(), -array.min())) for array in weights if len(array)), default=0.0)


def is_sound(loss: float, largest_weight: float) -> bool:
    """Whether the weights have not diverged."""
    return bool(np.isfinite(loss) and loss < LARGEST_SOUND_VALUE and largest_weight < LARGEST_SOUND_VALUE)


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
