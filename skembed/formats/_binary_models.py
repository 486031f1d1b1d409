"""Binary models of fastText and epfml/sent2vec, read as fitted estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
from .._methods.sent2vec import Sent2VecVectorizer
from .._text.tokenizer import BETWEEN_SPACES, Tokenizer
from .._word_vectors.fasttext import BinaryModel, is_binary_model, open_binary_model
from ._fitted import with_fitted

_AS_WRITTEN: dict[str, Any] = {"token_pattern": BETWEEN_SPACES, "lowercase": False}


def recognises(file: Path) -> bool:
    """Whether a file is such a model."""
    return is_binary_model(file)


def read(file: Path) -> MeanEmbeddingVectorizer | Sent2VecVectorizer:
    """Return the estimator that transforms as the model does; a ValueError names the file."""
    model = open_binary_model(file)
    try:
        return _mean_of_words_and_ngrams(model) if model.is_sent2vec else _mean_of_words(model)
    except ValueError as error:
        raise ValueError(f"{model.path} cannot be imported: {error}") from None


def _mean_of_words(model: BinaryModel) -> MeanEmbeddingVectorizer:
    """A model of fastText: the mean of word vectors, those of unknown words from their character n-grams."""
    has_ngrams = model.lengths[1] > 0
    estimator = MeanEmbeddingVectorizer(
        model.setting("n_components"),
        word_vectors=model.path,
        unknown="ngrams" if has_ngrams else "zero",
        **_AS_WRITTEN,
    )
    ngrams = model.read_ngrams() if has_ngrams else np.zeros((0, model.setting("n_components")), np.float32)
    vectors = model.read_word_vectors(ngrams)
    return with_fitted(
        estimator,
        _of_text(model) | {"ngram_vectors_": ngrams, "_ngram_lengths": model.lengths, "word_vectors_": vectors},
    )


def _mean_of_words_and_ngrams(model: BinaryModel) -> Sent2VecVectorizer:
    """A model of sent2vec: the mean of the vectors of words and word n-grams, without those of unknown words."""
    has_ngrams = model.setting("word_ngrams") > 1
    estimator = Sent2VecVectorizer(
        model.setting("n_components"),
        ngram_range=(1, model.setting("word_ngrams")),
        n_buckets=max(1, model.setting("n_buckets")),
        negative=max(1, model.setting("negative")),
        min_count=max(1, model.setting("min_count")),
        max_iter=max(1, model.setting("epochs")),
        unknown="zero",
        solver="sgd",
        **_AS_WRITTEN,
    )
    n_rows = len(model.words) + (model.setting("n_buckets") if has_ngrams else 0)
    return with_fitted(estimator, _of_text(model) | {"_source_vectors": model.read_rows(0, n_rows)})


def _of_text(model: BinaryModel) -> dict[str, Any]:
    """Fitted attributes that follow from the text of the other program."""
    words = model.decoded_words
    return {
        "vocabulary_": {word: row for row, word in enumerate(words)},
        "word_counts_": model.counts,
        "coverage_": min(1.0, float(model.counts.sum() / max(1, model.n_tokens))),
        "_n_tokens": model.n_tokens,
        "_tokenizer": Tokenizer(**_AS_WRITTEN),
    }
