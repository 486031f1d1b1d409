"""Look inside a model of word vectors: the nearest words, and where a similarity comes from."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils import Bunch

from .._text.character_ngrams import are_ngrams
from .._text.known_words import EncodedSentences
from .._text.sources import iter_sentences
from .._training.estimators import SumOfVectors
from .._training.state import FittedState
from .._validation.columns import is_sparse, one_column
from .._validation.messages import brief
from .reading import has_words_and_ngrams

_STEP = 10_000  # words at a time
_MOST_COMPARED = 2_000  # words compared with an unknown one by spelling

Query: TypeAlias = Iterable[object] | None  # a word, a sentence or a vector, or several of them


class _Direction(NamedTuple):
    """Direction to find similar words for."""

    vector: np.ndarray  # (n_features_out,) float64, normalised, summed or zero
    rows: list[int]  # of the words of the query, which are left out


def most_similar(
    estimator: SumOfVectors, state: FittedState, words: Query, n_words: int, positive: Query, negative: Query
) -> list[Any]:
    """The words whose vectors point in the most similar direction; see `PooledVectorizer.most_similar`."""
    estimator._check_transform_parameters()
    if not isinstance(n_words, Integral) or isinstance(n_words, bool) or n_words < 1:
        raise ValueError(f"n_words must be a positive integer, got {brief(n_words)}.")
    if (words is None) == (positive is None and negative is None):
        raise ValueError("Give words, or else positive and negative, not both.")
    if words is not None:
        directions = _directions_of(estimator, state, words, "words")
        found = [_nearest(estimator, state, direction, n_words) for direction in directions]
        return found[0] if _is_single(words) else found
    likes, dislikes = (
        _directions_of(estimator, state, items, name)
        for items, name in ((positive, "positive"), (negative, "negative"))
    )
    total = np.zeros(state.n_features_out_)
    for sign, directions in ((1, likes), (-1, dislikes)):
        for direction in directions:
            total += sign * direction.vector
    rows = [row for direction in likes + dislikes for row in direction.rows]
    return _nearest(estimator, state, _Direction(total, rows), n_words)


def _directions_of(estimator: SumOfVectors, state: FittedState, items: Query, name: str) -> list[_Direction]:
    """Return the directions of words, sentences and vectors; `name` is the parameter in errors."""
    if items is None:
        return []
    if _is_single(items):
        return [_direction(estimator, state, items, name)]
    items = one_column(items) if state.n_features_out_ > 1 else items  # of text: no vector has one number
    is_table = len(getattr(items, "shape", ())) == 2  # its rows are vectors
    if is_table:
        items = items.toarray() if is_sparse(items) else np.asarray(items)
    else:
        items = iter_sentences(items, name=name)
    return [_direction(estimator, state, item, f"{name}[{i}]") for i, item in enumerate(items)]


def _direction(estimator: SumOfVectors, state: FittedState, item: object, name: str) -> _Direction:
    n_features = state.n_features_out_
    if not isinstance(item, str):
        vector = _as_vector(item.toarray()[0] if is_sparse(item) and item.shape[:-1] == (1,) else item)
        if vector is None:
            kind = type(item).__name__
            raise TypeError(f"{name} must be a word, a sentence or a vector, got {brief(item)} of type {kind}.")
        if len(vector) != n_features or not np.isfinite(vector).all():
            raise ValueError(f"{name} must be {n_features} finite numbers, as a row of transform, got {brief(item)}.")
        return _Direction(_unit(vector), [])
    sentence = state.known_tokens.encode([item])
    rows = sentence.rows[sentence.ids]
    if not len(rows):
        raise ValueError(f"{name} has no word: {brief(item)}.")
    known = rows[rows >= 0].tolist()
    if not known:
        what = f"{brief(item)} is not" if len(rows) == 1 else f"no word of {brief(item)} is"
        raise ValueError(
            f"{name}: {what} in the vocabulary of {len(state.vocabulary_)} words; it was never seen, or fewer than "
            f"min_count times.{_spelling_hint(item, state.vocabulary_)}"
        )
    # A single word is its learned vector, without weight and n-grams.
    vector = estimator._summed_vectors(state)[rows[0]] if len(rows) == 1 else estimator._pool(state, sentence)[0]
    return _Direction(_unit(vector), known)


def _nearest(
    estimator: SumOfVectors, state: FittedState, direction: _Direction, n_words: int
) -> list[tuple[str, float]]:
    names = list(state.vocabulary_)
    cosines = _cosines_of_words(estimator, state, direction.vector)
    if has_words_and_ngrams(state.tokenizer):
        cosines[are_ngrams(names)] = -np.inf
    cosines[direction.rows] = -np.inf
    best = np.argsort(-cosines, kind="stable")[:n_words]
    return [(names[i], float(np.clip(cosines[i], -1, 1))) for i in best if cosines[i] > -np.inf]


def _cosines_of_words(estimator: SumOfVectors, state: FittedState, vector: np.ndarray) -> np.ndarray:
    """Cosine of each word with a vector, (n_words,) float64; -inf where one of them is zero."""
    n_words, vectors = len(state.vocabulary_), estimator._summed_vectors(state)
    cosines = np.full(n_words, -np.inf)
    for start in range(0, n_words, _STEP):
        # In float64, where squares of float32 neither overflow nor underflow.
        chunk = vectors[start : min(start + _STEP, n_words)].astype(np.float64)
        scale = np.sqrt(np.einsum("ij,ij->i", chunk, chunk)) * np.linalg.norm(vector)
        np.divide(chunk @ vector, scale, out=cosines[start : start + _STEP], where=scale > 0)
    return cosines


def explain(estimator: SumOfVectors, state: FittedState, a: str, b: str) -> Bunch:
    """Split the cosine of two sentences into what each pair of words contributes; see `PooledVectorizer.explain`."""
    for name, sentence in (("a", a), ("b", b)):
        if not isinstance(sentence, str):
            raise ValueError(f"{name} must be one sentence, a string, got {sentence!r:.60}.")
    words_a, vectors_a = weighted_vectors(estimator, state, a)
    words_b, vectors_b = weighted_vectors(estimator, state, b)
    scale = np.linalg.norm(vectors_a.sum(axis=0)) * np.linalg.norm(vectors_b.sum(axis=0))
    contributions = vectors_a @ vectors_b.T
    contributions = contributions / scale if scale > 0 else np.zeros_like(contributions)
    return Bunch(similarity=float(contributions.sum()), words_a=words_a, words_b=words_b, contributions=contributions)


def weighted_vectors(estimator: SumOfVectors, state: FittedState, sentence: str) -> tuple[list[str], np.ndarray]:
    """What is summed for one sentence: names, and vectors times weights in float64."""
    encoded = estimator._counted(state, state.known_tokens.encode([sentence]))
    rows, weights, is_unknown, _ = estimator._features(state, encoded)
    names = _feature_names(estimator, state, encoded)
    kept = ~is_unknown if estimator._treats_unknown(state) == "zero" else np.ones(len(rows), bool)
    learned = estimator._summed_vectors(state)
    vectors = np.zeros((len(rows), learned.shape[1]))
    vectors[~is_unknown] = learned[rows[~is_unknown]]
    if kept[is_unknown].any():
        vectors[is_unknown] = estimator._unknown_vectors(state, encoded.words_of(rows[is_unknown]))
    vectors *= weights[:, None]
    return [name for name, keep in zip(names, kept) if keep], vectors[kept]


def _feature_names(estimator: SumOfVectors, state: FittedState, encoded: EncodedSentences) -> list[str]:
    """What is summed for a sentence: its words, and its word n-grams."""
    names = encoded.words_of(encoded.ids)
    known = [name for name in names if name in state.vocabulary_]
    if has_words_and_ngrams(state.tokenizer):
        known = [name for name, is_ngram in zip(known, are_ngrams(known)) if not is_ngram]
    for order in range(2, min(estimator._longest_learned(state), len(known)) + 1):
        names = names + [" ".join(known[i : i + order]) for i in range(len(known) - order + 1)]
    return names


def _is_single(items: object) -> bool:
    """Whether this is one word, sentence or vector, not a collection."""
    return isinstance(items, str) or _as_vector(items) is not None


def _as_vector(item: object) -> np.ndarray | None:
    """Return a non-empty vector of numbers as float64; None for anything else."""
    if is_sparse(item) and item.ndim == 1:  # one row of a sparse array
        item = item.toarray()
    if not hasattr(item, "__len__") or (isinstance(item, (list, tuple)) and any(isinstance(x, str) for x in item[:1])):
        return None
    try:
        numbers = np.asarray(item)
    except (TypeError, ValueError):  # lists of several lengths
        return None
    is_vector = numbers.ndim == 1 and len(numbers) > 0 and numbers.dtype.kind in "fiu"
    return numbers.astype(np.float64) if is_vector else None


def _unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector scaled to length one, without overflow or underflow."""
    vector = np.asarray(vector, np.float64)
    largest = np.abs(vector).max(initial=0.0)
    if largest == 0:
        return vector
    vector = vector / largest
    return np.asarray(vector / np.linalg.norm(vector))


def _spelling_hint(word: str, vocabulary: Iterable[str]) -> str:
    """Suggest words of similar spelling, from the most frequent ones of similar length."""
    if len(word) > 40:
        return ""
    about_as_long = (other for other in vocabulary if abs(len(other) - len(word)) <= 2)
    found = get_close_matches(word.lower(), islice(about_as_long, _MOST_COMPARED))
    return f" Close to it: {', '.join(map(repr, found))}." if found else ""
