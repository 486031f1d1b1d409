"""How many words of a text a model knows, and what to say when it knows next to none."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._corpus import SentenceCorpus
from ._sharing import of_one_state
from ._text import offsets
from ._tokenizer import Tokenizer

_FEW = 1 / 3  # of the tokens of a text to learn from
_LEAST_TOKENS, _LEAST_SENTENCES = 30, 5  # of fewer, few may be known by chance
_SAMPLE = 1000  # tokens of a piece of text that are looked at
_MOST_WORDS, _MOST_KEYS = 10_000, 200_000  # of a text and of a vocabulary that are compared to find a reason

_OTHERWISE = (
    "Both must be of one language and prepared alike (lowercase, stemmer, analyzer). The method coverage gives "
    "the share of each sentence."
)
_CHANGES_OF_KEYS: dict[str, Callable[[str], str]] = {
    "The vectors are of words with capitals, the text is in small letters: lowercase=False.": str.lower,
    "Take the prefix '/c/en/' off the words of the vectors: word.split('/')[3].": partial(
        re.compile(r"^/c/[^/]+/([^/]*).*").sub, r"\1"
    ),
    "The vectors are of pieces of words, with marks such as '##': cut the text into them by analyzer.": partial(
        re.compile("^(##|\u2581|\u0120)|(@@|</w>)$").sub, ""
    ),
    "Take the part of speech off, as in 'cat_NOUN'.": partial(re.compile(r"[_|/#][A-Z]{1,5}$").sub, ""),
}


class Coverage:
    """Adds `coverage` to an estimator with a vocabulary."""

    coverage_: float

    @of_one_state
    def coverage(self: Any, X: Any) -> NDArray[np.float64]:
        """Share of the words of each sentence that are in the vocabulary.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.

        Returns
        -------
        shares : ndarray of shape (n_sentences,), dtype float64
            Between 0 and 1. A word counts as often as it occurs. 0 for a sentence without a word. The attribute
            `coverage_` is the share of all words of the text of `fit`.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> emb = MeanEmbeddingVectorizer(word_vectors={"a": [1.0], "cat": [2.0]}).fit(["A cat.", "A dog."])
        >>> emb.coverage_
        0.75
        >>> emb.coverage(["A cat and a dog.", "zebra", ""])
        array([0.6, 0. , 0. ])
        """
        check_is_fitted(self)
        sentences = self._encode(X)
        n_known = np.diff(offsets(sentences.rows[sentences.ids] >= 0)[sentences.ptr])
        n_words = np.diff(sentences.ptr)
        return np.asarray(np.divide(n_known, n_words, out=np.zeros(len(n_words)), where=n_words > 0))


def known_share(corpus: SentenceCorpus, vocabulary: Collection[str]) -> float:
    """Share of the tokens of a corpus that are in a vocabulary."""
    ids = corpus.vocabulary.ids_of(vocabulary)
    return float(corpus.vocabulary.counts[ids[ids >= 0]].sum() / max(1, corpus.n_tokens))


def check_given(corpus: SentenceCorpus, words: Collection[str], name: str = "word_vectors") -> float:
    """Return the share of the tokens of a text that have a given vector.

    Raises
    ------
    ValueError
        If none has one.

    Warns
    -----
    UserWarning
        If fewer than a third have one.
    """
    share = known_share(corpus, words)
    if corpus.n_tokens and share < _FEW:
        text = f"The text has words such as {_examples(corpus.vocabulary.words)}, {name} {_examples(words)}."
        reason = _reason(words, corpus.vocabulary.words, corpus.vocabulary.counts, corpus.tokenizer)
        if share == 0:
            raise ValueError(f"None of the words of the text has a vector. {text} {reason}")
        warn_at_user(f"Only {share:.0%} of the words of the text have a vector. {text} {reason}")
    return share


def check_kept(estimator: Any, corpus: SentenceCorpus) -> None:
    """Warn if an estimator is to go on learning from a text whose words it does not know."""
    words = estimator.vocabulary_
    share = known_share(corpus, words)
    if corpus.n_tokens >= _LEAST_TOKENS and share < _least_share(estimator):
        reason = _reason(words, corpus.vocabulary.words, corpus.vocabulary.counts, corpus.tokenizer)
        strangers = (word for word in corpus.vocabulary.words if word not in words)
        _warn_of_strangers("this text", share, estimator, strangers, reason)


def _least_share(estimator: Any) -> float:
    """Half of what can be expected to be known of another text like that of the first fit.

    A word that occurred once there will be as rare elsewhere, and another one in its place (Good and Turing). A large
    vocabulary knows a third or more of the words of any text in a related language, a small one half of its own.
    """
    counts = estimator.word_counts_
    return float(estimator.coverage_ * (1 - np.count_nonzero(counts == 1) / max(1, counts.sum())) / 2)


def _warn_of_strangers(text: str, share: float, estimator: Any, words: Iterable[str], reason: str) -> None:
    warn_at_user(
        f"Only {share:.0%} of the words of {text} are in the vocabulary of {type(estimator).__name__}; of the text it "
        f"was fitted on, {estimator.coverage_:.0%} are. Unknown words are like {_examples(words)}, the vocabulary "
        f"has {_examples(estimator.vocabulary_)}. {reason}"
    )


class Tally:
    """Counts the known words of a text that is embedded in pieces, by one or more threads.

    It looks at some words of each piece only, so that it costs next to nothing.
    """

    def __init__(self) -> None:
        self.pieces: list[tuple[int, int, int]] = []  # sentences, tokens and known tokens of each, estimated
        self.unknown: list[str] = []

    def add(self, sentences: Any) -> None:
        """Count a piece, an `EncodedSentences`."""
        step = 1 + len(sentences.ids) // _SAMPLE
        ids = sentences.ids[::step]
        strangers = ids[sentences.rows[ids] < 0]
        if len(self.unknown) < 5:
            self.unknown += [sentences.words[i - sentences.first_word] for i in strangers[:5].tolist()]
        self.pieces.append((len(sentences.ptr) - 1, len(ids) * step, (len(ids) - len(strangers)) * step))

    def warn(self, estimator: Any) -> None:
        """Warn if far less of the text is known than of that of the first fit."""
        n_sentences, n_tokens, n_known = (sum(column) for column in zip((0, 0, 0), *self.pieces))
        if n_sentences < _LEAST_SENTENCES or n_tokens < _LEAST_TOKENS:
            return
        if n_known < n_tokens * _least_share(estimator):
            _warn_of_strangers("X", n_known / n_tokens, estimator, self.unknown, _OTHERWISE)


def _reason(keys: Collection[str], words: Sequence[str], counts: np.ndarray, tokenizer: Tokenizer) -> str:
    """Say why a vocabulary and a text do not meet: what would have to be done to which of them for more words to meet.

    The words of the text come with the most frequent ones first.
    """
    words, counts = words[:_MOST_WORDS], counts[:_MOST_WORDS]
    keys = list(islice(keys, _MOST_KEYS))

    def share(known: set[str], change: Callable[[str], str] = str) -> float:
        return float(counts[[change(word) in known for word in words]].sum() / max(1, counts.sum()))

    plain = set(keys)
    shares = {advice: share({change(key) for key in keys}) for advice, change in _CHANGES_OF_KEYS.items()}
    stem = tokenizer.build_stemmer()
    if stem is not None:
        shares["The text is stemmed: give vectors of stems, or stemmer=None."] = share(set(map(stem, keys)))
    else:
        shares["The vectors seem to be those of stems: set stemmer."] = share(
            {word for word in words if any(word[:n] in plain for n in range(max(3, len(word) - 3), len(word) + 1))}
        )
    shares["The vectors are of words in small letters: lowercase=True."] = share(plain, str.lower)
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= max(2 * share(plain), 0.1) else _OTHERWISE


def _examples(words: Iterable[str]) -> str:
    return ", ".join(f"{word[:20]!r}" for word in islice(words, 4))


def warn_at_user(message: str) -> None:
    """Warn at the line of the user, however many calls of scikit-learn lie between."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("skembed", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
