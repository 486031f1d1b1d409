"""Read the text of published files; their content is checked against the table of sources before."""

from __future__ import annotations

from collections.abc import Collection
from importlib import resources
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from skembed._validation.messages import brief
from skembed._validation.values import PathLike as PathLike


def _printable(code: int) -> str:
    """The character that a Windows byte, copied into Unicode as it was, stands for; a space for other controls."""
    try:
        return bytes([code]).decode("cp1252") if code > 0x7F else " "
    except UnicodeDecodeError:
        return " "


_CONTROLS = {code: _printable(code) for code in (*range(0x20), *range(0x7F, 0xA0))}


def lines_of(raw: bytes) -> list[str]:
    """Split text in UTF-8, or else in Windows-1252, at line feeds only: other separators stand inside sentences."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def read_table(path: Path, *, header: bool = False) -> list[list[str]]:
    """Return the fields of each row of a tab-separated file without quoting."""
    return [line.split("\t") for line in lines_of(path.read_bytes())[header:]]


def sentence(text: str) -> str:
    """Return a sentence without control characters and without white space around it."""
    return text.translate(_CONTROLS).strip()


def check_choice(value: object, name: str, choices: Collection[object]) -> None:
    """Raise if the parameter `name` has none of the values it may have."""
    if value not in list(choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {brief(value)}")


def data_and_target(bunch: Bunch, return_X_y: bool) -> Bunch | tuple[Any, Any]:
    """Return the set, or if `return_X_y` is true its data and target alone."""
    return (bunch.data, bunch.target) if return_X_y else bunch


def description(name: str) -> str:
    """Return the text that describes a data set: source, licence, citation."""
    return (resources.files("skembed.datasets") / "data" / f"{name}.rst").read_text(encoding="utf-8")
