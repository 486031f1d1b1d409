"""What a fit tells while it runs: a line an epoch, callbacks and the progress bar of scikit-learn."""

import contextlib
import importlib.util
import io
import os
import re

import numpy as np
import pytest
from estimators import GROUPS, OTHER_TEXT, TEXT, TRAINED_CLASSES, bits, diverging, fitted, learned, make, vectors

trained_classes = pytest.mark.parametrize("name", TRAINED_CLASSES)


# -- what is printed -------------------------------------------------------------------------------------------------


@trained_classes
def test_verbose_prints_a_line_a_pass(name, capsys):
    make(name).fit(TEXT, groups=GROUPS)
    assert capsys.readouterr().out == ""
    estimator = make(name, verbose=1, max_iter=3, early_stopping=True, n_jobs=2).fit(TEXT, groups=GROUPS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for epoch, line in enumerate(lines, 1):
        loss, held_out = estimator.loss_curve_[epoch - 1], estimator.validation_loss_curve_[epoch - 1]
        expected = (
            rf"\[{name}\] pass {epoch}/3, loss {loss:.4f}, validation loss {held_out:.4f}, "
            r"[\d,]+ words/s, \d+ s left"
        )
        assert re.fullmatch(expected, line)
    make(name, verbose=2, max_iter=1).fit(TEXT, groups=GROUPS)
    assert "100% done" in capsys.readouterr().out


def broken_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", buffering=1)


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


class Window:
    """What a program with a window may replace standard output with, after the window is closed."""

    def write(self, text):
        raise RuntimeError("the window is closed")


@pytest.mark.parametrize("stdout", [broken_pipe, closed, Window, lambda: None])
@pytest.mark.parametrize("name", ["CBOSVectorizer", "ParaphraseVectorizer", "SkipThoughtVectorizer"])
def test_nobody_listens(name, stdout, monkeypatch):
    estimator = make(name, verbose=2)  # which may skip the test
    monkeypatch.setattr("sys.stdout", stream := stdout())
    estimator.fit(TEXT, groups=GROUPS)
    monkeypatch.undo()
    if isinstance(stream, io.TextIOWrapper):
        with contextlib.suppress(BrokenPipeError):
            stream.close()
    assert learned(estimator) == learned(fitted(name))


# -- scikit-learn's callbacks ----------------------------------------------------------------------------------------

has_callbacks = pytest.mark.skipif(
    importlib.util.find_spec("sklearn.callback") is None, reason="scikit-learn before 1.9 has no callbacks"
)


class Recorder:
    """A callback that embeds after every pass and stops after some."""

    def __init__(self, n_passes):
        self.n_passes, self.rows, self.calls, self.losses = n_passes, [], [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        assert X is TEXT

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        assert fitted_estimator is not estimator
        self.rows.append(fitted_estimator.transform(OTHER_TEXT))
        self.calls.append(context.task_name)
        self.losses.append(list(fitted_estimator.loss_curve_))
        return context.task_name == "pass" and context.task_id == self.n_passes - 1


@has_callbacks
@trained_classes
def test_callback(name):
    callback = Recorder(2)
    estimator = make(name, max_iter=5)
    estimator.set_callbacks(callback)
    estimator.fit(TEXT, groups=GROUPS)
    assert estimator.n_iter_ == 2
    assert callback.calls[:3] == ["setup", "pass", "pass"]
    assert callback.calls[-1] == "teardown"
    assert [len(losses) for losses in callback.losses] == [1, 2, 2]
    assert bits(callback.rows[-1]) == bits(estimator.transform(OTHER_TEXT))
    assert bits(callback.rows[1]) == bits(callback.rows[2])
    assert bits(callback.rows[0]) != bits(callback.rows[1])
    if estimator.solver == "adagrad":
        for n_passes in (1, 2):
            there = make(name, max_iter=n_passes).fit(TEXT, groups=GROUPS)
            assert bits(there.transform(OTHER_TEXT)) == bits(callback.rows[n_passes - 1])
    assert bits(estimator.transform(TEXT)) == bits(estimator.fit(TEXT, groups=GROUPS).transform(TEXT))


@has_callbacks
@trained_classes
def test_callback_is_torn_down_after_divergence(name):
    callback = Recorder(100)
    start, changes = diverging(name)
    estimator = make(name, **{**start, **changes})
    estimator.set_callbacks(callback)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="diverged"):
        estimator.fit(TEXT, groups=GROUPS)
    assert callback.calls[-1] == "teardown"
    assert not [key for key in learned(estimator) if "callback" not in key]


@has_callbacks
@trained_classes
def test_progress_bar(name, capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    estimator = make(name)
    estimator.set_callbacks(ProgressBar())
    estimator.fit(TEXT, groups=GROUPS)
    assert type(estimator).__name__ in capsys.readouterr().out
    assert vectors(estimator) == vectors(fitted(name))
