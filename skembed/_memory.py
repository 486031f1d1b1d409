"""How much memory a fit will need, said before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ._corpus import SentenceCorpus
from ._runs import EncodedText, split_long_sentences
from ._training import Trainer

# Options with which other vectors are summed than those that were learned, and their values without effect.
_SUMMED_OTHERWISE = {"n_removed_components": 0, "numbers": "word", "subwords": 0}
_BYTES_A_WORD = 100  # the numbers of the words, in a dict of the corpus and in one of the estimator


def estimate(vectorizer: Any, corpus: SentenceCorpus, *, keep: bool, renumber: bool) -> dict[str, int]:
    """Bytes by purpose, as `TrainedVectorizer.estimate_memory` returns them.

    ``keep`` says that the fit goes on from an earlier one, ``renumber`` that the words have other numbers there.
    """
    fitted = {"word_counts_": vectorizer.word_counts_} if keep else vectorizer._learn_vocabulary(corpus)
    n_words = len(fitted["word_counts_"])
    shapes = vectorizer._weight_shapes(n_words)
    # Arrays of the right shape that take no memory.
    arrays = {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes.items()}
    accumulators = sum(array.nbytes for name, array in arrays.items() if "accumulator" in name)
    weights = sum(array.nbytes for array in arrays.values()) - accumulators
    encoded = corpus.tokens.nbytes + corpus.sent_ptr.nbytes + corpus.doc_ptr.nbytes
    copies = scratch = 0
    if shapes:  # not with given word vectors
        text = EncodedText(corpus.tokens, corpus.sent_ptr, corpus.doc_of(), np.ones(n_words, np.float32))
        parts = split_long_sentences(text, vectorizer.max_sentence_length)
        trainer = vectorizer._make_trainer(fitted | arrays | {"_n_tokens": corpus.n_tokens, "_seed": 0})
        scratch = _scratch(trainer, parts) + (0 if parts.sent_ptr is text.sent_ptr else parts.sent_ptr.nbytes)
        if keep:
            copies += weights + accumulators + (corpus.tokens.nbytes if renumber else 0)
        if vectorizer.early_stopping:
            copies += encoded + max(encoded, weights)  # the split, and then its renumbered tokens or the best weights
        if any(getattr(vectorizer, name, off) != off for name, off in _SUMMED_OTHERWISE.items()):
            copies += arrays[vectorizer._vectors_name].nbytes
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
    rows = [(rows.part, rows.owner) for rows in trainer.rows]
    masses = [matrix.mass for matrix in trainer.objective.matrices]
    block = trainer.objective.make_scratch(text, plan, trainer.n_threads)
    whole = (
        array if array.base is None else array.base for array in _arrays((text.document, plan, rows, masses, block))
    )
    return sum({id(array): array.nbytes for array in whole}.values())  # several views of one array count once


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """All arrays in tuples of tuples of arrays."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Iterable):
        for part in value:
            yield from _arrays(part)
