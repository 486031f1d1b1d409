"""What a query asks for: terms that count, phrases and terms that must be there, and those that must not."""

from __future__ import annotations

import re
from typing import NamedTuple

from ._terms import TermReader, codes_of

# A sign, then a phrase in quotes or what stands between spaces.
_PART = re.compile(r'(?<!\S)([+-]?)"([^"]*)"|(?<!\S)([+-])(?=[^\s+-])(\S+)|(\S+)')


class Query(NamedTuple):
    """A query as terms."""

    terms: list[str]  # that count, repeated where the query repeats them
    required: list[list[str]]  # phrases; a single term is a phrase of one
    excluded: list[list[str]]
    light: frozenset[str] = frozenset()  # terms that count little

    @property
    def is_plain(self) -> bool:
        """Whether any document may be found."""
        return not self.required and not self.excluded


def read_query(text: str, reader: TermReader, *, operators: bool) -> Query:
    """Return a query as terms.

    With `operators`, ``"two words"`` must stand so in a document, ``+word`` must be in it and ``-word`` must not. A
    quote that is not closed, and a sign before a space, mean nothing.
    """
    if not operators or not any(sign in text for sign in '"+-'):
        return Query(reader.terms_of(text), [], [], reader.light)
    terms, required, excluded = [], [], []
    for sign, phrase, sign_of_word, word, other in _PART.findall(text):
        part = phrase or word or other
        if sign == sign_of_word == "" and not phrase:
            terms += reader.terms_of(part)
            continue
        wanted = _phrase_of(part, reader)
        if "-" in (sign, sign_of_word):
            excluded += [wanted] if wanted else []
        else:
            required += [wanted] if wanted else []
            terms += reader.terms_of(part)
    return Query(terms, required, excluded, reader.light)


def text_of_query(text: str, *, operators: bool) -> str:
    """Return a query as plain text, for a pretrained model: without signs, and without what is excluded."""
    if not operators:
        return text
    found = _PART.findall(text)
    kept = (phrase or word or other for sign, phrase, of_word, word, other in found if "-" not in (sign, of_word))
    return " ".join(kept)


def _phrase_of(part: str, reader: TermReader) -> list[str]:
    """The terms that must follow each other: those of the words, or the code alone where all is one code."""
    codes = codes_of(part)
    return codes if len(codes) == 1 and codes[0] == part.strip().lower() else reader.words_of(part)
