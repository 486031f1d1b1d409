"""A corpus as its objective reads it: ids of the vocabulary of a fit, long sentences split, and what is held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compiled.gather import renumber
from .._corpus.corpus import SentenceCorpus
from .._text.vocabulary import begins_with
from .._training.encoded_text import EncodedText, most_words_whole, split_long_sentences
from .._training.state import FittedState
from .._validation.limits import is_set


def encode_text(
    estimator: Any, corpus: SentenceCorpus, state: FittedState, annotations: tuple[np.ndarray, ...] = ()
) -> EncodedText:
    """The corpus in word ids of the vocabulary; unknown words have the id after them."""
    weights = estimator._weights_in_training(state)
    tokens, words, vocabulary = np.asarray(corpus.tokens), corpus.vocabulary.words, state.vocabulary_
    if not begins_with(words, vocabulary):  # not the corpus that the vocabulary comes from
        ids = state.rows_of(words, len(words))
        tokens = tokens.copy()
        renumber(tokens, np.where(ids < 0, len(vocabulary), ids).astype(np.int32), tokens)
        tokens.flags.writeable = False
    text = EncodedText(tokens, np.asarray(corpus.sent_ptr), corpus.doc_of(), weights, annotations)
    return split_long_sentences(text, most_words_whole(estimator, corpus.tokenizer))


def encode_texts(
    estimator: Any, corpus: SentenceCorpus, state: FittedState, annotations: tuple[np.ndarray, ...], *, partial: bool
) -> tuple[EncodedText, EncodedText | None]:
    """The text to learn from and, with early stopping, the held-out text."""
    if not is_set(estimator, "early_stopping") or partial:
        return estimator._encode_text(corpus, state, annotations), None
    held = estimator._held_out(corpus, state, annotations)
    # One after the other: the copy of the first is freed once it is encoded.
    held_out, text = (
        estimator._encode_text(corpus[which], state, tuple(values[which] for values in annotations))
        for which in (held, ~held)
    )
    return text, held_out
