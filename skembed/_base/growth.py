"""New words for a model that learns on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._encoders.bag import hash_vectors
from .._training.learned_arrays import WordRows, with_new_rows
from .._validation.messages import brief
from .coverage import check_kept
from .state import check_order

NEW_WORDS = ("append", "ignore")


class Growth(NamedTuple):
    """How a vocabulary grows."""

    words: list[str]  # all of them, by row
    counts: np.ndarray  # (n_words,) int64: in all texts
    earlier: np.ndarray  # (n_words,) int64: in the texts before this one; 0 for a new word
    new: np.ndarray  # rows of the new words, ascending


def check_new_words(new_words: Any) -> None:
    """Refuse any other value of the argument of `partial_fit`."""
    if not isinstance(new_words, str) or new_words not in NEW_WORDS:
        raise ValueError(f"new_words must be one of {', '.join(map(repr, NEW_WORDS))}, got {brief(new_words)}.")


def learn_words(estimator: Any, corpus: SentenceCorpus, fitted: dict[str, Any], new_words: str) -> dict[str, Any]:
    """Fitted attributes that change if the words of a text join the vocabulary; none if new words are ignored.

    A word that stays keeps its row and its numbers, whether the text has it or not. A new word starts where `transform`
    put it as an unknown word: at its hashed direction, as long as the median row.
    """
    if new_words == "ignore" or not getattr(estimator, "_appends_words", True):
        check_kept(estimator, corpus)
        return {}
    n_frozen = fitted.get("_n_frozen", 0)
    growth = grow(corpus, fitted, estimator._option("min_count", fitted), estimator.max_features, n_frozen)
    n_earlier, n_words = fitted["_n_tokens"], len(growth.words)
    n_known = fitted["coverage_"] * n_earlier + growth.counts.sum() - growth.earlier.sum()
    grown = {
        "vocabulary_": {word: row for row, word in enumerate(growth.words)},
        "word_counts_": growth.counts,
        "_n_tokens": n_earlier + corpus.n_tokens,
        "coverage_": float(n_known / max(1, n_earlier + corpus.n_tokens)),
    }
    old = np.setdiff1d(np.arange(n_words), growth.new)
    earlier: dict[str, Any] = {"word_counts_": growth.earlier, "_n_tokens": n_earlier}
    if "_unknown_weight" in fitted:
        weights = np.full(n_words, fitted["_unknown_weight"], np.float32)
        weights[old] = fitted["word_weights_"][old]
        earlier |= {"word_weights_": weights, "_unknown_weight": fitted["_unknown_weight"]}
    grown |= estimator._text_statistics(corpus, fitted | grown, earlier)
    if not len(growth.new):
        return grown
    arrays = estimator._learned_arrays(fitted | grown)
    vectors, source = None, next((array for array in arrays if array.is_source), None)
    if source is not None:
        vectors = hash_vectors([growth.words[row] for row in growth.new], source.shape[1])
        is_known = "_unknown_length" in fitted
        vectors *= fitted["_unknown_length"] if is_known else np.median(row_norms(fitted[source.name][:n_words]))
    return grown | with_new_rows(arrays, estimator.solver, fitted, WordRows(n_words, old, growth.new, vectors))


def grow(
    corpus: SentenceCorpus, fitted: dict[str, Any], min_count: int, max_features: int | None, n_frozen: int
) -> Growth:
    """The vocabulary with the words that occur at least `min_count` times in a text.

    If there would be more than `max_features`, a new word takes the row of the rarest word that is not frozen, if it is
    more frequent.
    """
    words, earlier = list(fitted["vocabulary_"]), np.asarray(fitted["word_counts_"])
    check_order(fitted["vocabulary_"])
    ids, of_text = corpus.vocabulary.ids_of(words), np.append(corpus.vocabulary.counts, 0)
    counts = earlier + of_text[ids]  # 0, the last one, for a word that the text does not have: its id is -1
    is_new = of_text[:-1] >= min_count
    is_new[ids[ids >= 0]] = False
    candidates = np.flatnonzero(is_new)  # by falling count
    n_free = len(candidates) if max_features is None else max(0, int(max_features) - len(words))
    appended, others = candidates[:n_free], candidates[n_free : n_free + len(words)]
    rarest = n_frozen + np.lexsort((-np.arange(len(words) - n_frozen), counts[n_frozen:]))[: len(others)]
    others = others[: len(rarest)]
    n_replaced = np.count_nonzero(of_text[others] > counts[rarest])
    new = np.concatenate([np.arange(len(words), len(words) + len(appended)), rarest[:n_replaced]])
    ids_of_new = np.concatenate([appended, others[:n_replaced]])
    counts = np.concatenate([counts, np.zeros(len(appended), np.int64)])
    earlier = np.concatenate([earlier, np.zeros(len(appended), np.int64)])
    counts[new], earlier[new] = of_text[ids_of_new], 0
    words += [""] * len(appended)
    for row, word in zip(new.tolist(), ids_of_new.tolist()):
        words[row] = corpus.vocabulary.words[word]
    return Growth(words, counts, earlier, np.sort(new))
