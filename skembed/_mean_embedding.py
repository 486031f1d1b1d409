r"""Means and sums of word vectors (MOWE and SOWE), given or learned by word2vec with negative sampling.

The vectors may be weighted and freed of their common components as Arora, Liang and Ma (2017) do. Word2vec
(Mikolov et al., 2013) learns a source vector :math:`v` and a target vector :math:`u` of each word:

.. math::

    \text{skip-gram:} \quad \sum_{c \in C_i} \ell(u_c^T v_{w_i}) + \sum_{n} \ell(-u_n^T v_{w_i}), \qquad
    \text{CBOW:} \quad \ell(u_{w_i}^T \bar v_{C_i}) + \sum_{n} \ell(-u_n^T \bar v_{C_i})

where :math:`C_i` are the words at most :math:`b` places from word :math:`i`, :math:`b` drawn from 1 to `window`.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ._blocks import Edges, EncodedText, Plan, Rows, Update, largest_block, list_sentences, make_edges, update_edges
from ._corpus import SentenceCorpus
from ._kernels import (
    COMPILE,
    add_scaled,
    alias_draw,
    alias_table,
    barrier,
    below,
    dot,
    log_sigmoid,
    mean_square,
    random_bits,
    share,
    sigmoid,
    uniform,
)
from ._trained import TrainedVectorizer
from ._training import Matrix
from ._word_vectors import read_word_vectors


class Draws(NamedTuple):
    """What is drawn at random, and how often."""

    keep: np.ndarray  # (n_words,) float32, the probability that an occurrence of a word is kept
    threshold: np.ndarray  # (n_words,) float32, alias table of the negatives
    alias: np.ndarray  # (n_words,) int32
    window: int
    negative: int
    skipgram: bool


class Windows(NamedTuple):
    """Work space of one block."""

    first_token: np.ndarray  # (n_sentences_of_block + 1,) int64
    sentence: np.ndarray  # (n_sentences_of_block,) int64
    words: np.ndarray  # (n_tokens,) int32, the words that are kept
    source: Edges
    target: Edges
    loss: np.ndarray  # (n_sentences_of_block,) float64
    n_targets: np.ndarray  # (n_sentences_of_block + 1,) int64; the last is the number of sentences
    total: np.ndarray  # (2,) float64


@njit(**COMPILE)
def learn_word(words, i, near, sentence, source_weights, target_weights, draws, seed, source, target, place):
    """One position of a sentence against frozen weights; ``near`` is the size of its window. Returns the loss.

    Skip-gram predicts each word of the window from the vector of word i, with one set of negatives for all of them,
    counted as often as there are words in the window: the same expectation as a set for each, at a fraction of the
    cost. CBOW predicts word i from the mean of the window.
    """
    span = 2 * draws.window
    first_edge = place * (span + draws.negative)
    hidden, gradient = target.vectors[place], source.vectors[place]
    gradient[:] = 0.0
    hidden[:] = 0.0
    n_context = 0
    first, last = max(0, i - near), min(words.shape[0], i + near + 1)
    n_context = last - first - 1
    loss = 0.0
    edge = first_edge
    if draws.skipgram:
        hidden[:] = source_weights[words[i]]
        source.row[place * span] = words[i]
        source.vector[place * span] = place
        source.scale[place * span] = 1.0
    else:
        for c in range(first, last):
            if c != i:
                add_scaled(hidden, np.float32(1.0 / n_context), source_weights[words[c]])
                k = place * span + c - first
                source.row[k] = words[c]
                source.vector[k] = place
                source.scale[k] = np.float32(1.0 / n_context)
    for c in range(first, last):
        if (c != i) == draws.skipgram:
            word = words[c]
            z = dot(target_weights[word], hidden)
            loss -= log_sigmoid(z)
            error = np.float32(sigmoid(z) - 1.0)
            add_scaled(gradient, error, target_weights[word])
            target.row[edge], target.vector[edge], target.scale[edge] = word, place, error
            edge += 1
    times = n_context if draws.skipgram else 1
    for j in range(draws.negative):
        bits = random_bits(np.uint64(seed), np.uint64(5 + i), np.uint64(sentence), np.uint64(j))
        word = alias_draw(bits, draws.threshold, draws.alias)
        if word != words[i]:
            z = dot(target_weights[word], hidden)
            loss -= times * log_sigmoid(-z)
            error = np.float32(times * sigmoid(z))
            add_scaled(gradient, error, target_weights[word])
            target.row[edge], target.vector[edge], target.scale[edge] = word, place, error
            edge += 1
    target.square[place] = mean_square(hidden)
    source.square[place] = mean_square(gradient)
    return loss


@njit(**COMPILE)
def train_word2vec(text, source_rows, target_rows, draws, sc, plan, update, sync, thread, n_threads):
    n_passed = 0
    n_words = text.word_weight.shape[0]
    span = 2 * draws.window
    for block in range(plan.first_block, plan.last_block):
        if thread == 0:
            sc.n_targets[-1] = list_sentences(text, plan, block, sc.first_token, sc.sentence)
        n_passed = barrier(sync, n_threads, n_passed)
        n_sentences = sc.n_targets[-1]
        first, last = share(n_sentences, thread, n_threads)
        for s in range(first, last):
            sentence = sc.sentence[s]
            begin, end = sc.first_token[s], sc.first_token[s + 1]
            sc.source.row[begin * span : end * span] = -1
            sc.target.row[begin * (span + draws.negative) : end * (span + draws.negative)] = -1
            words = sc.words[begin:end]
            n = 0
            for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
                word = text.tokens[p]
                if word < n_words:
                    bits = random_bits(
                        np.uint64(plan.seed), np.uint64(3), np.uint64(sentence), np.uint64(p - text.sent_ptr[sentence])
                    )
                    if uniform(bits) < draws.keep[word]:
                        words[n] = word
                        n += 1
            words = words[:n]
            sc.loss[s] = 0.0
            sc.n_targets[s] = 0
            if n < 2:
                continue
            for i in range(n):
                bits = random_bits(np.uint64(plan.seed), np.uint64(4), np.uint64(sentence), np.uint64(i))
                near = 1 + below(bits, draws.window)
                sc.loss[s] += learn_word(
                    words,
                    i,
                    near,
                    sentence,
                    source_rows.weights,
                    target_rows.weights,
                    draws,
                    plan.seed,
                    sc.source,
                    sc.target,
                    begin + i,
                )
                sc.n_targets[s] += (min(n, i + near + 1) - max(0, i - near) - 1) if draws.skipgram else 1
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            for s in range(n_sentences):
                sc.total[0] += sc.loss[s]
                sc.total[1] += sc.n_targets[s]
        if update.learn:
            rate = np.float32(update.rate - update.rate_decay * (block - plan.first_block))
            n_tokens = sc.first_token[n_sentences]
            update_edges(source_rows, sc.source, n_tokens * span, update, rate, 0.0, thread)
            update_edges(target_rows, sc.target, n_tokens * (span + draws.negative), update, rate, 0.0, thread)
        n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class Word2VecObjective:
    """What `MeanEmbeddingVectorizer` brings to the training loop."""

    border = 0

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"].astype(np.float64)
        ratio = vectorizer.subsample * fitted["_n_tokens"] / np.maximum(counts, 1)
        keep = np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)
        drawn = np.power(counts, 0.75)  # the power that Mikolov et al. found best
        drawn /= max(drawn.sum(), 1e-300)
        threshold, alias = alias_table(drawn)
        self.draws = Draws(
            keep, threshold, alias, vectorizer.window, vectorizer.negative, vectorizer.algorithm == "skipgram"
        )
        kept = keep * counts
        targets = kept + drawn * kept.sum() * vectorizer.negative
        self.matrices = [
            Matrix(fitted["word_vectors_"], fitted["_accumulator"], kept),
            Matrix(fitted["target_vectors_"], fitted["_target_accumulator"], targets),
        ]

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int) -> Windows:
        n_sentences, n_tokens = largest_block(text, plan)
        n_components = self.matrices[0].weights.shape[1]
        span = 2 * self.draws.window
        return Windows(
            first_token=np.zeros(n_sentences + 1, np.int64),
            sentence=np.zeros(n_sentences, np.int64),
            words=np.zeros(n_tokens, np.int32),
            source=make_edges(n_tokens * span, n_tokens, n_components),
            target=make_edges(n_tokens * (span + self.draws.negative), n_tokens, n_components),
            loss=np.zeros(n_sentences, np.float64),
            n_targets=np.zeros(n_sentences + 1, np.int64),
            total=np.zeros(2, np.float64),
        )

    def run(self, text: EncodedText, rows: list[Rows], scratch: Windows, plan: Plan, update: Update, *threads: Any):
        train_word2vec(text, rows[0], rows[1], self.draws, scratch, plan, update, *threads)


class MeanEmbeddingVectorizer(TrainedVectorizer):
    __doc__ = """XX"""

    _parameter_constraints: dict[str, list[Any]] = {
        **TrainedVectorizer._parameter_constraints,
        "word_vectors": [Mapping, str, PathLike, HasMethods("get_params"), HasMethods("__getitem__"), None],
        "algorithm": [StrOptions({"skipgram", "cbow"})],
        "window": [Interval(Integral, 1, None, closed="left")],
        "negative": [Interval(Integral, 1, None, closed="left")],
        "subsample": [Interval(Real, 0.0, None, closed="neither")],
        "n_removed_components": [Interval(Integral, 0, None, closed="left")],
    }
    _default_batch_size = 64
    _run_length = 1

    def __init__(
        self,
        n_components: int = 100,
        *,
        word_vectors: Any = None,
        algorithm: str = "skipgram",
        window: int = 5,
        negative: int = 5,
        subsample: float = 1e-3,
        pooling: str = "mean",
        weighting: str | None = None,
        n_removed_components: int = 0,
        unknown: str = "zero",
        solver: str = "adagrad",
        learning_rate: float = 0.1,
        max_iter: int = 3,
        batch_size: int | str = "auto",
        min_count: int = 5,
        max_features: int | None = None,
        analyzer: Any = "word",
        token_pattern: str = r"(?u)\b\w+\b",
        lowercase: bool = True,
        stop_words: Any = None,
        stemmer: Any = None,
        corpus: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.word_vectors = word_vectors
        self.algorithm = algorithm
        self.window = window
        self.negative = negative
        self.subsample = subsample
        self.pooling = pooling
        self.weighting = weighting
        self.n_removed_components = n_removed_components
        self.unknown = unknown
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_count = min_count
        self.max_features = max_features
        self.analyzer = analyzer
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.corpus = corpus
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Any:
        """Learn word vectors, or take the given ones; then word weights and common components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. Where the parameter `corpus` is given, that is learned from and `X` is not.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence. Changes nothing here: a window of words never leaves its sentence.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        corpus = self._corpus_to_learn_from(X, groups)
        if self.word_vectors is not None:
            self._take_word_vectors(corpus, read_word_vectors(self.word_vectors))
        else:
            keep = self.warm_start and hasattr(self, "target_vectors_")
            fitted = self._keep_vocabulary(corpus) if keep else self._start(corpus)
            self._train(corpus, fitted, X=X, n_epochs=self.max_iter, partial=False)
        self._remove_components(corpus, fresh=True)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Any:
        """Make one pass over some more sentences.

        The first call decides the vocabulary and the word weights. With given `word_vectors`, later calls only
        refine the common components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        corpus = self._corpus_to_learn_from(X, groups)
        first = not hasattr(self, "vocabulary_")
        if self.word_vectors is None:
            fitted = self._start(corpus) if first else self._keep_vocabulary(corpus)
            self._train(corpus, fitted, X=X, n_epochs=1, partial=True)
        elif first:
            self._take_word_vectors(corpus, read_word_vectors(self.word_vectors))
        self._remove_components(corpus, fresh=first)
        return self

    def _take_word_vectors(self, corpus: SentenceCorpus, source: tuple[list[str], np.ndarray, Any]) -> None:
        words, vectors, _ = source
        if self.n_removed_components >= vectors.shape[1]:
            raise ValueError(
                f"n_removed_components={self.n_removed_components} would leave nothing of vectors with "
                f"{vectors.shape[1]} components."
            )
        vocabulary = {word: row for row, word in enumerate(words)}
        index = corpus.vocabulary.index
        ids = np.fromiter((index.get(word, -1) for word in words), np.int64, len(words))
        counts = np.where(ids >= 0, np.append(corpus.vocabulary.counts, 0)[ids], 0)
        fitted = self._word_weights(corpus, vocabulary) | {
            "vocabulary_": vocabulary,
            "word_counts_": counts,
            "word_vectors_": vectors,
            "n_features_out_": vectors.shape[1],
            "n_iter_": 0,
            "loss_curve_": [],
            "validation_loss_curve_": [],
            "_tokenizer": corpus.tokenizer,
            "_unknown_length": self._length_of_unknown(vectors),
        }
        for name, value in fitted.items():
            setattr(self, name, value)

    def _start_weights(self, fitted: dict[str, Any]) -> dict[str, Any]:
        n_words = len(fitted["word_counts_"])
        if self.n_removed_components >= self.n_components:
            raise ValueError(
                f"n_removed_components={self.n_removed_components} must be smaller than "
                f"n_components={self.n_components}."
            )
        return super()._start_weights(fitted) | {
            "target_vectors_": np.zeros((n_words, self.n_components), np.float32),
            "_target_accumulator": np.zeros(n_words, np.float32),
        }

    def _make_objective(self, fitted: dict[str, Any]) -> Word2VecObjective:
        return Word2VecObjective(self, fitted)

    def _remove_components(self, corpus: SentenceCorpus, *, fresh: bool) -> None:
        """Find the strongest common directions of the sentences, uncentred, and free the word vectors of them.

        Taking them out of every word vector takes them out of every sentence, and leaves a sentence's row
        independent of the other rows. Their second moments are summed over calls of `partial_fit`.
        """
        n_features = self.n_features_out_
        if fresh or not hasattr(self, "_moments"):
            self._moments = np.zeros((n_features, n_features))
        self.components_ = np.zeros((0, n_features), np.float32)
        self._freed_vectors = self.word_vectors_
        if self.n_removed_components == 0:
            return
        step = 10_000
        for start in range(0, corpus.n_sentences, step):
            rows = np.asarray(self._pool(self._encode(corpus[start : start + step])), np.float64)
            self._moments += rows.T @ rows
        _, directions = np.linalg.eigh(self._moments)
        components = directions[:, ::-1][:, : self.n_removed_components].T
        # The sign of an eigenvector is arbitrary; fix it, so that results repeat.
        components *= np.sign(components[np.arange(len(components)), np.abs(components).argmax(axis=1)])[:, None]
        self.components_ = np.ascontiguousarray(components, np.float32)
        self._freed_vectors = self._free(self.word_vectors_)

    def _free(self, vectors: np.ndarray) -> np.ndarray:
        vectors = vectors.copy()
        for component in self.components_:
            # Row by row, not as a matrix product, whose last bits may depend on the number of rows.
            vectors -= (vectors * component).sum(axis=1, keepdims=True) * component
        return vectors

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self._freed_vectors

    def _unknown_vectors(self, words: list[str]) -> np.ndarray:
        return self._free(super()._unknown_vectors(words))
