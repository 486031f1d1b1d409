"""How many words of a text a fitted estimator knows, and warnings where too few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._corpus.corpus import SentenceCorpus
from .._text.batches import offsets
from .._text.sources import advising
from .._text.splitting import fault_of_words
from .._training.state import FittedState
from .._validation.messages import warn_at_user
from .._word_vectors.matches import OTHERWISE, examples_of, known_fraction, reason_of
from .batches import encode_batch, encoded_batches, in_order

LEAST_SENTENCES, _LEAST_TOKENS = 5, 30  # in a shorter text, few words may be known by chance
_SAMPLE = 1000  # tokens that are counted in a batch of text


def coverage_of(estimator: Any, state: FittedState, X: Any) -> NDArray[np.float64]:
    """The fraction of the words of each sentence that are in the vocabulary."""

    def fraction(batch: tuple[Any, int]) -> np.ndarray:
        sentences = encode_batch(state, *batch)
        n_known = np.diff(offsets(sentences.rows[sentences.ids] >= 0)[sentences.ptr])
        n_words = np.diff(sentences.ptr)
        return np.divide(n_known, n_words, out=np.zeros(len(n_words)), where=n_words > 0)

    with advising(X):
        return np.concatenate([np.zeros(0), *in_order(estimator, fraction, encoded_batches(estimator, state, X, "X"))])


def check_kept(estimator: Any, state: FittedState, corpus: SentenceCorpus) -> None:
    """Warn if an estimator continues to learn from a text with too few known words."""
    words = state.vocabulary_
    fraction = known_fraction(corpus, words)
    if corpus.n_tokens >= _LEAST_TOKENS and fraction < _least_fraction(state):
        reason = reason_of(words, corpus.vocabulary.words, corpus.vocabulary.counts, corpus.tokenizer)
        unknown = (word for word in corpus.vocabulary.words if word not in words)
        _warn_of_unknown_words("this text", fraction, (estimator, state), unknown, reason)


def _least_fraction(state: FittedState) -> float:
    """Half of the fraction of known words that is expected in a text like that of the first fit.

    The expectation is the Good-Turing estimate: words that occurred once are as frequent as unknown words. A large
    vocabulary covers a third or more of any text in a related language; a small one covers half of a text like its own.
    """
    counts = state.word_counts_
    return float(state.coverage_ * (1 - np.count_nonzero(counts == 1) / max(1, counts.sum())) / 2)


def _warn_of_unknown_words(
    text: str, fraction: float, model: tuple[Any, FittedState], words: Iterable[str], reason: str
) -> None:
    estimator, state = model
    warn_at_user(
        f"Only {fraction:.0%} of the words of {text} are in the vocabulary of {type(estimator).__name__}; of the text "
        f"it was fitted on, {state.coverage_:.0%} are. Unknown words: {examples_of(words)}. Words of the vocabulary: "
        f"{examples_of(state.vocabulary_)}. {reason}"
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

    def warn(self, estimator: Any, state: FittedState) -> None:
        """Warn if far fewer words are known than of the text of the first fit, or most sentences have no known word."""
        if not self.batches or getattr(estimator, "unknown", None) == "ngrams":  # which knows unknown words too
            return
        n_sentences, n_tokens, n_known = (sum(column) for column in zip((0, 0, 0), *self.batches))
        if n_sentences < LEAST_SENTENCES or n_tokens < _LEAST_TOKENS:
            return
        n_sampled, n_without = (sum(column) for column in zip((0, 0), *self.sampled))
        unknown = dict.fromkeys(self.unknown)
        reason = _reason_of(state, list(unknown))
        if n_known < n_tokens * _least_fraction(state):
            _warn_of_unknown_words("X", n_known / n_tokens, (estimator, state), unknown, reason)
        elif 2 * n_without > n_sampled:
            warn_at_user(
                f"{n_without / n_sampled:.0%} of the sentences of X have no word of the vocabulary of "
                f"{type(estimator).__name__}. Unknown words: {examples_of(unknown)}. {reason}"
            )


def _reason_of(state: FittedState, unknown: list[str]) -> str:
    """Why words of a text to embed are unknown: they are phrases, or else of another language."""
    if state.tokenizer is None or callable(state.tokenizer.analyzer):
        return OTHERWISE
    fault = fault_of_words(state.tokenizer, unknown, np.ones(len(unknown), np.int64), least=0)
    return f"{fault} Fit it again so." if fault else OTHERWISE
