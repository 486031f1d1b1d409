"""Sentences and halves of a text."""

from __future__ import annotations

import re
from typing import Any

from .words import UNSPACED_LETTER

# After a mark and a space; after an ideographic mark, which no space follows; at blank lines.
_END = re.compile(r"(?<=[.!?…।؟])[\"'»”’)\]]*\s+|(?<=[。！？])[」』”’]*\s*|\s*\n\s*\n\s*")


def sentences_of(text: str) -> list[str]:
    """Cut a text after full stops, question and exclamation marks, and at blank lines.

    In any language and without capitals, so also after an abbreviation; `datasets.split_sentences` is finer, and needs
    capitals.
    """
    return [sentence for sentence in map(str.strip, _END.split(text)) if sentence]


def halves_of(text: Any) -> tuple[Any, Any]:
    """The first and the second half of a text, by its words; or by its characters, if its script has no spaces."""
    if isinstance(text, str) and not UNSPACED_LETTER.search(text):
        words = text.split()
        return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])
    return text[: len(text) // 2], text[len(text) // 2 :]
