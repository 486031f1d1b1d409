"""New words for a model that learns on, and words that it has met too seldom to learn them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .._encoders.bag import hash_vectors
from .._training.learned_arrays import WordRows, with_new_rows
from .._training.spare_arrays import SpareArrays, norms_of
from .._training.state import FittedState, Vocabulary
from .._validation.messages import brief
from .character_tokens import Balance
from .coverage import check_kept

NEW_WORDS = ("append", "ignore")


class Growth(NamedTuple):
    """How a vocabulary grows."""

    vocabulary: dict[str, int]
    counts: np.ndarray  # (n_words,) int64: in all texts
    earlier: np.ndarray  # (n_words,) int64: before this text; of a new word, how often it was met while it waited
    rows: np.ndarray  # rows of the new words, ascending
    words: list[str]  # the new words, by row
    waiting: dict[str, int]  # words that are not learned yet, see `waiting_on`


def check_new_words(new_words: Any) -> None:
    """Refuse any other value of the argument of `partial_fit`."""
    if not isinstance(new_words, str) or new_words not in NEW_WORDS:
        raise ValueError(f"new_words must be one of {', '.join(map(repr, NEW_WORDS))}, got {brief(new_words)}.")


def learn_words(estimator: Any, corpus: SentenceCorpus, state: FittedState, new_words: str) -> FittedState:
    """The state when the words of a text have joined the vocabulary; as it was if new words are ignored.

    A word that stays keeps its row and its numbers, whether the text has it or not. A new word starts where `transform`
    put it as an unknown word: at its hashed direction, as long as the median row.
    """
    if new_words == "ignore" or not estimator._appends_words(state):
        check_kept(estimator, state, corpus)
        return state
    growth = grow(corpus, state, estimator._option("min_count", state), estimator.max_features)
    n_earlier, n_words = state.n_tokens, len(growth.vocabulary)
    n_known = state.coverage_ * n_earlier + growth.counts.sum() - state.word_counts_.sum()
    grown = replace(
        state,
        vocabulary_=growth.vocabulary,
        word_counts_=growth.counts,
        waiting=growth.waiting,
        n_tokens=n_earlier + corpus.n_tokens,
        coverage_=float(n_known / max(1, n_earlier + corpus.n_tokens)),
    )
    earlier = replace(state, word_counts_=growth.earlier)
    if hasattr(estimator, "weighting") and estimator._option("weighting", state) == "idf":
        earlier = replace(earlier, word_weights_=_weights_before(growth, state))
    grown = estimator._text_statistics(corpus, grown, earlier)
    if not growth.words:
        return grown
    arrays = estimator._learned_arrays(grown)
    vectors, source = None, next((array for array in arrays if array.is_source), None)
    if source is not None:
        vectors = hash_vectors(growth.words, source.shape[1])
        length = state.unknown_length
        if length is None:
            length = np.median(norms_of(estimator._spares, state.arrays[source.name][:n_words]))
        vectors *= length
    new_rows = WordRows(n_words, growth.rows, vectors)
    spares = estimator._spares or SpareArrays()
    return grown.with_arrays(with_new_rows(arrays, estimator.solver, state.arrays, state.seed, new_rows, spares.grown))


def _weights_before(growth: Growth, state: FittedState) -> np.ndarray:
    """The word weights before this text. Each time that a waiting word was met counts as a sentence of its own."""
    n_old = len(state.word_weights_)
    weights = np.full(len(growth.counts), state.unknown_weight, np.float32)
    weights[:n_old] = state.word_weights_
    if not (balance := Balance.of(state)).is_even:
        weights[:n_old] /= balance.factors(state.vocabulary_)
    n_sentences = np.exp(float(state.unknown_weight) - 1)
    in_sentences = np.minimum(growth.earlier[growth.rows], n_sentences - 1)
    weights[growth.rows] = np.log(n_sentences / (1 + in_sentences)) + 1
    return weights


def grow(corpus: SentenceCorpus, state: FittedState, min_count: int, max_features: int | None) -> Growth:
    """The vocabulary with the words of a text that have occurred `min_count` times, in this text and those before.

    If there would be more than `max_features`, a new word takes the row of the rarest word that is not frozen, if it is
    more frequent.
    """
    vocabulary, before = state.vocabulary_, np.asarray(state.word_counts_)
    n_old, waiting = len(vocabulary), state.waiting or {}
    rows, of_text = corpus.vocabulary.rows_in(vocabulary), corpus.vocabulary.counts
    counts, is_known = before.copy(), rows >= 0
    counts[rows[is_known]] += of_text[is_known]
    met = [corpus.vocabulary.words[i] for i in np.flatnonzero(~is_known).tolist()]
    waited = np.fromiter((waiting.get(word, 0) for word in met), np.int64, len(met))
    sums = waited + of_text[~is_known]
    candidates = np.flatnonzero(sums >= min_count)
    candidates = candidates[np.argsort(-sums[candidates], kind="stable")]
    n_free = len(candidates) if max_features is None else max(0, int(max_features) - n_old)
    appended, others = candidates[:n_free], candidates[n_free : n_free + n_old]
    rarest = _rarest(counts, state.n_frozen, len(others))
    n_replaced = np.count_nonzero(sums[others[: len(rarest)]] > counts[rarest])
    new = np.concatenate([rarest[:n_replaced], np.arange(n_old, n_old + len(appended))])
    of_new = np.concatenate([others[:n_replaced], appended])[np.argsort(new)]
    new.sort()
    dropped = new[:n_replaced].tolist()
    earlier, counts = (np.append(values, np.zeros(len(appended), np.int64)) for values in (before, counts))
    counts_of_dropped = counts[dropped].tolist()
    counts[new], earlier[new] = sums[of_new], waited[of_new]
    words, found = [met[i] for i in of_new.tolist()], dict(zip(met, sums.tolist()))
    for word in words:
        del found[word]
    if dropped:
        names = list(vocabulary)
        found |= dict(zip([names[row] for row in dropped], counts_of_dropped))
        for row, word in zip(dropped, words):
            names[row] = word
        vocabulary = dict(zip(names, range(n_old)))
    if len(appended):
        vocabulary = Vocabulary.longer(vocabulary, words[n_replaced:])
    return Growth(vocabulary, counts, earlier, new, words, waiting_on(waiting, found, words))


def _rarest(counts: np.ndarray, n_frozen: int, n: int) -> np.ndarray:
    """The rows of the `n` rarest words that are not frozen, the rarest first, of equal ones the last."""
    if not n:
        return np.empty(0, np.int64)
    return n_frozen + np.lexsort((-np.arange(len(counts) - n_frozen), counts[n_frozen:]))[:n]


MOST_WAITING = 100_000


def waiting_after(corpus: SentenceCorpus, n_learned: int, vocabulary: Collection[str]) -> dict[str, int]:
    """Count the words of a first text that its model leaves out; the first `n_learned` of the text are learned."""
    # Most words of a large text are rare: no more of them are made strings than may be needed.
    last = MOST_WAITING + max(n_learned, len(vocabulary))
    words, counts = corpus.vocabulary.words_of(slice(n_learned, last)), corpus.vocabulary.counts[n_learned:last]
    found = {word: count for word, count in zip(words, counts.tolist()) if word not in vocabulary}
    return _bounded(found)


def waiting_on(earlier: Mapping[str, int], met: Mapping[str, int], learned: Iterable[str]) -> dict[str, int]:
    """Go on counting, with the sums of the words `met` in another text; the `learned` ones wait no longer."""
    waiting = dict(earlier)
    for word in learned:
        waiting.pop(word, None)
    for word, count in met.items():
        waiting.pop(word, None)  # it moves to the end
        waiting[word] = count
    return _bounded(waiting)


def _bounded(waiting: dict[str, int]) -> dict[str, int]:
    if len(waiting) <= MOST_WAITING:
        return waiting
    counts = np.fromiter(waiting.values(), np.int64, len(waiting))
    kept = np.zeros(len(waiting), bool)
    kept[np.argsort(counts, kind="stable")[-(MOST_WAITING // 2) :]] = True
    return {word: count for (word, count), stays in zip(waiting.items(), kept.tolist()) if stays}
