"""Results on disk, a line each, so that a stopped run goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from skembed._validation.messages import brief
from skembed._validation.values import describe_unreadable, naming, user_path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = "skembed evaluation"
_AGAIN = "Delete the file to start again."


class ResultStore:
    """Finished results in a JSON-lines file: the settings in the first line, then one (method, table, set) a line.

    A line has a checksum, and is written and flushed to disk as soon as its result is known. An incomplete last line is
    cut off. Several processes may share a file: each takes over what the others have finished.

    Parameters
    ----------
    path : path-like
        The file; made if it does not exist.
    settings : dict
        What all results depend on. A file with other settings is refused.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = user_path(path)
        self.records: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._header = {"format": FORMAT, **json.loads(json.dumps(settings))}
        self._n_bytes = self._n_lines = 0  # that were read
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        if kind := describe_unreadable(self.path):
            raise ValueError(f"{self.path} is {kind}, not a file of results. Choose another --out.")
        with self._locked() as file:
            self._read_on(file)
            file.seek(self._n_bytes)
            incomplete = file.read()
            if not (self._n_lines or _line_of(self._header).startswith(incomplete)):
                raise self._is_other_file()
            os.ftruncate(file.fileno(), self._n_bytes)
            if not self._n_lines:
                self._append(file, self._header)

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """Open the file while no other process writes to it, where the system has locks."""
        with naming(self.path), open(self.path, "r+b") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def _read_on(self, file: BinaryIO) -> None:
        """Read the lines that were written since the last time, by this process or another."""
        file.seek(self._n_bytes)
        new = file.read()
        new = new[: new.rfind(b"\n") + 1]
        for line in new.splitlines():
            self._n_lines += 1
            record = self._parse(line)
            if self._n_lines == 1:
                self._check_header(record, self._header)
            else:
                self.records[self._key(record)] = record
        self._n_bytes += len(new)

    def _parse(self, line: bytes) -> dict[str, Any]:
        where = f"{self.path}, line {self._n_lines}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: not JSON ({error}). {_AGAIN}") from None
        if not isinstance(record, dict):
            raise ValueError(f"{where}: not an object. {_AGAIN}")
        checksum = record.pop("checksum", None)
        if checksum != _checksum_of(record) and (self._n_lines > 1 or record.get("format") == FORMAT):
            raise ValueError(f"{where}: changed since it was written, or by an older version. {_AGAIN}")
        return record

    def _key(self, record: dict[str, Any]) -> tuple[str, str, str]:
        for name in ("method", "table", "set", "made_with"):
            if not isinstance(record.get(name), str):
                raise ValueError(f"{self.path}, line {self._n_lines}: no {name!r}. {_AGAIN}")
        return record["method"], record["table"], record["set"]

    def _check_header(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        if found.get("format") != FORMAT:
            raise self._is_other_file()
        different = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
        if different:
            listed = "; ".join(
                f"{name} was {brief(found.get(name))}, is {brief(wanted.get(name))}" for name in different
            )
            raise ValueError(
                f"{self.path} holds results of another run: {listed}. Choose another --out, or delete the file to "
                "start again."
            )

    def _is_other_file(self) -> ValueError:
        return ValueError(f"{self.path} is not a file of results of skembed.evaluation. Choose another --out.")

    def _append(self, file: BinaryIO, record: dict[str, Any]) -> None:
        file.seek(0, os.SEEK_END)
        file.write(_line_of(record))
        file.flush()
        os.fsync(file.fileno())

    def get(self, method: str, table: str, set_: str, made_with: str) -> dict[str, Any] | None:
        """Look up a result; it must come from a model made with the same settings."""
        with open(self.path, "rb") as file:
            self._read_on(file)
        record = self.records.get((method, table, set_))
        if record is not None and record["made_with"] != made_with:
            raise ValueError(
                f"{self.path} has a result of {method!r} ({table}, {set_}) made with {record['made_with']:.200}; now "
                f"it would be made with {made_with:.200}. Choose another --out, or delete the file to start again."
            )
        return record

    def add(self, method: str, table: str, set_: str, made_with: str, **values: Any) -> None:
        """Keep a result, unless another process was faster."""
        record = {"method": method, "table": table, "set": set_, "made_with": made_with, **values}
        with self._locked() as file:
            self._read_on(file)
            if (method, table, set_) not in self.records:
                self._append(file, record)
                self._read_on(file)


def _line_of(record: dict[str, Any]) -> bytes:
    # Plain JSON numbers round-trip float64; NaN would not be JSON, and nothing here is NaN.
    line = json.dumps(record | {"checksum": _checksum_of(record)}, allow_nan=False, ensure_ascii=False) + "\n"
    return line.encode()


def _checksum_of(record: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]
