"""The training loop: passes over a text in blocks, with threads and a learning rate; the memory that it needs."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numba
import numpy as np
from sklearn.base import BaseEstimator

from .._compiled.arrays import ALLOCATOR, Allocator, ByteCounter, ShapeOnly, unshared_zeros
from .._compiled.sync import ABORTED, SYNC_SIZE, Team
from .._corpus.corpus import SentenceCorpus
from .._text.vocabulary import begins_with
from .encoded_text import (
    Annotations,
    EncodedText,
    Examples,
    Plan,
    SentenceBlocks,
    WordBlocks,
    make_plan,
    most_words_whole,
    split_long_sentences,
)
from .estimators import Learner
from .learned_arrays import LearnedArray, Rows, Update, accumulator_bytes, accumulator_of, make_rows, moving, shapes_of
from .state import FittedState

# A row that occurs more often than this in a block takes smaller steps; measured, see the user guide.
MAX_STEPS = 8
# How many tokens a compiled call works through before Python looks for Ctrl-C and for divergence.
TOKENS_PER_CALL = 2_000_000
# Number of the pass over held-out sentences; the next numbers are of the held-out sentences of the next sets of pairs.
HELD_OUT_PASS = 2**31
_BYTES_A_ROW = 8 + 2  # of a matrix: how often it is updated, and its owner


class Matrix(NamedTuple):
    """Rows of weights that a compiled kernel learns."""

    weights: np.ndarray  # (n_rows, n_components) float32
    accumulator: np.ndarray  # (n_rows, 2) float32, AdaGrad's sum of squares and a counter
    # Returns the relative number of updates of each row, (n_rows,) float64, to assign rows to threads.
    mass: Callable[[], np.ndarray]
    n_frozen: int  # the first rows, which do not move

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], name: str, mass: Callable[[], np.ndarray], n_frozen: int = 0) -> Self:
        """A learned array and its accumulator."""
        return cls(arrays[name], arrays[accumulator_of(name)], mass, n_frozen)


class LoopOptions(NamedTuple):
    """What an estimator says of its loop, whatever it learns."""

    solver: str
    batch_size: int | str
    n_threads: int
    examples: Examples
    state: FittedState
    passes_of_a_set: int = 1  # of pairs


class Objective(ABC):
    """What a method brings to the training: the loop that computes its blocks and updates its arrays."""

    @abstractmethod
    def make_loop(self, options: LoopOptions) -> BlockLoop:
        """The loop over the blocks of a text."""


class KernelObjective(Objective):
    """An objective with a compiled kernel, which updates the rows of its matrices."""

    matrices: list[Matrix]
    blocks: SentenceBlocks | WordBlocks

    def make_loop(self, options: LoopOptions) -> BlockLoop:
        solver, batch_size, n_threads = options[:3]
        return Trainer(self, solver, batch_size, options.state.seed, n_threads, examples=options.examples)

    @abstractmethod
    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> Any:
        """Scratch space of one block, with its `losses`."""

    @abstractmethod
    def train(self, text: EncodedText, rows: list[Rows], scratch: Any, plan: Plan, update: Update, team: Team) -> None:
        """Call the compiled kernel."""


class BlockLoop(ABC):
    """Passes of an objective over a text, with the same bits for any number of threads."""

    n_steps: int | None = None  # of Adam, where that is the solver

    def __init__(
        self,
        objective: Any,
        solver: str,
        batch_size: int | str,
        seed: int,
        n_threads: int,
        *,
        examples: Examples = None,
    ) -> None:
        self.objective, self.solver, self.seed = objective, solver, seed
        self.batch_size = batch_size if isinstance(batch_size, str) else int(batch_size)
        self.examples = examples
        # The barrier between threads exists only in compiled code.
        self.n_threads = 1 if numba.config.DISABLE_JIT else n_threads

    def compile(self, text: EncodedText) -> None:
        """Nothing to do: a pass compiles its kernels, or loads them from the cache."""
        return

    def resume(self, part: Any, write: Callable[[Any], None]) -> None:
        """Nothing to do: a pass has no parts after which a checkpoint is written."""
        return

    @abstractmethod
    def scratch_bytes(self, text: EncodedText) -> int:
        """Memory of a pass besides weights and tokens: per sentence, per row, and the scratch space of a block."""

    def run_pass(
        self,
        text: EncodedText,
        epoch: int,
        *,
        rates: tuple[float, ...] | None,
        on_call: Callable[[float], None] = lambda fraction: None,
    ) -> float:
        """One pass over all sentences; returns the mean loss of a target. With no `rates`, nothing is learned."""
        loss, n_targets = self.learn_pass(text, epoch, rates=rates, on_call=on_call)
        return loss / n_targets if n_targets else 0.0

    def learn_pass(
        self,
        text: EncodedText,
        epoch: int,
        *,
        rates: tuple[float, ...] | None,
        on_call: Callable[[float], None] = lambda fraction: None,
    ) -> tuple[float, float]:
        """The same; returns the sum of the losses and the number of targets."""
        text = text if self.examples is None else self.examples(text, self.seed, epoch)
        if not len(text.document):
            return 0.0, 0.0
        plan = self.plan(text, epoch)
        n_blocks = plan.n_blocks
        first_rate, last_rate = map(float, rates or (0.0, 0.0))  # kernels are compiled for each type
        decay = (first_rate - last_rate) / max(1, n_blocks)
        update = Update(first_rate, decay, self.solver == "adagrad", MAX_STEPS, rates is not None)
        scratch = self._make_scratch(text, plan)
        blocks_per_call = min(n_blocks, max(1, n_blocks * TOKENS_PER_CALL // max(1, len(text.tokens))))
        last = 0
        while last < n_blocks:
            first, last = last, min(last + blocks_per_call, n_blocks)
            self._call(text, scratch, plan._replace(first_block=first, last_block=last), update)
            if not np.isfinite(scratch.losses.total[0]):
                break  # diverged; the rest of the pass would be wasted
            on_call(last / n_blocks)
        return float(scratch.losses.total[0]), float(scratch.losses.total[1])

    def plan(self, text: EncodedText, epoch: int) -> Plan:
        """The blocks of a pass."""
        return make_plan(text, self.objective.blocks, self.batch_size, self.seed, epoch)

    @abstractmethod
    def _make_scratch(self, text: EncodedText, plan: Plan) -> Any:
        """Scratch space with `losses.total` (2,) float64, the sum of the losses and the number of targets."""

    @abstractmethod
    def _call(self, text: EncodedText, scratch: Any, plan: Plan, update: Update) -> None:
        """Work through the blocks from `plan.first_block` to `plan.last_block`."""


class Trainer(BlockLoop):
    """Runs the compiled kernel of a `KernelObjective`, which all threads enter at once."""

    @cached_property
    def rows(self) -> list[Rows]:
        """The weights, with the thread that updates each row."""
        return [
            make_rows(m.weights, m.accumulator, m.mass(), self.n_threads, m.n_frozen) for m in self.objective.matrices
        ]

    def scratch_bytes(self, text: EncodedText) -> int:
        copied: tuple[np.ndarray, ...] = ()
        if self.examples is not None and len((taken := self.examples(text, self.seed, 0)).document):
            text, copied = taken, (taken.tokens, taken.sent_ptr, *taken.annotations)
        plan, block = self.plan(text, 0), ByteCounter()
        self.objective.make_scratch(text, plan, self.n_threads, block)
        n_rows = sum(len(matrix.weights) for matrix in self.objective.matrices)
        of_text = text.document.nbytes + 2 * plan.run_starts.nbytes  # where runs begin, and the words before them
        return int(sum(array.nbytes for array in copied) + of_text + _BYTES_A_ROW * n_rows + block.n_bytes)

    def _make_scratch(self, text: EncodedText, plan: Plan) -> Any:
        return self.objective.make_scratch(text, plan, self.n_threads)

    def _call(self, text: EncodedText, scratch: Any, plan: Plan, update: Update) -> None:
        """Enter the kernel with all threads at once."""
        # The owners of the rows are assigned here, or each thread would do it.
        sync, n_threads, rows = unshared_zeros(SYNC_SIZE, np.int64), self.n_threads, self.rows
        if n_threads == 1:
            self.objective.train(text, rows, scratch, plan, update, Team(sync, 0, 1))
            return
        # No thread enters the kernel, where threads wait for each other, before all have started.
        ready = threading.Barrier(n_threads)

        def enter(thread: int) -> None:
            ready.wait()
            self.objective.train(text, rows, scratch, plan, update, Team(sync, thread, n_threads))

        with ThreadPoolExecutor(n_threads, thread_name_prefix="skembed") as pool:
            try:
                futures = [pool.submit(enter, thread) for thread in range(n_threads)]
                # Not one after the other: the first may be waiting in the kernel for one that has failed.
                for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                    future.result()
            except BaseException:
                ready.abort()
                sync[ABORTED] = 1
                raise


_BYTES_A_WORD = 100  # the indices of the words, in a dict of the corpus and in one of the estimator
# Parameters that each kind of memory depends on.
_GROWS_WITH = {
    "weights": ("n_components", "n_buckets", "max_features"),
    "accumulators": ("n_buckets", "max_features", "n_components"),
    "corpus": (),
    "copies": ("early_stopping", "warm_start", "n_components", "n_shards"),
    "scratch": ("batch_size", "n_components", "negative", "window", "ngram_range", "n_buckets"),
}


def estimate(
    vectorizer: Learner,
    corpus: SentenceCorpus,
    *,
    keep: bool,
    annotations: Annotations,
    classes: np.ndarray | None,
    make_trainer: Callable[[FittedState], Any] | None = None,
) -> dict[str, int]:
    """Bytes by purpose, as in `TrainedVectorizer.estimate_memory`; ``keep``: the fit continues an earlier one."""
    if keep:
        state = vectorizer._state
    else:
        empty = type(vectorizer)._state
        state = replace(empty, n_features_out_=vectorizer._option("n_components", empty))
        state = vectorizer._learn_vocabulary(corpus, vectorizer._settings(state, annotations, classes))
    # With early stopping, those of the sentences to learn from and of those held out.
    of_annotations = sum(values.nbytes for values in annotations) if vectorizer.early_stopping else 0
    of_start = 0 if state.start is None else state.start.vectors.nbytes
    encoded = corpus.tokens.nbytes + corpus.sent_ptr.nbytes + corpus.doc_ptr.nbytes
    text = EncodedText(
        corpus.tokens, corpus.sent_ptr, corpus.doc_of(), np.ones(len(state.word_counts_), np.float32), annotations
    )
    split = split_long_sentences(text, most_words_whole(vectorizer, corpus.tokenizer))
    arrays, solver = vectorizer._learned_arrays(state), vectorizer.solver
    of_text = vectorizer._arrays_of_text(state, split)
    weights = sum(array.n_bytes for array in arrays + of_text)
    accumulators = accumulator_bytes(arrays + of_text, solver)
    state = replace(state, n_tokens=corpus.n_tokens, seed=0, from_labels=classes is not None, records=arrays)
    shapes = shapes_of(arrays + of_text, solver)
    unallocated: Any = {name: ShapeOnly(shape) for name, shape in shapes.items()}
    state = state.with_arrays(unallocated)
    trainer = (make_trainer or vectorizer._make_trainer)(state)
    scratch = trainer.scratch_bytes(split) + (0 if split.sent_ptr is text.sent_ptr else split.sent_ptr.nbytes)
    memory = {
        "weights": weights,
        "accumulators": accumulators,
        "corpus": 0 if corpus.path else encoded,
        "copies": _copies(vectorizer, corpus, arrays, encoded, keep=keep) + of_annotations + of_start,
        "scratch": scratch + _BYTES_A_WORD * len(corpus.vocabulary),
    }
    return memory | {"total": sum(memory.values())}


def _copies(
    vectorizer: Learner, corpus: SentenceCorpus, arrays: list[LearnedArray], encoded: int, *, keep: bool
) -> int:
    """What a fit copies of the text, ``encoded`` bytes, and of the weights."""
    copies = sum(array.n_bytes for array in vectorizer._copied_at_the_end(arrays))
    weights = sum(array.n_bytes for array in moving(arrays))
    if keep:
        renumbered = not begins_with(corpus.vocabulary.words, vectorizer._state.vocabulary_)
        copies += weights + accumulator_bytes(arrays, vectorizer.solver) + (corpus.tokens.nbytes if renumbered else 0)
    n_shards = int(getattr(vectorizer, "n_shards", None) or 1)
    if n_shards > 1:
        # The rows and the text of a task, what it changes, and the changes that wait for their neighbours in the tree.
        copies += 2 * weights + accumulator_bytes(arrays, vectorizer.solver) + encoded // n_shards
        copies += (n_shards - 1).bit_length() * weights
    if vectorizer.early_stopping:
        copies += encoded + max(encoded, weights)  # the split, and then its renumbered tokens or the best weights
    return copies


@contextmanager
def explaining_memory_error(
    estimator: BaseEstimator, memory_of_fit: Callable[[], dict[str, int]], others: Mapping[str, object] | None = None
) -> Iterator[None]:
    """Add to a MemoryError how much memory the fit needs, and which parameters, `others` too, that depends on."""
    try:
        yield
    except MemoryError as error:
        memory = memory_of_fit()
        largest = max(_GROWS_WITH, key=memory.__getitem__)
        params = {**(others or {}), **estimator.get_params(deep=False)}
        options = [f"{name}={params[name]!r}" for name in _GROWS_WITH[largest] if name in params]
        raise MemoryError(
            f"{type(estimator).__name__} needs {_readable(memory['total'])} of memory to learn from this text, more "
            f"than is available. {_readable(memory[largest])} are for {largest} and depend on "
            f"{', '.join(options) or 'the text'}. Lower one of these, or see estimate_memory. The estimator is "
            "unchanged."
        ) from error


def _readable(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**29 else f"{n_bytes / 2**20:,.1f} MiB"
