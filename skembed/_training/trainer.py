"""The one training loop: epochs, blocks, threads, learning rate, loss curve, early stopping, callbacks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np

from .._compiled.buffers import ARRAYS, Arrays, unshared_zeros
from .._compiled.sync import ABORTED, SYNC_SIZE, Team
from .._compiled.threads import ThreadChoice
from .._corpus.corpus import SentenceCorpus
from .encoded_text import WORDS_PER_SENTENCE, EncodedText, Plan
from .updates import Rows, Update, make_rows

# A row that occurs more often than this in a block takes smaller steps; measured, see the user guide.
MAX_STEPS = 8
# Long runs are for blocks that have many of them, or their sentences would be of few documents; measured, too.
SHORT_RUN, RUNS_OF_BLOCK = 4, 32
# As many ids as a cache line has, and about as many words as a sentence of prose.
USUAL_WORDS = 16
# How many tokens a compiled call works through before Python looks for Ctrl-C and for divergence.
TOKENS_PER_CALL = 2_000_000
# No useful weight, and no useful mean loss of a target, comes near this.
LARGEST_SOUND_VALUE = 1e6


class Matrix(NamedTuple):
    """Weights that are learned."""

    weights: np.ndarray  # (n_rows, n_components) float32
    accumulator: np.ndarray  # (n_rows, 2) float32, AdaGrad's sum of squares, and a counter
    # Returns the relative number of updates of each row, (n_rows,) float64, to assign rows to threads.
    mass: Callable[[], np.ndarray]


class Objective(Protocol):
    """What a method brings to the loop."""

    matrices: list[Matrix]
    border: int

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Arrays = ARRAYS) -> Any:
        """Work space of one block, with its `losses` and with `run_ptr` of `count_words_of_runs`."""

    def run(self, text: EncodedText, rows: list[Rows], scratch: Any, plan: Plan, update: Update, team: Team) -> None:
        """Call the compiled kernel."""


@dataclass
class Trainer:
    """Runs epochs of an objective over a corpus, with as many threads as asked for and the same bits for any number."""

    objective: Objective
    adagrad: bool
    learning_rate: float
    batch_size: int | str
    default_batch_size: int
    run_length: int
    seed: int
    n_threads: int

    def __post_init__(self) -> None:
        if numba.config.DISABLE_JIT:
            self.n_threads = 1  # the barrier between threads exists only in compiled code
        self._threads = ThreadChoice(self.n_threads)

    @cached_property
    def rows(self) -> list[Rows]:
        """The weights, with the thread that updates each row."""
        return [make_rows(m.weights, m.accumulator, m.mass(), self.n_threads) for m in self.objective.matrices]

    def compile(self, text: EncodedText) -> None:
        """Have the kernel compiled, or loaded from the cache, by working through no block of the first sentence."""
        text = text._replace(sent_ptr=text.sent_ptr[:2], document=text.document[:1])
        plan = self._plan(text, 0)
        scratch = self.objective.make_scratch(text, plan, self.n_threads)
        self._call(text, scratch, plan, Update(0.0, 0.0, self.adagrad, MAX_STEPS, False), self.n_threads)

    def run_epoch(
        self,
        text: EncodedText,
        epoch: int,
        *,
        rates: tuple[float, ...] | None,
        on_call: Callable[[float], None] = lambda fraction: None,
    ) -> float:
        """One pass over all sentences; returns the mean loss of a target.

        The learning rate falls with the blocks from `rates[0]` to `rates[1]`; None learns nothing.
        """
        plan = self._plan(text, epoch)
        n_blocks = -(-len(plan.run_starts) // plan.runs_per_block)
        first_rate, last_rate = map(float, rates or (0.0, 0.0))  # kernels are compiled for each type
        update = Update(first_rate, (first_rate - last_rate) / n_blocks, self.adagrad, MAX_STEPS, rates is not None)
        scratch = self.objective.make_scratch(text, plan, self.n_threads)
        blocks_per_call = min(n_blocks, max(1, n_blocks * TOKENS_PER_CALL // max(1, len(text.tokens))))
        last = 0
        while last < n_blocks:
            # Where nothing is learned, the time would say nothing of the work that matters.
            n_threads, part = self._threads.next_part() if update.learn else (self._threads.n_threads, 1.0)
            first, last = last, min(last + max(1, int(part * blocks_per_call)), n_blocks)
            start = time.perf_counter()
            self._call(text, scratch, plan._replace(first_block=first, last_block=last), update, n_threads)
            if update.learn:
                self._threads.took(n_threads, (time.perf_counter() - start) / (last - first))
            if not np.isfinite(scratch.losses.total[0]):
                break  # diverged; the rest of the pass would be wasted
            on_call(last / n_blocks)
        n_targets = scratch.losses.total[1]
        return float(scratch.losses.total[0] / n_targets) if n_targets else 0.0

    def _plan(self, text: EncodedText, epoch: int) -> Plan:
        """Runs of consecutive sentences in random order; the shape of a block follows from the size of the corpus."""
        n_sentences = len(text.document)
        border = self.objective.border
        if not np.any(text.document[border:] == text.document[: max(0, n_sentences - border)]):
            # A context never leaves its document, so a larger border would only be empty places.
            border = int(np.bincount(text.document).max()) - 1
        largest_batch, run_length = self.default_batch_size, self.run_length
        short_run, runs_of_block = SHORT_RUN, RUNS_OF_BLOCK
        if run_length == 1:
            # Targets are words: of short sentences, a block and a run have more.
            largest_batch, run_length = _adapt_to_words(largest_batch, text)
            short_run, runs_of_block = 1, RUNS_OF_BLOCK // 2
        batch = self.batch_size
        if isinstance(batch, str):
            # At least some tens of updates an epoch, however small the corpus.
            batch = int(np.clip(n_sentences // 64, min(16, self.default_batch_size), largest_batch))
        longest_run = max(min(run_length, max(short_run, batch // runs_of_block)), 2 * border)
        if isinstance(self.batch_size, str):
            # Two runs at least: sentences of one run are mostly of one document, and not random ones for each other.
            batch = max(2 * longest_run, batch - batch % longest_run)
        # The longest run that divides the block evenly.
        length = max(n for n in range(1, longest_run + 1) if batch % n == 0)
        starts = np.arange(0, n_sentences, length, dtype=np.int64)
        generator = np.random.default_rng([self.seed, epoch])
        seed = int(generator.integers(2**63))
        generator.shuffle(starts)
        # A block has no more runs than the text.
        return Plan(starts, length, border, min(batch // length, len(starts)), 0, 0, seed)

    def _call(self, text: EncodedText, scratch: Any, plan: Plan, update: Update, n_threads: int) -> None:
        """Enter the kernel with some threads at once."""
        sync = unshared_zeros(SYNC_SIZE, np.int64)
        if n_threads == 1:
            self.objective.run(text, self.rows, scratch, plan, update, Team(sync, 0, 1))
            return
        # Nobody enters the kernel, where threads wait for each other, before all have really started.
        ready = threading.Barrier(n_threads)

        def work(thread: int) -> None:
            ready.wait()
            self.objective.run(text, self.rows, scratch, plan, update, Team(sync, thread, n_threads))

        with ThreadPoolExecutor(n_threads, thread_name_prefix="skembed") as pool:
            try:
                futures = [pool.submit(work, thread) for thread in range(n_threads)]
                # Not one after the other: the first may be waiting in the kernel for one that has failed.
                for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                    future.result()
            except BaseException:
                ready.abort()
                sync[ABORTED] = 1
                raise


def _adapt_to_words(batch_size: int, text: EncodedText) -> tuple[int, int]:
    """Sentences of a block and of a run, for sentences of the usual length and for shorter ones.

    A run has about as many words as a usual sentence, a block half way to as much work as one of usual sentences: with
    less, threads meet too often, and with more, what one thread needs of a block leaves its cache.
    """
    n_words = max(1.0, (text.sent_ptr[-1] - text.sent_ptr[0]) / len(text.document))
    work = (USUAL_WORDS + WORDS_PER_SENTENCE) / (n_words + WORDS_PER_SENTENCE)
    # A multiple of 16, so that runs divide it.
    n_sentences = int(batch_size * (1 + work) / 2) // 16 * 16
    return max(batch_size, n_sentences), int(np.clip(USUAL_WORDS // n_words, 1, SHORT_RUN))


def hold_out(corpus: SentenceCorpus, fraction: float, seed: int) -> tuple[SentenceCorpus, SentenceCorpus]:
    """Split off whole documents at random, or the end of the text where there are too few, or too long ones."""
    n_sentences = corpus.n_sentences
    n_wanted = max(1, int(round(fraction * n_sentences)))
    if n_wanted >= n_sentences:
        raise ValueError(
            f"early_stopping with validation_fraction={fraction} leaves nothing to learn from: the corpus has "
            f"{n_sentences} sentences."
        )
    held = np.zeros(n_sentences, bool)
    if corpus.n_documents >= 20:
        lengths = np.diff(corpus.doc_ptr)
        order = np.random.default_rng([seed, 2**31]).permutation(corpus.n_documents)
        order = order[lengths[order] <= n_wanted]  # one that is longer would take more than its share
        held[np.isin(corpus.doc_of(), order[np.cumsum(lengths[order]) <= n_wanted])] = True
    if not held.any() or held.all():
        held[:] = False
        held[n_sentences - n_wanted :] = True
    return corpus[~held], corpus[held]


class EarlyStopping:
    """Keeps the weights of the best epoch, and knows when there were too many worse ones since."""

    def __init__(self, objective: Objective, tol: float, n_iter_no_change: int) -> None:
        self.matrices, self.tol, self.n_iter_no_change = objective.matrices, tol, n_iter_no_change
        self.best_loss = np.inf
        self.best_weights: list[np.ndarray] = []
        self.n_worse = 0

    def should_stop(self, loss: float) -> bool:
        if loss < self.best_loss - self.tol:
            self.best_loss, self.n_worse = loss, 0
            self.best_weights = [matrix.weights.copy() for matrix in self.matrices]
        else:
            self.n_worse += 1
        return self.n_worse >= self.n_iter_no_change

    def restore_best(self) -> None:
        for matrix, weights in zip(self.matrices, self.best_weights):
            matrix.weights[:] = weights


class Progress:
    """With `verbose`, prints a line an epoch: loss, words a second, time left."""

    def __init__(self, name: str, verbose: int, n_epochs: int, n_tokens: int) -> None:
        self.name, self.verbose, self.n_epochs, self.n_tokens = name, verbose, n_epochs, n_tokens
        self.start = time.perf_counter()
        self.epoch = 0
        self.epoch_start = self.start

    def begin(self, epoch: int) -> None:
        self.epoch, self.epoch_start = epoch, time.perf_counter()

    def advance(self, fraction: float) -> None:
        if self.verbose > 1:
            self._print(f"{fraction:.0%} done")

    def end(self, loss: float, validation_loss: float | None) -> None:
        if not self.verbose:
            return
        now = time.perf_counter()
        speed = self.n_tokens / max(now - self.epoch_start, 1e-9)
        left = (now - self.start) / (self.epoch + 1) * (self.n_epochs - self.epoch - 1)
        held_out = "" if validation_loss is None else f", validation loss {validation_loss:.4f}"
        self._print(f"loss {loss:.4f}{held_out}, {speed:,.0f} words/s, {left:.0f} s left")

    def _print(self, text: str) -> None:
        """Print a line; if standard output is closed or fails, stop printing but not the fit."""
        try:
            print(f"[{self.name}] epoch {self.epoch + 1}/{self.n_epochs}, {text}", flush=True)
        except Exception:
            self.verbose = 0


class EpochTasks:
    """Tells scikit-learn's callbacks, where the version has them, about the fit and its epochs."""

    def __init__(self, estimator: Any, X: Any, n_epochs: int) -> None:
        self.estimator, self.X = estimator, X
        self.fit: Any = None
        self.epoch: Any = None
        if n_epochs and hasattr(estimator, "_init_callback_context"):
            self.fit = estimator._init_callback_context(max_subtasks=n_epochs)
            self.fit.call_on_fit_task_begin(estimator=estimator, X=X)

    def begin_epoch(self) -> None:
        if self.fit is not None:
            self.epoch = self.fit.subcontext(task_name="epoch")
            self.epoch.call_on_fit_task_begin(estimator=self.estimator, X=self.X)

    def end_epoch(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Return whether a callback asks to stop. `fitted` gives the attributes of a model stopped here."""
        return self._end(self.epoch, fitted)

    def end(self, fitted: Callable[[], dict[str, Any]]) -> None:
        self._end(self.fit, fitted)

    def _end(self, task: Any, fitted: Callable[[], dict[str, Any]]) -> bool:
        if task is None:
            return False
        return bool(task.call_on_fit_task_end(estimator=self.estimator, X=self.X, reconstruction_attributes=fitted))
