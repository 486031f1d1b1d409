"""The passes of a fit: its text in word ids, the loop, the state that the estimator then holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._compiled.gather import renumber
from .._corpus.corpus import SentenceCorpus
from .._text.vocabulary import begins_with
from .._training.checkpoint import Checkpoint, LearningState
from .._training.encoded_text import EncodedText, most_words_whole, split_long_sentences
from .._training.learned_arrays import moving, start_arrays
from .._training.progress import PassTasks, Progress
from .._training.state import FittedState
from .._training.stopping import EarlyStopping, is_sound, largest_of
from .._training.trainer import HELD_OUT_PASS, Trainer
from .._validation.messages import brief, warn_at_user
from .._validation.values import is_set


def encode_text(
    estimator: Any, corpus: SentenceCorpus, state: FittedState, annotations: tuple[np.ndarray, ...] = ()
) -> EncodedText:
    """The corpus in word ids of the vocabulary; unknown words have the id after them."""
    weights = estimator._weights_in_training(state)
    tokens, words, vocabulary = np.asarray(corpus.tokens), corpus.vocabulary.words, state.vocabulary_
    if not begins_with(words, vocabulary):  # not the corpus that the vocabulary comes from
        ids = state.rows_of(words, len(words))
        tokens = tokens.copy()
        renumber(tokens, np.where(ids < 0, len(vocabulary), ids).astype(np.int32), tokens)
        tokens.flags.writeable = False
    text = EncodedText(tokens, np.asarray(corpus.sent_ptr), corpus.doc_of(), weights, annotations)
    return split_long_sentences(text, most_words_whole(estimator, corpus.tokenizer))


def encode_texts(
    estimator: Any, corpus: SentenceCorpus, state: FittedState, annotations: tuple[np.ndarray, ...], *, partial: bool
) -> tuple[EncodedText, EncodedText | None]:
    """The text to learn from and, with early stopping, the held-out text."""
    if not is_set(estimator, "early_stopping") or partial:
        return estimator._encode_text(corpus, state, annotations), None
    held = estimator._held_out(corpus, state, annotations)
    # One after the other: the copy of the first is freed once it is encoded.
    held_out, text = (
        estimator._encode_text(corpus[which], state, tuple(values[which] for values in annotations))
        for which in (held, ~held)
    )
    return text, held_out


NO_CHECKPOINT = Checkpoint(None)


def learn(
    estimator: Any,
    corpus: SentenceCorpus,
    state: FittedState,
    *,
    X: Any,
    n_passes: int,
    annotations: tuple[np.ndarray, ...] = (),
    partial: bool = False,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    engine: Any = None,
) -> None:
    """Run the passes; the estimator changes only if all of them succeed.

    Each set of the text has `n_passes` passes. A set that stops early leaves out its other passes.
    """
    text, held_out = encode_texts(estimator, corpus, state, annotations, partial=partial)
    records, of_text = estimator._learned_arrays(state), estimator._arrays_of_text(state, text)
    state = state.with_arrays(start_arrays(of_text, estimator.solver, state.seed + len(records)))
    weights = [state.arrays[record.name] for record in moving(records + of_text)]
    of_a_set, n_passes = n_passes, n_passes * estimator._n_sets(annotations)
    tasks = PassTasks(estimator, X, 0 if partial else n_passes)
    trainer = estimator._make_loop(state, text, engine, partial=partial, passes_of_a_set=of_a_set)
    spares, moved = estimator._spares, None if isinstance(trainer, Trainer) else trainer.moved
    trainer.compile(text)
    learned = make_passes(
        estimator,
        LearningState(state, records + of_text, EarlyStopping(weights, estimator), trainer),
        text,
        held_out,
        n_passes=n_passes,
        of_a_set=of_a_set,
        rate=estimator.learning_rate,
        falls=estimator.solver != "adagrad" and not partial,  # the papers' linear decay to zero
        tasks=tasks,
        finish=lambda state: {"_state": estimator._finish_fit(state, corpus).frozen()},
        check=lambda loss, epoch: check_finite(
            estimator, weights if spares is None else spares.note(weights, moved), loss, epoch
        ),
        warn=estimator._warn_of_nothing,
        begin=lambda: None if spares is None else spares.watch(records, state.arrays, moved),
        checkpoint=checkpoint,
    )
    final = estimator._finish_fit(learned, corpus)
    if spares is not None:
        spares.keep()
    estimator._publish(final)
    tasks.end(lambda: {"_state": estimator._state})


def make_passes(
    estimator: Any,
    learning: LearningState,
    text: EncodedText,
    held_out: EncodedText | None,
    *,
    n_passes: int,
    of_a_set: int,
    rate: float,
    falls: bool,
    tasks: PassTasks,
    finish: Callable[[FittedState], dict[str, Any]],
    check: Callable[[float, int], None],
    warn: Callable[[list[float], list[float]], None] = lambda losses, validation: None,
    begin: Callable[[], None] = lambda: None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> FittedState:
    """Make the passes of any fit; returns what was learned, of a fit with held-out text in its best pass.

    `learning` has the arrays, which the loop changes in place. The rate may fall to zero over the passes. `finish`
    gives the attributes of an estimator that has learned so far, ``check(loss, epoch)`` raises an error after a pass
    that diverged, ``warn(losses, validation losses)`` is called after each set, and ``begin`` before each pass.
    """
    trainer, stopping = learning.trainer, learning.stopping
    first_pass = learning.n_iter
    epoch, is_finished, part = learning.restore(checkpoint, n_passes)  # last: a step of nothing counts for Adam
    losses, validation = learning.losses, learning.validation_losses
    progress = Progress(type(estimator).__name__, estimator.verbose, n_passes, len(text.tokens), epoch)
    trainer.resume(part, lambda part: learning.write(checkpoint, progress.epoch, is_last=False, part=part))
    while epoch < n_passes and not is_finished:
        tasks.begin_pass()
        progress.begin(epoch)
        rates = tuple(rate * (1 - falls * done / n_passes) for done in (epoch, epoch + 1))
        begin()
        losses.append(trainer.run_pass(text, first_pass + epoch, rates=rates, on_call=progress.advance))
        check(losses[-1], epoch)
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
            warn(losses, validation)
            stopping.begin_set()
        learning.write(checkpoint, epoch, is_last=is_finished)
    warn(losses, validation)
    stopping.restore_best()
    return learning.result()


def check_finite(estimator: Any, weights: list[np.ndarray], loss: float, epoch: int) -> None:
    """Raise an error if the weights, or the loss, have diverged."""
    largest = largest_of(weights)
    if not is_sound(loss, largest):
        # Other parameters that cause large steps or scores.
        others = {"n_components": "smaller"} | ({"temperature": "larger"} if hasattr(estimator, "temperature") else {})
        options = "".join(f", {name}={brief(getattr(estimator, name))}" for name in others)
        remedy = "".join(f", or a {than} {name}" for name, than in others.items())
        raise ValueError(
            f"{type(estimator).__name__} diverged in pass {epoch + 1} with learning_rate={estimator.learning_rate}, "
            f"solver={estimator.solver!r}{options} (mean loss {loss:.4g}, largest weight {largest:.4g}). Use a smaller "
            f"learning_rate{remedy}. Nothing of this fit was kept."
        )


def warn_of_nothing(name: str, losses: list[float], validation: list[float]) -> None:
    """Warn of a loss of exactly zero, which means that there was no target."""
    for text, curve, outcome in (
        ("text", losses, "the last pass changed nothing"),
        ("held-out text", validation, "early_stopping could not stop; more can be held out (validation_fraction)"),
    ):
        if curve and curve[-1] == 0.0:
            warn_at_user(
                f"{name} found nothing to predict in the {text}, so {outcome}. Its sentences may be "
                "too few or too short, or their words unknown or too rare."
            )


def copied(state: FittedState) -> FittedState:
    """A state that further passes do not change."""
    return replace(
        state,
        loss_curve_=list(state.loss_curve_),
        validation_loss_curve_=list(state.validation_loss_curve_),
        arrays={name: array.copy() for name, array in state.arrays.items()},
    )
