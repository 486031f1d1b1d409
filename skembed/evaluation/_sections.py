"""What a run shows, in sections of paragraphs and tables, as Markdown and as one page of HTML."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import NamedTuple

Table = Sequence[Sequence[str]]  # its first row is the header


class Section(NamedTuple):
    """A title, then paragraphs and tables."""

    title: str
    blocks: Sequence[str | Table]


class Picture(NamedTuple):
    """A drawing as PNG, and what it shows."""

    caption: str
    png: bytes


def as_markdown(section: Section) -> str:
    """Write a section in Markdown."""
    blocks = [f"{block}\n" if isinstance(block, str) else markdown(block) for block in section.blocks]
    return "\n".join([f"# {section.title}\n", *blocks])


def markdown(table: Sequence[Sequence[str]]) -> str:
    """Write a table in Markdown, its columns aligned."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = [
        "| " + " | ".join(f"{c:{'<' if i == 0 else '>'}{w}}" for i, (c, w) in enumerate(zip(row, widths))) + " |"
        for row in table
    ]
    rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def as_page(title: str, about: str, pictures: Iterable[Picture], sections: Sequence[Section]) -> str:
    """Write one page of HTML that needs no other file."""
    template = resources.files("skembed.evaluation") / "data" / "page.html"
    links = [f'<li><a href="#s{i}">{escape(section.title)}</a></li>' for i, section in enumerate(sections)]
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        about=escape(about),
        links="\n".join(links),
        pictures="\n".join(map(_figure, pictures)),
        sections="\n".join(_html(f"s{i}", section) for i, section in enumerate(sections)),
    )


def _figure(picture: Picture) -> str:
    source = f"data:image/png;base64,{base64.b64encode(picture.png).decode()}"
    caption = escape(picture.caption)
    return f'<figure><img src="{source}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'


def _html(name: str, section: Section) -> str:
    blocks = [f"<p>{escape(block)}</p>" if isinstance(block, str) else html_table(block) for block in section.blocks]
    return "\n".join([f'<section id="{name}"><h2>{escape(section.title)}</h2>', *blocks, "</section>"])


def html_table(table: Table) -> str:
    """Write a table in HTML."""
    header, *rows = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for tag, cell in zip(["th", *[tag] * len(row)], row))
        for tag, row in (("th" if i == 0 else "td", row) for i, row in enumerate(table))
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{header}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
