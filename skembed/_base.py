"""What all estimators share: text options, the corpus to learn from, `transform`, names and tags."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._corpus import SentenceCorpus
from ._coverage import Coverage, Tally
from ._encoder import Encoder, naming_rows
from ._inspection import WordVectorInspection
from ._norms import row_norms
from ._sentences import BATCH_LENGTH, iter_pieces, iter_sentences, iter_slices, length_of
from ._showing import QuickDisplay
from ._text import Batch
from ._threads import Threads, count_threads
from ._tokenizer import Tokenizer, same_option

if TYPE_CHECKING:
    from ._word_scan import KnownWords

SIF_A = 1e-3  # Arora et al. (2017) use this value in all their experiments
# Fewer pieces are done by one thread before a second one has made up for its start.
_LEAST_PIECES = 3

TEXT_CONSTRAINTS: dict[str, list[Any]] = {
    "min_count": [Interval(Integral, 1, None, closed="left")],
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "analyzer": [StrOptions({"word"}), callable],
    "token_pattern": [str],
    "lowercase": ["boolean"],
    "stop_words": [StrOptions({"english"}), list, tuple, None],
    "stemmer": [callable, str, None],
    "corpus": [SentenceCorpus, None],
}
POOLING_CONSTRAINTS: dict[str, list[Any]] = {
    "pooling": [StrOptions({"mean", "sum"})],
    "weighting": [StrOptions({"idf", "sif"}), None],
    "unknown": [StrOptions({"zero", "hash"})],
}


class EncodedSentences(NamedTuple):
    """Sentences as word ids."""

    ids: np.ndarray  # (n_tokens,) int32
    ptr: np.ndarray  # (n_sentences + 1,) int64
    words: Sequence[str]  # of the ids from `first_word` on; those before are in the vocabulary
    rows: np.ndarray  # (n_words,) int64: number of each id in the vocabulary, -1 where it is not there
    first_word: int = 0


class TextVectorizer(QuickDisplay, Coverage, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators: from text, or a corpus, to word ids."""

    analyzer: Any
    token_pattern: str
    lowercase: bool
    stop_words: Any
    stemmer: Any
    min_count: int
    max_features: int | None
    corpus: SentenceCorpus | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vocabulary_")

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn from `X`, then embed it.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences in reading order.
        y : ignored
            Not used, present by convention.
        **fit_params : dict
            `groups`, as in `fit`.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out)
            The same as `fit(X).transform(X)`.
        """
        if length_of(X) is None:  # a generator can be read only once
            X = list(iter_sentences(X))
        return self.fit(X, y, **fit_params).transform(X)

    def _tokenizer_of_options(self) -> Tokenizer:
        return Tokenizer(
            analyzer=self.analyzer,
            token_pattern=self.token_pattern,
            lowercase=self.lowercase,
            stop_words=self.stop_words,
            stemmer=self.stemmer,
        )

    def _corpus_to_learn_from(self, X: Any, groups: Any) -> SentenceCorpus:
        """`corpus` where it is given, else `X` where it is a corpus already, else `X` encoded."""
        if not isinstance(X, SentenceCorpus):
            iter_sentences(X)  # here first, where it is called X
        if self.corpus is not None:
            self._check_agreement(self.corpus, "corpus")
            return self.corpus
        if isinstance(X, SentenceCorpus):
            if groups is not None:
                raise ValueError("groups must be None when X is a SentenceCorpus, which knows its documents.")
            self._check_agreement(X, "X")
            return X
        tokenizer = self._tokenizer_of_options()
        return SentenceCorpus.from_sentences(
            X,
            groups,
            analyzer=tokenizer.analyzer,
            token_pattern=tokenizer.token_pattern,
            lowercase=tokenizer.lowercase,
            stop_words=tokenizer.stop_words,
            stemmer=tokenizer.stemmer,
            n_jobs=getattr(self, "n_jobs", None),
        )

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None:
        """An option that was changed from its default must be what the corpus was made with."""
        mine, default, theirs = self._tokenizer_of_options(), Tokenizer(), corpus.tokenizer
        for option in ("analyzer", "token_pattern", "lowercase", "stop_words", "stemmer"):
            value = getattr(mine, option)
            if value != getattr(default, option) and not same_option(value, getattr(theirs, option)):
                raise ValueError(
                    f"{option}={value!r} contradicts {name}, which was made with {option}={getattr(theirs, option)!r}. "
                    f"Leave {option} at its default to take over the corpus's, or make the corpus again."
                )
        default_min_count = type(self)().min_count
        if self.min_count < corpus.min_count and self.min_count != default_min_count:
            raise ValueError(
                f"min_count={self.min_count} contradicts {name}, which left out words that occur fewer than "
                f"{corpus.min_count} times."
            )

    def _learn_vocabulary(self, corpus: SentenceCorpus) -> dict[str, Any]:
        """The words to learn, and the fitted attributes that follow from the text alone."""
        if corpus.n_sentences == 0:
            raise ValueError("The corpus has no sentence. Pass at least one.")
        vocabulary = corpus.vocabulary.prune(self.min_count, self.max_features)
        return {
            "vocabulary_": dict(vocabulary.index),
            "word_counts_": np.array(vocabulary.counts),
            "coverage_": float(vocabulary.counts.sum() / corpus.n_tokens),
            "_tokenizer": corpus.tokenizer,
        }

    def _encode(self, X: Any) -> EncodedSentences:
        """All sentences at once."""
        if isinstance(X, SentenceCorpus):
            self._check_corpus(X)
            return EncodedSentences(X.tokens, X.sent_ptr, X.vocabulary.words, self._rows_of(X.vocabulary.words))
        encoder = Encoder(self._tokenizer, Threads(count_threads(getattr(self, "n_jobs", None))))
        iter_sentences(X)
        ids, ptr = encoder.encode(X)
        return EncodedSentences(ids, ptr, encoder.words, self._rows_of(encoder.words))

    def _check_corpus(self, X: SentenceCorpus) -> None:
        if X.tokenizer != self._tokenizer:
            raise ValueError(
                f"X was made with {X.tokenizer}, but this {type(self).__name__} learned from text split with "
                f"{self._tokenizer}. Make the corpus with the same options."
            )

    def _rows_of(self, words: Sequence[str]) -> np.ndarray:
        return np.fromiter((self.vocabulary_.get(word, -1) for word in words), np.int64, len(words))


class PooledVectorizer(WordVectorInspection, TextVectorizer):
    """Base of the estimators whose sentence is a weighted sum or mean of word vectors."""

    pooling: str
    weighting: str | None
    unknown: str
    binary: bool = False  # an option of some

    def _word_weights(self, corpus: SentenceCorpus, vocabulary: dict[str, int]) -> dict[str, Any]:
        """Weights of the words in the sentence sum, and of a word that is not in the vocabulary."""
        if self.weighting is None:
            return {"word_weights_": np.ones(len(vocabulary), np.float32), "_unknown_weight": np.float32(1.0)}
        ids = corpus.vocabulary.ids_of(vocabulary)
        if self.weighting == "sif":
            counts = np.where(ids >= 0, np.append(corpus.vocabulary.counts, 0)[ids], 0)
            weights, unknown = SIF_A / (SIF_A + counts / max(1, corpus.n_tokens)), 1.0
        else:
            n_sentences = corpus.n_sentences
            frequencies = np.where(ids >= 0, np.append(corpus.sentence_frequencies(), 0)[ids], 0)
            weights = np.log((1 + n_sentences) / (1 + frequencies)) + 1
            unknown = np.log(1 + n_sentences) + 1
        return {"word_weights_": weights.astype(np.float32), "_unknown_weight": np.float32(unknown)}

    def transform(self, X: Any) -> Any:
        """Embed sentences.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences, in any order: the row of a sentence depends on that sentence and the model alone.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out), dtype float32
            A sentence without a word is a row of zeros; so is one of unknown words alone with ``unknown="zero"``.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        TypeError
            If an item is not a string; names the row.
        ValueError
            If `X` is one string or a table, or does not give as many sentences as it says to have.

        Warns
        -----
        UserWarning
            If far fewer of the words are known than of those of `fit`, and there are five sentences or more.
        """
        check_is_fitted(self)
        if not isinstance(X, SentenceCorpus):
            iter_sentences(X)  # before its length is asked for
        threads = Threads(count_threads(getattr(self, "n_jobs", None)))
        length = length_of(X)
        out = np.empty((length or 0, self._summed_vectors.shape[1]), np.float32)
        tally = Tally()

        def embed(piece: tuple[EncodedSentences | Batch, int]) -> np.ndarray:
            sentences, first_row = self._encode_piece(*piece), piece[1]
            tally.add(sentences)
            n_rows = len(sentences.ptr) - 1
            # Where it is known how many sentences there are, each thread writes where its rows belong.
            place = out[first_row : first_row + n_rows]
            return self._pool(sentences, place if len(place) == n_rows else None)

        embedded = list(threads.in_order(embed, self._pieces(X, threads), least=_LEAST_PIECES))
        tally.warn(self)
        if length is None:
            return np.concatenate([out, *embedded])
        n_rows = sum(map(len, embedded))
        if n_rows != len(out):
            raise ValueError(f"X says that it has {len(out)} sentences, but gives {n_rows}. Pass list(X).")
        return out

    def _pieces(self, X: Any, threads: Threads) -> Iterator[tuple[EncodedSentences | Batch, int]]:
        """Some sentences at a time, encoded or yet to be encoded, and the number of the first."""
        if isinstance(X, SentenceCorpus):
            self._check_corpus(X)
            words = X.vocabulary.words
            rows = self._rows_of(words)
            for part in iter_slices(X.sent_ptr, BATCH_LENGTH // 8):  # of words
                ptr = X.sent_ptr[part.start : part.stop + 1]
                yield EncodedSentences(X.tokens[ptr[0] : ptr[-1]], ptr - ptr[0], words, rows), part.start
            return
        batches = iter_pieces(X, self._tokenizer)
        n_rows = 0
        if self._tokenizer.is_compiled and self._tokenizer.stemmer is None and not self._tokenizer.stop_words:
            for batch in batches:
                yield batch, n_rows
                n_rows += len(batch)
            return
        encoder = Encoder(self._tokenizer, threads)
        rows = np.empty(0, np.int64)
        for ids, ptr, *_ in encoder.stream((batch, []) for batch in batches):
            rows = np.concatenate([rows, self._rows_of(encoder.words[len(rows) :])])
            yield EncodedSentences(ids, ptr, encoder.words, rows), n_rows
            n_rows += len(ptr) - 1

    def _encode_piece(self, piece: EncodedSentences | Batch, first_row: int) -> EncodedSentences:
        if isinstance(piece, EncodedSentences):
            return piece
        known, rows = known_words(self)
        ids, ptr, new = naming_rows(known.scan, piece, first_row)
        return EncodedSentences(ids, ptr, new, np.concatenate([rows, np.full(len(new), -1)]), len(rows))

    def _pool(self, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        """The rows of some sentences, written to `out` if that is given."""
        from ._pooling import sum_rows  # numba takes a while to import

        rows, weights, is_unknown, ptr = self._features(sentences)
        vectors = read_only(self._summed_vectors)
        others = vectors[:0]
        if is_unknown.any():
            unknown = np.flatnonzero(is_unknown)
            rows = rows.copy()
            if self.unknown == "hash":
                distinct, places = np.unique(rows[unknown], return_inverse=True)
                words = [sentences.words[i] for i in (distinct - sentences.first_word).tolist()]
                others = read_only(self._unknown_vectors(words))
                rows[unknown] = -1 - places
            else:
                rows[unknown] = -1
        if out is None:
            out = np.empty((len(ptr) - 1, vectors.shape[1]), np.float32)
        sum_rows(rows, weights, ptr, vectors, others, self.pooling == "mean", out)
        return out

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self.word_vectors_

    def _unknown_vectors(self, words: list[str]) -> np.ndarray:
        """Vectors of words that were never learned: a direction that depends on the word's text alone."""
        from ._pooling import hash_vectors  # numba takes a while to import

        vectors = hash_vectors(words, self._summed_vectors.shape[1])
        vectors *= self._unknown_length
        return vectors

    def _features(self, sentences: EncodedSentences) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What is summed: row of `word_vectors_` (or, where unknown, position in `words`), weight, unknown?, ptr."""
        sentences = self._counted(sentences)
        rows = sentences.rows[sentences.ids]
        is_unknown = rows < 0
        weights = np.where(is_unknown, self._unknown_weight, self.word_weights_[rows])
        return np.where(is_unknown, sentences.ids, rows), weights, is_unknown, sentences.ptr

    def _counted(self, sentences: EncodedSentences) -> EncodedSentences:
        """The words that count: all, or each once a sentence if the estimator has the option `binary`."""
        if not self.binary:
            return sentences
        from ._pooling import first_of_each  # numba takes a while to import

        ids, ptr = first_of_each(sentences.ids, sentences.ptr)
        return sentences._replace(ids=ids, ptr=ptr)

    def _length_of_unknown(self, vectors: np.ndarray) -> np.float32:
        """Length of a hashed vector: the median length of a learned row, so that it neither drowns nor shouts."""
        parts = (vectors[start : start + 10_000] for start in range(0, len(vectors), 10_000))  # norm makes a copy
        return np.float32(np.median(np.concatenate([row_norms(part) for part in parts])))


def read_only(rows: np.ndarray) -> np.ndarray:
    """The same numbers as the kernels take them: float32, row after row, not to be written to."""
    view = np.ascontiguousarray(rows, np.float32).view()
    view.flags.writeable = False
    return view


# Tables for the compiled tokenizer, one for each fitted estimator. They are no part of it: they can be made again, and
# neither a copy nor a file should hold them.
_TABLES: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()
_TABLES_LOCK = threading.Lock()


def known_words(estimator: Any) -> tuple[KnownWords, np.ndarray]:
    """Return the table of the estimator's vocabulary, and the row of each of its words."""
    vocabulary = estimator.vocabulary_
    with _TABLES_LOCK:
        found = _TABLES.get(estimator)
        if found is None or found[0] is not vocabulary or len(found[2]) != len(vocabulary):
            from ._word_scan import KnownWords  # numba takes a while to import

            rows = np.fromiter(vocabulary.values(), np.int64, len(vocabulary))
            found = _TABLES[estimator] = (vocabulary, KnownWords(list(vocabulary)), rows)
        return found[1:]


def warn_if_unordered(corpus: SentenceCorpus, longest: int | None, name: str) -> None:
    """The trap: sentences that lost their neighbours teach a context model nothing.

    One of more than ``longest`` words has its own parts as neighbours.
    """
    first = np.asarray(corpus.doc_ptr[:-1])[np.diff(corpus.doc_ptr) == 1]
    lengths = corpus.sent_ptr[first + 1] - corpus.sent_ptr[first]
    alone = len(lengths) if longest is None else int((lengths <= longest).sum())
    if 2 * alone > corpus.n_sentences:
        warnings.warn(
            f"{alone} of {corpus.n_sentences} sentences are alone in their document, so {name} has no context to "
            "learn them from. Shuffled or sampled sentences (as cross-validation makes them) have lost their "
            "neighbours: learn from the ordered text with corpus=SentenceCorpus.from_sentences(...), and let X be "
            "only what the next step of the pipeline learns from.",
            UserWarning,
            stacklevel=4,
        )
