"""JSON that others may have written."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str) -> Any:
    """Parse JSON; a ValueError for what readers understand differently: a name that stands twice, NaN, deep nesting."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(f"{error}.") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in it.")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON.")
