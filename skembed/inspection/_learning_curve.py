"""The loss of a model, pass by pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from skembed._validation.columns import as_scores
from skembed.inspection._drawing import as_label, as_text, draw_legend, fitted_step, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


class LearningCurveDisplay:
    """Loss of a model after each pass over its text.

    Use :meth:`from_estimator` to make one. It shows whether more passes (`max_iter`) may help and, where
    `early_stopping` held out some text, where the model stopped getting better on text that it did not learn.
    Do not confuse it with :class:`sklearn.model_selection.LearningCurveDisplay`, which is about scores and the number
    of samples.

    Parameters
    ----------
    train_loss : array-like of shape (n_passes,)
        Mean loss of a target in each pass, in nats.
    validation_loss : array-like of shape (n_passes,), default=None
        Mean loss of a held-out target after each pass, in nats. None or empty where nothing was held out.
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure with the curves.
    lines_ : list of matplotlib Line2D
        The curve of the training loss and, where there is one, that of the held-out loss.

    Raises
    ------
    ValueError
        If there is no loss, a loss is not finite, or the curves differ in length.

    Notes
    -----
    Losses compare only between models with the same objective and the same number of negative examples. The loss of a
    pass is measured while the weights change, that of the held-out text after the pass: the second may well be lower.

    Examples
    --------
    >>> from skembed import Sent2VecVectorizer
    >>> from skembed.inspection import LearningCurveDisplay
    >>> sentences = ["The cat drinks milk.", "The bank lends money."] * 50
    >>> emb = Sent2VecVectorizer(16, max_iter=3, random_state=0).fit(sentences)
    >>> display = LearningCurveDisplay.from_estimator(emb)
    >>> display.train_loss.shape, display.ax_.get_xlabel()
    ((3,), 'passes over the text')
    """

    train_loss: NDArray[np.float64]
    validation_loss: NDArray[np.float64]
    name: str | None
    ax_: Axes
    figure_: Figure
    lines_: list[Line2D]

    def __init__(self, train_loss: Any, validation_loss: Any = None, *, name: str | None = None) -> None:
        self.train_loss = as_scores(train_loss, "train_loss")
        self.validation_loss = as_scores([] if validation_loss is None else validation_loss, "validation_loss")
        self.name = name
        if self.train_loss.size == 0:
            raise ValueError(
                "train_loss is empty: the model has made no pass over a text. Given vectors learn nothing."
            )
        if self.validation_loss.size not in (0, self.train_loss.size):
            raise ValueError(
                f"validation_loss has {self.validation_loss.size} passes and train_loss {self.train_loss.size}: they "
                "must be those of one fit."
            )

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None, **plot_kw: Any) -> Self:
        """Plot the loss of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with the attribute `loss_curve_`, or Pipeline with such a step
            The model, such as :class:`~skembed.CBOSVectorizer`. `validation_loss_curve_` is shown where it is there.
        name : str, default=None
            Name of the model in the legend. None means that of its class.
        ax : matplotlib Axes, default=None
            Axes to plot on, also those of another curve. None makes a new figure.
        **plot_kw : dict
            Further parameters of :meth:`plot`.

        Returns
        -------
        display : LearningCurveDisplay
            The display, plotted.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If it has no `loss_curve_`, or an empty one.
        """
        step = fitted_step(estimator, "loss_curve_", cls.__name__)
        held_out = getattr(step, "validation_loss_curve_", None)
        name = type(step).__name__ if name is None else name
        return cls(step.loss_curve_, held_out, name=name).plot(ax=ax, **plot_kw)

    def plot(self, ax: Any = None, *, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        line_kw : dict, default=None
            Keywords passed to :meth:`matplotlib.axes.Axes.plot` for both curves.

        Returns
        -------
        display : LearningCurveDisplay
            The display itself.
        """
        ax = new_axes(type(self).__name__, ax)
        passes = np.arange(1, len(self.train_loss) + 1)
        label = "loss" if self.name is None or self.name == "" else as_text(self.name)
        style = {"marker": "o", "markersize": 4} | (line_kw or {})
        self.lines_ = ax.plot(passes, self.train_loss, **{"label": as_label(label)} | style)
        if self.validation_loss.size:
            # Told apart by its line style; its colour is that of the model's other curve.
            held_out = style | {"color": self.lines_[0].get_color(), "linestyle": "--", "markerfacecolor": "none"}
            held_out["label"] = as_label(f"{label}, held-out text")
            self.lines_ += ax.plot(passes, self.validation_loss, **held_out)
        ax.set(xlabel="passes over the text", ylabel="mean loss of a target (nats)")
        ax.xaxis.get_major_locator().set_params(integer=True)
        draw_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
