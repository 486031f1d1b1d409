"""Whether models make the same mistakes (White et al., 2015, section 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from skembed._corpus.input import as_samples, samples_for
from skembed._validation.columns import as_column, as_list, as_matrix, as_named, as_scores, check_same_length
from skembed.evaluation import error_agreement
from skembed.inspection._drawing import as_text, draw_table, new_axes, table_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


class ErrorAgreementDisplay:
    r"""Heat map of how far models agree in their mistakes.

    Use :meth:`from_estimators`, :meth:`from_predictions` or :meth:`from_errors` to make one. Two models that fail on
    the same samples know the same things; two that fail on different ones may gain from being joined.

    With predictions, a cell is what figure 4 of [1]_ shows: among the samples that both models got wrong, the fraction
    in which both gave the same wrong answer,

    .. math::

        P(m_1(x) = m_2(x) \mid m_1(x) \neq y \wedge m_2(x) \neq y)

    With two classes there is only one wrong answer and this is always 1. There, and wherever it is known only whether
    an answer was right, use :meth:`from_errors`: among the samples that either model got wrong, the fraction that
    both did.

    Parameters
    ----------
    n_shared : array-like of shape (n_models, n_models), dtype int
        Numerators: mistakes in which two models agree.
    n_compared : array-like of shape (n_models, n_models), dtype int
        Denominators: mistakes in which they could have agreed.
    n_errors : array-like of shape (n_models,), dtype int
        All mistakes of each model.
    names : sequence of str
        Names of the models.
    label : str, default="fraction of common errors"
        What a cell says, for the scale of colours.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the heat map.
    figure_ : matplotlib Figure
        Figure with the heat map.
    im_ : matplotlib AxesImage
        Image of the heat map. Cells with nothing to compare, and each model with itself, are grey.
    text_ : ndarray of shape (n_models, n_models), dtype=matplotlib Text, or None
        The fractions in the cells. None if `include_values` is false.

    Raises
    ------
    ValueError
        If shapes and names disagree.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning", Australasian
       Document Computing Symposium, 2015.

    Examples
    --------
    >>> from skembed.inspection import ErrorAgreementDisplay
    >>> y = ["a", "b", "c", "c"]
    >>> predictions = {"first": ["a", "c", "a", "b"], "second": ["b", "c", "a", "a"]}
    >>> display = ErrorAgreementDisplay.from_predictions(y, predictions)
    >>> display.n_errors.tolist()
    [3, 4]
    >>> display.text_[0, 1].get_text()  # both got three wrong, two in the same way
    '2/3'
    """

    n_shared: NDArray[np.int64]
    n_compared: NDArray[np.int64]
    n_errors: NDArray[np.int64]
    names: list[str]
    label: str
    ax_: Axes
    figure_: Figure
    im_: AxesImage
    text_: NDArray[np.object_] | None

    def __init__(
        self, n_shared: Any, n_compared: Any, *, n_errors: Any, names: Any, label: str = "fraction of common errors"
    ) -> None:
        self.n_shared = np.asarray(as_matrix(n_shared, "n_shared"), np.int64)
        self.n_compared = np.asarray(as_matrix(n_compared, "n_compared"), np.int64)
        self.n_errors = as_scores(n_errors, "n_errors").astype(np.int64)
        self.names = [str(name) for name in as_list(names, "names")]
        self.label = label
        n = len(self.names)
        for name, shape in (("n_shared", (n, n)), ("n_compared", (n, n)), ("n_errors", (n,))):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have shape {shape} for {n} names, got {getattr(self, name).shape}.")

    @classmethod
    def from_errors(cls, errors: Any, names: Any = None, *, ax: Any = None, **plot_kw: Any) -> Self:
        """Plot which models fail on the same samples.

        Parameters
        ----------
        errors : array-like of shape (n_models, n_samples), dtype bool, or mapping or data frame
            Whether each model got each sample wrong: rows, a mapping from name to such a row, a data frame with one
            column per model, or (name, row) tuples.
        names : sequence of str, default=None
            Names of the models. None numbers them.
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        **plot_kw : dict
            Further parameters of :meth:`plot`.

        Returns
        -------
        display : ErrorAgreementDisplay
            The display, plotted.

        Raises
        ------
        ValueError
            If there are fewer than two models, rows differ in length, or `errors` holds anything but truth values.
        """
        names, rows = _named(errors, names)
        wrong = np.array(_of_one_length({name: as_column(row, name) for name, row in zip(names, rows)}))
        if wrong.dtype != bool:
            raise ValueError(
                f"errors must hold truth values (dtype bool), got {wrong.dtype}. From labels use from_predictions, or "
                "pass [y_pred != y for y_pred in ...]."
            )
        both, either = (wrong[:, None] & wrong).sum(axis=2), (wrong[:, None] | wrong).sum(axis=2)
        label = "both wrong / either wrong"
        display = cls(both, either, n_errors=wrong.sum(axis=1), names=names, label=label)
        return display.plot(ax=ax, **plot_kw)

    @classmethod
    def from_predictions(
        cls, y_true: Any, predictions: Any, names: Any = None, *, ax: Any = None, **plot_kw: Any
    ) -> Self:
        """Plot which models give the same wrong answers.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The right answers.
        predictions : array-like of shape (n_models, n_samples), or mapping or data frame
            Predictions of each model: rows, a mapping from name to predictions, a data frame with one column per
            model, or (name, predictions) tuples.
        names : sequence of str, default=None
            Names of the models. None numbers them.
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        **plot_kw : dict
            Further parameters of :meth:`plot`.

        Returns
        -------
        display : ErrorAgreementDisplay
            The display, plotted.

        Raises
        ------
        ValueError
            If there are fewer than two models, or lengths differ.
        """
        names, rows = _named(predictions, names)
        found = error_agreement(y_true, list(zip(names, rows)))
        label = "same wrong answer / both wrong"
        display = cls(found.n_shared, found.n_compared, n_errors=found.n_errors, names=names, label=label)
        return display.plot(ax=ax, **plot_kw)

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: Any, names: Any = None, *, ax: Any = None, **plot_kw: Any
    ) -> Self:
        """Let fitted classifiers answer, and plot which give the same wrong answers.

        Parameters
        ----------
        estimators : sequence or mapping of fitted classifiers
            The models, such as pipelines of an embedding and a classifier. A mapping or (name, classifier) tuples give
            their names.
        X : iterable of str, SentenceCorpus, or array-like of shape (n_samples, ...)
            Samples that no model was fitted on. Only a pipeline that begins with an estimator of this package takes a
            corpus directly; other models get the words of each sentence joined by spaces.
        y : array-like of shape (n_samples,)
            The right answers.
        names : sequence of str, default=None
            Names of the models. None numbers them.
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        **plot_kw : dict
            Further parameters of :meth:`plot`.

        Returns
        -------
        display : ErrorAgreementDisplay
            The display, plotted.

        Raises
        ------
        NotFittedError
            If a classifier has not learned yet.
        ValueError
            If there are fewer than two models.
        """
        names, models = _named(estimators, names)
        X = as_samples(X)
        answers = [model.predict(samples_for(model, X)) for model in models]
        return cls.from_predictions(y, answers, names, ax=ax, **plot_kw)

    def plot(
        self,
        ax: Any = None,
        *,
        include_values: bool = True,
        cmap: Any = "Blues",
        colorbar: bool = True,
        im_kw: dict[str, Any] | None = None,
        text_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        include_values : bool, default=True
            Whether to write the fractions into the cells.
        cmap : str or matplotlib Colormap, default="Blues"
            Colours from no agreement to full agreement.
        colorbar : bool, default=True
            Whether to draw a scale of colours.
        im_kw : dict, default=None
            Keywords passed to :meth:`matplotlib.axes.Axes.imshow`.
        text_kw : dict, default=None
            Keywords passed to :meth:`matplotlib.axes.Axes.text`.

        Returns
        -------
        display : ErrorAgreementDisplay
            The display itself.
        """
        n = len(self.names)
        shown = [as_text(name) for name in self.names]
        width, height = table_size(shown, shown)
        ax = new_axes(type(self).__name__, ax, figsize=(1.2 * width, 1.2 * height))
        # A model agrees with itself by definition, and that colour would dominate the others.
        hidden = np.eye(n, dtype=bool) | (self.n_compared == 0)
        agreement = np.ma.masked_array(self.n_shared / np.maximum(1, self.n_compared), hidden)
        texts = [
            [f"{self.n_shared[i, j]}/{self.n_compared[i, j]}" if i != j else "" for j in range(n)] for i in range(n)
        ]
        self.im_, self.text_ = draw_table(
            ax,
            agreement,
            texts if include_values else None,
            [f"{name}\n{n_errors} errors" for name, n_errors in zip(shown, self.n_errors)],
            shown,
            colorbar_label=as_text(self.label) if colorbar else None,
            im_kw={"cmap": cmap, "vmin": 0.0, "vmax": 1.0} | (im_kw or {}),
            text_kw=text_kw,
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _of_one_length(columns: dict[str, np.ndarray]) -> list[np.ndarray]:
    check_same_length(columns)
    return list(columns.values())


def _named(models: Any, names: Any) -> tuple[list[str], list[Any]]:
    """Names and rows of a mapping, or of a sequence with names beside it."""
    found, rows = as_named(models, "models")
    if found is not None and names is not None:
        raise ValueError("names must be None where a mapping gives the names.")
    if names is not None:
        found = as_list(names, "names")
    names = [f"model {i + 1}" for i in range(len(rows))] if found is None else found
    if len(rows) < 2:
        raise ValueError(f"Agreement needs at least two models, got {len(rows)}.")
    if len(names) != len(rows):
        raise ValueError(f"There are {len(names)} names for {len(rows)} models.")
    return [str(name) for name in names], rows
