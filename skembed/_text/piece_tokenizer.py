r"""Tokenizers in the format of Hugging Face's library ``tokenizers``, those that a few lines of Python express exactly.

A text goes through normalizers, is split, and each piece becomes one token or several. Character classes are those of
that library, which follow an old version of Unicode; characters that are younger than both may differ.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._validation.messages import brief
from .._validation.values import parse_json
from .words import DataTokenizer, find_marked_words

_Normalizer = Callable[[str], str]
_Splitter = Callable[[str], list[str]]

_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BETWEEN_SPACES = re.compile(f"[^{_SPACES}]+")
_BERT_SPACES = re.compile("[\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_CHINESE = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf"
    "\U0002f800-\U0002fa1f])"
)
_NOT_CONTROL = "\t\n\r\u0890\u0891\u08e2\U000110cd" + "".join(map(chr, range(0x13430, 0x13439)))
# Letters of the regular expressions of Rust that are in no category of letters or marks.
_CIRCLED = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
_LONGEST_WORD = 1000  # characters; cutting a word into pieces takes the square of its length
_MOST_KEPT = 1 << 16  # pieces whose tokens are cached
# Words of any script but those without spaces, as the library writes them: with marks, but no selectors of variants.
MARKED_WORDS = "[\\p{L}\\p{N}_](?:[\\p{L}\\p{N}_]|(?![\ufe00-\ufe0f])[\\p{Mn}\\p{Mc}\u200c\u200d])*"
# Our patterns of words, as the library writes them: its own \w has combining marks too.
PATTERNS: dict[str, Callable[[str], list[str]]] = {
    r"[\p{L}\p{N}_]+": re.compile(r"\w+").findall,
    r"[\p{L}\p{N}_]{2,}": re.compile(r"\w{2,}").findall,
    MARKED_WORDS: find_marked_words,
    r"\S+": _BETWEEN_SPACES.findall,
    r"[^\0\t-\r ]+": re.compile(r"[^\0\t-\r ]+").findall,
}
_FORMS: Any = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(eq=True, unsafe_hash=True, repr=False)
class PieceTokenizer(DataTokenizer):
    """Callable from a text to its tokens, for the parameter `analyzer`, made of the content of a ``tokenizer.json``.

    `tokens` are all tokens by their number, `unknown` is that of pieces that are not in the vocabulary. A ValueError
    says which part of a tokenizer cannot be expressed exactly.
    """

    text: str

    def __post_init__(self) -> None:
        entries: Any = parse_json(self.text)
        if not isinstance(entries, dict) or not isinstance(entries.get("model"), dict):
            raise ValueError("it has no entry model, so it is no tokenizer.")
        self._normalize = _normalizer(entries.get("normalizer"))
        self._split = _splitter(entries.get("pre_tokenizer"))
        self._tokens_of, vocabulary, self.unknown = _model(entries["model"])
        added = _added_tokens(entries.get("added_tokens") or [])
        self.tokens = _in_order(vocabulary | added)
        self._added = re.compile("(" + "|".join(map(re.escape, sorted(added, key=len, reverse=True))) + ")")
        self._has_added = bool(added)
        self._seen: dict[str, list[str]] = {}
        self.cuts = entries.get("truncation") is not None

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        if not self._has_added:
            return self._of_piece(text)
        pieces = self._added.split(text)  # at odd indices the tokens that stand for themselves
        return [token for i, piece in enumerate(pieces) for token in ([piece] if i % 2 else self._of_piece(piece))]

    def to_json(self) -> str:
        """Return the content of the file."""
        return self.text

    @classmethod
    def from_json(cls, value: object) -> PieceTokenizer:
        """Undo :meth:`to_json`."""
        if not isinstance(value, str):
            raise ValueError(f"{brief(value)} is no text of a tokenizer.")
        return cls(value)

    def _of_piece(self, text: str) -> list[str]:
        tokens, seen = [], self._seen
        for piece in self._split(self._normalize(text)):
            found = seen.get(piece)
            if found is None:
                if len(seen) > _MOST_KEPT:
                    seen.clear()
                found = seen[piece] = self._tokens_of(piece)
            tokens += found
        return tokens

    def __repr__(self) -> str:
        return f"<PieceTokenizer of {len(self.tokens):,} tokens>"

    def __getstate__(self) -> dict[str, str]:
        return {"text": self.text}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.text = state["text"]
        self.__post_init__()


def _kind(entry: Any, what: str) -> str:
    kind = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(kind, str):
        raise ValueError(f"its {what} is {brief(entry)}, which has no type.")
    return kind


def _not_supported(what: str, entry: object) -> ValueError:
    return ValueError(f"its {what} {brief(entry, 200)} cannot be expressed exactly.")


# -- normalizers -------------------------------------------------------------------------------------------------------


def _normalizer(entry: Any) -> _Normalizer:
    if entry is None:
        return str
    kind = _kind(entry, "normalizer")
    if kind == "Sequence" and isinstance(entry.get("normalizers"), list):
        return partial(_in_turn, [_normalizer(inner) for inner in entry["normalizers"]])
    if kind == "Lowercase":
        return lower_each
    if kind == "Replace" and isinstance(entry.get("pattern"), dict) and isinstance(entry.get("content"), str):
        replaced = entry["pattern"].get("String")
        if isinstance(replaced, str) and replaced:
            return lambda text: text.replace(replaced, entry["content"])
    if kind in _FORMS:
        return partial(unicodedata.normalize, _FORMS[_FORMS.index(kind)])
    if kind == "StripAccents":
        return partial(_without, "M")
    if kind == "BertNormalizer":
        return _bert_normalizer(entry)
    raise _not_supported("normalizer", entry)


def _in_turn(steps: list[_Normalizer], text: str) -> str:
    for step in steps:
        text = step(text)
    return text


def lower_each(text: str) -> str:
    """Return a text as the library lowers it: without a look at what stands around a sigma."""
    return text.replace("Σ", "σ").lower()


def _without(category: str, text: str) -> str:
    return text if text.isascii() else "".join(c for c in text if not unicodedata.category(c).startswith(category))


def _bert_normalizer(entry: dict[str, Any]) -> _Normalizer:
    lowercase, strip = entry.get("lowercase", True), entry.get("strip_accents")
    steps: list[_Normalizer] = []
    if entry.get("clean_text", True):
        steps.append(_without_control)
    if entry.get("handle_chinese_chars", True):
        steps.append(partial(_CHINESE.sub, r" \1 "))
    if lowercase if strip is None else strip:
        steps += [partial(unicodedata.normalize, "NFD"), partial(_without, "Mn")]
    if lowercase:
        steps.append(lower_each)
    return partial(_in_turn, steps)


def _without_control(text: str) -> str:
    if not text.isprintable():
        text = "".join(c for c in text if not _is_control(c))
    return _BERT_SPACES.sub(" ", text.replace("\ufffd", ""))


def _is_control(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Co") and c not in _NOT_CONTROL


# -- splitting ---------------------------------------------------------------------------------------------------------


def _splitter(entry: Any) -> _Splitter:
    if entry is None:
        return lambda text: [text] if text else []
    kind = _kind(entry, "pre_tokenizer")
    if kind == "Sequence" and isinstance(entry.get("pretokenizers"), list):
        steps = [_splitter(inner) for inner in entry["pretokenizers"]]
        return partial(_split_in_turn, steps)
    if kind == "WhitespaceSplit":
        return _BETWEEN_SPACES.findall
    if kind == "BertPreTokenizer":
        return _split_at_punctuation
    if kind == "Whitespace":
        return _split_words
    if kind == "Split" and entry.get("behavior") == "Removed" and entry.get("invert") is True:
        pattern = entry.get("pattern")
        regex = pattern.get("Regex") if isinstance(pattern, dict) else None
        if isinstance(regex, str) and regex in PATTERNS:
            return PATTERNS[regex]
    raise _not_supported("pre_tokenizer", entry)


def _split_in_turn(steps: list[_Splitter], text: str) -> list[str]:
    pieces = [text]
    for step in steps:
        pieces = [inner for piece in pieces for inner in step(piece)]
    return pieces


def _split_at(text: str, is_kind: Callable[[str], bool], *, alone: bool) -> list[str]:
    """Split at changes between two kinds of characters; characters of the kind may each be a piece of their own."""
    pieces: list[str] = []
    before = None
    for c in text:
        kind = is_kind(c)
        if kind != before or (kind and alone):
            pieces.append(c)
        else:
            pieces[-1] += c
        before = kind
    return pieces


def _split_at_punctuation(text: str) -> list[str]:
    words = _BETWEEN_SPACES.findall(text)
    return [piece for word in words for piece in ([word] if word.isalnum() else _split_at(word, _is_mark, alone=True))]


def _is_mark(c: str) -> bool:
    return (c.isascii() and c.isprintable() and not c.isalnum()) or unicodedata.category(c)[0] == "P"


def _split_words(text: str) -> list[str]:
    words = _BETWEEN_SPACES.findall(text)
    return [piece for word in words for piece in _split_at(word, _is_letter, alone=False)]


def _is_letter(c: str) -> bool:
    category = unicodedata.category(c)
    return (
        category[0] in "LM"
        or category in ("Nd", "Nl", "Pc")
        or c in "\u200c\u200d"
        or any(first <= ord(c) <= last for first, last in _CIRCLED)
    )


# -- the vocabulary ----------------------------------------------------------------------------------------------------


def _model(entry: dict[str, Any]) -> tuple[Callable[[str], list[str]], dict[str, int], str]:
    kind, vocabulary, unknown = _kind(entry, "model"), entry.get("vocab"), entry.get("unk_token")
    if kind not in ("WordPiece", "WordLevel"):
        raise ValueError(f"its model {kind} is not supported; WordPiece and WordLevel are.")
    if not isinstance(vocabulary, dict) or not all(type(index) is int for index in vocabulary.values()):
        raise ValueError("its vocabulary must give each token a number.")
    if not isinstance(unknown, str) or unknown not in vocabulary:
        raise ValueError(f"its vocabulary lacks the token {brief(unknown)} of unknown pieces.")
    if kind == "WordLevel":
        return lambda piece: [piece if piece in vocabulary else unknown], vocabulary, unknown
    prefix, longest = entry.get("continuing_subword_prefix", "##"), entry.get("max_input_chars_per_word", 100)
    if not isinstance(prefix, str) or type(longest) is not int or longest > _LONGEST_WORD:
        raise _not_supported("model", {key: value for key, value in entry.items() if key != "vocab"})
    return partial(_word_pieces, vocabulary, unknown, prefix, longest), vocabulary, unknown


def _word_pieces(vocabulary: Mapping[str, int], unknown: str, prefix: str, longest: int, word: str) -> list[str]:
    """Return the longest token that the word begins with, then that of the rest; or the unknown token."""
    if len(word) > longest:
        return [unknown]
    tokens, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            token = (prefix if start else "") + word[start:end]
            if token in vocabulary:
                break
        else:
            return [unknown]
        tokens.append(token)
        start = end
    return tokens


def _added_tokens(entries: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in entries if isinstance(entries, list) else [entries]:
        content, index = (entry.get("content"), entry.get("id")) if isinstance(entry, dict) else (None, None)
        if not isinstance(content, str) or not content or type(index) is not int:
            raise ValueError(f"its added token {brief(entry)} needs a content and an id.")
        if any(entry.get(flag) for flag in ("single_word", "lstrip", "rstrip", "normalized")):
            raise _not_supported("added token", entry)
        found[content] = index
    return found


def _in_order(vocabulary: Mapping[str, int]) -> list[str]:
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError("its tokens must have the numbers from 0 on, each once.")
    return tokens
