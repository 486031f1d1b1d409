"""Results on disk, a line each, so that a stopped run goes on."""

from __future__ import annotations

import json
import os
from typing import Any

from skembed._validation.messages import brief
from skembed._validation.values import naming, user_path


class ResultStore:
    """Finished results in a JSON-lines file: the settings in the first line, then one (method, table, set) a line.

    A line is written as soon as its result is known. An incomplete last line is cut off.

    Parameters
    ----------
    path : path-like
        The file; made if it does not exist.
    settings : dict
        What all results depend on. A file with other settings is refused.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = user_path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if not whole and _line_of(settings).startswith(text):  # new, or stopped in its first line
            whole = _line_of(settings)
        try:
            header, *records = map(json.loads, whole.splitlines())
            self.records = {(record["method"], record["table"], record["set"]): record for record in records}
            different = [name for name in {**settings, **header} if header.get(name) != settings.get(name)]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"{self.path} is not a file of results ({error}). Choose another --out.") from None
        if different:
            listed = (f"{name} was {brief(header.get(name))}, is {brief(settings.get(name))}" for name in different)
            raise ValueError(
                f"{self.path} holds results of another run: {'; '.join(listed)}. Choose another --out, or delete the "
                "file to start again."
            )
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")

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
        with naming(self.path), open(self.path, "a", encoding="utf-8") as file:
            file.write(_line_of(record))
        self.records[method, table, set_] = record


def _line_of(record: dict[str, Any]) -> str:
    return json.dumps(record, allow_nan=False, ensure_ascii=False) + "\n"  # JSON numbers round-trip float64
