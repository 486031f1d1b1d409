"""Tables of text as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Table = Sequence[Sequence[str]]  # its first row is the header


def markdown(table: Table) -> str:
    """Write a table in Markdown, its columns aligned."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = [
        "| " + " | ".join(f"{c:{'<' if i == 0 else '>'}{w}}" for i, (c, w) in enumerate(zip(row, widths))) + " |"
        for row in table
    ]
    rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def html_table(table: Table) -> str:
    """Write a table in HTML."""
    header, *rows = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for tag, cell in zip(["th", *[tag] * len(row)], row))
        for tag, row in (("th" if i == 0 else "td", row) for i, row in enumerate(table))
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{header}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
