r"""Siamese CBOW (Kenter, Borisov and de Rijke, 2016, equation 1).

A sentence is the mean of its words' vectors. The softmax over the cosines with its neighbours and with ``n`` random
sentences that are not its neighbours is to be ``1 / |S+|`` on each neighbour:

.. math::

    p(s_i, s_j) = \frac{\exp(\cos(s_i, s_j) / \tau)}{\sum_{r \in S^+ \cup S^-} \exp(\cos(s_i, s_r) / \tau)}, \qquad
    L = -\sum_i \sum_{j \in S^+_i} \frac{1}{|S^+_i|} \log p(s_i, s_j)
"""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from sklearn.utils._param_validation import Interval

from ._blocks import (
    Scores,
    Slots,
    add_losses,
    asking_target,
    draw_targets,
    is_neighbour,
    make_scores,
    make_slots,
    random_target,
    sum_sentences,
)
from ._compile import LEAN, PASTE, lean_kernel
from ._kernels import barrier, share
from ._limits import INT64_MAX, integers
from ._runs import EncodedText, Plan, block_runs, place_runs
from ._touches import Rows, Touches, Update, update_rows
from ._trained import TrainedVectorizer
from ._training import Matrix
from ._vectors import ONE, add_scaled, combine, copy_scaled, dots, mean_square, prefetch_all, softmax
from ._work_space import ARRAYS, Arrays


class Pairs(NamedTuple):
    """Work space of one block's pairs of sentences."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    slots: Slots
    touches: Touches  # its vectors are the gradients of the slots
    unit: np.ndarray  # (n_slots, n_components) float32, the sums scaled to length one
    norm: np.ndarray  # (n_slots,) float32, the lengths they had
    source_gradient: np.ndarray  # (n_targets, n_components) float32, gradient of the unit vector in the source role
    error: np.ndarray  # (n_targets, 2 * window + 1 + negative) float32
    scores: Scores
    offsets: np.ndarray  # (n_threads, negative) int64
    loss: np.ndarray  # (n_targets,) float64
    total: np.ndarray  # (2,) float64


@njit(**LEAN)
def scale_to_length_one(slots, pairs, first, last):
    for slot in range(first, last):
        if slots.document[slot] >= 0:
            square = mean_square(slots.sums, slot) * np.float32(slots.sums.shape[1])
            if square == 0.0:
                # No direction: the sentence takes no part.
                slots.document[slot] = -1
            else:
                pairs.norm[slot] = np.sqrt(square)
                copy_scaled(pairs.unit, slot, ONE / pairs.norm[slot], slots.sums, slot)


@njit(**PASTE)
def score_pairs(plan, slots, pairs, draws, inverse_temperature, thread, n_threads):
    """Phase 2: each target against its neighbours and the random sentences, eq. 1."""
    first, last = share(draws.n_targets, thread, n_threads)
    span = 2 * plan.border + 1
    values, flat, place = pairs.scores.values, pairs.scores.flat, thread * pairs.scores.values.shape[1]
    candidates, column = pairs.scores.which, pairs.scores.column
    for i in range(first, last):
        slot = slots.of_target[i]
        pairs.loss[i] = -1.0
        n = n_positive = np.int64(0)
        for c in range(span + draws.n_random):
            pairs.error[i, c] = 0.0
            is_near = c < span
            q = slot + c - plan.border if is_near else slots.of_target[random_target(draws, i, c - span)]
            if min(slots.document[slot], slots.document[q]) >= 0 and is_neighbour(slots, plan, slot, q) == is_near:
                candidates[place + n], column[place + n] = q, c
                n += 1
                n_positive += is_near
        if n_positive == 0:
            continue
        dots(values, thread, pairs.unit, slot, pairs.unit, candidates, place, n)
        true_score = np.float32(0.0)
        for c in range(n):
            values[thread, c] *= inverse_temperature
            if c < n_positive:
                true_score += values[thread, c]
        pairs.loss[i] = softmax(values, thread, n) - true_score / n_positive
        for c in range(n):
            if c < n_positive:
                values[thread, c] -= np.float32(1.0 / n_positive)
            values[thread, c] *= inverse_temperature
            pairs.error[i, column[place + c]] = values[thread, c]
        combine(pairs.source_gradient, i, flat, place, pairs.unit, candidates, place, n)


@njit(**PASTE)
def gather_gradients(plan, slots, pairs, draws, n_slots, thread, n_threads):
    """Phase 3: a sentence's gradient from its roles as source, as random sentence and as neighbour."""
    width = plan.run_length + 2 * plan.border
    span = 2 * plan.border + 1
    first, last = share(n_slots, thread, n_threads)
    index, place = pairs.scores.which, thread * pairs.scores.values.shape[1]
    flat, gradients = pairs.scores.flat, pairs.touches.vectors
    prefetch_all(pairs.error)
    for slot in range(first, last):
        pairs.touches.square[slot] = 0.0
        if slots.document[slot] < 0:
            continue
        run, position = slot // width, slot % width
        i, is_target = run * plan.run_length + position - plan.border, 0 <= position - plan.border < plan.run_length
        n = np.int64(0)
        if is_target:
            for r in range(draws.n_random):
                t = asking_target(draws, i, r)
                if pairs.error[t, span + r] != 0.0:
                    index[place + n], flat[place + n] = slots.of_target[t], pairs.error[t, span + r]
                    n += 1
        for j in range(max(0, position - 2 * plan.border), min(plan.run_length, position + 1)):
            t = run * plan.run_length + j
            source = slots.of_target[t]
            error = pairs.error[t, slot - source + plan.border]
            if error != 0.0:
                index[place + n], flat[place + n] = source, error
                n += 1
        combine(gradients, slot, flat, place, pairs.unit, index, place, n)
        if is_target and pairs.loss[i] != -1.0:
            add_scaled(gradients, slot, ONE, pairs.source_gradient, i)
        # From the unit vector u = s / |s| back to the sentence: ds = (du - (du . u) u) / |s|
        index[place] = slot
        dots(pairs.scores.values, thread, gradients, slot, pairs.unit, index, place, np.int64(1))
        add_scaled(gradients, slot, -flat[place], pairs.unit, slot)
        copy_scaled(gradients, slot, ONE / pairs.norm[slot], gradients, slot)
        pairs.touches.square[slot] = mean_square(gradients, slot)


@lean_kernel
def train_siamese_cbow(text, rows, mean, inverse_temperature, pairs, plan, update, sync, thread, n_threads):
    slots = pairs.slots
    n_passed = np.int64(0)
    for block in range(plan.first_block, plan.last_block):
        first_run, last_run = block_runs(plan, block)
        n_targets = (last_run - first_run) * plan.run_length
        n_slots = (last_run - first_run) * (plan.run_length + 2 * plan.border)
        draws = draw_targets(plan, block, n_targets, pairs.offsets[thread])
        n_passed = sum_sentences(
            text, rows, mean, plan, block, pairs.run_ptr, slots, pairs.touches, sync, n_passed, thread, n_threads
        )
        scale_to_length_one(slots, pairs, *share(n_slots, thread, n_threads))
        n_passed = barrier(sync, n_threads, n_passed)
        score_pairs(plan, slots, pairs, draws, inverse_temperature, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            add_losses(pairs.loss, n_targets, pairs.total)
        if update.learn:
            gather_gradients(plan, slots, pairs, draws, n_slots, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
            rate = np.float32(update.rate - update.rate_decay * block)
            update_rows(rows, pairs.touches, update, rate, 0.0, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class SiameseCBOWObjective:
    """What `SiameseCBOWVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"]
        self.matrices = [Matrix(fitted["word_vectors_"], fitted["_accumulator"], lambda: counts.astype(np.float64))]
        self.border = int(vectorizer.window)
        self.negative = int(vectorizer.negative)
        self.mean = vectorizer.pooling == "mean"
        self.inverse_temperature = np.float32(1.0 / vectorizer.temperature)

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Arrays = ARRAYS) -> Pairs:
        n_targets = plan.runs_per_block * plan.run_length
        negative = min(self.negative, n_targets - 1)  # a block has no more strangers
        n_components = self.matrices[0].weights.shape[1]
        run_ptr, n_words = place_runs(text, plan)
        slots, touches = make_slots(plan, n_words, n_components, n_threads, make)
        n_candidates = 2 * plan.border + 1 + negative
        return Pairs(
            run_ptr=run_ptr,
            slots=slots,
            touches=touches,
            unit=make.zeros((len(slots.sentence), n_components), np.float32),
            norm=make.zeros((len(slots.sentence),), np.float32),
            source_gradient=make.zeros((n_targets, n_components), np.float32),
            error=make.zeros((n_targets, n_candidates), np.float32),
            scores=make_scores(n_candidates, n_threads, make),
            offsets=make.zeros((n_threads, negative), np.int64),
            loss=make.zeros((n_targets,), np.float64),
            total=make.zeros((2,), np.float64),
        )

    def run(
        self, text: EncodedText, rows: list[Rows], scratch: Pairs, plan: Plan, update: Update, *threads: Any
    ) -> None:
        train_siamese_cbow(text, rows[0], self.mean, self.inverse_temperature, scratch, plan, update, *threads)


class SiameseCBOWVectorizer(TrainedVectorizer):
    r"""Sentence embeddings learned by telling neighbours from strangers by cosine: Siamese CBOW [1]_.

    A sentence is the mean of its words' vectors. The vectors are learned so that its cosine with the sentence before
    and after it is larger than with random ones. Use it where you have text in reading order and compare sentences by
    cosine. `temperature` matters more than any other parameter.

    Read more in the :ref:`User Guide <siamese_cbow>`.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors. The paper uses 300.
    window : int, default=1
        Sentences on each side that count as neighbours; the paper takes 1. They are of the same document.
    negative : int, default=10
        Random sentences, not neighbours, to compare with. The paper uses 2.
    temperature : float, default=0.1
        Divides the cosines before the softmax; from 1e-4 to 1e4. The paper has none, that is 1, but cosines are at
        most 1, and then even a perfect model is unsure.
    pooling : {"mean", "sum"}, default="mean"
        Mean (the paper) or sum of the words of a sentence. Cosines are the same, so only the rows' length changes.
    weighting : {"idf", "sif"} or None, default=None
        Weight of a word in that mean, in training and transform alike. "idf" is ``log((1 + n) / (1 + df)) + 1`` for a
        word that ``df`` of ``n`` sentences hold, "sif" is ``a / (a + f)`` with ``a = 0.001`` and the word's share
        ``f`` of the text [2]_. None, as in the paper, means 1.
    unknown : {"zero", "hash"}, default="hash"
        What becomes of a word that was not learned. "zero", as in the paper, leaves it out. "hash" gives it a random
        direction that depends on its text alone, so that it still matches itself.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" divides the steps of a word by the root of its summed squared gradients, one sum a word. "sgd", the
        paper's, takes plain steps at a rate that falls linearly to zero over `max_iter` passes.
    learning_rate : float, default=0.1
        Size of the steps, above 0. The two solvers need different values. The paper uses 0.0001 for "sgd".
    max_iter : int, default=5
        Passes over the text. The paper makes 1.
    batch_size : int or "auto", default="auto"
        Sentences in a block, computed from the same weights; the paper has 100. "auto" is 1/64 of them, 16 to 512.
    max_sentence_length : int or None, default=32
        Words above which a sentence is learned from as several: its parts, of about equal length, are neighbours of
        each other. None never splits, as in the paper, and neither does `transform`.
    min_count : int, default=5
        Words that occur less often are not learned. The paper uses 5.
    max_features : int or None, default=None
        Learn only this many of the most frequent words.
    analyzer : "word" or callable, default="word"
        "word" splits text by `token_pattern`. A callable returns the words of an item; the next three are not used.
    token_pattern : str, default=r"(?u)\\b\\w+\\b"
        Regular expression of a word.
    lowercase : bool, default=True
        Whether text is lowered before it is split.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs the library snowballstemmer), or a function from a word to its stem.
    corpus : SentenceCorpus or None, default=None
        Text to learn from, whatever `X` is given to `fit`: see Notes.
    early_stopping : bool, default=False
        Hold out part of the text, stop when its loss no longer falls, and keep the best weights.
    validation_fraction : float, default=0.1
        Share of the sentences to hold out, between 0 and 1. Whole documents where there are 20 or more.
    n_iter_no_change : int, default=3
        Stop after this many passes in a row in which the held-out loss did not fall by more than `tol`.
    tol : float, default=1e-4
        Smallest fall of the held-out loss that counts.
    warm_start : bool, default=False
        Whether `fit` goes on from the vocabulary and the weights of the last fit.
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and the negatives.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The learned words and their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Share of the words of that text that are in the vocabulary.
    word_weights_ : ndarray of shape (n_words,), dtype float32
        Weight of each word, by `weighting`.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a sentence in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_ : int
        Number of passes made.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    CBOSVectorizer : Compares with the mean of all neighbours at once, by dot product.

    Notes
    -----
    *Order.* Cross-validation and ``train_test_split`` take sentences out of reading order; `fit` warns if it gets
    labels. Pass the ordered text as `corpus`: each fold learns from that, and `X` is only transformed.

    *The published program.* It leaves words of earlier, longer sentences in its batches and cuts word numbers to 16
    bits; both are errors, and not repeated here. It takes negatives that may be neighbours, and crosses the borders of
    documents; here neither happens. A sentence at a border has one neighbour, with target probability 1.

    *Blocks.* A block is a random sample of short runs of the text. Negatives are sentences of its other runs. A row
    with c > 8 updates in one block takes steps of 8/c the size. Gradients are added, where the program averages them.

    *The paper's own setting:* ``SiameseCBOWVectorizer(300, window=1, negative=2, temperature=1.0, pooling="mean",
    weighting=None, unknown="zero", solver="sgd", learning_rate=0.0001, max_iter=1, batch_size=100,
    max_sentence_length=None, min_count=5)``.

    References
    ----------
    .. [1] T. Kenter, A. Borisov and M. de Rijke, "Siamese CBOW: Optimizing Word Embeddings for Sentence
       Representations", ACL, 2016.
    .. [2] Sanjeev Arora, Yingyu Liang and Tengyu Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
       ICLR, 2017.

    Examples
    --------
    >>> from skembed import SiameseCBOWVectorizer
    >>> sentences = ["The cat sleeps.", "The cat drinks milk.", "Stocks fell.", "The market closed lower."] * 50
    >>> documents = [i // 2 for i in range(200)]
    >>> emb = SiameseCBOWVectorizer(n_components=16, max_iter=10, random_state=0).fit(sentences, groups=documents)
    >>> emb.similarity("cat sleeps", "drinks milk") > emb.similarity("cat sleeps", "market closed")
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **TrainedVectorizer._parameter_constraints,
        "max_sentence_length": [integers(2, INT64_MAX), None],
        "window": [integers(1)],
        "negative": [integers(1)],
        "temperature": [Interval(Real, 1e-4, 1e4, closed="both")],
    }
    _needs_order = True
    _default_batch_size = 512
    _run_length = 8

    def __init__(
        self,
        n_components: int = 100,
        *,
        window: int = 1,
        negative: int = 10,
        temperature: float = 0.1,
        pooling: str = "mean",
        weighting: str | None = None,
        unknown: str = "hash",
        solver: str = "adagrad",
        learning_rate: float = 0.1,
        max_iter: int = 5,
        batch_size: int | str = "auto",
        max_sentence_length: int | None = 32,
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
        self.window = window
        self.negative = negative
        self.temperature = temperature
        self.pooling = pooling
        self.weighting = weighting
        self.unknown = unknown
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.max_sentence_length = max_sentence_length
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

    def _start_limit(self) -> float:
        return 0.01 * 3**0.5  # uniform numbers with the standard deviation of the paper's normal ones

    def _make_objective(self, fitted: dict[str, Any]) -> SiameseCBOWObjective:
        return SiameseCBOWObjective(self, fitted)
