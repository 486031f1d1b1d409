"""From a docstring to the sentences of its running text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from skembed.datasets._sentences import split_sentences

__all__ = ["docstring_prose"]

_NO_PROSE_SECTIONS = frozenset({"references", "see also", "routine listings", "index"})
_LISTING_SECTIONS = frozenset(
    "parameters;other parameters;attributes;returns;yields;receives;raises;warns;methods;properties".split(";")
)
_PROSE_DIRECTIVES = frozenset({"note", "warning", "tip", "hint", "important", "caution", "attention", "admonition"})
_UNDERLINE = re.compile(r"([-=~^*\"`#+.])\1{2,}\Z")
_TABLE_BORDER = re.compile(r"[-=]+(?: +[-=]+)+\Z")
_DIRECTIVE = re.compile(r"\.\.(?:\s+([\w:+-]*\w)::\s*(.*)|\s.*|)\Z")
_FIELD = re.compile(r":[\w* ]+:(?:\s|\Z)")
_ITEM = re.compile(r"(?:[-*+•]|\(?(?:\d{1,2}|[a-zA-Z]|i{1,3})[.)]|#\.)\s+(?=\S)")
_NAME_AND_TYPE = re.compile(r"[*`'\"\w][^:]{0,60} :(?: |\Z)|\w+: \{")
_SIGNATURE = re.compile(r"[\w.]+ ?(?:= ?[\w.]+)?\(.*\)(?: *->.*)?(?: *--)?\Z")

# What a paragraph must contain for a pattern to be worth a search, the pattern, and what it leaves.
_MARKUP: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("]_", re.compile(r"(?<!\w)(\[[\w .:-]+\])_(?!\w)"), r"\1"),  # citations [1]_
    ("``", re.compile(r"``(.+?)``"), r"`\1`"),
    (">`", re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{0,2}"), r"\1"),  # `text <target>`_
    ("`~", re.compile(r"`~(?:[\w.]*\.)?(\w+)`"), r"`\1`"),
    ("`_", re.compile(r"`([^`]+)`__?(?!\w)"), r"\1"),
    ("**", re.compile(r"\*\*(?=\S)([^*]+?)(?<=\S)\*\*"), r"\1"),
    ("*", re.compile(r"(?<![\w*`])\*(\w|\w[^*`]*?[\w.!?)])\*(?![\w*])"), r"\1"),
    ("://", re.compile(r"<?\b(?:https?|ftp)://[^\s>`]*[\w/]>?"), ""),
    ("\\", re.compile(r"\\([*_`|<> ])"), r"\1"),
)
_MATH_ROLE = re.compile(r":math:`([^`]*)`")
_ROLE = re.compile(r"(?::[a-zA-Z][\w+-]*)+:`([^`]*)`")
# Placeholders of docstring templates, and code or markup that the rules above did not catch: the sentence is dropped.
_TEMPLATE = re.compile(
    r"%\(\w+\)s|\$\{|\$[A-Z_]{3,}|\(\$(?:self|module)\b|\\[a-zA-Z]+\{|\$\$|>>>|::(?:\W*\Z|\s)|@\w+@|\{[a-z]+_[a-z_]+\}"
    r"|(?<!\w):\w+:[` ]|sphx_glr_|\ue000"
)
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.;:!?)](?:\s|\Z))")


def _unwrap_role(match: re.Match[str]) -> str:
    """``:func:`~a.b` `` is shown as b, ``:ref:`text <label>` `` as text, and anything else as it stands."""
    content = match.group(1).split("<", 1)[0].strip() or match.group(1)
    return "`" + (content.rsplit(".", 1)[-1] if content.startswith("~") else content.lstrip("!")).lstrip("~") + "`"


def _unwrap_math(match: re.Match[str]) -> str:
    """Replace a symbol by its name; mark a formula, because a sentence with a gap is not prose."""
    symbol = match.group(1).replace("\\", "").strip()
    return symbol if re.fullmatch(r"[\w.+-]+", symbol) else "`\ue000`"


def _clean(paragraph: str) -> str:
    """Take the reStructuredText markup off, but leave single backticks: they help to find where sentences begin."""
    if ":`" in paragraph:
        paragraph = _ROLE.sub(_unwrap_role, _MATH_ROLE.sub(_unwrap_math, paragraph))
    for mark, pattern, replacement in _MARKUP:
        if mark in paragraph:
            paragraph = pattern.sub(replacement, paragraph)
    return paragraph


def _table_end(lines: list[str], start: int) -> int:
    """Index of the closing border of the simple table opened at `start`, or `start` itself if none closes it."""
    for i in range(start + 1, len(lines)):
        if _TABLE_BORDER.match(lines[i].strip()) and (i + 1 == len(lines) or not lines[i + 1].strip()):
            return i
    return start


def _paragraphs(docstring: str) -> Iterator[str]:
    """Yield the paragraphs of running text of one docstring, unwrapped, markup still in."""
    lines = inspect.cleandoc(docstring).splitlines()
    current: list[str] = []  # lines of the paragraph being read, and the indents that continue it
    low = high = 0
    section = ""
    hidden_above: int | None = None  # everything indented more than this belongs to a dropped block
    in_doctest = False
    skip_to = -1
    for i, line in enumerate([*lines, ""]):
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if i <= skip_to:
            continue
        if not stripped or (hidden_above is not None and indent > hidden_above) or in_doctest:
            in_doctest = in_doctest and bool(stripped)
            if current:
                yield " ".join(current)
                current = []
            continue
        hidden_above = None
        following = lines[i + 1].strip() if i + 1 < len(lines) else ""
        text: str | None = stripped  # None: the line holds no prose
        begins = False
        if stripped.startswith(">>>"):
            in_doctest, text = True, None
        elif _TABLE_BORDER.match(stripped):
            skip_to, text = _table_end(lines, i), None
        elif _UNDERLINE.match(following) and len(following) >= min(len(stripped), 4) - 1 and len(stripped) < 80:
            section, skip_to, text = stripped.lower().rstrip(":"), i + 1, None
        elif _UNDERLINE.match(stripped) or stripped[0] in "|+" or section in _NO_PROSE_SECTIONS:
            text = None
        elif stripped.startswith("..") and (directive := _DIRECTIVE.match(stripped)):
            begins, text = True, directive.group(2)
            if directive.group(1) not in _PROSE_DIRECTIVES:
                hidden_above, text = indent, None
        elif _FIELD.match(stripped):
            text = None
        elif section in _LISTING_SECTIONS and (indent == 0 or _NAME_AND_TYPE.match(stripped)):
            # The line that names a parameter and its type. A plain sentence instead ends in a full stop.
            text = stripped if " : " not in stripped and stripped[-1] in ".," and stripped.count(" ") > 3 else None
        elif item := _ITEM.match(stripped):
            begins, text = True, stripped[item.end() :]
        if current and (text is None or begins or not low <= indent <= high):
            yield " ".join(current)
            current = []
        if text:
            if not current:
                low, high = (indent + 1, indent + 12) if begins else (indent, indent)
            if not text.endswith("::"):
                current.append(text)
                continue
            hidden_above = indent  # a literal block follows
            if body := text.rstrip(": "):
                current.append(body if body[-1] in ".!?" else body + ":")
            if current:
                yield " ".join(current)
                current = []


def docstring_prose(docstring: str) -> tuple[str, ...]:
    """The sentences of the running text of a docstring."""
    sentences = []
    for number, paragraph in enumerate(_paragraphs(docstring)):
        if number < 3 and _SIGNATURE.match(paragraph):
            continue  # functions written in C open with their call
        for sentence in split_sentences(_clean(paragraph)):
            if _TEMPLATE.search(sentence):
                continue
            sentence = _SPACE_BEFORE_MARK.sub(r"\1", sentence.replace("`", "").replace(" ()", "")).strip()
            letters = sum(map(str.isalpha, sentence))
            if 2 * letters > len(sentence.replace(" ", "")):  # what remains of formulas and drawings fails this
                sentences.append(" ".join(sentence.split()))
    return tuple(sentences)
