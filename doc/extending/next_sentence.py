r"""A method of one's own: logistic regression says which sentence comes next.

With :math:`s_i` the sum of the words' vectors of sentence :math:`i`, :math:`M_i` some random sentences of the block,
and :math:`\ell(x) = \log(1 + e^{-x})`, the loss is

.. math::

    L = \sum_i \Big( \ell(s_i \cdot s_{i+1}) + \sum_{j \in M_i} \ell(-s_i \cdot s_j) \Big)
"""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numba import njit
from sklearn.utils._param_validation import Interval

from skembed._base.pooled import PooledVectorizer
from skembed._base.trained import TrainedVectorizer
from skembed._compiled.buffers import ARRAYS
from skembed._compiled.compile import LEAN, lean_kernel
from skembed._compiled.rows import combine, dots, logistic
from skembed._compiled.sync import barrier, share
from skembed._training.encoded_text import block_runs, place_runs
from skembed._training.learned_arrays import LearnedArray, uniform
from skembed._training.plan import SentenceBlocks
from skembed._training.sentence_blocks import (
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
from skembed._training.trainer import Matrix
from skembed._training.updates import Touches, update_rows


class Pairs(NamedTuple):
    """Work space of one block of sentences."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    slots: Slots
    touches: Touches  # its vectors are the gradients of the slots
    error: (
        np.ndarray
    )  # (n_targets, 1 + negative) float32: dL / d(s_i . s_j) of the next sentence and of the random ones
    scores: Scores
    offsets: np.ndarray  # (n_threads, negative) int64
    loss: np.ndarray  # (n_targets,) float64
    total: np.ndarray  # (2,) float64: sum of the losses, number of targets


@njit(**LEAN)
def score_pairs(plan, slots, pairs, draws, thread, n_threads):
    """Score each sentence against the next one and against the random ones: losses and errors."""
    scores, which, column = pairs.scores.values, pairs.scores.which, pairs.scores.column
    place = thread * scores.shape[1]  # of this thread's room in the lists
    first, last = share(draws.n_targets, thread, n_threads)
    for i in range(first, last):
        slot = slots.of_target[i]
        pairs.loss[i] = -1.0  # no target, unless there is a next sentence
        for c in range(pairs.error.shape[1]):
            pairs.error[i, c] = 0.0
        if plan.border == 0 or not is_neighbour(slots, plan, slot, slot + 1):
            continue
        which[place], column[place] = slot + 1, 0
        n = 1
        for r in range(draws.n_random):
            q = slots.of_target[random_target(draws, i, r)]
            if slots.document[q] >= 0 and not is_neighbour(slots, plan, slot, q):
                which[place + n], column[place + n] = q, 1 + r
                n += 1
        dots(scores, thread, slots.sums, slot, slots.sums, which, place, n)
        # `logistic` turns x into the derivative of log(1 + exp(x)), which suits the random sentences; the next one
        # wants log(1 + exp(-x)).
        scores[thread, 0] *= np.float32(-1.0)
        pairs.loss[i] = logistic(scores, thread, n)
        scores[thread, 0] *= np.float32(-1.0)
        for c in range(n):
            pairs.error[i, column[place + c]] = scores[thread, c]


@njit(**LEAN)
def gather_gradients(plan, slots, pairs, draws, n_slots, thread, n_threads):
    """Add up the gradient of each sentence: as the one that asks, as a random one, and as the next one."""
    weight, which = pairs.scores.flat, pairs.scores.which
    place = thread * pairs.scores.values.shape[1]
    width = plan.run_length + 2 * plan.border
    first, last = share(n_slots, thread, n_threads)
    for slot in range(first, last):
        pairs.touches.square[slot] = 0.0
        if slots.document[slot] < 0:
            continue
        n = 0
        position = slot % width - plan.border
        i = slot // width * plan.run_length + position
        if 0 <= position < plan.run_length:
            which[place], weight[place] = min(slot + 1, n_slots - 1), pairs.error[i, 0]
            n = 1
            for r in range(draws.n_random):
                asked, asking = random_target(draws, i, r), asking_target(draws, i, r)
                which[place + n], weight[place + n] = slots.of_target[asked], pairs.error[i, 1 + r]
                which[place + n + 1], weight[place + n + 1] = slots.of_target[asking], pairs.error[asking, 1 + r]
                n += 2
        if 0 < position <= plan.run_length:
            which[place + n], weight[place + n] = slot - 1, pairs.error[i - 1, 0]
            n += 1
        square = combine(pairs.touches.vectors, slot, weight, place, slots.sums, which, place, n)
        pairs.touches.square[slot] = square


@lean_kernel
def train_next_sentence(text, rows, pairs, plan, update, sync, thread, n_threads):
    """Work through the blocks of the plan. All threads are in here at once and meet at the barriers."""
    slots = pairs.slots
    n_passed = np.int64(0)
    for block in range(plan.first_block, plan.last_block):
        first_run, last_run = block_runs(plan, block)
        n_targets = (last_run - first_run) * plan.run_length
        n_slots = (last_run - first_run) * (plan.run_length + 2 * plan.border)
        draws = draw_targets(plan, block, n_targets, pairs.offsets[thread])
        n_passed = sum_sentences(
            text, rows, False, plan, block, pairs.run_ptr, slots, pairs.touches, sync, n_passed, thread, n_threads
        )
        n_passed = barrier(sync, n_threads, n_passed)
        score_pairs(plan, slots, pairs, draws, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            add_losses(pairs.loss, n_targets, pairs.total)
        if update.learn:
            gather_gradients(plan, slots, pairs, draws, n_slots, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
            rate = np.float32(update.rate - update.rate_decay * block)
            update_rows(rows, pairs.touches, update, rate, 0.0, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:  # another thread has failed
            return


class NextSentenceObjective:
    """What the method brings to the training loop."""

    blocks = SentenceBlocks(border=1, longest_run=4)  # a sentence needs the one after it

    def __init__(self, vectorizer, fitted):
        counts = fitted["word_counts_"].astype(np.float64)
        self.matrices = [Matrix.of(fitted, "word_vectors_", lambda: counts)]
        self.negative = vectorizer.negative

    def make_scratch(self, text, plan, n_threads, make=ARRAYS):
        n_targets = plan.runs_per_block * plan.run_length
        negative = min(self.negative, n_targets - 1)  # a block has no more strangers
        n_components = self.matrices[0].weights.shape[1]
        run_ptr, n_words = place_runs(text, plan)
        slots, touches = make_slots(plan, n_words, n_components, n_threads, make)
        return Pairs(
            run_ptr=run_ptr,
            slots=slots,
            touches=touches,
            error=make.zeros((n_targets, 1 + negative), np.float32),
            scores=make_scores(2 + 2 * negative, n_threads, make),
            offsets=make.zeros((n_threads, negative), np.int64),
            loss=make.zeros((n_targets,), np.float64),
            total=make.zeros((2,), np.float64),
        )

    def run(self, text, rows, scratch, plan, update, *threads):
        train_next_sentence(text, rows[0], scratch, plan, update, *threads)


class NextSentenceVectorizer(PooledVectorizer, TrainedVectorizer):
    """Sentence embeddings learned by telling the next sentence from random ones, by logistic regression.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors.
    negative : int, default=10
        Random sentences that the next one is compared with.
    learning_rate : float, default=0.1
        Size of AdaGrad's steps.
    max_iter : int, default=5
        Passes over the text.
    batch_size : int or "auto", default="auto"
        Sentences in a block.
    min_count : int, default=5
        Words that occur less often are not learned.
    corpus : SentenceCorpus or None, default=None
        Text to learn from, whatever `X` is given to `fit`.
    n_jobs : int or None, default=None
        Number of threads; it does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and the negatives.

    Examples
    --------
    >>> sentences = ["The cat sleeps.", "The cat drinks milk.", "Stocks fell.", "The market closed lower."] * 50
    >>> documents = [i // 2 for i in range(200)]
    >>> emb = NextSentenceVectorizer(16, random_state=0).fit(sentences, groups=documents)
    >>> emb.similarity("cat sleeps", "drinks milk") > emb.similarity("cat sleeps", "market closed")
    True
    """

    _parameter_constraints = {
        **PooledVectorizer._parameter_constraints,
        **TrainedVectorizer._parameter_constraints,
        "negative": [Interval(Integral, 1, None, closed="left")],
    }
    _needs_order = True  # warns if sentences stand alone

    def __init__(
        self,
        n_components=100,
        *,
        negative=10,
        learning_rate=0.1,
        max_iter=5,
        batch_size="auto",
        min_count=5,
        corpus=None,
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.negative = negative
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_count = min_count
        self.corpus = corpus
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learned_arrays(self, fitted):
        shape = len(fitted["word_counts_"]), self.n_components
        return [LearnedArray("word_vectors_", shape, uniform(0.5 / self.n_components))]

    def _make_objective(self, fitted):
        return NextSentenceObjective(self, fitted)
