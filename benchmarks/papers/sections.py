"""What a run shows, in sections of paragraphs and tables, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skembed.evaluation._comparison import Table, markdown


class Section(NamedTuple):
    """A title, then paragraphs and tables."""

    title: str
    blocks: Sequence[str | Table]


def as_markdown(section: Section) -> str:
    """Write a section in Markdown."""
    blocks = [f"{block}\n" if isinstance(block, str) else markdown(block) for block in section.blocks]
    return "\n".join([f"# {section.title}\n", *blocks])
