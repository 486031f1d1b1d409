"""A small rule-based sentence splitter."""

from __future__ import annotations

import re
from bisect import bisect_right

__all__ = ["split_sentences"]

_BOUNDARY = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]`]*(\s+)[\"'“‘(\[]*(`?)[\"'-]*(\w)")
# Full stops, question marks and others of Chinese, Japanese, Arabic, Urdu, Hindi, Armenian, Amharic, Burmese and Khmer.
_FULL_STOP = re.compile("[。！？｡؟۔।॥։።။។]+[\"'”’)\\]」』）》】]*")
_OPENING, _QUOTES = "(「『（《【“", re.compile("[「『（《【“」』）》】”]")
_THAI_SPACE = re.compile("(?<=[\u0e01-\u0e45\u0e47-\u0e4e\u0e81-\u0ec5\u0ec8-\u0ecd]) (?=[\u0e01-\u0e45\u0e81-\u0ec4])")
_LAST_TOKEN = re.compile(r"[\w.]*\Z")
_PARENTHESES = re.compile(r"[()]")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_INITIALS = re.compile(r"(?:[A-Z]|[A-Za-z](?:\.[A-Za-z])+)\Z")
# Never the last word of a sentence.
_OPEN_ABBREVIATIONS = frozenset(
    "e.g i.e eg ie cf vs viz eq eqs eqn fig figs dr mr mrs ms prof st approx ca resp".split()
)
# An abbreviation only in front of a number: "No. 5", but "The answer is no."
_NUMBER_ABBREVIATIONS = frozenset("no nos sec ch chap vol pp p ref refs ed eds art".split())
# These may end a sentence, so a capital letter after them decides.
_CLOSING_ABBREVIATIONS = frozenset("etc al inc ltd co corp jr sr".split())
# After initials ("J. Smith", "U.S. Army") a capital proves nothing; one of these words does.
_OPENERS = frozenset(
    "The This These Those That There It Its If In For When Where While A An And But We You He She They I To As At By "
    "Note Each Only However Otherwise Then Thus With Default See Use Must Can No Not One Or On So".split()
)


def _enclosed_spans(text: str, brackets: re.Pattern[str]) -> tuple[list[int], list[int]]:
    """Starts and ends of the outermost matched brackets; intervals such as [0, 1) leave some unmatched."""
    stack: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in brackets.finditer(text):
        if match.group() in _OPENING:
            stack.append(match.start())
        elif stack:
            start = stack.pop()
            while starts and starts[-1] > start:  # inner pairs close first
                starts.pop()
                ends.pop()
            starts.append(start)
            ends.append(match.start())
    return starts, ends


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the mark found by `match` closes the sentence that began at `start`."""
    first = match.group(3)
    if not match.group(2) and (first.islower() or first == "_"):
        return False
    mark = match.start()
    if text[mark] != ".":
        return True
    if text.startswith("...", mark):
        return mark > start and not text[mark - 1].isspace()  # "a ... B" is an enumeration
    token_match = _LAST_TOKEN.search(text, max(start, mark - 30), mark)  # no abbreviation is longer
    token = token_match.group() if token_match else ""
    if not token:
        return True
    if token.isdigit() and not text[start : mark - len(token)].strip("([ "):
        return False  # the number of a list item: "1. Open the file."
    word = token.lower()
    before_number = first.isdigit() or text[match.end(1)] in "(["
    if word in _OPEN_ABBREVIATIONS or (before_number and word in _NUMBER_ABBREVIATIONS | _CLOSING_ABBREVIATIONS):
        return False
    if _INITIALS.match(token):
        next_word = re.compile(r"\w+").match(text, match.start(3))
        return next_word is not None and next_word.group() in _OPENERS
    return True


def _split_at_full_stops(text: str) -> list[str]:
    """Split at the marks of other scripts, but not within their quotes and brackets, and at the spaces of Thai."""
    opening, closing = _enclosed_spans(text, _QUOTES)
    pieces, start = [], 0
    for match in _FULL_STOP.finditer(text):
        if not _is_enclosed(match.start(), opening, closing):
            pieces.append(text[start : match.end()].strip())
            start = match.end()
    pieces.append(text[start:].strip())
    return [part for piece in pieces if piece for part in _THAI_SPACE.split(piece)]


def _is_enclosed(at: int, opening: list[int], closing: list[int]) -> bool:
    span = bisect_right(opening, at) - 1
    return span >= 0 and at <= closing[span]


def _split_at_dots(text: str) -> list[str]:
    """Split text of one line by the rules for English."""
    sentences: list[str] = []
    opening, closing = _enclosed_spans(text, _PARENTHESES) if "(" in text else ([], [])
    start = position = 0
    while match := _BOUNDARY.search(text, position):
        gap = match.start(1)
        # The mark is tested where it stands, the brackets behind it: "(It is new.) The" is a boundary.
        if not _is_enclosed(gap, opening, closing) and _ends_sentence(text, start, match):
            sentences.append(text[start:gap])
            start = match.end(1)
        position = match.end(1)
    sentences.append(text[start:])
    return sentences


def split_sentences(text: str) -> list[str]:
    """Split text into sentences by a few plain rules.

    A sentence ends at ``.``, ``!`` or ``?`` (with any closing quotes or brackets) when white space and then an
    upper-case letter, a digit, a letter of a script without case or a backtick follow, and always at a blank line.
    It does not end after common abbreviations (*e.g.*, *i.e.*, *cf.*, *vs.*, *Eq.*, *Fig.*, *Dr.*, *et al.* in
    front of a year ...), after initials unless an ordinary opening word such as *The* follows, after the number of a
    list item, or inside round brackets. The full stops and question marks of other scripts (``。！？ । ؟`` and more)
    end a sentence unless they are within quotes or brackets of these, and in Thai and Lao a space does. White space is
    reduced to single blanks.

    Parameters
    ----------
    text : str
        The text. Line breaks count as blanks, blank lines as ends of sentences.

    Returns
    -------
    sentences : list of str
        The sentences in order, without surrounding white space. Empty text gives an empty list.

    Raises
    ------
    TypeError
        If `text` is not a string.

    Notes
    -----
    The rules are simple on purpose: fast, without data files, the same on every machine. They miss sentences that
    begin with a lower-case letter, and know the abbreviations of no language but English. Use a trained splitter
    where this matters.

    Examples
    --------
    >>> from skembed.datasets import split_sentences
    >>> split_sentences(
    ...     "Prices rose by 3.5 percent, i.e. faster than in May. "
    ...     "Why? See Fig. 2 (top. It is new)."
    ... )
    ['Prices rose by 3.5 percent, i.e. faster than in May.', 'Why?', 'See Fig. 2 (top. It is new).']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {type(text).__name__}")
    sentences: list[str] = []
    for part in _BLANK_LINE.split(text):
        part = " ".join(part.split())
        for piece in _split_at_full_stops(part):
            sentences += _split_at_dots(piece)
    return sentences
