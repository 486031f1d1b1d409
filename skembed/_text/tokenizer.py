"""What a token is.

A :class:`Tokenizer` holds the options and nothing else; the modules encoder and known_words do the work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules
from typing import Any, TypeAlias

import numpy as np

from .._validation.columns import items_of
from .._validation.messages import brief
from .._validation.values import JSON, plain
from .character_ngrams import ANALYZERS, BOTH, CharacterNgrams
from .words import (
    DataTokenizer,
    compose,
    join_words,
    lower,
    lower_letters,
    split_words,
    tokenizer_from_json,
    tokenizer_to_json,
)

# Patterns of a file that need no consent, as each takes a time in proportion to the text.
BETWEEN_SPACES = r"[^\0\t-\r ]+"  # as fastText and word2vec split text
# Brackets, and what does not stand right behind an opening one: that is the label of a node of a tree.
BRACKETED = r"[()]|(?<![^\s)])[^\s()]+"
_HARMLESS_PATTERNS = {
    None,
    BETWEEN_SPACES,
    BRACKETED,
    r"(?u)\b\w+\b",
    r"(?u)\b\w\w+\b",
    r"\b\w+\b",
    r"\b\w\w+\b",
    r"(?u)\w+",
    r"\w+",
    r"(?u)\w",
    r"\w",
    r"\S+",
}

_OF_CHARACTERS = *ANALYZERS, BOTH
_Analyzer = Callable[[Any], Iterable[str]]
_Stemmer = Callable[[str], str]
# What the options may be.
Analyzer: TypeAlias = str | _Analyzer
StopWords: TypeAlias = str | Iterable[str] | None
Stemmer: TypeAlias = str | _Stemmer | None


@dataclass(frozen=True, init=False)
class Tokenizer:
    """The options that turn a sentence into words, as the parameters of estimators; see there what each means.

    Two tokenizers with the same options are equal. A tokenizer never changes.
    """

    analyzer: str | _Analyzer
    token_pattern: str | None
    lowercase: bool
    stop_words: str | tuple[str, ...] | None
    stemmer: str | _Stemmer | None

    def __init__(
        self,
        *,
        analyzer: str | _Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: str | Iterable[str] | None = None,
        stemmer: str | _Stemmer | None = None,
    ) -> None:
        if not callable(analyzer) and not (isinstance(analyzer, str) and analyzer in ("word", *_OF_CHARACTERS)):
            raise ValueError(
                'analyzer must be "word", "char", "char_wb", "word+char_wb" or a callable that returns the tokens of a '
                f"sentence, got {brief(analyzer)}."
            )
        if token_pattern is not None:
            _check_pattern(token_pattern)
        if not isinstance(lowercase, (bool, np.bool_)):
            raise TypeError(f"lowercase must be True or False, got {brief(lowercase)}.")
        if stemmer is not None and not callable(stemmer) and not isinstance(stemmer, str):
            raise TypeError(
                f'stemmer must be None, a callable, or the name of a language such as "english", got {brief(stemmer)}.'
            )
        if isinstance(analyzer, str) and analyzer in _OF_CHARACTERS:
            analyzer = CharacterNgrams.named(plain(analyzer), bool(lowercase))
        if stemmer is not None and isinstance(analyzer, CharacterNgrams):
            raise ValueError(f"stemmer={brief(stemmer)} stems words, not n-grams of characters. Leave it None.")
        put = object.__setattr__  # the instance is frozen
        analyzer, token_pattern, stemmer = plain((analyzer, token_pattern, stemmer))
        put(self, "analyzer", analyzer)
        put(self, "token_pattern", token_pattern)
        put(self, "lowercase", bool(lowercase))
        put(self, "stop_words", _check_stop_words(stop_words))
        put(self, "stemmer", stemmer)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return all(same_option(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)

    def difference(self, other: Tokenizer) -> str:
        """List the options that differ from those of another tokenizer, for a message."""
        names = [
            name for name in self.__dataclass_fields__ if not same_option(getattr(self, name), getattr(other, name))
        ]
        return ", ".join(f"{name}={brief(getattr(self, name), 60)}" for name in names)

    def __hash__(self) -> int:
        return hash((self.token_pattern, self.lowercase, self.stop_words))  # equal for all that are equal

    def __getstate__(self) -> dict[str, Any]:
        # The analyzer is not pickled, because it is cheap to build again.
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    @cached_property
    def analyze(self) -> _Analyzer:
        """Callable from a raw item to its tokens before stemming."""
        if callable(self.analyzer):
            return self.analyzer
        split, stop_words = self.split, self.stop_word_set
        return (lambda text: [word for word in split(text) if word not in stop_words]) if stop_words else split

    @property
    def split(self) -> _Analyzer:
        """Callable from a string to its words, stop words too."""
        if self.token_pattern is None:
            prepare = lower if self.lowercase else compose
            return lambda text: split_words(prepare(text))
        find = re.compile(self.token_pattern).findall
        return (lambda text: find(lower_letters(text))) if self.lowercase else find

    def forms_of(self, words: Sequence[str]) -> list[str]:
        """Return words of other sources as the text has them: composed where it is, unless that is another word too."""
        if self.analyzer != "word" or self.token_pattern is not None:
            return list(words)
        forms, found = set(words), []
        for word in words:
            form = compose(word)
            found.append(word if form in forms else form)
            forms.add(form)
        return found

    def unused_options(self) -> list[str]:
        """Names of the options that are given but mean nothing beside the analyzer."""
        if not callable(self.analyzer):
            return []
        names = [name for name in ("token_pattern", "stop_words") if getattr(self, name) is not None]
        if isinstance(self.analyzer, CharacterNgrams) and self.analyzer.lowercase and not self.lowercase:
            names.append("lowercase")
        return names

    def join(self, words: Iterable[str]) -> str:
        """A text of which these are the words."""
        return join_words(words) if self.analyzer == "word" and self.token_pattern is None else " ".join(words)

    @property
    def characters(self) -> CharacterNgrams | None:
        """The analyzer, if tokens are n-grams of characters that compiled code cuts: words with capitals are not."""
        analyzer = self.analyzer if isinstance(self.analyzer, CharacterNgrams) else None
        return None if analyzer is None or (analyzer.words and not analyzer.lowercase) else analyzer

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code can read words from bytes as `analyze` does."""
        return self.analyzer == "word" and self.token_pattern is None and self.lowercase

    @property
    def is_plain(self) -> bool:
        """Whether compiled code does all: there is neither a stemmer nor a stop word."""
        return self.is_compiled and self.stemmer is None and not self.stop_words

    @property
    def stop_word_set(self) -> frozenset[str]:
        """The words to leave out."""
        if self.stop_words != "english":
            return frozenset(self.stop_words or ())
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)

    def build_stemmer(self) -> _Stemmer | None:
        """Return a callable from a word to its stem, or None."""
        if self.stemmer is None or not isinstance(self.stemmer, str):
            return self.stemmer
        try:
            import snowballstemmer
        except ImportError as error:
            raise ImportError(
                f"stemmer={brief(self.stemmer)} needs the optional library snowballstemmer: pip install skembed[stem]"
            ) from error
        modules = (module.name for module in iter_modules(snowballstemmer.__path__))
        names = sorted(name.removesuffix("_stemmer") for name in modules if name.endswith("_stemmer"))
        if self.stemmer not in names:
            raise ValueError(f"There is no stemmer called {brief(self.stemmer)}. The names are: {', '.join(names)}.")
        # A stemmer object has state, so each caller gets its own.
        module = import_module(f"snowballstemmer.{self.stemmer}_stemmer")
        in_python: _Stemmer = getattr(module, self.stemmer.title().replace("_", "") + "Stemmer")().stemWord
        return _c_stemmer(self.stemmer, in_python) or in_python

    def options(self) -> dict[str, JSON]:
        """Return the options as a dictionary that JSON can hold; code becomes ``{"callable": "module:name"}``."""
        stop_words = list(self.stop_words) if isinstance(self.stop_words, tuple) else self.stop_words
        return {
            "analyzer": _as_json(self.analyzer),
            "token_pattern": self.token_pattern,
            "lowercase": self.lowercase,
            "stop_words": stop_words,
            "stemmer": _as_json(self.stemmer),
        }

    @classmethod
    def from_options(
        cls,
        options: Mapping[str, Any],
        analyzer: _Analyzer | None = None,
        stemmer: _Stemmer | None = None,
        token_pattern: str | None = None,
    ) -> Tokenizer:
        """Build a tokenizer from :meth:`options` and the callables, which that does not hold.

        A pattern that is not known to be harmless is an error, unless `token_pattern` repeats it.
        """
        known = dict(options)
        if set(known) != set(cls.__dataclass_fields__):
            raise ValueError(f"Expected the options {sorted(cls.__dataclass_fields__)}, got {brief(sorted(known))}.")
        check_pattern(known["token_pattern"], token_pattern)
        for name, given in (("analyzer", analyzer), ("stemmer", stemmer)):
            saved = known.get(name)
            if name == "analyzer" and isinstance(saved, Mapping) and "tokenizer" in saved:
                saved = known[name] = tokenizer_from_json(saved["tokenizer"])
            if isinstance(saved, Mapping):
                if given is None:
                    raise ValueError(
                        f"The text was tokenized with the {name} {brief(saved.get('callable'))}, a Python callable "
                        f"that is not stored. Pass it again: {name}=..."
                    )
                known[name] = given
            elif given is not None and given != saved:
                raise ValueError(
                    f"The text was tokenized with {name}={brief(saved)}; {name}={brief(given)} does not fit it."
                )
        return cls(**known)


class RefusedPatternError(ValueError):
    """A file is not damaged, but its regular expression is used only if the user passes the same one."""


def check_pattern(saved: Any, given: str | None) -> None:
    """Raise an error for a pattern that comes from a file, unless it is harmless or the user gives it too."""
    if given is not None and given != saved:
        raise RefusedPatternError(
            f"The text was tokenized with token_pattern={brief(saved)}; token_pattern={brief(given)} does not fit it."
        )
    if given is None and saved not in _HARMLESS_PATTERNS:
        raise RefusedPatternError(
            f"The text was tokenized with token_pattern={saved!r:.500}. A pattern can be made so that it takes very "
            "long. If you trust it, pass it again: token_pattern=..."
        )


def _c_stemmer(language: str, in_python: _Stemmer) -> _Stemmer | None:
    """Return the stemmer of PyStemmer, about twenty times as fast, if it has the same version of the Snowball rules."""
    try:
        from Stemmer import Stemmer

        mine, other = (version(name).split(".")[:2] for name in ("PyStemmer", "snowballstemmer"))
    except (ImportError, PackageNotFoundError):
        return None
    if mine != other:
        return None
    stem = Stemmer(language, 0).stemWord  # without cache: each word is stemmed once

    def stem_word(word: str) -> str:
        try:
            return str(stem(word))
        except UnicodeEncodeError:  # half of a surrogate pair
            return in_python(word)

    return stem_word


def same_option(mine: object, other: object) -> bool:
    """Whether two options are equal, or copies of one callable object, since `clone` copies such objects."""
    if mine == other or not (callable(mine) and callable(other)):
        return bool(mine == other)
    from joblib import hash as digest  # takes a while to import

    try:
        return bool(digest(mine) == digest(other))
    except Exception:  # pickling may raise anything
        return False


def reads_strings(analyzer: object) -> bool:
    """Whether an analyzer takes strings alone: others are code of the user, which may take anything."""
    return not callable(analyzer) or isinstance(analyzer, DataTokenizer)


def _check_pattern(token_pattern: object) -> None:
    if not isinstance(token_pattern, str):
        raise TypeError(f"token_pattern must be a string or None, got {type(token_pattern).__name__}.")
    try:
        n_groups = re.compile(token_pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(
            f"token_pattern={brief(token_pattern)} is not a valid regular expression: {error!s:.80}."
        ) from error
    if n_groups > 1:
        raise ValueError(
            f"token_pattern={brief(token_pattern)} has {n_groups} capturing groups; use at most one, "
            "and write (?:...) for the others."
        )


def _check_stop_words(stop_words: Any) -> str | tuple[str, ...] | None:
    if stop_words is None or (isinstance(stop_words, str) and stop_words == "english"):
        return plain(stop_words)
    if isinstance(stop_words, (str, bytes)) or not isinstance(stop_words, Iterable):
        raise ValueError(f'stop_words must be "english", a list of words or None, got {brief(stop_words)}.')
    words = list(items_of(stop_words))
    if not all(isinstance(word, str) for word in words):
        raise TypeError("stop_words must be strings.")
    return tuple(sorted({str(word) for word in words}))  # sorted: a set's order changes from one process to the next


def _as_json(option: Any) -> JSON:
    if option is None or isinstance(option, str):
        return option
    if isinstance(option, DataTokenizer):
        return {"tokenizer": tokenizer_to_json(option)}
    owner = option if hasattr(option, "__qualname__") else type(option)
    return {"callable": f"{getattr(owner, '__module__', None)}:{owner.__qualname__}"}
