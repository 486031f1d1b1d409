"""The passes of a fit: how many, what is held out, the loop over them, what it tells the user and callbacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from .._corpus.corpus import SentenceCorpus
from .._validation.columns import Sentences
from .._validation.messages import brief, warn_at_user
from .checkpoint import Checkpoint, PartOfPass, json_number
from .encoded_text import Annotations, EncodedText, encode_text
from .estimators import Learner
from .learned_arrays import LearnedArray, start_arrays
from .state import FittedState
from .trainer import HELD_OUT_PASS

NO_CHECKPOINT = Checkpoint(None)
_BEST = "best "  # before the names of the best weights so far, in a checkpoint
# No useful weight, and no useful mean loss of a target, comes near this.
_LARGEST_SOUND_VALUE = 1e6


def hold_out(corpus: SentenceCorpus, fraction: float, seed: int, classes: np.ndarray | None = None) -> np.ndarray:
    """Which sentences are held out, (n_sentences,) bool: whole documents, or the end of a text of few or long ones.

    With ``classes`` (n_sentences, n), sentences at random, of each class in proportion.
    """
    n_sentences = corpus.n_sentences
    n_wanted = max(1, int(round(fraction * n_sentences)))
    if n_wanted >= n_sentences:
        raise ValueError(
            f"early_stopping with validation_fraction={fraction} leaves nothing to learn from: the corpus has "
            f"{n_sentences} sentences."
        )
    held = np.zeros(n_sentences, bool)
    generator = np.random.default_rng([seed, 2**31])
    if classes is not None:
        order = generator.permutation(n_sentences)
        order = order[np.argsort(classes[order, 0], kind="stable")]
        held[order[((np.arange(n_wanted) + 0.5) * n_sentences / n_wanted).astype(np.int64)]] = True
        return held
    if corpus.n_documents >= 20:
        lengths = np.diff(corpus.doc_ptr)
        order = generator.permutation(corpus.n_documents)
        order = order[lengths[order] <= n_wanted]  # one that is longer would exceed the fraction
        held[np.isin(corpus.doc_of(), order[np.cumsum(lengths[order]) <= n_wanted])] = True
    if not held.any() or held.all():
        held[:] = False
        held[n_sentences - n_wanted :] = True
    return held


class AutoPasses(NamedTuple):
    """The passes of `max_iter="auto"`: as many as read `n_words` words; see benchmarks/quality/passes.py."""

    n_words: int = 3_000_000
    least: int = 5
    most: int = 20

    def over(self, n_tokens: int) -> int:
        """The passes over a text of so many words."""
        return min(max(self.least, -(-self.n_words // max(1, n_tokens))), self.most)


class EarlyStopping:
    """Keeps the weights of the best pass, and says to stop after too many worse ones."""

    def __init__(self, weights: list[np.ndarray], options: Any) -> None:
        self.weights, self.tol, self.n_iter_no_change = weights, options.tol, options.n_iter_no_change
        self.best_weights: list[np.ndarray] = []
        self.begin_set()

    def begin_set(self) -> None:
        """Begin with a set of the text, from the best weights of the set before."""
        self.restore_best()
        self.best_loss, self.best_weights, self.n_worse = np.inf, [], 0

    def should_stop(self, loss: float) -> bool:
        if loss < self.best_loss - self.tol:
            self.best_loss, self.n_worse = loss, 0
            self.best_weights = [weights.copy() for weights in self.weights]
        else:
            self.n_worse += 1
        return self.n_worse >= self.n_iter_no_change

    def restore_best(self) -> None:
        for weights, best in zip(self.weights, self.best_weights):
            weights[...] = best


def _largest_of(weights: list[np.ndarray]) -> float:
    """Largest absolute value, without a second copy of the weights."""
    return max((float(np.maximum(array.max(), -array.min())) for array in weights if len(array)), default=0.0)


class LearningState:
    """All that passes change: arrays in place, curves, and what the trainer and early stopping count."""

    def __init__(
        self, state: FittedState, records: list[LearnedArray], others: Sequence[np.ndarray], trainer: Any, options: Any
    ) -> None:
        self.state, self.trainer = state, trainer
        self.moving = [record for record in records if not record.frozen]
        self._best_names = [_BEST + record.name for record in self.moving]
        weights = [*others, *(state.arrays[record.name] for record in self.moving)]
        self.stopping = EarlyStopping(weights, options)
        self.losses, self.validation_losses = list(state.loss_curve_), list(state.validation_loss_curve_)
        self.n_iter = state.n_iter_

    def result(self) -> FittedState:
        """What was learned so far."""
        return replace(
            self.state,
            loss_curve_=self.losses,
            validation_loss_curve_=self.validation_losses,
            n_iter_=self.n_iter,
            n_steps=self.trainer.n_steps,
        )

    def write(self, checkpoint: Checkpoint, n_passes: int, *, is_last: bool, part: PartOfPass | None = None) -> None:
        """Write a checkpoint after a pass, or a part of the next one, if it is time for one."""
        is_time = is_last or n_passes % checkpoint.every == 0 if part is None else checkpoint.is_due_in_a_pass()
        if checkpoint.path is None or not is_time:
            return
        n_rounds, loss, n_targets = part or PartOfPass()
        arrays = {name: self.state.arrays[name] for name in self._names}
        checkpoint.write(
            arrays | dict(zip(self._best_names, self.stopping.best_weights)),
            {
                "n_passes": n_passes,
                "is_finished": is_last,
                "part": [n_rounds, json_number(loss), json_number(n_targets)],
                "n_steps": self.trainer.n_steps,
                "losses": list(map(json_number, self.losses)),
                "validation_losses": list(map(json_number, self.validation_losses)),
                "best_loss": json_number(self.stopping.best_loss),
                "n_worse": self.stopping.n_worse,
            },
        )

    def restore(self, checkpoint: Checkpoint, n_passes: int) -> tuple[int, bool, PartOfPass]:
        """Go back to a checkpoint: the passes made, whether the fit was finished, the rounds of the next pass."""
        arrays, progress = ({}, {}) if checkpoint.path is None else checkpoint.read()
        if not progress:
            return 0, False, PartOfPass()
        try:
            n_rounds, loss, n_targets = progress["part"]
            part = PartOfPass(int(n_rounds), float(loss), float(n_targets))
            return self._restore(arrays, progress, n_passes), bool(progress["is_finished"]), part
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"The checkpoint at {checkpoint.path} is damaged: {error!r}") from None

    def _restore(self, arrays: dict[str, np.ndarray], progress: dict[str, Any], n_passes: int) -> int:
        n_made, n_steps, n_worse = (progress[name] for name in ("n_passes", "n_steps", "n_worse"))
        best_names = [name for name in self._best_names if name in arrays]
        expected = {name: self.state.arrays[name].shape for name in self._names}
        expected |= dict(zip(best_names, (weights.shape for weights in self.stopping.weights)))
        if {name: array.shape for name, array in arrays.items()} != expected:
            raise ValueError("it does not hold the arrays of this fit.")
        for name, array in arrays.items():
            if array.dtype != np.float32 or array.size and not _largest_of([array]) < np.inf:
                raise ValueError(f"{name} has numbers that are not finite.")
        counts = n_made, n_worse, 0 if n_steps is None else n_steps
        if not all(type(n) is int and 0 <= n < 2**62 for n in counts) or n_made > n_passes:
            raise ValueError(f"it has {brief(counts)} passes and steps.")
        for name in self._names:
            self.state.arrays[name][...] = arrays[name]
        self.stopping.best_weights = [np.array(arrays[name]) for name in best_names]
        self.stopping.best_loss, self.stopping.n_worse = float(progress["best_loss"]), n_worse
        losses = list(map(float, progress["losses"]))
        self.n_iter += len(losses) - len(self.losses)  # fewer than n_made if a set stopped
        self.losses[:] = losses
        self.validation_losses[:] = map(float, progress["validation_losses"])
        if n_steps is not None:
            self.trainer.n_steps = n_steps
        return n_made

    @property
    def _names(self) -> list[str]:
        return [name for record in self.moving for name in (record.name, record.accumulator)]


class Progress:
    """With `verbose`, prints a line a pass: loss, words a second, time left."""

    def __init__(self, name: str, verbose: int, n_passes: int, n_tokens: int, n_done: int = 0) -> None:
        self.name, self.verbose, self.n_passes, self.n_tokens = name, verbose, n_passes, n_tokens
        self.start = time.perf_counter()
        self.epoch = n_done  # before this fit
        self.n_made = 0  # in this fit
        self.pass_start = self.start
        if verbose and n_done:
            self._print("goes on from the checkpoint")

    def begin(self, epoch: int) -> None:
        self.epoch, self.pass_start = epoch, time.perf_counter()

    def advance(self, fraction: float) -> None:
        if self.verbose > 1:
            self._print(f"{fraction:.0%} done")

    def end(self, loss: float, validation_loss: float | None) -> None:
        if not self.verbose:
            return
        now = time.perf_counter()
        speed = self.n_tokens / max(now - self.pass_start, 1e-9)
        self.n_made += 1
        left = (now - self.start) / self.n_made * (self.n_passes - self.epoch - 1)
        held_out = "" if validation_loss is None else f", validation loss {validation_loss:.4f}"
        self._print(f"loss {loss:.4f}{held_out}, {speed:,.0f} words/s, {left:.0f} s left")

    def _print(self, text: str) -> None:
        try:
            print(f"[{self.name}] pass {self.epoch + 1}/{self.n_passes}, {text}", flush=True)
        except Exception:  # nobody listens any more: the fit goes on
            self.verbose = 0


class PassTasks:
    """Tells scikit-learn's callbacks, where the version has them, about the fit and its passes."""

    def __init__(self, estimator: BaseEstimator, X: Sentences, n_passes: int) -> None:
        self.estimator, self.X = estimator, X
        self.fit: Any = None
        self.epoch: Any = None
        if n_passes and hasattr(estimator, "_init_callback_context"):
            self.fit = estimator._init_callback_context(max_subtasks=n_passes)
            self.fit.call_on_fit_task_begin(estimator=estimator, X=X)

    def begin_pass(self) -> None:
        if self.fit is not None:
            self.epoch = self.fit.subcontext(task_name="pass")
            self.epoch.call_on_fit_task_begin(estimator=self.estimator, X=self.X)

    def end_pass(self, fitted: Callable[[], dict[str, object]]) -> bool:
        """Return whether a callback asks to stop. `fitted` gives the attributes of a model stopped here."""
        return self._end(self.epoch, fitted)

    def end(self, fitted: Callable[[], dict[str, object]]) -> None:
        self._end(self.fit, fitted)

    def _end(self, task: Any, fitted: Callable[[], dict[str, object]]) -> bool:
        if task is None:
            return False
        return bool(task.call_on_fit_task_end(estimator=self.estimator, X=self.X, reconstruction_attributes=fitted))


def learn(
    estimator: Learner,
    X: Sentences,
    corpus: SentenceCorpus,
    state: FittedState,
    annotations: Annotations,
    n_passes: int,
    *,
    partial: bool,
    checkpoint: Checkpoint,
    engine: Any,
) -> None:
    """Make `n_passes` over each set of the text; the estimator changes only if all of them succeed."""
    held_out = None
    if not estimator.early_stopping or partial:
        text = encode_text(estimator, corpus, state, annotations)
    else:
        held = estimator._held_out(corpus, state, annotations)
        # One after the other: the copy of the first is freed once it is encoded.
        held_out, text = (
            encode_text(estimator, corpus[which], state, tuple(values[which] for values in annotations))
            for which in (held, ~held)
        )
    of_text = estimator._arrays_of_text(state, text)
    if of_text:
        state = state.with_arrays(start_arrays(of_text, estimator.solver, state.seed + len(state.records)))
    of_a_set, n_passes = n_passes, n_passes * estimator._n_sets(annotations)
    tasks = PassTasks(estimator, X, 0 if partial else n_passes)
    trainer = estimator._make_loop(state, text, engine, partial=partial, passes_of_a_set=of_a_set)
    trainer.compile(text)
    learned = make_passes(
        estimator,
        state,
        [*state.records, *of_text],
        trainer,
        text,
        held_out,
        n_passes=n_passes,
        of_a_set=of_a_set,
        rate=estimator.learning_rate,
        falls=estimator.solver != "adagrad" and not partial,  # the papers' linear decay to zero
        tasks=tasks,
        finish=lambda state: {"_state": estimator._finish_fit(state, corpus).frozen()},
        warn=not estimator._zero_loss_is_success,
        checkpoint=checkpoint,
    )
    estimator._publish(estimator._finish_fit(learned, corpus))
    tasks.end(lambda: {"_state": estimator._state})


def make_passes(
    estimator: Any,
    state: FittedState,
    records: list[LearnedArray],
    trainer: Any,
    text: EncodedText,
    held_out: EncodedText | None,
    *,
    n_passes: int,
    of_a_set: int,
    rate: float,
    falls: bool,
    tasks: PassTasks,
    finish: Callable[[FittedState], dict[str, object]],
    warn: bool = False,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    others: Sequence[np.ndarray] = (),
) -> FittedState:
    """Make the passes of any fit; returns what was learned, of a fit with held-out text in its best pass.

    The arrays of the state, of which there are `records`, and `others` change in place. The rate may fall to zero.
    `finish` gives the attributes of an estimator that has learned so far.
    """
    learning = LearningState(state, records, others, trainer, estimator)
    stopping = learning.stopping
    first_pass = learning.n_iter
    epoch, is_finished, part = learning.restore(checkpoint, n_passes)  # last: a step of nothing counts for Adam
    losses, validation = learning.losses, learning.validation_losses
    progress = Progress(type(estimator).__name__, estimator.verbose, n_passes, len(text.tokens), epoch)
    trainer.resume(part, lambda part: learning.write(checkpoint, progress.epoch, is_last=False, part=part))
    while epoch < n_passes and not is_finished:
        tasks.begin_pass()
        progress.begin(epoch)
        rates = tuple(rate * (1 - falls * done / n_passes) for done in (epoch, epoch + 1))
        losses.append(trainer.run_pass(text, first_pass + epoch, rates=rates, on_call=progress.advance))
        check_finite(estimator, stopping.weights, losses[-1], epoch)
        learning.n_iter += 1
        stopped = False
        if held_out is not None:
            # The same sentences against the same negatives every time, and nothing is learned.
            validation.append(trainer.run_pass(held_out, HELD_OUT_PASS + epoch // of_a_set, rates=None))
            stopped = validation[-1] > 0 and stopping.should_stop(validation[-1])
        progress.end(losses[-1], validation[-1] if held_out is not None else None)
        is_finished = tasks.end_pass(lambda: finish(copied(learning.result())))
        epoch += of_a_set - epoch % of_a_set if stopped else 1
        is_finished |= epoch == n_passes
        if epoch % of_a_set == 0 and not is_finished:
            if warn:
                warn_of_nothing(estimator, losses, validation)
            stopping.begin_set()
        learning.write(checkpoint, epoch, is_last=is_finished)
    if warn:
        warn_of_nothing(estimator, losses, validation)
    stopping.restore_best()
    return learning.result()


def warn_of_nothing(estimator: Learner, losses: list[float], validation: list[float]) -> None:
    """Warn of a loss of exactly zero, which means that there was no target."""
    for text, curve, outcome in (
        ("text", losses, "the last pass changed nothing"),
        ("held-out text", validation, "early_stopping could not stop; more can be held out (validation_fraction)"),
    ):
        if curve and curve[-1] == 0.0:
            warn_at_user(
                f"{type(estimator).__name__} found nothing to predict in the {text}, so {outcome}. Its sentences may "
                "be too few or too short, or their words unknown or too rare."
            )


def check_finite(estimator: Learner, weights: list[np.ndarray], loss: float, epoch: int) -> None:
    """Raise an error if the weights, or the loss, have diverged."""
    largest = _largest_of(weights)
    if not (np.isfinite(loss) and loss < _LARGEST_SOUND_VALUE and largest < _LARGEST_SOUND_VALUE):
        # What causes large steps or scores, and what to do with it.
        remedies = {"learning_rate": "smaller", "encoder_learning_rate": "smaller", "solver": ""}
        remedies |= {"n_components": "smaller", "temperature": "larger"}
        options = {name: than for name, than in remedies.items() if hasattr(estimator, name)}
        given = ", ".join(f"{name}={brief(getattr(estimator, name))}" for name in options)
        advice = ", or ".join(f"a {than} {name}" for name, than in options.items() if than)
        raise ValueError(
            f"{type(estimator).__name__} diverged in pass {epoch + 1} with {given} (mean loss {loss:.4g}, largest "
            f"weight {largest:.4g}). Use {advice}. Nothing of this fit was kept."
        )


def copied(state: FittedState) -> FittedState:
    """A state that further passes do not change."""
    return replace(
        state,
        loss_curve_=list(state.loss_curve_),
        validation_loss_curve_=list(state.validation_loss_curve_),
        arrays={name: array.copy() for name, array in state.arrays.items()},
    )
