"""Memory in which a model learns on, so that vectors that a small text does not change are not copied.

`partial_fit` never writes to the arrays of a fitted model: it may fail, and others may read them. It learns in copies.
The arrays of the model before differ from those of the present one only in the rows that the last text changed. So when
nobody holds them any more, their memory becomes a copy of the present ones by these rows alone. Where words join, there
is memory for more of them, so that the arrays need not be larger each time. Arrays that do not move share one memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._compiled.arrays import ALLOCATOR, row_norms
from .._validation.constraints import INT32_MAX
from .learned_arrays import COUNT, UNTOUCHED, LearnedArray


class _Memory:
    """Memory for the rows of an array, and maybe for some more."""

    def __init__(self, n_rows: int, shape_of_row: tuple[int, ...], *, is_shared: bool = False) -> None:
        self._rows = ALLOCATOR.zeros((n_rows, *shape_of_row), np.float32)
        self.is_shared = is_shared  # by arrays of several models, of which each has all rows of those before
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
        self.array, self.memory, self.norms = array, memory, norms
        self.before = before  # where the array of the fitted model is; None if it was not kept
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

    def _pop(self, name: str, array: np.ndarray) -> _Kept | None:
        """What is known of an array, unless another fit, or the user, has put another one there."""
        kept = self._kept.pop(name, None)
        return kept if kept is not None and kept.array() is array else None

    def share(self, name: str, array: np.ndarray) -> np.ndarray:
        """An array of the fitted model that does not move, as a writable array."""
        kept = self._pop(name, array)
        memory = kept.memory if kept is not None else _Memory(len(array), array.shape[1:], is_shared=True)
        found = memory.array(len(array))
        if kept is None:
            found[...] = array
        taken = self._taken[name] = _Taken(found, memory, kept and kept.memory, kept and kept.norms)
        taken.changed = np.empty(0, np.int64)
        return found

    def copy(self, name: str, array: np.ndarray) -> np.ndarray:
        """A copy of an array of the fitted model, to learn in."""
        kept = self._pop(name, array)
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
        is_shared = taken.memory.is_shared
        if taken.memory.n_rows < n_rows or is_shared and new[0] < len(array):
            taken.memory = _Memory(min(n_rows + n_rows // 4, INT32_MAX), array.shape[1:], is_shared=is_shared)
            taken.memory.array(len(array))[...] = array
        taken.array, taken.new = taken.memory.array(n_rows), new
        taken.array[new] = 0
        return taken.array

    def derived(
        self, name: str, array: np.ndarray | None, source: np.ndarray, make: Callable[[Any], np.ndarray]
    ) -> np.ndarray:
        """What follows row by row from a copy, such as `array` of the fitted model from what was copied.

        ``make`` makes some rows, given their indices, or all, given a slice. The name says all that the rows depend on.
        """
        of_source = next((taken for taken in self._taken.values() if taken.array is source), None)
        if of_source is None or of_source.changed is None:
            return make(slice(None))
        kept = self._kept.get(name)
        if array is None or kept is None or kept.array() is not array or of_source.before is None:
            memory = _Memory(of_source.memory.n_rows, source.shape[1:])
            found = memory.array(len(source))
            found[...] = make(slice(None))
            taken = self._taken[name] = _Taken(found, memory, None, None)
            taken.changed = np.empty(0, np.int64)
            return found
        rows = of_source.differing
        found = self.grown(name, array, len(source), rows)
        found[rows] = make(rows)
        self._taken[name].changed = rows
        return found

    def watch(
        self, arrays: Iterable[LearnedArray], fitted: Mapping[str, Any], moved: dict[str, np.ndarray] | None
    ) -> None:
        """Note which rows of the copies move, from now until `note`.

        A loop marks them in ``moved``, by name of the array, (n_rows,) bool. None: the blocks of a compiled kernel
        touch them, and their counters.
        """
        for array in arrays:
            taken = self._taken.get(array.name)
            if array.frozen or taken is None or taken.array is not fitted[array.name]:
                continue
            self._watched.append((array.name, array.accumulator))
            if moved is None:
                fitted[array.accumulator][:, COUNT] = UNTOUCHED
            else:
                moved[array.name] = np.zeros(len(taken.array), np.bool_)

    def note(self, weights: list[np.ndarray], moved: dict[str, np.ndarray] | None) -> list[np.ndarray]:
        """Stop watching; return what may have changed of these arrays."""
        found = {id(array): array for array in weights}
        for name, accumulator in self._watched:
            if moved is None:
                counts = self._taken[accumulator].array[:, COUNT]
                rows = np.flatnonzero(~np.signbit(counts))
                counts[...] = 0
            else:
                rows = np.flatnonzero(moved.pop(name))
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
        before, n_rows = taken.norms, len(vectors)
        if before is None or taken.changed is None:
            norms = np.asarray(row_norms(vectors), np.float32)
        else:
            norms = np.empty(n_rows, np.float32)
            norms[: len(before)] = before[:n_rows]
            changed = np.union1d(taken.differing, np.arange(len(before), n_rows))
            changed = changed[changed < n_rows]
            norms[changed] = row_norms(vectors[changed])
        taken.norms = norms
        return norms

    def keep(self) -> None:
        """Keep what was taken, as the arrays of the fitted model from now on, which nobody may write to."""
        self._kept = {}
        for name, taken in self._taken.items():
            if taken.changed is not None:
                taken.array.flags.writeable = False
                norms = None if taken.norms is None else self.norms(taken.array[: len(taken.norms)])
                kept = _Kept(weakref.ref(taken.array), taken.memory, taken.before, taken.differing, norms)
                self._kept[name] = kept
        self.give_up()


def norms_of(spares: SpareArrays | None, vectors: np.ndarray) -> np.ndarray:
    """Norm of each row, computed only for changed ones where others are kept."""
    return row_norms(vectors) if spares is None else spares.norms(vectors)


def derived_rows(
    spares: SpareArrays | None,
    before: np.ndarray | None,
    name: str,
    source: np.ndarray,
    make: Callable[[Any], np.ndarray],
) -> np.ndarray:
    """An array whose rows follow from those of a learned one; only those of changed rows are made anew.

    ``before`` is this array of the fitted model. The name says all that its rows depend on. ``make`` makes some rows,
    given their indices, or all, given a slice.
    """
    return make(slice(None)) if spares is None else spares.derived(name, before, source, make)
