"""What a fit tells about its passes: to the user on standard output, and to scikit-learn's callbacks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


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
        """Print a line; if standard output is closed or fails, stop printing but not the fit."""
        try:
            print(f"[{self.name}] pass {self.epoch + 1}/{self.n_passes}, {text}", flush=True)
        except Exception:
            self.verbose = 0


class PassTasks:
    """Tells scikit-learn's callbacks, where the version has them, about the fit and its passes."""

    def __init__(self, estimator: Any, X: Any, n_passes: int) -> None:
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

    def end_pass(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Return whether a callback asks to stop. `fitted` gives the attributes of a model stopped here."""
        return self._end(self.epoch, fitted)

    def end(self, fitted: Callable[[], dict[str, Any]]) -> None:
        self._end(self.fit, fitted)

    def _end(self, task: Any, fitted: Callable[[], dict[str, Any]]) -> bool:
        if task is None:
            return False
        return bool(task.call_on_fit_task_end(estimator=self.estimator, X=self.X, reconstruction_attributes=fitted))
