"""Tokenizers that are data and no code, so that corpora and models are saved with them: `DataTokenizer`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

from .._validation.messages import brief


class DataTokenizer(ABC):
    """Base of callables from a text to its tokens, for the parameter `analyzer`, that JSON can hold.

    A tokenizer of this package is saved with the name of its file, which has no other such class, and is found by it.
    """

    _known: ClassVar[dict[str, type[DataTokenizer]]] = {}

    def __init_subclass__(cls) -> None:
        DataTokenizer._known[_kind_of(cls)] = cls

    @abstractmethod
    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text."""

    @abstractmethod
    def to_json(self) -> Any:
        """Return all that the tokenizer is, as JSON can hold it."""

    @classmethod
    @abstractmethod
    def from_json(cls, value: Any) -> Self:
        """Undo :meth:`to_json`; a ValueError says what is wrong."""


def _kind_of(cls: type[DataTokenizer]) -> str:
    module = cls.__module__
    is_own = module.rpartition(".")[0] == __package__
    return module.rpartition(".")[2] if is_own else f"{module}:{cls.__qualname__}"


def tokenizer_to_json(tokenizer: DataTokenizer) -> list[Any]:
    """Return the kind of a tokenizer and what it is."""
    return [_kind_of(type(tokenizer)), tokenizer.to_json()]


def tokenizer_from_json(value: Any) -> DataTokenizer:
    """Undo :func:`tokenizer_to_json`."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise ValueError(f"{brief(value)} is no tokenizer.")
    kind, inner = value
    if kind not in DataTokenizer._known and kind in {file.stem for file in Path(__file__).parent.glob("*.py")}:
        import_module(f"{__package__}.{kind}")
    if kind not in DataTokenizer._known:
        raise ValueError(f"{brief(kind)} is no tokenizer that is known here. Import the module that defines it first.")
    return DataTokenizer._known[kind].from_json(inner)
