"""Two methods that sum no rows, for tests of the core: one with a dense matrix, one whose inference iterates."""

from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skembed._base.trained import TrainedVectorizer
from skembed._compiled.arrays import read_only
from skembed._training.dense import DenseObjective, Gradients, RowGradients
from skembed._training.encoded_text import SentenceBlocks, WordBlocks
from skembed._training.learned_arrays import LearnedArray, start_uniform
from skembed._training.state import Fitted
from skembed._word_vectors.bag import MEAN, SUM, content_seeds, sum_rows

SOLVERS = [StrOptions({"adam", "adagrad", "sgd"})]


def known_words(text, sentences):
    """Words of some sentences that are in the vocabulary, and the position in `sentences` of each."""
    tokens = [text.tokens[text.sent_ptr[i] : text.sent_ptr[i + 1]] for i in sentences]
    owner = np.repeat(np.arange(len(sentences)), [len(words) for words in tokens])
    words = np.concatenate([np.zeros(0, np.int64), *tokens]).astype(np.int64)
    known = words < len(text.word_weight)
    return words[known], owner[known]


def keep_offered(cls):
    """Leave out the constraints of parameters that a class does not offer."""
    for name in set(cls._parameter_constraints) - set(cls._get_param_names()):
        cls._parameter_constraints.pop(name)


class MapObjective(DenseObjective):
    """The mean of a sentence's rows, times a matrix, tells the mean of the next sentence from the others of its chunk.

    With labels, sentences of the label of the next one are not compared.
    """

    blocks = SentenceBlocks(border=0, largest=64)
    chunk_length = 16

    def __init__(self, fitted):
        self.fitted = fitted

    def gradients(self, chunk, learn):
        rows, matrix = self.fitted["word_vectors_"], self.fitted["matrix_"]
        text, first = chunk.text, chunk.sentences
        first = first[first + 1 < len(text.document)]
        has_words = np.diff(text.sent_ptr) > 0
        pairs = (text.document[first] == text.document[first + 1]) & has_words[first] & has_words[first + 1]
        first = first[pairs]
        if not len(first):
            return Gradients(0.0, 0, {})
        bags = [known_words(text, sentences) for sentences in (first, first + 1)]
        weights = [1 / np.maximum(np.bincount(owner, minlength=len(first)), 1).astype(rows.dtype) for _, owner in bags]
        means = [np.zeros((len(first), rows.shape[1]), rows.dtype) for _ in bags]
        for mean, weight, (words, owner) in zip(means, weights, bags):
            np.add.at(mean, owner, weight[owner, None] * rows[words])
        scores = means[0] @ matrix @ means[1].T
        for labels in text.annotations:
            same = labels[first + 1][:, None] == labels[first + 1]
            scores[same & ~np.eye(len(first), dtype=bool)] = -np.inf
        top = scores.max(axis=1, keepdims=True)
        error = np.exp(scores - top)
        total = error.sum(axis=1, keepdims=True)
        loss = float((np.log(total[:, 0]) + top[:, 0] - np.diag(scores)).sum())
        if not learn:
            return Gradients(loss, len(first), {})
        error = error / total - np.eye(len(first), dtype=rows.dtype)
        of_means = error @ means[1] @ matrix.T, error.T @ means[0] @ matrix
        touched = [
            (words, weight[owner, None] * of[owner]) for (words, owner), weight, of in zip(bags, weights, of_means)
        ]
        of_rows = RowGradients(*map(np.concatenate, zip(*touched)))
        return Gradients(loss, len(first), {"word_vectors_": of_rows, "matrix_": means[0].T @ error @ means[1]})


class MapVectorizer(TrainedVectorizer):
    """A sentence is the mean of its words' rows times a matrix. `y` are optional labels."""

    _parameter_constraints = {**TrainedVectorizer._parameter_constraints, "solver": SOLVERS, "frozen": ["boolean"]}
    word_vectors_, matrix_ = Fitted(), Fitted()
    _needs_order = True

    def __init__(
        self,
        n_components=8,
        *,
        frozen=False,
        solver="adam",
        learning_rate=0.01,
        max_iter=5,
        batch_size="auto",
        min_count=1,
        corpus=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=3,
        warm_start=False,
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.frozen = frozen
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_count = min_count
        self.corpus = corpus
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learned_arrays(self, state):
        n, options = self.n_components, ("n_components", "solver", "frozen")
        shape = len(state.word_counts_), n
        return [
            LearnedArray("word_vectors_", shape, start_uniform(1.0), options=options, frozen=self.frozen),
            LearnedArray("matrix_", (n, n), start_uniform(1.0), "dense", options),
        ]

    def _make_objective(self, state):
        return MapObjective(state.arrays)

    def _sentence_targets(self, corpus, y):
        return () if y is None else (np.unique(np.asarray(y), return_inverse=True)[1],)

    def _vectors_of(self, state, sentences, out=None):
        rows, matrix = (read_only(state.arrays[name]) for name in ("word_vectors_", "matrix_"))
        n, d = len(sentences.ptr) - 1, len(matrix)
        words = sentences.rows[sentences.ids]
        means, result = np.empty((n, d), np.float32), np.empty((n, d), np.float32) if out is None else out
        sum_rows(words, np.ones(len(words), np.float32), sentences.ptr, rows, rows[:0], MEAN, means)
        # The product as sums of the rows of the matrix: BLAS may round a row differently in another batch.
        columns, ptr = np.tile(np.arange(d), n), np.arange(n + 1) * d
        sum_rows(columns, means.ravel(), ptr, matrix, matrix[:0], SUM, result)
        return result


keep_offered(MapVectorizer)


N_STEPS, STEP, RIDGE = 12, np.float32(0.3), np.float32(0.1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def find_vector(vectors, signs):
    """The vector of a sentence, by gradient steps on `vector_loss` with frozen output vectors of words and noise."""
    found = np.zeros(vectors.shape[1], vectors.dtype)
    rate = STEP / np.float32(np.sqrt(max(len(signs), 1)))
    for _ in range(N_STEPS):
        found = found + rate * ((signs * sigmoid(-signs * (vectors @ found))) @ vectors - RIDGE * found)
    return found


def vector_loss(found, vectors, signs):
    """Logistic loss: the vector tells the words of its sentence, sign 1, from noise, sign -1."""
    return float(np.logaddexp(0, -signs * (vectors @ found)).sum())


class ParagraphObjective(DenseObjective):
    """The vector that inference finds for a sentence should predict its words; the output vectors are learned."""

    blocks = WordBlocks(usual=32)
    chunk_length = 8

    def __init__(self, state):
        self.state = state
        counts = state.word_counts_
        self.cumulated = np.cumsum(counts) / counts.sum()

    def draw_noise(self, seed, n_words):
        """As many noise words as words, a function of the sentence."""
        draws = np.random.default_rng(seed).random(n_words)
        return np.minimum(np.searchsorted(self.cumulated, draws, side="right"), len(self.cumulated) - 1)

    def words_and_noise(self, rows, ptr):
        """For each sentence its known words and noise as rows, and their signs."""
        seeds = content_seeds(rows, ptr, self.state.seed)
        for seed, start, end in zip(seeds, ptr, ptr[1:]):
            words = rows[start:end][rows[start:end] >= 0]
            listed = np.concatenate([words, self.draw_noise(seed, len(words))])
            yield listed, np.repeat(np.array([1, -1], np.float32), len(words))

    def gradients(self, chunk, learn):
        output = self.state.arrays["output_vectors_"]
        words, owner = known_words(chunk.text, chunk.sentences)
        ptr = np.searchsorted(owner, np.arange(len(chunk.sentences) + 1))
        loss, touched = 0.0, []
        for rows, signs in self.words_and_noise(words, ptr):
            vectors = output[rows]
            found = find_vector(vectors, signs)
            loss += vector_loss(found, vectors, signs)
            touched.append((rows, (-signs * sigmoid(-signs * (vectors @ found)))[:, None] * found))
        of = {"output_vectors_": RowGradients(*map(np.concatenate, zip(*touched)))} if learn and len(words) else {}
        return Gradients(loss, 2 * len(words), of)


class ParagraphVectorizer(TrainedVectorizer):
    """A sentence is the vector that predicts its words best, found by a fixed number of gradient steps."""

    _parameter_constraints = {
        **TrainedVectorizer._parameter_constraints,
        "solver": SOLVERS,
        "max_sentence_length": [Interval(Integral, 2, None, closed="left"), None],
    }
    output_vectors_ = Fitted()

    def __init__(
        self,
        n_components=8,
        *,
        solver="adagrad",
        learning_rate=0.3,
        max_iter=5,
        batch_size="auto",
        max_sentence_length=None,
        min_count=1,
        corpus=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=3,
        warm_start=False,
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.max_sentence_length = max_sentence_length
        self.min_count = min_count
        self.corpus = corpus
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learned_arrays(self, state):
        shape = len(state.word_counts_), self.n_components
        return [LearnedArray("output_vectors_", shape, start_uniform(0.5), options=("n_components", "solver"))]

    def _make_objective(self, state):
        return ParagraphObjective(state)

    def _vectors_of(self, state, sentences, out=None):
        objective = ParagraphObjective(state)
        n = len(sentences.ptr) - 1
        result = np.empty((n, state.n_features_out_), np.float32) if out is None else out
        found = objective.words_and_noise(sentences.rows[sentences.ids], sentences.ptr)
        for row, (listed, signs) in zip(result, found):
            row[:] = find_vector(state.arrays["output_vectors_"][listed], signs)
        return result


keep_offered(ParagraphVectorizer)
