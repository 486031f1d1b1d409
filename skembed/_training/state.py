"""What a fit has learned, as one frozen value: typed fields, and arrays by name.

Each step of a fit makes a new value; the estimator holds the last one, whose arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, NoReturn, Self, TypeGuard, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from .._text.character_ngrams import CharacterNgrams, are_ngrams
from .._text.known_words import KnownTokens
from .._text.tokenizer import Tokenizer
from .._validation.constraints import INT64_MAX
from .._validation.messages import brief
from .learned_arrays import ArrayRecord, LearnedArray

_LARGE = 1 << 16  # bytes; smaller arrays are stored whole
_N_SAMPLED = 1024


def has_empty_rows(value: object) -> TypeGuard[np.ndarray]:
    """Whether this is a large matrix in which most rows have only zero bits (so not -0.0)."""
    if not (isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "fiu"):
        return False
    if value.nbytes < _LARGE or not value.flags.c_contiguous:
        return False
    sample = _is_used(value[:: max(1, len(value) // _N_SAMPLED)])
    return bool(2 * np.count_nonzero(sample) < len(sample))


def _is_used(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows.view(f"u{rows.itemsize}").any(axis=1))


def rows_with_values(matrix: np.ndarray) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    rows = np.flatnonzero(_is_used(matrix))
    return matrix.shape, rows, np.asarray(matrix[rows])


def with_empty_rows(shape: tuple[int, ...], rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    matrix = np.zeros(tuple(shape), values.dtype)  # untouched pages take no memory
    matrix[rows] = values
    return matrix


ABSENT: Any = None  # of a field that a method does not have, or that is not known yet
_TYPES: dict[str, type | tuple[type, ...]] = {  # by the annotation of a field, without what is in brackets
    "Tokenizer": Tokenizer,
    "bool": bool,
    "dict": dict,
    "float": (float, np.floating),
    "int": (int, np.integer),
    "list": list,
    "np.float32": np.float32,
    "tuple": tuple,
}
_OF_A_FIT = "arrays", "start", "records"  # fields that are no values
_SPARSE = "rows_with_values"  # in a pickle: name -> shape, indices of the nonzero rows, and those rows


class Vocabulary(dict[str, int]):
    """Words and their rows 0, 1, ... in this order, which nobody can change: compiled code relies on them."""

    def __init__(self, words: Mapping[str, int]) -> None:
        super().__init__(words)
        rows = _as_rows(words.values(), len(words))
        if not np.array_equal(rows, np.arange(len(words))):
            raise ValueError("vocabulary_ must give the words the rows 0, 1, ... in this order.")

    @classmethod
    def longer(cls, vocabulary: Mapping[str, int], words: list[str]) -> Self:
        """A vocabulary with new words after those of another one; copied once, and not looked at word by word."""
        found = cls.__new__(cls)
        dict.update(found, vocabulary)
        dict.update(found, zip(words, range(len(vocabulary), len(vocabulary) + len(words))))
        return found

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("vocabulary_ cannot be changed. Fit the estimator again, or call partial_fit with more text.")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __copy__(self) -> dict[str, int]:
        return dict(self)


def _as_rows(rows: Iterable[int], n_rows: int) -> np.ndarray:
    try:
        return np.fromiter(rows, np.int64, n_rows)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"vocabulary_ must hold row indices: {error}.") from None


@dataclass(frozen=True, eq=False, repr=False)
class FittedState:
    """What an estimator has learned; a field that ends in an underscore is a public attribute of this name."""

    vocabulary_: dict[str, int] = ABSENT
    tokenizer: Tokenizer = ABSENT
    word_counts_: NDArray[np.int64] = ABSENT
    coverage_: float = ABSENT
    n_features_out_: int = ABSENT
    n_tokens: int = ABSENT  # of all texts that were learned
    word_weights_: NDArray[np.float32] = ABSENT
    unknown_weight: np.float32 = ABSENT
    unknown_length: np.float32 = ABSENT
    word_weight: np.float32 = ABSENT  # factor of the weights of words beside n-grams of characters
    ngram_weight: np.float32 = ABSENT  # factor of those of the n-grams
    seed: int = ABSENT
    layout: dict[str, object] = ABSENT  # options that fix the shapes of the arrays, as they were in the fit
    waiting: dict[str, int] = ABSENT  # counts of words that are not learned yet
    n_frozen: int = 0  # the first words, which do not move
    n_steps: int = ABSENT  # of Adam
    n_targets: int = ABSENT  # length of the vectors that it learns from, if it learns from such
    first_from_labels: bool = ABSENT  # whether the first fit learned from labels, which "auto" stands for
    from_labels: bool = ABSENT  # whether the last one did
    n_iter_: int = ABSENT
    loss_curve_: list[float] = ABSENT
    validation_loss_curve_: list[float] = ABSENT
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    start: Any = ABSENT  # the vectors of `init`, during a fit
    records: Sequence[LearnedArray] = ABSENT  # of the arrays, during a fit

    def with_arrays(self, arrays: Mapping[str, np.ndarray]) -> Self:
        """The state with more arrays, or others."""
        return replace(self, arrays={**self.arrays, **arrays})

    def for_inference(self, records: Iterable[ArrayRecord]) -> Self:
        """The state without what only training needs."""
        dropped = {record.name for record in records if not record.kept}
        kept = {name: array for name, array in self.arrays.items() if name not in dropped}
        return replace(self, waiting=ABSENT, n_steps=ABSENT, arrays=kept)

    def without(self, *names: str) -> Self:
        """The state without some values, given by the names of :meth:`values`."""
        dropped = set(names)
        return self.of({name: value for name, value in self.values().items() if name not in dropped})

    def values(self) -> dict[str, Any]:
        """All that is known, by the names of attributes: public ones end in an underscore, others begin with one."""
        named = {
            _name_of(each.name): getattr(self, each.name)
            for each in fields(self)
            if each.name not in _OF_A_FIT and getattr(self, each.name) is not each.default
        }
        return named | dict(self.arrays)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Undo :meth:`values`; a ValueError says which name is unknown."""
        names = {_name_of(each.name): each.name for each in fields(cls) if each.name not in _OF_A_FIT}
        arrays = {name: value for name, value in values.items() if name not in names and isinstance(value, np.ndarray)}
        if unknown := [name for name, value in values.items() if name not in {*names, *arrays} and value is not None]:
            raise ValueError(f"{cls.__name__} has no {brief(min(unknown))}.")
        given = {names[name]: value for name, value in values.items() if name in names and value is not None}
        return cls(**given, arrays=arrays)

    def check(
        self, needed: Collection[str], records_of: Callable[[Self], list[ArrayRecord]], *, for_training: bool = False
    ) -> None:
        """Raise a ValueError if a field of `needed` is missing, a type wrong, or an array not as its record says."""
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not each.default:
                _check_type(_name_of(each.name), value, str(each.type).partition("[")[0])
            elif each.name in needed:
                raise ValueError(f"{_name_of(each.name)} is missing.")
        if self.n_features_out_ < 1:
            raise ValueError(f"n_features_out_ is {self.n_features_out_}.")
        n_words, counts = len(self.vocabulary_), self.word_counts_
        if not isinstance(counts, np.ndarray) or counts.shape != (n_words,) or counts.dtype != np.int64:
            raise ValueError(f"word_counts_ must have a whole number for each of {n_words} words, got {brief(counts)}.")
        if n_words and counts.min() < 0:
            raise ValueError(f"word_counts_ has {counts.min()}.")
        if for_training and not all(type(n) is int and 0 < n < 2**62 for n in (self.waiting or {}).values()):
            raise ValueError("_waiting must hold how often each word has occurred.")
        if self.word_weights_ is not None:
            _check_array(self.word_weights_, ArrayRecord("word_weights_", (n_words,)))
        self.check_values()
        try:
            records = records_of(self)
        except (AttributeError, TypeError, IndexError, KeyError) as error:
            raise ValueError(f"{error!r}: a value is missing, or of the wrong type.") from None
        if unknown := set(self.arrays) - {record.name for record in records}:
            raise ValueError(f"{type(self).__name__} has no {brief(min(unknown))}.")
        for record in records:
            if record.kept or for_training or record.name in self.arrays:
                _check_array(self.arrays.get(record.name), record)

    def check_values(self) -> None:
        """Raise a ValueError if values contradict each other, beyond their types."""

    def frozen(self) -> Self:
        """The value that an estimator holds: nobody can write to its arrays or to its vocabulary."""
        vocabulary = self.vocabulary_
        arrays = [*self.arrays.values(), self.word_counts_, self.word_weights_]
        views = {id(array): _read_only(array) for array in arrays}  # of one array, one view
        return replace(
            self,
            vocabulary_=vocabulary if isinstance(vocabulary, Vocabulary | None) else Vocabulary(vocabulary),
            word_counts_=views[id(self.word_counts_)],
            word_weights_=views[id(self.word_weights_)],
            arrays=MappingProxyType({name: views[id(array)] for name, array in self.arrays.items()}),
            start=ABSENT,
            records=ABSENT,
        )

    @cached_property
    def known_tokens(self) -> KnownTokens:
        """Word tables, which remember the words that `transform` has met; never pickled."""
        return KnownTokens(self.vocabulary_, self.tokenizer)

    @cached_property
    def is_of_characters(self) -> np.ndarray:
        """Which tokens are n-grams of characters beside words, (n_words,) bool; (0,) where there are not both."""
        analyzer = None if self.tokenizer is None else self.tokenizer.analyzer
        if not isinstance(analyzer, CharacterNgrams) or not analyzer.words:
            return np.zeros(0, np.bool_)
        return are_ngrams(self.vocabulary_)

    def rows_of(self, words: Iterable[str], n_words: int) -> np.ndarray:
        """The row of each word, -1 for one that is not in the vocabulary, (n_words,) int64."""
        return np.fromiter((self.vocabulary_.get(word, -1) for word in words), np.int64, n_words)

    def __getstate__(self) -> dict[str, object]:
        """The values, and of large arrays with many rows of zeros the other rows."""
        values = self.values()
        if self.vocabulary_ is not None:
            values["vocabulary_"] = dict(self.vocabulary_)
        sparse = {name: rows_with_values(value) for name, value in values.items() if has_empty_rows(value)}
        return {name: value for name, value in values.items() if name not in sparse} | {_SPARSE: sparse}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        values = dict(stored)
        dense = {name: with_empty_rows(*found) for name, found in values.pop(_SPARSE).items()}
        vars(self).update(vars(self.of(values | dense).frozen()))


def _name_of(field_name: str) -> str:
    return field_name if field_name.endswith("_") else f"_{field_name}"


def _check_type(name: str, value: Any, annotation: str) -> None:
    is_right = isinstance(value, _TYPES.get(annotation, object))
    if annotation == "int":
        is_right = is_right and not isinstance(value, bool) and 0 <= value <= INT64_MAX
    elif annotation == "list":
        is_right = is_right and all(isinstance(item, _TYPES["float"]) for item in value)
    if not is_right:
        raise ValueError(f"{name} is {brief(value)}, which has the wrong type.")


def _check_array(array: Any, record: ArrayRecord) -> None:
    if array is None:
        raise ValueError(f"{record.name} is missing.")
    is_right = isinstance(array, np.ndarray) and array.ndim == len(record.shape)
    is_right = is_right and (array.dtype.kind == "f" if record.dtype is None else array.dtype == record.dtype)
    if not is_right or not all(size in (None, found) for size, found in zip(record.shape, array.shape)):
        expected = ", ".join("any" if size is None else str(size) for size in record.shape)
        raise ValueError(f"{record.name} is {brief(array)}, expected {record.dtype or 'floats'} of shape ({expected}).")


def _read_only(array: Any) -> Any:
    """A view that nobody can write to; the array itself, if that is read-only."""
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


_Value = TypeVar("_Value")


class Fitted(Generic[_Value]):
    """A fitted attribute: the value of this name in the state, or what ``read`` makes of estimator and state."""

    def __init__(self, read: Callable[[Any, Any], Any] | None = None, *, or_none: bool = False) -> None:
        self._read, self._or_none = read, or_none

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, estimator: None, owner: type) -> Self: ...
    @overload
    def __get__(self, estimator: object, owner: type) -> _Value: ...
    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self
        state = vars(estimator).get("_state")
        if state is not None:
            value = self._read(estimator, state) if self._read else _value_of(state, self._name)
            if value is not None or self._or_none:
                return cast(_Value, value)
        name = type(estimator).__name__
        why = "is not fitted" if state is None else "was fitted without it"
        raise AttributeError(f"{name} has no attribute {self._name!r}: this {name} {why}.", name=self._name)

    def __set__(self, estimator: object, value: object) -> NoReturn:
        raise AttributeError(
            f"{self._name} of {type(estimator).__name__} is what a fit has learned, and cannot be changed. Fit again, "
            "or change a copy of the array. Word vectors of your own go into MeanEmbeddingVectorizer or into init.",
            name=self._name,
        )

    def __delete__(self, estimator: object) -> NoReturn:
        self.__set__(estimator, None)


def _value_of(state: FittedState, name: str) -> Any:
    found = getattr(state, name, None)
    return state.arrays.get(name) if found is None else found
