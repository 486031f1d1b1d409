"""Memory that a fit needs: estimated in advance, and explained in a MemoryError."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from .._compiled.buffers import ShapeOnly
from .._corpus.corpus import SentenceCorpus
from .._text.vocabulary import begins_with
from .encoded_text import EncodedText, most_words_whole, split_long_sentences
from .learned_arrays import LearnedArray, accumulator_bytes, moving, shapes_of
from .state import FittedState

_BYTES_A_WORD = 100  # the indices of the words, in a dict of the corpus and in one of the estimator
# Parameters that each kind of memory depends on.
_GROWS_WITH = {
    "weights": ("n_components", "n_buckets", "max_features"),
    "accumulators": ("n_buckets", "max_features", "n_components"),
    "corpus": (),
    "copies": ("early_stopping", "warm_start", "n_components", "n_shards"),
    "scratch": ("batch_size", "n_components", "negative", "window", "ngram_range", "n_buckets"),
}


def estimate(
    vectorizer: Any,
    corpus: SentenceCorpus,
    *,
    keep: bool,
    annotations: tuple[np.ndarray, ...],
    classes: np.ndarray | None,
    make_trainer: Callable[[FittedState], Any] | None = None,
) -> dict[str, int]:
    """Bytes by purpose, as in `TrainedVectorizer.estimate_memory`; ``keep``: the fit continues an earlier one.

    Without ``make_trainer`` the vectorizer makes the trainer, whose `scratch_bytes` counts.
    """
    if keep:
        state = vectorizer._state
    else:
        empty = type(vectorizer)._state
        state = replace(empty, n_features_out_=vectorizer._option("n_components", empty))
        state = vectorizer._learn_vocabulary(corpus, vectorizer._settings(state, annotations, classes))
    # With early stopping, those of the sentences to learn from and of those held out.
    of_annotations = sum(values.nbytes for values in annotations) if vectorizer.early_stopping else 0
    of_start = 0 if state.start is None else state.start.vectors.nbytes
    encoded = corpus.tokens.nbytes + corpus.sent_ptr.nbytes + corpus.doc_ptr.nbytes
    text = EncodedText(
        corpus.tokens, corpus.sent_ptr, corpus.doc_of(), np.ones(len(state.word_counts_), np.float32), annotations
    )
    split = split_long_sentences(text, most_words_whole(vectorizer, corpus.tokenizer))
    arrays, solver = vectorizer._learned_arrays(state), vectorizer.solver
    of_text = vectorizer._arrays_of_text(state, split)
    weights = sum(array.n_bytes for array in arrays + of_text)
    accumulators = accumulator_bytes(arrays + of_text, solver)
    state = replace(state, n_tokens=corpus.n_tokens, seed=0, from_labels=classes is not None)
    shapes = shapes_of(arrays + of_text, solver)
    state = state.with_arrays({name: ShapeOnly(shape) for name, shape in shapes.items()})
    trainer = (make_trainer or vectorizer._make_trainer)(state)
    scratch = trainer.scratch_bytes(split) + (0 if split.sent_ptr is text.sent_ptr else split.sent_ptr.nbytes)
    memory = {
        "weights": weights,
        "accumulators": accumulators,
        "corpus": 0 if corpus.path else encoded,
        "copies": _copies(vectorizer, corpus, arrays, encoded, keep=keep) + of_annotations + of_start,
        "scratch": scratch + _BYTES_A_WORD * len(corpus.vocabulary),
    }
    return memory | {"total": sum(memory.values())}


def _copies(vectorizer: Any, corpus: SentenceCorpus, arrays: list[LearnedArray], encoded: int, *, keep: bool) -> int:
    """What a fit copies of the text, ``encoded`` bytes, and of the weights."""
    copies = sum(array.n_bytes for array in vectorizer._copied_at_the_end(arrays))
    weights = sum(array.n_bytes for array in moving(arrays))
    if keep:
        renumbered = not begins_with(corpus.vocabulary.words, vectorizer._state.vocabulary_)
        copies += weights + accumulator_bytes(arrays, vectorizer.solver) + (corpus.tokens.nbytes if renumbered else 0)
    n_shards = int(getattr(vectorizer, "n_shards", None) or 1)
    if n_shards > 1:
        # The rows and the text of a task, what it changes, and the changes that wait for their neighbours in the tree.
        copies += 2 * weights + accumulator_bytes(arrays, vectorizer.solver) + encoded // n_shards
        copies += (n_shards - 1).bit_length() * weights
    if vectorizer.early_stopping:
        copies += encoded + max(encoded, weights)  # the split, and then its renumbered tokens or the best weights
    return copies


@contextmanager
def explaining_memory_error(
    estimator: Any, memory_of_fit: Callable[[], dict[str, int]], others: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Add to a MemoryError how much memory the fit needs, and which parameters that depends on.

    ``others`` are parameters that count beside those of the estimator.
    """
    try:
        yield
    except MemoryError as error:
        memory = memory_of_fit()
        largest = max(_GROWS_WITH, key=memory.__getitem__)
        params = {**(others or {}), **estimator.get_params(deep=False)}
        options = [f"{name}={params[name]!r}" for name in _GROWS_WITH[largest] if name in params]
        raise MemoryError(
            f"{type(estimator).__name__} needs {_readable(memory['total'])} of memory to learn from this text, more "
            f"than is available. {_readable(memory[largest])} are for {largest} and depend on "
            f"{', '.join(options) or 'the text'}. Lower one of these, or see estimate_memory. The estimator is "
            "unchanged."
        ) from error


def _readable(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**29 else f"{n_bytes / 2**20:,.1f} MiB"
