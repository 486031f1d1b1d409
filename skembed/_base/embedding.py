"""From sentences to rows by a fitted state: in batches and with threads, how many words are known, cosines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .._compiled.arrays import cosines_of_rows
from .._compiled.threads import Threads, check_n_jobs, count_threads
from .._corpus.corpus import SentenceCorpus
from .._text.encoder import fault_of_words
from .._text.known_words import EncodedSentences
from .._text.sources import BATCH_LENGTH, Batch, advising, iter_batches, iter_sentences, iter_slices, offsets
from .._training.estimators import Vectorizer
from .._training.state import FittedState
from .._validation.columns import Sentences, length_of
from .._validation.messages import warn_at_user
from .._word_vectors.matches import OTHERWISE, examples_of, known_fraction, reason_of

# With fewer batches, one thread is done before a second one has repaid the time that it takes to start.
LEAST_FOR_THREADS = 3
_Batch = TypeVar("_Batch")
_Found = TypeVar("_Found")


def in_order(
    estimator: Vectorizer, function: Callable[[_Batch], _Found], batches: Iterator[_Batch]
) -> Iterator[_Found]:
    """Map a function over batches of text, with threads if there are enough batches."""
    first = list(islice(batches, LEAST_FOR_THREADS))
    if len(first) < LEAST_FOR_THREADS:
        check_n_jobs(estimator.n_jobs)
        return map(function, first)
    return Threads(count_threads(estimator.n_jobs)).in_order(function, chain(first, batches))


def encoded_batches(
    estimator: Vectorizer, state: FittedState, X: Sentences, name: str
) -> Iterator[tuple[EncodedSentences | Batch, int]]:
    """Batches of sentences, encoded or not, each with the row of its first sentence."""
    if isinstance(X, SentenceCorpus):
        encoded = encoded_corpus(estimator, state, X, name)
        for chunk in iter_slices(X.sent_ptr, BATCH_LENGTH // 8):  # of words
            ptr = X.sent_ptr[chunk.start : chunk.stop + 1]
            yield encoded._replace(ids=X.tokens[ptr[0] : ptr[-1]], ptr=ptr - ptr[0]), chunk.start
        return
    n_rows, tokenizer = 0, state.tokenizer
    for batch in iter_batches(X, tokenizer, name=name, missing=estimator.missing):
        # A callable of the user is called in the user's thread.
        in_threads = tokenizer.is_compiled or tokenizer.characters is not None
        yield batch if in_threads else encode_batch(state, batch, n_rows), n_rows
        n_rows += len(batch)


def encode_batch(state: FittedState, batch: EncodedSentences | Batch, first_row: int) -> EncodedSentences:
    """The word ids of a batch; errors count rows from `first_row`."""
    return batch if isinstance(batch, EncodedSentences) else state.known_tokens.encode(batch, first_row)


def encoded_corpus(estimator: object, state: FittedState, corpus: SentenceCorpus, name: str = "X") -> EncodedSentences:
    """A whole corpus as word ids; a ValueError if it was made with other options of the tokenizer."""
    if corpus.tokenizer != state.tokenizer:
        raise ValueError(
            f"{name} was made with {corpus.tokenizer.difference(state.tokenizer)}, but {type(estimator).__name__} was "
            f"fitted with {state.tokenizer.difference(corpus.tokenizer)}. Build the corpus with the same options."
        )
    words = corpus.vocabulary.words
    return EncodedSentences(corpus.tokens, corpus.sent_ptr, state.rows_of(words, len(words)), words)


LEAST_SENTENCES, _LEAST_TOKENS = 5, 30  # in a shorter text, few words may be known by chance
_SAMPLE = 1000  # tokens that are counted in a batch of text


def coverage_of(estimator: Vectorizer, state: FittedState, X: Sentences) -> NDArray[np.float64]:
    """The fraction of the words of each sentence that are in the vocabulary."""

    def fraction(batch: tuple[EncodedSentences | Batch, int]) -> np.ndarray:
        sentences = encode_batch(state, *batch)
        n_known = np.diff(offsets(sentences.rows[sentences.ids] >= 0)[sentences.ptr])
        n_words = np.diff(sentences.ptr)
        return np.divide(n_known, n_words, out=np.zeros(len(n_words)), where=n_words > 0)

    with advising(X):
        return np.concatenate([np.zeros(0), *in_order(estimator, fraction, encoded_batches(estimator, state, X, "X"))])


def check_kept(estimator: object, state: FittedState, corpus: SentenceCorpus) -> None:
    """Warn if an estimator continues to learn from a text with too few known words."""
    words = state.vocabulary_
    fraction = known_fraction(corpus, words)
    if corpus.n_tokens >= _LEAST_TOKENS and fraction < _least_fraction(state):
        reason = reason_of(words, corpus.vocabulary.words, corpus.vocabulary.counts, corpus.tokenizer)
        unknown = (word for word in corpus.vocabulary.words if word not in words)
        _warn_of_unknown_words("this text", fraction, (estimator, state), unknown, reason)


def _least_fraction(state: FittedState) -> float:
    """Half of the known words that are expected in a text like that of the first fit, by the Good-Turing estimate."""
    counts = state.word_counts_
    return float(state.coverage_ * (1 - np.count_nonzero(counts == 1) / max(1, counts.sum())) / 2)


def _warn_of_unknown_words(
    text: str, fraction: float, model: tuple[object, FittedState], words: Iterable[str], reason: str
) -> None:
    estimator, state = model
    warn_at_user(
        f"Only {fraction:.0%} of the words of {text} are in the vocabulary of {type(estimator).__name__}; of the text "
        f"it was fitted on, {state.coverage_:.0%} are. Unknown words: {examples_of(words)}. Words of the vocabulary: "
        f"{examples_of(state.vocabulary_)}. {reason}"
    )


class CoverageCounter:
    """Counts the known words of a text that is embedded in batches: of a sample, so that it costs nothing."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, int, int]] = []  # sentences, tokens and known tokens of each, estimated
        self.sampled: list[tuple[int, int]] = []  # sentences with words, and those without a known one, of a sample
        self.unknown: list[str] = []

    def add(self, sentences: EncodedSentences) -> None:
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

    def warn(self, estimator: object, state: FittedState) -> None:
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


def embed(estimator: Vectorizer, state: FittedState, X: Sentences, name: str) -> np.ndarray:
    """The rows of sentences; errors call the sentences `name`."""
    if not isinstance(X, SentenceCorpus):
        iter_sentences(X, name=name)  # checks X before its length is read
    out = np.empty((length_of(X) or 0, state.n_features_out_), np.float32)
    counter = CoverageCounter()

    def embed_batch(batch: tuple[EncodedSentences | Batch, int]) -> np.ndarray:
        sentences, first_row = encode_batch(state, *batch), batch[1]
        n_rows = len(sentences.ptr) - 1
        if first_row or n_rows >= LEAST_SENTENCES:
            counter.add(sentences)
        # If the number of sentences is known, each thread writes its rows in place.
        own_rows = out[first_row : first_row + n_rows]
        rows: np.ndarray = estimator._vectors_of(state, sentences, own_rows if len(own_rows) == n_rows else None)
        return rows

    with advising(X):
        embedded = list(in_order(estimator, embed_batch, encoded_batches(estimator, state, X, name)))
    counter.warn(estimator, state)
    # len(X) may be wrong: the sentences yielded count.
    return out if sum(map(len, embedded)) == len(out) else np.concatenate([out[:0], *embedded])


def similarity(estimator: Vectorizer, state: FittedState, a: Sentences, b: Sentences) -> float | NDArray[np.float64]:
    """The cosine of two sentences, or of each sentence of `a` with that of `b` at the same position."""
    if isinstance(a, str) != isinstance(b, str):
        one, other = ("a", "b") if isinstance(a, str) else ("b", "a")
        raise ValueError(f"{one} is one sentence and {other} is not. Give two sentences, or two collections of them.")
    if isinstance(a, str):
        rows = estimator._embed(state, [a, b], "a").astype(np.float64)
        return float(cosines_of_rows(rows[:1], rows[1:])[0])
    first, second = _embed_named(estimator, state, a, "a"), _embed_named(estimator, state, b, "b")
    n_first, n_second = first.shape[0], second.shape[0]
    if n_first != n_second:
        raise ValueError(f"a has {n_first} sentences and b has {n_second}; they are compared one by one.")
    from ..metrics import paired_cosine_similarity  # no fit needs it

    return paired_cosine_similarity(first, second)


def _embed_named(estimator: Vectorizer, state: FittedState, sentences: Sentences, name: str) -> np.ndarray:
    """The rows of sentences; errors begin with `name`, the parameter."""
    if isinstance(sentences, SentenceCorpus):
        return estimator._embed(state, sentences, name)
    iter_sentences(sentences, name=name)
    try:
        return estimator._embed(state, sentences, name)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
