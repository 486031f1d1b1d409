"""What a fit has learned so far, on disk, so that a killed fit ends with the same bits."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from .. import __version__
from .._corpus.corpus import SentenceCorpus
from .._storage.folders import FolderKind, new_folder, open_folder, read_header
from .._validation.messages import brief
from .._validation.values import JSON, PathLike, user_path
from .encoded_text import Annotations
from .state import FittedState

_KIND = FolderKind("checkpoint", "checkpoint.json", {"seed": int, "fit": dict, "progress": dict})
# Between the rounds of a pass a checkpoint is written no more often than this: a round may take 5 ms.
_SECONDS_BETWEEN_ROUNDS = 60.0
_HOW_TO_GO_ON = "Fit with the same data and settings to go on, choose another path, or delete the folder."
# Parameters that do not change the result, or that the text, the seed or the start say more of.
_LEFT_OUT = {"corpus", "init", "n_jobs", "random_state", "verbose"}


class Checkpoint:
    """A folder with the state of a fit after some passes, replaced in one step; without a path, nothing."""

    def __init__(self, path: PathLike | None, every: int = 1) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
            raise ValueError(f"checkpoint_every must be a number of passes, at least 1, got {brief(every)}.")
        self.path, self.every = None if path is None else user_path(path), int(every)
        self._entries: dict[str, Any] = {}
        self._found: dict[str, Any] | None = None
        with suppress(FileNotFoundError):
            self._found = None if self.path is None else read_header(self.path, _KIND)
        self.seed: int | None = None if self._found is None else self._found["seed"]  # of the fit that began
        self._written_at = time.monotonic()  # or began

    def refuse(self, given: str) -> None:
        """Raise an error if there is a path, but no fit to keep: what is `given` has its word vectors already."""
        if self.path is not None:
            raise ValueError(f"checkpoint keeps a fit of word vectors, but {given} has them already. Leave it out.")

    def begin(self, seed: int, fit: Mapping[str, JSON]) -> None:
        """Write a checkpoint of no pass; if there is one, check that it is of this `fit`, as JSON describes it."""
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

    def write(self, arrays: Mapping[str, np.ndarray], progress: Mapping[str, JSON]) -> None:
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


def identity_of(
    estimator: BaseEstimator, corpus: SentenceCorpus, annotations: Annotations, state: FittedState
) -> dict[str, JSON]:
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


def _as_plain(value: object) -> JSON:
    """A value as JSON has it; of what is no number and no string the type alone, since it decides text or start."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_as_plain(item) for item in value]
    return type(value).__name__


def _digest_of(items: Iterable[object]) -> str:
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


def json_number(number: float) -> float | str:
    """A number; as a string where JSON has none."""
    return float(number) if math.isfinite(number) else repr(float(number))


class PartOfPass(NamedTuple):
    """What the first rounds of a pass have found, beside the arrays."""

    n_rounds: int = 0
    loss: float = 0.0  # sum over the targets
    n_targets: float = 0.0
