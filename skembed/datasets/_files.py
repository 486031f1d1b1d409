"""Read the files of published data sets line by line, and say which line of which file is wrong."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from skembed._validation.messages import brief
from skembed._validation.values import PathLike as PathLike
from skembed._validation.values import describe_unreadable, user_path

_MOST_BYTES = 64 << 20  # largest unpacked size of a file; the published ones unpack to at most 16 MB

_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError)  # of a zip


def _printable(code: int) -> str:
    """The character that a Windows byte, copied into Unicode as it was, stands for; a space for other controls."""
    try:
        return bytes([code]).decode("cp1252") if code > 0x7F else " "
    except UnicodeDecodeError:
        return " "


_CONTROLS = {code: _printable(code) for code in (*range(0x20), *range(0x7F, 0xA0))}


def row_error(name: object, number: int, reason: str) -> ValueError:
    """Return the error for row `number` (from 1) of the file `name`."""
    return ValueError(f"{name}, line {number}: {reason}")


def decode_lines(raw: bytes, name: object, *, cp1252: bool = False) -> list[str]:
    """Split the bytes of the file `name` into lines, at line feeds only: other separators stand inside sentences.

    The text is UTF-8, with or without a byte order mark. With `cp1252` it may be Windows-1252 as well, of which
    Latin-1 text is a part: several sets were published in it, and others have converted them since.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not cp1252:
            number = raw.count(b"\n", 0, error.start) + 1
            reason = f"byte 0x{raw[error.start]:02x} is not UTF-8: convert the file to UTF-8, as it was published"
            raise row_error(name, number, reason) from None
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError as other:
            number = raw.count(b"\n", 0, other.start) + 1
            reason = f"byte 0x{raw[other.start]:02x} is neither UTF-8 nor Windows-1252"
            raise row_error(name, number, reason) from None
    lines = text.split("\n")
    if not lines[-1]:  # what follows the last line feed is no line
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def find_file(folder: PathLike, *names: str, source: str) -> Path:
    """Return the first of the files `names` that `folder` holds; `source` is the call that would download it."""
    folder = user_path(folder)
    for name in names:
        if (folder / name).is_file():
            return folder / name
    reason = f"has no file {' or '.join(names)}" if folder.is_dir() else "is not a folder"
    raise FileNotFoundError(f"{folder} {reason}; skembed.datasets.{source} downloads what is missing")


def one_file(path: PathLike) -> Path:
    """Return the path of a file, or say that it is that of a folder, which other readers take."""
    path = user_path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the path of a file in it")
    if path.exists() and (kind := describe_unreadable(path)):
        raise ValueError(f"{path} is {kind}, not a regular file; give the path of a file")
    return path


def read_lines(path: Path, *, cp1252: bool = False) -> list[str]:
    """Return the lines of a text file, see `decode_lines`."""
    return decode_lines(path.read_bytes(), path, cp1252=cp1252)


def read_gzip_lines(path: Path) -> list[str]:
    """Return the lines of a text file that is compressed with gzip."""
    try:
        with gzip.open(path) as file:
            raw = file.read(_MOST_BYTES + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{path} is no complete gzip file: {error}; get it again") from None
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"{path} unpacks to more than the limit of {_MOST_BYTES:,} bytes")
    return decode_lines(raw, path)


class Archive:
    """The text files of a zip archive, each unpacked when it is read."""

    def __init__(self, path: PathLike) -> None:
        self.path, self._n_bytes = one_file(path), 0
        with self._opened() as archive:
            self.files = {info.filename: info for info in archive.infolist() if not info.is_dir()}

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except (*_DAMAGES, OSError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise ValueError(f"{self.path} is no complete zip archive: {error}; get it again") from None

    def lines(self, name: str, *, cp1252: bool = False) -> list[str]:
        """Return the lines of the member `name`, which is unpacked at most to the size declared in the archive."""
        info = self.files[name]
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{self.path / name} is encrypted or not compressed with deflate")
        self._n_bytes += info.file_size
        if self._n_bytes > _MOST_BYTES:
            n_bytes = f"{self._n_bytes:,} bytes, more than the limit of {_MOST_BYTES:,}"
            raise ValueError(f"{self.path} unpacks to {n_bytes}")
        with self._opened() as archive, archive.open(info) as member:
            return decode_lines(member.read(info.file_size), self.path / name, cp1252=cp1252)


def read_table(path: Path, header: str = "", *, columns: tuple[int, int]) -> list[tuple[int, list[str]]]:
    """Return line number and fields of each row of a tab-separated file without quoting.

    A row must have `columns` fields, at least and at most, and the first line must be the `header` if there is one.
    """
    lines = read_lines(path)
    first = 1
    if header:
        if not lines or lines[0] != header:
            found = lines[0][:80] if lines else ""
            raise row_error(path, 1, f"the header must be {header!r}, got {found!r}")
        first = 2
    rows = [(number, line.split("\t")) for number, line in enumerate(lines[first - 1 :], first)]
    for number, fields in rows:
        if not columns[0] <= len(fields) <= columns[1]:
            wanted = f"{columns[0]}" if columns[0] == columns[1] else f"{columns[0]} to {columns[1]}"
            raise row_error(path, number, f"expected {wanted} columns between tabs, found {len(fields)}")
    return rows


def sentence(text: str) -> str:
    """Return a sentence without control characters and without white space around it."""
    return text.translate(_CONTROLS).strip()


def score(text: str, low: float, high: float, name: object, number: int) -> float:
    """Return a gold score, which must lie between `low` and `high`."""
    try:
        value = float(text)
    except ValueError:
        raise row_error(name, number, f"the score must be a number, got {text[:40]!r}") from None
    if not low <= value <= high:
        raise row_error(name, number, f"the score must lie between {low:g} and {high:g}, got {text:.40}")
    return value


def label(text: str, codes: Mapping[str, int], name: object, number: int) -> int:
    """Return the code of a label."""
    try:
        return codes[text]
    except KeyError:
        known = ", ".join(codes)
        raise row_error(name, number, f"unknown label {text[:40]!r}; the labels are {known}") from None


def check_choice(value: object, name: str, choices: Collection[object]) -> None:
    """Raise if the parameter `name` has none of the values it may have."""
    if value not in list(choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {brief(value)}")


def check_count(name: object, found: int, published: int, what: str = "rows") -> None:
    """Raise if a file does not have as many rows as the published one."""
    if found != published:
        raise ValueError(
            f"{name}: found {found} {what}, the published file has {published}; "
            "use a complete copy, or read the part with complete=False"
        )


def data_and_target(bunch: Bunch, return_X_y: bool) -> Bunch | tuple[Any, Any]:
    """Return the set, or if `return_X_y` is true its data and target alone."""
    return (bunch.data, bunch.target) if return_X_y else bunch


def description(name: str) -> str:
    """Return the text that describes a data set: source, licence, citation."""
    return (resources.files("skembed.datasets") / "data" / f"{name}.rst").read_text(encoding="utf-8")
