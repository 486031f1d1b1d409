"""Text in batches, as word ids of a fitted state, for `transform` and all that reads sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from .._compiled.threads import Threads, check_n_jobs, count_threads
from .._corpus.corpus import SentenceCorpus
from .._text.batches import Batch
from .._text.known_words import EncodedSentences
from .._text.sources import BATCH_LENGTH, iter_batches, iter_slices
from .._training.state import FittedState

# With fewer batches, one thread is done before a second one has repaid the time that it takes to start.
LEAST_FOR_THREADS = 3


def in_order(estimator: Any, function: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Map a function over batches of text, with threads if there are enough batches."""
    first = list(islice(batches, LEAST_FOR_THREADS))
    if len(first) < LEAST_FOR_THREADS:
        check_n_jobs(estimator.n_jobs)
        return map(function, first)
    return Threads(count_threads(estimator.n_jobs)).in_order(function, chain(first, batches))


def encoded_batches(
    estimator: Any, state: FittedState, X: Any, name: str
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


def encoded_corpus(estimator: Any, state: FittedState, corpus: SentenceCorpus, name: str = "X") -> EncodedSentences:
    """A whole corpus as word ids; a ValueError if it was made with other options of the tokenizer."""
    if corpus.tokenizer != state.tokenizer:
        raise ValueError(
            f"{name} was made with {corpus.tokenizer.difference(state.tokenizer)}, but {type(estimator).__name__} was "
            f"fitted with {state.tokenizer.difference(corpus.tokenizer)}. Build the corpus with the same options."
        )
    words = corpus.vocabulary.words
    return EncodedSentences(corpus.tokens, corpus.sent_ptr, state.rows_of(words, len(words)), words)
