"""Fraction of the words of a text that a model knows, and warnings when it is too small."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._corpus.corpus import SentenceCorpus
from .._text.batches import offsets
from .._text.sources import advising
from .._text.tokenizer import Tokenizer
from .._validation.messages import warn_at_user
from .sharing import on_snapshot

_FEW = 1 / 3  # warn at fit if a smaller fraction of the tokens has a given vector
LEAST_SENTENCES, _LEAST_TOKENS = 5, 30  # in a shorter text, few words may be known by chance
_SAMPLE = 1000  # tokens that are counted in a batch of text
_MOST_WORDS, _MOST_KEYS = 10_000, 200_000  # of a text and of a vocabulary, compared to find the reason


_OTHERWISE = (
    "Both must be of one language and prepared alike (lowercase, stemmer, analyzer). The method coverage returns the "
    "fraction of known words of each sentence."
)
_CHANGES_OF_KEYS: dict[str, Callable[[str], str]] = {
    "The vectors are of words with capitals, but the text is lowercased: set lowercase=False.": str.lower,
    "Remove the prefix '/c/en/' from the words of the vectors: word.split('/')[3].": partial(
        re.compile(r"^/c/[^/]+/([^/]*).*").sub, r"\1"
    ),
    "The vectors are of word pieces, with marks such as '##': pass their tokenizer as analyzer.": partial(
        re.compile("^(##|\u2581|\u0120)|(@@|</w>)$").sub, ""
    ),
    "Remove the part of speech from the words of the vectors, as in 'cat_NOUN'.": partial(
        re.compile(r"[_|/#][A-Z]{1,5}$").sub, ""
    ),
}


class CoverageMixin:
    """Adds `coverage` to an estimator with a vocabulary."""

    coverage_: float

    @on_snapshot
    def coverage(self: Any, X: Any) -> NDArray[np.float64]:
        """Fraction of the words of each sentence that are in the vocabulary.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.

        Returns
        -------
        fractions : ndarray of shape (n_sentences,), dtype float64
            Between 0 and 1; 0 for a sentence without words. A word counts as often as it occurs. The attribute
            `coverage_` is the fraction for the whole text of `fit`.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        TypeError
            If an item is not a string; names the row.
        ValueError
            If `X` is one string or a table.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> emb = MeanEmbeddingVectorizer(word_vectors={"a": [1.0], "cat": [2.0]}).fit(
        ...     ["A cat.", "A dog."]
        ... )
        >>> emb.coverage_
        0.75
        >>> emb.coverage(["A cat and a dog.", "zebra", ""])
        array([0.6, 0. , 0. ])
        """
        check_is_fitted(self)

        def fraction(batch: tuple[Any, int]) -> np.ndarray:
            sentences = self._encode_batch(*batch)
            n_known = np.diff(offsets(sentences.rows[sentences.ids] >= 0)[sentences.ptr])
            n_words = np.diff(sentences.ptr)
            return np.divide(n_known, n_words, out=np.zeros(len(n_words)), where=n_words > 0)

        with advising(X):
            return np.concatenate([np.zeros(0), *self._in_order(fraction, self._batches(X, "X"))])


def known_fraction(corpus: SentenceCorpus, vocabulary: Collection[str]) -> float:
    """Fraction of the tokens of a corpus that are in a vocabulary."""
    known = corpus.vocabulary.look_up(corpus.vocabulary.counts, vocabulary)
    return float(known.sum() / max(1, corpus.n_tokens))


def check_given(corpus: SentenceCorpus, words: Collection[str], name: str = "word_vectors") -> float:
    """Return the fraction of the tokens of a text that have a given vector; warn if it is small.

    Raises
    ------
    ValueError
        If no token has a vector.

    Warns
    -----
    UserWarning
        If fewer than a third of the tokens have a vector.
    """
    fraction = known_fraction(corpus, words)
    if corpus.n_tokens and fraction < _FEW:
        unknown = (word for word in corpus.vocabulary.words if word not in words)
        text = f"Words without one: {_examples(unknown)}. Words of {name}, {len(words)} in all: {_examples(words)}."
        reason = _reason(words, corpus.vocabulary.words, corpus.vocabulary.counts, corpus.tokenizer)
        if fraction == 0:
            raise ValueError(f"None of the words of the text has a vector. {text} {reason}")
        warn_at_user(f"Only {fraction:.0%} of the words of the text have a vector. {text} {reason}")
    return fraction


def check_kept(estimator: Any, corpus: SentenceCorpus) -> None:
    """Warn if an estimator continues to learn from a text with too few known words."""
    words = estimator.vocabulary_
    fraction = known_fraction(corpus, words)
    if corpus.n_tokens >= _LEAST_TOKENS and fraction < _least_fraction(estimator):
        reason = _reason(words, corpus.vocabulary.words, corpus.vocabulary.counts, corpus.tokenizer)
        unknown = (word for word in corpus.vocabulary.words if word not in words)
        _warn_of_unknown_words("this text", fraction, estimator, unknown, reason)


def _least_fraction(estimator: Any) -> float:
    """Half of the fraction of known words that is expected in a text like that of the first fit.

    The expectation is the Good-Turing estimate: words that occurred once are as frequent as unknown words. A large
    vocabulary covers a third or more of any text in a related language; a small one covers half of a text like its own.
    """
    counts = estimator.word_counts_
    return float(estimator.coverage_ * (1 - np.count_nonzero(counts == 1) / max(1, counts.sum())) / 2)


def _warn_of_unknown_words(text: str, fraction: float, estimator: Any, words: Iterable[str], reason: str) -> None:
    warn_at_user(
        f"Only {fraction:.0%} of the words of {text} are in the vocabulary of {type(estimator).__name__}; of the text "
        f"it was fitted on, {estimator.coverage_:.0%} are. Unknown words: {_examples(words)}. Words of the vocabulary: "
        f"{_examples(estimator.vocabulary_)}. {reason}"
    )


class CoverageCounter:
    """Counts the known words of a text that is embedded in batches, by one or more threads.

    It counts only a sample of each batch, so its cost is negligible.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[int, int, int]] = []  # sentences, tokens and known tokens of each, estimated
        self.sampled: list[tuple[int, int]] = []  # sentences with words, and those without a known one, of a sample
        self.unknown: list[str] = []

    def add(self, sentences: Any) -> None:
        """Count the words of an `EncodedSentences`."""
        step = 1 + len(sentences.ids) // _SAMPLE
        ids = sentences.ids[::step]
        unknown = ids[sentences.rows[ids] < 0]
        if len(self.unknown) < 5:
            self.unknown += sentences.words_of(unknown[:5])
        self.batches.append((len(sentences.ptr) - 1, len(ids) * step, (len(ids) - len(unknown)) * step))
        ptr = sentences.ptr[: np.searchsorted(sentences.ptr, _SAMPLE, "right")]
        n_known = np.diff(offsets(sentences.rows[sentences.ids[: ptr[-1]]] >= 0)[ptr])
        has_words = np.diff(ptr) > 0
        self.sampled.append((int(has_words.sum()), int((has_words & (n_known == 0)).sum())))

    def warn(self, estimator: Any) -> None:
        """Warn if far fewer words are known than of the text of the first fit, or most sentences have no known word."""
        if not self.batches or getattr(estimator, "unknown", None) == "ngrams":  # which knows unknown words too
            return
        n_sentences, n_tokens, n_known = (sum(column) for column in zip((0, 0, 0), *self.batches))
        if n_sentences < LEAST_SENTENCES or n_tokens < _LEAST_TOKENS:
            return
        n_sampled, n_without = (sum(column) for column in zip((0, 0), *self.sampled))
        unknown = dict.fromkeys(self.unknown)
        if n_known < n_tokens * _least_fraction(estimator):
            _warn_of_unknown_words("X", n_known / n_tokens, estimator, unknown, _OTHERWISE)
        elif 2 * n_without > n_sampled:
            warn_at_user(
                f"{n_without / n_sampled:.0%} of the sentences of X have no word of the vocabulary of "
                f"{type(estimator).__name__}. Unknown words: {_examples(unknown)}. {_OTHERWISE}"
            )


def _reason(keys: Collection[str], words: Sequence[str], counts: np.ndarray, tokenizer: Tokenizer) -> str:
    """Return the likely reason why few words of a text are in a vocabulary, found by changing its words or the text's.

    The words of the text are sorted by falling frequency.
    """
    words, counts = words[:_MOST_WORDS], counts[:_MOST_WORDS]
    keys = list(islice(keys, _MOST_KEYS))

    def fraction(known: set[str], change: Callable[[str], str] = str) -> float:
        return float(counts[[change(word) in known for word in words]].sum() / max(1, counts.sum()))

    plain = set(keys)
    shares = {advice: fraction({change(key) for key in keys}) for advice, change in _CHANGES_OF_KEYS.items()}
    stem = tokenizer.build_stemmer()
    if stem is not None:
        shares["The text is stemmed: give vectors of stems, or set stemmer=None."] = fraction(set(map(stem, keys)))
    else:
        shares["The vectors seem to be of stems: set stemmer."] = fraction(
            {word for word in words if any(word[:n] in plain for n in range(max(3, len(word) - 3), len(word) + 1))}
        )
    shares["The vectors are of lowercase words: set lowercase=True."] = fraction(plain, str.lower)
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= max(2 * fraction(plain), 0.1) else _OTHERWISE


def _examples(words: Iterable[str]) -> str:
    return ", ".join(f"{word[:20]!r}" for word in islice(words, 4))
