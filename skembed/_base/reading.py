"""From what a user passes to the corpus that a fit learns from, and to a vocabulary, which may grow later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

from .._compiled.arrays import row_norms
from .._corpus.corpus import SentenceCorpus
from .._text.character_ngrams import CharacterNgrams, are_ngrams
from .._text.sources import iter_sentences, offsets
from .._text.tokenizer import Tokenizer, same_option
from .._training.encoded_text import most_words_whole
from .._training.estimators import Learner, Vectorizer
from .._training.learned_arrays import WordRows, with_new_rows
from .._training.state import FittedState, Vocabulary
from .._validation.columns import Labels, Sentences
from .._validation.messages import brief, warn_at_user
from .._word_vectors.bag import hash_vectors

_TOKENIZER_OPTIONS = tuple(Tokenizer.__dataclass_fields__)


def corpus_to_learn_from(
    estimator: Vectorizer, X: Sentences, groups: Labels, y: Labels, auto: Any = "word"
) -> SentenceCorpus:
    """The parameter `corpus` if it is given, else `X` if it is a corpus, else `X` encoded."""
    if not isinstance(X, SentenceCorpus):
        iter_sentences(X)  # checked here, so that errors call it X
    if estimator.corpus is not None:
        estimator._check_agreement(estimator.corpus, "corpus")
        return estimator.corpus
    if isinstance(X, SentenceCorpus):
        if groups is not None:
            raise ValueError("groups must be None when X is a SentenceCorpus, which knows its documents.")
        estimator._check_agreement(X, "X")
        return X
    if y is not None and groups is None and estimator._needs_order_for:
        name = type(estimator).__name__
        source, instead = estimator._needs_order_for, "Sent2VecVectorizer"
        if source != name:
            source, instead = f"{source}, which {name} uses,", f"{estimator._source_option}=Sent2VecVectorizer(...)"
        warn_at_user(
            f"{source} learns from neighbouring sentences, but sentences with labels y are seldom in reading "
            "order. If X is in reading order, pass groups. Otherwise pass text in reading order, without labels, "
            f"as corpus=SentenceCorpus.from_sentences(...); or use {instead}, which needs no order."
        )
    return encoded_with(estimator, estimator._tokenizer_of_options(auto), X, groups)


def encoded_with(estimator: Vectorizer, tokenizer: Tokenizer, X: Sentences, groups: Labels = None) -> SentenceCorpus:
    """Sentences that are not encoded yet, as a corpus."""
    return SentenceCorpus._encoded(X, groups, tokenizer, estimator.missing, n_jobs=estimator.n_jobs)


def check_agreement(estimator: Vectorizer, corpus: SentenceCorpus, name: str) -> None:
    """Check that a corpus was made with each option of an estimator that is not at its default."""
    mine, theirs = estimator._tokenizer_of_options(), corpus.tokenizer
    defaults = {option: _default_of(type(estimator), option) for option in _TOKENIZER_OPTIONS}
    default = Tokenizer(**defaults | ({"analyzer": "word"} if defaults["analyzer"] == "auto" else {}))
    for option in _TOKENIZER_OPTIONS:
        value = getattr(mine, option)
        if value != getattr(default, option) and not same_option(value, getattr(theirs, option)):
            raise ValueError(
                f"{option}={brief(value)} contradicts {name}, which was made with {option}="
                f"{brief(getattr(theirs, option))}. Leave {option} at its default to use that of the corpus, "
                "or build the corpus again."
            )
    if estimator.min_count != _default_of(type(estimator), "min_count") and estimator.min_count < corpus.min_count:
        raise ValueError(
            f"min_count={estimator.min_count} contradicts {name}, which left out words that occur fewer than "
            f"{corpus.min_count} times."
        )


def _default_of(cls: type, option: str) -> Any:
    """Default of a parameter in the nearest class that has it, or the value of all estimators without it."""
    inits = (vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base))
    found = (signature(init).parameters.get(option) for init in inits)
    return next((parameter.default for parameter in found if parameter is not None), getattr(cls, option, None))


def learn_vocabulary(estimator: Vectorizer, corpus: SentenceCorpus, state: FittedState) -> FittedState:
    """The state with the words of a text, their counts and the tokenizer."""
    if corpus.n_sentences == 0:
        raise ValueError("The corpus has no sentence. Pass at least one.")
    analyzer = corpus.tokenizer.analyzer
    joins = getattr(analyzer, "words", True) and estimator._joins_words_beside_characters
    if isinstance(analyzer, CharacterNgrams) and not joins and getattr(estimator, "_longest_word_ngram", 1) > 1:
        raise ValueError(
            f"ngram_range={brief(estimator.ngram_range)} makes n-grams of words, but the text is cut into n-grams of "
            "characters. Leave ngram_range=(1, 1), or use analyzer='char_wb' or 'char', where it counts characters."
        )
    vocabulary = corpus.vocabulary.prune(estimator._option("min_count", state), estimator.max_features)
    return replace(
        state,
        vocabulary_=dict(vocabulary.index),
        word_counts_=np.array(vocabulary.counts),
        coverage_=float(vocabulary.counts.sum() / corpus.n_tokens),
        tokenizer=corpus.tokenizer,
    )


# Of 100 samples of 500 consecutive sentences, two are below it from books and none from an encyclopedia; of 100 samples
# of shuffled sentences, 99 are. Shorter text says too little.
_LEAST_SCORE, _LEAST_SENTENCES = 2.5, 500
_MOST_PAIRS = 2000  # that are compared


def warn_if_unordered(estimator: Learner, corpus: SentenceCorpus, classes: np.ndarray | None) -> None:
    """Warn if a method that learns from order gets sentences alone in their documents, or a text in no order."""
    if classes is not None or not estimator._needs_order:
        return
    name = type(estimator).__name__
    doc_ptr, sent_ptr = corpus.doc_ptr, corpus.sent_ptr
    first, n_sentences = np.asarray(doc_ptr[:-1])[np.diff(doc_ptr) == 1], len(sent_ptr) - 1
    alone = len(first)
    if 2 * alone > n_sentences and (longest := most_words_whole(estimator, corpus.tokenizer)) is not None:
        alone = int((sent_ptr[first + 1] - sent_ptr[first] <= longest).sum())
    if 2 * alone > n_sentences > 1:
        warn_at_user(
            f"{alone} of {n_sentences} sentences are alone in their document, so {name} has no context to "
            "learn them from. Shuffled or sampled sentences (as cross-validation makes them) have lost their "
            "neighbours: learn from the ordered text with corpus=SentenceCorpus.from_sentences(...), and let X be "
            "only what the next step of the pipeline learns from."
        )
    elif not has_order(corpus):
        warn_at_user(
            f"Without groups all {n_sentences} sentences are one document in reading order, but consecutive "
            f"ones have no more words in common than random ones. {name} would learn from unrelated sentences, as in "
            "a column of titles, or in shuffled rows. Use Sent2VecVectorizer, which needs no order (where another "
            "estimator learns with it: word_vectors=Sent2VecVectorizer(...)). Or pass text in reading order, and its "
            "documents as groups."
        )


def has_order(corpus: SentenceCorpus) -> bool:
    """Whether consecutive sentences of a text without documents are more alike than random ones, or it is short."""
    is_tested = corpus.n_documents == 1 and corpus.n_sentences >= _LEAST_SENTENCES
    return not is_tested or order_score(corpus) >= _LEAST_SCORE


def order_score(corpus: SentenceCorpus) -> float:
    """How many standard errors consecutive sentences are more alike than random ones, by the cosines of a sample."""
    generator = np.random.default_rng(0)
    n_pairs = corpus.n_sentences - 1
    first = generator.choice(n_pairs, min(n_pairs, _MOST_PAIRS), replace=False)
    second, other = first + 1, generator.permutation(first) + 1
    rows = _weighted_words(corpus, first)
    # A random sentence may be the first one itself, which says nothing.
    near, far = (
        np.asarray(rows.multiply(_weighted_words(corpus, pair)).sum(axis=1)).ravel()[other != first]
        for pair in (second, other)
    )
    differences = near - far
    if not near.any() and not far.any():
        return np.inf
    return float(differences.mean() / max(differences.std() / len(differences) ** 0.5, 1e-12))


def _weighted_words(corpus: SentenceCorpus, sentences: np.ndarray) -> csr_matrix:
    """Rows of length one of some sentences, with a column for each word."""
    starts, n_words = corpus.sent_ptr[sentences], corpus.sent_ptr[sentences + 1] - corpus.sent_ptr[sentences]
    ptr = offsets(n_words)
    ids = corpus.tokens[np.arange(ptr[-1]) + np.repeat(starts - ptr[:-1], n_words)]
    weights = np.log(1 + corpus.n_tokens / corpus.vocabulary.counts[ids])
    rows = csr_matrix((weights, ids, ptr), shape=(len(sentences), len(corpus.vocabulary)))
    rows.sum_duplicates()
    return normalize(rows, copy=False)


def has_characters(state: FittedState) -> bool:
    """Whether the tokens of a fitted estimator are, or have beside them, n-grams of characters."""
    return state.tokenizer is not None and isinstance(state.tokenizer.analyzer, CharacterNgrams)


def has_words_and_ngrams(tokenizer: Tokenizer) -> bool:
    """Whether tokens are words and, beside them, n-grams of characters."""
    return isinstance(tokenizer.analyzer, CharacterNgrams) and tokenizer.analyzer.words


_MOST = 10.0  # times the weight of words with one factor for all tokens; usual text has 1 to 6


class Balance(NamedTuple):
    """The factors of the weights of words and of n-grams of characters."""

    words: np.float32
    ngrams: np.float32

    @classmethod
    def of(cls, state: FittedState) -> Self:
        """The factors of what was learned."""
        known = (state.word_weight, state.ngram_weight)
        return cls(*(np.float32(1.0 if factor is None else factor) for factor in known))

    @classmethod
    def between(cls, is_ngram: np.ndarray, weights: np.ndarray, counts: np.ndarray, frequencies: np.ndarray) -> Balance:
        """The factors that share out the weight of a text, a mean of one a token, between words and n-grams.

        The shares are proportional to the fractions of their occurrences that another sentence has too: only these can
        help with a new sentence. `counts` are occurrences, `frequencies` the sentences with a token. The factor of
        words is limited: a text with a huge string without spaces has nearly no words.
        """
        of_words, of_ngrams = ((weights * counts)[kind].sum() for kind in (~is_ngram, is_ngram))
        if of_words == 0 or of_ngrams == 0:
            return EVEN
        shared = counts * (frequencies > 1)
        # One more of each, so that neither has no weight.
        words, ngrams = ((1 + shared[kind].sum()) / (1 + counts[kind].sum()) for kind in (~is_ngram, is_ngram))
        total, most = counts.sum() / (words + ngrams), _MOST * counts.sum() / (of_words + of_ngrams)
        return cls(np.float32(min(total * words / of_words, most)), np.float32(total * ngrams / of_ngrams))

    def factors(self, vocabulary: Iterable[str]) -> np.ndarray:
        """The factor of the weight of each token."""
        return np.where(are_ngrams(vocabulary), float(self.ngrams), float(self.words))


EVEN = Balance(np.float32(1.0), np.float32(1.0))  # where there are not both, or nothing is balanced


class Growth(NamedTuple):
    """How a vocabulary grows."""

    vocabulary: dict[str, int]
    counts: np.ndarray  # (n_words,) int64: in all texts
    earlier: np.ndarray  # (n_words,) int64: before this text; of a new word, how often it was met while it waited
    rows: np.ndarray  # rows of the new words, ascending
    words: list[str]  # the new words, by row
    waiting: dict[str, int]  # words that are not learned yet, see `waiting_on`


def learn_words(estimator: Learner, corpus: SentenceCorpus, state: FittedState) -> FittedState:
    """The state when the words of a text have joined the vocabulary; those that stay keep their rows and numbers."""
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
            length = np.median(row_norms(state.arrays[source.name][:n_words]))
        vectors *= length
    new_rows = WordRows(n_words, growth.rows, vectors)
    larger = with_new_rows(arrays, estimator.solver, state.arrays, state.seed, new_rows)
    return replace(grown.with_arrays(larger), records=arrays)


def _weights_before(growth: Growth, state: FittedState) -> np.ndarray:
    """The word weights before this text. Each time that a waiting word was met counts as a sentence of its own."""
    n_old = len(state.word_weights_)
    weights = np.full(len(growth.counts), state.unknown_weight, np.float32)
    weights[:n_old] = state.word_weights_
    if (balance := Balance.of(state)) != EVEN:
        weights[:n_old] /= balance.factors(state.vocabulary_)
    n_sentences = np.exp(float(state.unknown_weight) - 1)
    in_sentences = np.minimum(growth.earlier[growth.rows], n_sentences - 1)
    weights[growth.rows] = np.log(n_sentences / (1 + in_sentences)) + 1
    return weights


def grow(corpus: SentenceCorpus, state: FittedState, min_count: int, max_features: int | None) -> Growth:
    """The vocabulary with the words of a text that have occurred `min_count` times; of too many, the rarest leave."""
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
    last, of_text = MOST_WAITING + max(n_learned, len(vocabulary)), corpus.vocabulary
    words, counts = of_text.words_of(slice(n_learned, last)), of_text.counts[n_learned:last]
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
