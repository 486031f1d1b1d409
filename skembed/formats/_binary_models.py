"""Binary models of fastText and epfml/sent2vec, read as fitted estimators; and models of characters written as such."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np

from .._base.pooled import PooledVectorizer
from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
from .._methods.sent2vec import Sent2VecVectorizer
from .._text.character_ngrams import CharacterNgrams, are_ngrams
from .._text.known_words import KnownTokens
from .._text.tokenizer import BETWEEN_SPACES, Tokenizer
from .._validation.messages import brief
from .._word_vectors.fasttext import END_OF_LINE, BinaryModel, is_binary_model, open_binary_model, write_binary_model
from ._fitted import check_is_sum, is_encodable, with_fitted

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


def _of_text(model: BinaryModel) -> dict[str, object]:
    """Fitted attributes that follow from the text of the other program."""
    words = model.decoded_words
    return {
        "vocabulary_": {word: row for row, word in enumerate(words)},
        "word_counts_": model.counts,
        "coverage_": min(1.0, float(model.counts.sum() / max(1, model.n_tokens))),
        "_n_tokens": model.n_tokens,
        "_tokenizer": Tokenizer(**_AS_WRITTEN),
    }


def check_expressible(estimator: PooledVectorizer) -> CharacterNgrams:
    """The analyzer of an estimator that a model of fastText can express; otherwise an error says what it cannot."""
    check_is_sum(estimator)
    name = type(estimator).__name__
    analyzer = estimator._fitted_state().tokenizer.analyzer
    if not isinstance(analyzer, CharacterNgrams) or analyzer.analyzer != "char_wb" or analyzer.n_buckets is None:
        raise ValueError(
            f"fastText's models cannot express {name} with analyzer={brief(analyzer)}: their n-grams of characters are "
            "of words, and share rows by hashing. Learn with analyzer=CharacterNgrams('char_wb', (3, 6), "
            "n_buckets=200_000), or write the words of a text with their rows: write_word_vectors((words, "
            "estimator.transform(words)), path)."
        )
    shortest = analyzer.ngram_range[0]
    if not 2 <= shortest <= 3:
        raise ValueError(
            f"fastText's models cannot express {name} with n-grams from {shortest} characters on: there a word of one "
            "letter has none from four on, and n-grams of one character are others. Learn with two or three."
        )
    if estimator._longest_learned(estimator._state) > 1 or estimator.binary:
        raise ValueError(f"fastText's models cannot express {name} with n-grams of words, or with binary=True.")
    return analyzer


def write(estimator: PooledVectorizer, file: IO[bytes]) -> tuple[list[str], int]:
    """Write a model of fastText; returns the words in it, and how many it cannot hold.

    The row of a word is the sum of its tokens without its n-grams of characters, weighted as all rows are.
    """
    analyzer, state = check_expressible(estimator), estimator._fitted_state()
    names, counts = list(state.vocabulary_), state.word_counts_
    vectors = estimator._summed_vectors(state)[: len(names)] * state.word_weights_[:, None]
    is_ngram = are_ngrams(names) if analyzer.words else np.ones(len(names), bool)
    rows = np.zeros((int(analyzer.n_buckets or 0), vectors.shape[1]), np.float32)
    rows[[int(names[i].partition("#")[2]) for i in np.flatnonzero(is_ngram)]] = vectors[is_ngram]
    storable = (i for i in np.flatnonzero(~is_ngram) if names[i].split() == [names[i]] and "\0" not in names[i])
    words = [(names[i], int(counts[i])) for i in storable if is_encodable(names[i])]
    tokens = KnownTokens({names[i]: i for i in range(len(names))}, state.tokenizer).encode([word for word, _ in words])
    own = np.zeros((1 + len(words), vectors.shape[1]), np.float32)  # the first is of the end of a line
    found = tokens.rows[tokens.ids]
    is_word = (found >= 0) & ~is_ngram[found]
    np.add.at(own, 1 + np.repeat(np.arange(len(words)), np.diff(tokens.ptr))[is_word], vectors[found[is_word]])
    entries = [(END_OF_LINE, 1)] + [(word.encode(), count) for word, count in words]
    write_binary_model(file, entries, np.concatenate([own, rows]), analyzer.ngram_range)
    return [word for word, _ in words], int((~is_ngram).sum()) - len(words)
