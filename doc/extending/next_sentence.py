r"""A method of one's own: logistic regression says which sentence comes next.

With :math:`s_i` the sum of the words' vectors of sentence :math:`i`, :math:`M_i` some random sentences of the block,
and :math:`\ell(x) = \log(1 + e^{-x})`, the loss is

.. math::

    L = \sum_i \Big( \ell(s_i \cdot s_{i+1}) + \sum_{j \in M_i} \ell(-s_i \cdot s_j) \Big)
"""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from sklearn.utils._param_validation import Interval

from skembed._base.pooled import PooledVectorizer
from skembed._base.trained import TrainedVectorizer
from skembed._compiled.arrays import ALLOCATOR, Allocator
from skembed._compiled.compile import NO_REFCOUNT, lean_kernel
from skembed._compiled.rows import Selection, combine, dots, logistic
from skembed._compiled.sync import Team, barrier, partition
from skembed._training.encoded_text import EncodedText, Plan, SentenceBlocks, block_of
from skembed._training.learned_arrays import LearnedArray, Rows, Update, start_uniform
from skembed._training.sentence_blocks import (
    Bag,
    Losses,
    Sentences,
    draw_targets,
    end_block,
    is_neighbour,
    make_losses,
    make_sentences,
    random_target,
    sum_sentences,
    target_compared_with,
)
from skembed._training.state import FittedState
from skembed._training.trainer import KernelObjective, Matrix


class Pairs(NamedTuple):
    """Scratch space of one block of sentences."""

    losses: Losses
    sentences: Sentences  # its `error` is dL / d(s_i . s_j) of the next sentence and of the random ones


@njit(**NO_REFCOUNT)
def score_pairs(plan, scratch, random, team):
    """Score each sentence against the next one and against the random ones: losses and errors."""
    sentences, losses = scratch.sentences, scratch.losses
    error, scores = sentences.error, sentences.scores
    values, thread, buffer = scores.values, team.thread, team.thread * scores.values.shape[1]
    first, last = partition(random.n_targets, team)
    for i in range(first, last):
        member = sentences.of_target[i]
        losses.loss[i], losses.n_targets[i] = 0.0, 0  # no target, unless there is a next sentence
        for c in range(error.shape[1]):
            error[i, c] = 0.0
        if plan.border == 0 or not is_neighbour(sentences, plan, member, member + 1):
            continue
        scores.which[buffer], scores.column[buffer] = member + 1, 0
        n = 1
        for r in range(random.n_random):
            q = sentences.of_target[random_target(random, i, r)]
            if sentences.document[q] >= 0 and not is_neighbour(sentences, plan, member, q):
                scores.which[buffer + n], scores.column[buffer + n] = q, 1 + r
                n += 1
        dots(values, thread, sentences.sums, member, Selection(sentences.sums, scores.which, buffer, n))
        # `logistic` turns x into the derivative of log(1 + exp(x)), which suits the random sentences; the next one
        # needs log(1 + exp(-x)).
        values[thread, 0] *= np.float32(-1.0)
        losses.loss[i], losses.n_targets[i] = logistic(values, thread, n), 1
        values[thread, 0] *= np.float32(-1.0)
        for c in range(n):
            error[i, scores.column[buffer + c]] = values[thread, c]


@njit(**NO_REFCOUNT)
def gather_pair_gradients(plan, scratch, random, block, team):
    """Add up the gradient of each sentence: as the target, as a random one, and as the next one."""
    sentences, width = scratch.sentences, plan.run_length + 2 * plan.border
    error, gradient, scores = sentences.error, sentences.gradient, sentences.scores
    weight, which, buffer = scores.flat, scores.which, team.thread * scores.values.shape[1]
    first, last = partition(block.n_members, team)
    for member in range(first, last):
        gradient.square[member] = 0.0
        if sentences.document[member] < 0:
            continue
        k = buffer
        position = member % width - plan.border
        i = member // width * plan.run_length + position
        if 0 <= position < plan.run_length:
            which[k], weight[k] = min(member + 1, block.n_members - 1), error[i, 0]
            k += 1
            for r in range(random.n_random):
                other, source = random_target(random, i, r), target_compared_with(random, i, r)
                which[k], weight[k] = sentences.of_target[other], error[i, 1 + r]
                which[k + 1], weight[k + 1] = sentences.of_target[source], error[source, 1 + r]
                k += 2
        if 0 < position <= plan.run_length:
            which[k], weight[k] = member - 1, error[i - 1, 0]
            k += 1
        gradient.square[member] = combine(
            gradient.vectors, member, weight, buffer, Selection(sentences.sums, which, buffer, k - buffer)
        )


@lean_kernel
def train_next_sentence(text, rows, bag, scratch, plan, update, team):
    """Work through the blocks of the plan. All threads are in here at once and meet at the barriers."""
    sentences = scratch.sentences
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        random = draw_targets(plan, block, sentences.offsets[team.thread])
        sum_sentences(text, rows, bag, plan, block, sentences, team)
        barrier(team)
        score_pairs(plan, scratch, random, team)
        if update.learn:
            barrier(team)
            gather_pair_gradients(plan, scratch, random, block, team)
        if end_block(((rows, sentences.gradient),), update, scratch.losses, block, team):
            return  # another thread has failed


class NextSentenceObjective(KernelObjective):
    """What the method brings to the training loop."""

    blocks = SentenceBlocks(border=1, longest_run=4)  # a sentence needs the one after it

    def __init__(self, vectorizer: Any, state: FittedState) -> None:
        counts = state.word_counts_.astype(np.float64)
        self.matrices = [Matrix.of(state.arrays, "word_vectors_", lambda: counts)]
        self.negative = int(vectorizer.negative)
        self.bag = Bag(mean=False)  # a sentence is the sum of its words

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> Pairs:
        n_targets = plan.runs_per_block * plan.run_length
        negative = min(self.negative, n_targets - 1)  # a block has no more other targets
        n_components = self.matrices[0].weights.shape[1]
        n_scores = 2 + 2 * negative  # of one vector, in `gather_pair_gradients`
        return Pairs(
            losses=make_losses(n_targets, make),
            sentences=make_sentences(text, plan, self.bag, n_components, negative, n_scores, n_threads, make),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: Pairs, plan: Plan, update: Update, team: Team
    ) -> None:
        train_next_sentence(text, rows[0], self.bag, scratch, plan, update, team)


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

    Attributes
    ----------
    vocabulary_ : dict
        The learned words and their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words.
    loss_curve_ : list of float
        Mean loss of a sentence in each pass.

    Examples
    --------
    >>> sentences = ["The cat sleeps.", "The cat drinks milk.", "Stocks fell.", "Markets close."]
    >>> sentences = sentences * 50
    >>> documents = [i // 2 for i in range(200)]
    >>> emb = NextSentenceVectorizer(16, random_state=0).fit(sentences, groups=documents)
    >>> near = emb.similarity("cat sleeps", "drinks milk")
    >>> near > emb.similarity("cat sleeps", "markets close")
    True
    """

    _parameter_constraints = {  # those of the options that the method shares, and its own
        **{
            name: TrainedVectorizer._parameter_constraints[name]
            for name in "n_components learning_rate max_iter batch_size min_count corpus n_jobs random_state".split()
        },
        "negative": [Interval(Integral, 1, None, closed="left")],
    }
    _needs_order = True  # warns if sentences stand alone

    def __init__(
        self,
        n_components: int = 100,
        *,
        negative: int = 10,
        learning_rate: float = 0.1,
        max_iter: int = 5,
        batch_size: int | str = "auto",
        min_count: int = 5,
        corpus: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.negative = negative
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_count = min_count
        self.corpus = corpus
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        shape = len(state.word_counts_), state.n_features_out_
        start = start_uniform(0.5 / self.n_components)
        return [LearnedArray("word_vectors_", shape, start, is_source=True)]

    def _make_objective(self, state: FittedState) -> NextSentenceObjective:
        return NextSentenceObjective(self, state)
