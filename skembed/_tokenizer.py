"""From text to word ids: what a sentence is, what a token is, and which number each word gets.

A :class:`Tokenizer` holds the options and nothing else. An :class:`Encoder` does the work for one pass over a text:
it gives every distinct word a provisional id in the order of first appearance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

from ._sentences import BATCH_SIZE, describe_wrong_item
from ._sentences import iter_sentences as iter_sentences

TOKEN_PATTERN = r"(?u)\b\w+\b"

_Analyzer = Callable[[Any], Iterable[str]]
_Stemmer = Callable[[str], str]


@dataclass(frozen=True, init=False)
class Tokenizer:
    r"""The options that turn a sentence into words.

    Two tokenizers with the same options are equal. A tokenizer never changes.

    Parameters
    ----------
    analyzer : "word" or callable, default="word"
        "word" splits with `token_pattern` exactly as
        :class:`~sklearn.feature_extraction.text.CountVectorizer` does. A callable receives each raw item
        (a sentence, or anything else) and returns its tokens, an iterable of strings; `token_pattern`,
        `lowercase` and `stop_words` are then not used.
    token_pattern : str, default=r"(?u)\\b\\w+\\b"
        Regular expression of one token.
    lowercase : bool, default=True
        Lower the text before it is split.
    stop_words : {"english"}, list of str or None, default=None
        Words to leave out, as in scikit-learn.
    stemmer : callable, str or None, default=None
        A callable that maps a word to its stem, or the name of a language ("english", "german", ...) for the
        optional library snowballstemmer. It is called once for each distinct word, not once for each token.

    Raises
    ------
    ValueError
        If an option has a value that is not one of the above.
    TypeError
        If an option has the wrong type.

    Examples
    --------
    >>> from skembed._tokenizer import Encoder, Tokenizer
    >>> encoder = Encoder(Tokenizer(stop_words=["the"]))
    >>> ids, lengths = encoder.encode(["The cat sat.", "A cat!"])
    >>> encoder.words
    ['cat', 'sat', 'a']
    >>> ids.tolist(), lengths.tolist()
    ([0, 1, 2, 0], [2, 2])
    """

    analyzer: str | _Analyzer
    token_pattern: str
    lowercase: bool
    stop_words: str | tuple[str, ...] | None
    stemmer: str | _Stemmer | None

    def __init__(
        self,
        *,
        analyzer: str | _Analyzer = "word",
        token_pattern: str = TOKEN_PATTERN,
        lowercase: bool = True,
        stop_words: str | Iterable[str] | None = None,
        stemmer: str | _Stemmer | None = None,
    ) -> None:
        if not callable(analyzer) and not (isinstance(analyzer, str) and analyzer == "word"):
            raise ValueError(
                f'analyzer must be "word" or a callable that returns the tokens of a sentence, got {analyzer!r}.'
            )
        if not isinstance(token_pattern, str):
            raise TypeError(f"token_pattern must be a string, got {type(token_pattern).__name__}.")
        try:
            n_groups = re.compile(token_pattern).groups
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"token_pattern={token_pattern!r} is not a valid regular expression: {error}.") from error
        if n_groups > 1:
            raise ValueError(
                f"token_pattern={token_pattern!r} has {n_groups} capturing groups; use at most one, "
                "and write (?:...) for the others."
            )
        if not isinstance(lowercase, (bool, np.bool_)):
            raise TypeError(f"lowercase must be True or False, got {lowercase!r}.")
        if stemmer is not None and not callable(stemmer) and not isinstance(stemmer, str):
            raise TypeError(
                f'stemmer must be None, a callable, or the name of a language such as "english", got {stemmer!r}.'
            )
        put = object.__setattr__  # the instance is frozen
        put(self, "analyzer", analyzer)
        put(self, "token_pattern", token_pattern)
        put(self, "lowercase", bool(lowercase))
        put(self, "stop_words", _check_stop_words(stop_words))
        put(self, "stemmer", stemmer)

    def __getstate__(self) -> dict[str, Any]:
        # The built analyzer is cheap to build again and need not travel.
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def analyze(self) -> _Analyzer:
        """Callable from a raw item to its tokens before stemming."""
        if callable(self.analyzer):
            return self.analyzer
        if self.stop_words is None:
            # What CountVectorizer does, without its layers of calls; a test compares the two.
            split = re.compile(self.token_pattern).findall
            return (lambda text: split(text.lower())) if self.lowercase else split
        from sklearn.feature_extraction.text import CountVectorizer

        stop_words = list(self.stop_words) if isinstance(self.stop_words, tuple) else self.stop_words
        analyzer: _Analyzer = CountVectorizer(
            analyzer="word", token_pattern=self.token_pattern, lowercase=self.lowercase, stop_words=stop_words
        ).build_analyzer()
        return analyzer

    def build_stemmer(self) -> _Stemmer | None:
        """Return a callable from a word to its stem, or None.

        Raises
        ------
        ImportError
            If `stemmer` names a language and snowballstemmer is not installed.
        ValueError
            If snowballstemmer does not know that language.
        """
        if self.stemmer is None or not isinstance(self.stemmer, str):
            return self.stemmer
        try:
            import snowballstemmer
        except ImportError as error:
            raise ImportError(
                f"stemmer={self.stemmer!r} needs the optional library snowballstemmer: pip install skembed[stem]"
            ) from error
        names = sorted(snowballstemmer.algorithms())
        if self.stemmer not in names:
            raise ValueError(f"There is no stemmer called {self.stemmer!r}. The names are: {', '.join(names)}.")
        # A stemmer object keeps state while it works, so each caller gets its own (threads).
        stem: _Stemmer = snowballstemmer.stemmer(self.stemmer).stemWord
        return stem

    def options(self) -> dict[str, Any]:
        """Return the options as a dictionary that JSON can hold; a callable becomes ``{"callable": "module:name"}``."""
        stop_words = list(self.stop_words) if isinstance(self.stop_words, tuple) else self.stop_words
        return {
            "analyzer": _describe(self.analyzer),
            "token_pattern": self.token_pattern,
            "lowercase": self.lowercase,
            "stop_words": stop_words,
            "stemmer": _describe(self.stemmer),
        }

    @classmethod
    def from_options(
        cls,
        options: Mapping[str, Any],
        analyzer: _Analyzer | None = None,
        stemmer: _Stemmer | None = None,
    ) -> Tokenizer:
        """Build a tokenizer from what :meth:`options` returned.

        Parameters
        ----------
        options : dict
            What :meth:`options` returned.
        analyzer, stemmer : callable or None, default=None
            The callables that were in use, which a dictionary cannot hold.

        Returns
        -------
        tokenizer : Tokenizer

        Raises
        ------
        ValueError
            If a callable was in use and is not passed again, or one is passed where none was in use.
        """
        known = dict(options)
        for name, given in (("analyzer", analyzer), ("stemmer", stemmer)):
            saved = known.get(name)
            if isinstance(saved, Mapping):
                if given is None:
                    raise ValueError(
                        f"The text was tokenized with the {name} {saved.get('callable')!r}, a Python callable that is "
                        f"not stored. Pass it again: {name}=..."
                    )
                known[name] = given
            elif given is not None and given != saved:
                raise ValueError(f"The text was tokenized with {name}={saved!r}; {name}={given!r} does not fit it.")
        if set(known) != set(cls.__dataclass_fields__):
            raise ValueError(f"Expected the options {sorted(cls.__dataclass_fields__)}, got {sorted(known)}.")
        return cls(**known)


class _WordIds(dict[str, int]):
    """Token -> word id. A new token is stemmed once, here, and a new stem gets the next id."""

    max_words = 2**31 - 1  # ids are int32

    def __init__(self, stem: _Stemmer | None) -> None:
        super().__init__()
        self.words: list[str] = []
        self._stem = stem
        self._stem_ids: dict[str, int] = {}

    def __missing__(self, token: Any) -> int:
        if not isinstance(token, str):
            raise TypeError(f"a token must be a string, got {token!r} of type {type(token).__name__}")
        word = str(token)
        if self._stem is not None:
            stem = self._stem(word)
            if not isinstance(stem, str):
                raise TypeError(f"stemmer must return a string, got {stem!r} for the word {word!r}")
            word = str(stem)
            known = self._stem_ids.get(word)
            if known is not None:
                self[token] = known
                return known
        number = len(self.words)
        if number >= self.max_words:
            raise ValueError(
                f"More than {self.max_words} distinct words. Use a stemmer, or an analyzer that gives fewer words."
            )
        self.words.append(word)
        self[str(token)] = number
        if self._stem is not None:
            self._stem_ids[word] = number
        return number


class Encoder:
    """Give words provisional ids while a text streams by.

    Parameters
    ----------
    tokenizer : Tokenizer
        The options.

    Attributes
    ----------
    words : list of str
        Word (or stem) of each id, in the order of first appearance.
    n_rows : int
        Number of sentences encoded so far.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.n_rows = 0
        self._analyze = tokenizer.analyze
        self._word_ids = _WordIds(tokenizer.build_stemmer())

    @property
    def words(self) -> list[str]:
        return self._word_ids.words

    def encode(self, sentences: Iterable[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Encode sentences; may be called again and again, ids go on where they stopped.

        Parameters
        ----------
        sentences : iterable
            Strings, or whatever the tokenizer's callable analyzer takes. Consumed once.

        Returns
        -------
        ids : ndarray of shape (n_tokens,), dtype int32
            Word ids of all sentences, one sentence after the other.
        lengths : ndarray of shape (n_sentences,), dtype int64
            Number of tokens of each sentence.

        Raises
        ------
        TypeError
            If an item is not a string, or the callable analyzer does not give strings; names the row, counted over
            all calls.
        """
        iterator = iter(sentences)
        all_ids: list[np.ndarray] = []
        all_lengths: list[np.ndarray] = []
        while batch := list(islice(iterator, BATCH_SIZE)):
            if self.tokenizer.analyzer == "word":
                self._check_strings(batch)
            ids, lengths = self._encode_batch(batch)
            self.n_rows += len(batch)
            all_ids.append(ids)
            all_lengths.append(lengths)
        if len(all_ids) == 1:
            return all_ids[0], all_lengths[0]
        empty_ids, empty_lengths = np.empty(0, np.int32), np.empty(0, np.int64)
        return np.concatenate([empty_ids, *all_ids]), np.concatenate([empty_lengths, *all_lengths])

    def _encode_batch(self, batch: list[Any], step: int = 64) -> tuple[np.ndarray, np.ndarray]:
        # A few sentences at a time: strings that die young stay in the processor's cache, which doubles the speed.
        ids: list[np.ndarray] = []
        lengths: list[int] = []
        analyze = self._analyze
        id_of = self._word_ids.__getitem__
        for start in range(0, len(batch), step):
            tokens = [analyze(item) for item in batch[start : start + step]]
            if self.tokenizer.analyzer != "word":
                tokens = [_as_list(found, row) for row, found in enumerate(tokens, self.n_rows + start)]
            sizes = [len(found) for found in tokens]  # type: ignore[arg-type]
            try:
                ids.append(np.fromiter(map(id_of, chain.from_iterable(tokens)), np.int32, count=sum(sizes)))
            except TypeError:
                # Finding the row is worth a second look only now that something is known to be wrong.
                self._check_tokens(tokens, self.n_rows + start)
                raise
            lengths += sizes
        return np.concatenate(ids), np.array(lengths, np.int64)

    @staticmethod
    def _check_tokens(tokens: list[Iterable[Any]], first_row: int) -> None:
        for row, found in enumerate(tokens, first_row):
            for token in found:
                if not isinstance(token, str):
                    raise TypeError(
                        f"Row {row}: analyzer must return strings, got the token {token!r:.80} of type "
                        f"{type(token).__name__}."
                    ) from None

    def _check_strings(self, batch: list[Any]) -> None:
        if set(map(type, batch)) == {str}:
            return
        for row, item in enumerate(batch, self.n_rows):
            if not isinstance(item, str):
                raise TypeError(f"Row {row} is {describe_wrong_item(item)}")


def _as_list(tokens: Any, row: int) -> Sequence[str]:
    if isinstance(tokens, (list, tuple)):
        return tokens
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise TypeError(
            f"Row {row}: analyzer must return a list of tokens, got {tokens!r:.80} of type {type(tokens).__name__}."
        )
    return list(tokens)


def _check_stop_words(stop_words: Any) -> str | tuple[str, ...] | None:
    if stop_words is None or (isinstance(stop_words, str) and stop_words == "english"):
        return stop_words
    if isinstance(stop_words, (str, bytes)) or not isinstance(stop_words, Iterable):
        raise ValueError(f'stop_words must be "english", a list of words or None, got {stop_words!r}.')
    words = list(stop_words)
    if not all(isinstance(word, str) for word in words):
        raise TypeError("stop_words must be strings.")
    return tuple(sorted({str(word) for word in words}))  # sorted: a set's order changes from one process to the next


def _describe(option: Any) -> Any:
    if option is None or isinstance(option, str):
        return option
    owner = option if hasattr(option, "__qualname__") else type(option)
    return {"callable": f"{getattr(owner, '__module__', None)}:{owner.__qualname__}"}
