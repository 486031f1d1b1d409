"""Memory in which a model learns on, so that vectors that a small text does not change are not copied.

`partial_fit` never writes to the arrays of a fitted model: it may fail, and others may read them. It learns in copies.
The arrays of the model before differ from those of the present one only in the rows that the last text changed. So when
nobody holds them any more, their memory becomes a copy of the present ones by these rows alone. Where words join, there
is memory for more of them, so that the arrays need not be larger each time.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._compiled.buffers import ALLOCATOR
from .._compiled.norms import row_norms
from .._validation.limits import INT32_MAX
from .learned_arrays import LearnedArray
from .updates import COUNT, UNTOUCHED


class _Memory:
    """Memory for the rows of an array, and maybe for some more."""

    def __init__(self, n_rows: int, shape_of_row: tuple[int, ...]) -> None:
        self._rows = ALLOCATOR.zeros((n_rows, *shape_of_row), np.float32)
        self._held: weakref.ref[np.ndarray] | None = None

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    @property
    def is_free(self) -> bool:
        """Whether nobody holds an array in this memory, or a view of one."""
        return self._held is None or self._held() is None

    def array(self, n_rows: int) -> np.ndarray:
        """The first rows. All views of them have one base, which lives as long as any of them."""
        base = None if self._held is None else self._held()
        if base is None:
            base = np.frombuffer(memoryview(self._rows.reshape(-1)), np.float32)  # a view has what it views as its base
            self._held = weakref.ref(base)
        return base.reshape(self._rows.shape)[:n_rows]


class _Kept(NamedTuple):
    """What is known of an array of the fitted model."""

    array: weakref.ref[np.ndarray]
    memory: _Memory
    spare: _Memory | None  # with the array of the model before
    changed: np.ndarray  # the rows in which that one differs; those that it has not are among them
    norms: np.ndarray | None  # of the first rows


class _Taken:
    """An array that a model learns in."""

    def __init__(self, array: np.ndarray, memory: _Memory, before: _Memory | None, norms: np.ndarray | None) -> None:
        self.array, self.memory, self.before, self.norms = array, memory, before, norms
        self.new = np.empty(0, np.int64)  # rows of new words
        self.changed: np.ndarray | None = None  # rows that learning has changed, if that is known

    @property
    def differing(self) -> np.ndarray:
        """Rows that the array of the fitted model has not, or with other numbers."""
        assert self.changed is not None
        return np.union1d(self.changed, self.new)


class SpareArrays:
    """Copies of arrays of rows, by name, for one call of `partial_fit` after the other."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._taken: dict[str, _Taken] = {}
        self._watched: list[tuple[str, str]] = []  # arrays and their accumulators

    def give_up(self) -> None:
        """Give up what was taken and not kept, because a call has failed."""
        self._taken, self._watched = {}, []

    def copy(self, name: str, array: np.ndarray) -> np.ndarray:
        """A copy of an array of the fitted model, to learn in."""
        kept = self._kept.pop(name, None)
        if kept is not None and kept.array() is not array:
            kept = None  # another fit, or the user, has put another array there
        n_rows, memory = len(array), kept and kept.spare
        if kept is not None and memory is not None and memory.is_free and memory.n_rows >= n_rows:
            found = memory.array(n_rows)
            found[kept.changed] = array[kept.changed]
        else:
            memory = _Memory(n_rows if kept is None else kept.memory.n_rows, array.shape[1:])
            found = memory.array(n_rows)
            found[...] = array
        self._taken[name] = _Taken(found, memory, kept and kept.memory, kept and kept.norms)
        return found

    def grown(self, name: str, array: np.ndarray, n_rows: int, new: np.ndarray) -> np.ndarray:
        """A copy of an array, which may be one already, with more rows. All `new` rows, others too, are zeros."""
        if name not in self._taken or self._taken[name].array is not array:
            array = self.copy(name, array)
        taken = self._taken[name]
        if taken.memory.n_rows < n_rows:
            taken.memory = _Memory(min(n_rows + n_rows // 4, INT32_MAX), array.shape[1:])
            taken.memory.array(len(array))[...] = array
        taken.array, taken.new = taken.memory.array(n_rows), new
        taken.array[new] = 0
        return taken.array

    def watch(self, arrays: Iterable[LearnedArray], fitted: Mapping[str, Any]) -> None:
        """Note which rows of the copies the blocks of a compiled kernel touch, from now until `note`."""
        for array in arrays:
            taken = self._taken.get(array.name)
            if taken is None or taken.array is not fitted[array.name]:
                continue
            if array.frozen:
                taken.changed = np.empty(0, np.int64)
            elif array.accumulator in self._taken:
                fitted[array.accumulator][:, COUNT] = UNTOUCHED
                self._watched.append((array.name, array.accumulator))

    def note(self, weights: list[np.ndarray]) -> list[np.ndarray]:
        """Stop watching; return what may have changed of these arrays."""
        found = {id(array): array for array in weights}
        for name, accumulator in self._watched:
            counts = self._taken[accumulator].array[:, COUNT]
            rows = np.flatnonzero(~np.signbit(counts))
            counts[...] = 0
            for taken in (self._taken[name], self._taken[accumulator]):
                taken.changed = rows if taken.changed is None else np.union1d(taken.changed, rows)
            found[id(self._taken[name].array)] = self._taken[name].array[rows]
        self._watched = []
        return list(found.values())

    def norms(self, vectors: np.ndarray) -> np.ndarray:
        """Norm of each row of what may be the first rows of a copy."""
        start = vectors.__array_interface__["data"][0]
        for taken in self._taken.values():
            array = taken.array
            if array.__array_interface__["data"][0] == start and array.shape[1:] == vectors.shape[1:]:
                break
        else:
            return row_norms(vectors)
        norms, before = np.empty(len(vectors), np.float32), taken.norms
        if before is None or taken.changed is None or len(before) > len(vectors):
            norms[:] = row_norms(vectors)
        else:
            changed = taken.differing[taken.differing < len(vectors)]
            norms[: len(before)] = before
            norms[changed] = row_norms(vectors[changed])
        taken.norms = norms
        return norms

    def keep(self) -> None:
        """Keep what was taken, as the arrays of the fitted model from now on, which nobody may write to."""
        for name, taken in self._taken.items():
            if taken.changed is not None:
                taken.array.flags.writeable = False
                kept = _Kept(weakref.ref(taken.array), taken.memory, taken.before, taken.differing, taken.norms)
                self._kept[name] = kept
        self.give_up()
