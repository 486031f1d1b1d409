"""Memory that a fit needs: estimated in advance, and explained in a MemoryError."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._compiled.buffers import Outline, Sizes
from .._corpus.corpus import SentenceCorpus
from .._text.vocabulary import begins_with
from .encoded_text import EncodedText, split_long_sentences
from .trainer import Trainer

_BYTES_A_WORD = 100  # the numbers of the words, in a dict of the corpus and in one of the estimator
_BYTES_A_ROW = 8 + 2 + 2  # of a matrix: how often it is touched, its part and its owner
# Parameters that each part of the memory depends on.
_GROWS_WITH = {
    "weights": ("n_components", "n_buckets", "max_features"),
    "accumulators": ("n_buckets", "max_features"),
    "corpus": (),
    "copies": ("early_stopping", "warm_start", "n_components"),
    "scratch": ("batch_size", "n_components", "negative", "window", "ngram_range", "n_buckets"),
}


def estimate(vectorizer: Any, corpus: SentenceCorpus, *, keep: bool) -> dict[str, int]:
    """Bytes by purpose, as in `TrainedVectorizer.estimate_memory`; ``keep``: the fit continues an earlier one."""
    fitted = {"word_counts_": vectorizer.word_counts_} if keep else vectorizer._learn_vocabulary(corpus)
    n_words = len(fitted["word_counts_"])
    shapes = vectorizer._weight_shapes(n_words)
    sizes = {name: np.dtype(np.float32).itemsize * math.prod(map(int, shape)) for name, shape in shapes.items()}
    accumulators = sum(size for name, size in sizes.items() if "accumulator" in name)
    weights = sum(sizes.values()) - accumulators
    encoded = corpus.tokens.nbytes + corpus.sent_ptr.nbytes + corpus.doc_ptr.nbytes
    copies = scratch = 0
    if shapes:  # not with given word vectors
        text = EncodedText(corpus.tokens, corpus.sent_ptr, corpus.doc_of(), np.ones(n_words, np.float32))
        parts = split_long_sentences(text, vectorizer.max_sentence_length)
        fitted |= {name: Outline(shape) for name, shape in shapes.items()}
        trainer = vectorizer._make_trainer(fitted | {"_n_tokens": corpus.n_tokens, "_seed": 0})
        scratch = _scratch(trainer, parts) + (0 if parts.sent_ptr is text.sent_ptr else parts.sent_ptr.nbytes)
        if keep:
            renumbered = not begins_with(corpus.vocabulary.words, vectorizer.vocabulary_)
            copies += weights + accumulators + (corpus.tokens.nbytes if renumbered else 0)
        if vectorizer.early_stopping:
            copies += encoded + max(encoded, weights)  # the split, and then its renumbered tokens or the best weights
    memory = {
        "weights": weights,
        "accumulators": accumulators,
        "corpus": 0 if corpus.path else encoded,
        "copies": copies,
        "scratch": scratch + _BYTES_A_WORD * len(corpus.vocabulary),
    }
    return memory | {"total": sum(memory.values())}


def _scratch(trainer: Trainer, text: EncodedText) -> int:
    """What the training loop has beside weights and tokens: per sentence, per row, and the work space of a block."""
    plan = trainer._plan(text, 0)
    block = Sizes()
    scratch = trainer.objective.make_scratch(text, plan, trainer.n_threads, block)
    n_rows = sum(len(matrix.weights) for matrix in trainer.objective.matrices)
    of_text = text.document.nbytes + plan.run_starts.nbytes + scratch.run_ptr.nbytes
    return of_text + _BYTES_A_ROW * n_rows + block.n_bytes


@contextmanager
def explaining_memory_error(vectorizer: Any, corpus: SentenceCorpus, *, keep: bool) -> Iterator[None]:
    """Add to a MemoryError how much memory the fit needs, and which parameters that depends on."""
    try:
        yield
    except MemoryError as error:
        memory = estimate(vectorizer, corpus, keep=keep)
        largest = max(_GROWS_WITH, key=memory.__getitem__)
        options = [
            f"{name}={getattr(vectorizer, name)!r}" for name in _GROWS_WITH[largest] if hasattr(vectorizer, name)
        ]
        raise MemoryError(
            f"{type(vectorizer).__name__} needs {_readable(memory['total'])} of memory to learn from this text, more "
            f"than is available. {_readable(memory[largest])} are for {largest} and depend on "
            f"{', '.join(options) or 'the text'}. Lower one of these, or see estimate_memory. The estimator is "
            "unchanged."
        ) from error


def _readable(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**29 else f"{n_bytes / 2**20:,.1f} MiB"
