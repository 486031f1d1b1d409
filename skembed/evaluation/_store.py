"""Results on disk, a line each, so that a stopped run goes on."""

from __future__ import annotations

import json
import os
from typing import Any

from .._validation.messages import brief
from .._validation.paths import describe_unreadable, naming, user_path

FORMAT = "skembed evaluation"


class ResultStore:
    """Finished results in a JSON-lines file: the settings in the first line, then one (method, table, set) a line.

    A line is written and flushed to disk as soon as its result is known. An incomplete last line is cut off.

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
        header = {"format": FORMAT, **json.loads(json.dumps(settings))}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        if kind := describe_unreadable(self.path):
            raise ValueError(f"{self.path} is {kind}, not a file of results. Choose another --out.")
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        if not whole:
            self._append(header)
            return
        lines = [self._parse(number, line) for number, line in enumerate(whole.splitlines(), start=1)]
        self._check_header(lines[0], header)
        for number, record in enumerate(lines[1:], start=2):
            try:
                key = (record["method"], record["table"], record["set"])
            except KeyError as error:
                raise ValueError(f"{self.path}, line {number}: no {error}. Delete the file to start again.") from None
            self.records[key] = record

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError as error:
            raise ValueError(
                f"{self.path}, line {number}: not JSON ({error}). Delete the file to start again."
            ) from None
        if not isinstance(record, dict):
            raise ValueError(f"{self.path}, line {number}: not an object. Delete the file to start again.")
        return record

    def _check_header(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        if found.get("format") != FORMAT:
            raise ValueError(f"{self.path} is not a file of results of skembed.evaluation. Choose another --out.")
        different = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
        if different:
            listed = "; ".join(
                f"{name} was {brief(found.get(name))}, is {brief(wanted.get(name))}" for name in different
            )
            raise ValueError(
                f"{self.path} holds results of another run: {listed}. Choose another --out, or delete the file to "
                "start again."
            )

    def _append(self, record: dict[str, Any]) -> None:
        # Plain JSON numbers round-trip float64; NaN would not be JSON, and nothing here is NaN.
        line = json.dumps(record, allow_nan=False, ensure_ascii=False) + "\n"
        with naming(self.path), open(self.path, "ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def get(self, method: str, table: str, set_: str, made_with: str) -> dict[str, Any] | None:
        """Look up a result; it must come from a model made with the same settings."""
        record = self.records.get((method, table, set_))
        if record is not None and record["made_with"] != made_with:
            raise ValueError(
                f"{self.path} has a result of {method!r} ({table}, {set_}) made with {record['made_with']:.200}; now "
                f"it would be made with {made_with:.200}. Choose another --out, or delete the file to start again."
            )
        return record

    def add(self, method: str, table: str, set_: str, made_with: str, **values: Any) -> None:
        """Keep a result."""
        record = {"method": method, "table": table, "set": set_, "made_with": made_with, **values}
        self._append(record)
        self.records[method, table, set_] = record
