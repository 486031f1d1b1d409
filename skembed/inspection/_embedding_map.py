"""A map of sentences: their embeddings in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from skembed._corpus.input import samples_for
from skembed._validation.columns import as_column, as_list, as_matrix, check_same_length, is_missing
from skembed.inspection._drawing import AS_TEXT, COLORS, MARKERS, as_label, as_text, draw_legend, new_axes, with_grey

_UNLABELLED = {"color": "0.75", "marker": "o", "label": "no label"}

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure


class EmbeddingMapDisplay:
    """Map of sentences in two dimensions, coloured by label.

    Use :meth:`from_estimator` to make one. Sentences that a model takes for similar lie close together. Two dimensions
    hold little of what a hundred do: sentences apart on the map are apart, but those close together may not be similar.

    Parameters
    ----------
    coordinates : array-like or data frame of shape (n_sentences, 2)
        Places on the map.
    labels : array-like of shape (n_sentences,), default=None
        Labels of any type; each has a colour and a marker. Float labels are drawn on a colour scale. Sentences with a
        missing label (None, NaN) are grey.
    axis_names : pair of str, default=("dimension 1", "dimension 2")
        What the two axes say.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the map.
    figure_ : matplotlib Figure
        Figure with the map.
    points_ : list of matplotlib PathCollection
        One collection per label in sorted order, sentences without a label last.

    Raises
    ------
    ValueError
        If the coordinates are not two columns of finite numbers, or labels and sentences differ in number.

    Examples
    --------
    >>> from skembed import BOWPCA
    >>> from skembed.inspection import EmbeddingMapDisplay
    >>> sentences = [
    ...     "A cat drinks milk.", "The cat sleeps.", "A bank lends money.",
    ...     "The bank closes.",
    ... ]
    >>> emb = BOWPCA(n_components=3).fit(sentences)
    >>> display = EmbeddingMapDisplay.from_estimator(
    ...     emb, sentences, ["pets", "pets", "money", "money"]
    ... )
    >>> display.coordinates.shape, len(display.points_)
    ((4, 2), 2)
    """

    coordinates: NDArray[np.float64]
    labels: NDArray[Any] | None
    axis_names: tuple[str, ...]
    ax_: Axes
    figure_: Figure
    points_: list[PathCollection]

    def __init__(
        self, coordinates: Any, labels: Any = None, *, axis_names: Sequence[str] = ("dimension 1", "dimension 2")
    ) -> None:
        self.coordinates = np.asarray(as_matrix(coordinates, "coordinates"), np.float64)
        self.labels = None if labels is None else _one_kind_of_missing(as_column(labels, "labels"))
        self.axis_names = tuple(as_list(axis_names, "axis_names"))
        if self.coordinates.shape[1] != 2:
            raise ValueError(
                f"coordinates must have shape (n_sentences, 2), got {self.coordinates.shape}. A transformer of two "
                "components makes them, such as PCA(2)."
            )
        if not np.isfinite(self.coordinates).all():
            row = int(np.flatnonzero(~np.isfinite(self.coordinates).all(axis=1))[0])
            raise ValueError(f"coordinates of sentence {row} are not finite.")
        if self.labels is not None:
            check_same_length({"coordinates": self.coordinates, "labels": self.labels})

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, reducer: Any = None, ax: Any = None, **plot_kw: Any
    ) -> Self:
        """Embed sentences, reduce the embeddings to two dimensions, and plot them.

        Parameters
        ----------
        estimator : fitted transformer
            The model of sentences, or a pipeline that ends in a transformer. Put a
            :class:`~sklearn.preprocessing.Normalizer` behind the model to map directions, which are what the cosine
            compares, and not lengths.
        X : iterable of str, or SentenceCorpus
            Sentences. Only an estimator of this package takes a corpus directly; others get words joined by spaces.
        y : array-like of shape (n_sentences,), default=None
            Label of each sentence.
        reducer : transformer with two components, default=None
            Anything with `fit_transform`, such as :class:`~sklearn.manifold.TSNE`; it is cloned. None means
            ``PCA(2)``.
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        **plot_kw : dict
            Further parameters of :meth:`plot`.

        Returns
        -------
        display : EmbeddingMapDisplay
            The display, plotted.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If the estimator has no `transform`, the reducer does not return two columns, or there is one sentence.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "transform"):
            raise ValueError(
                f"EmbeddingMapDisplay.from_estimator needs an estimator with `transform`; {type(estimator).__name__} "
                "has none. Of a pipeline that ends in a classifier take all steps but the last: pipeline[:-1]."
            )
        vectors = estimator.transform(samples_for(estimator, X))
        if reducer is None and vectors.shape[0] < 2:
            raise ValueError(f"A map needs two sentences or more, got {vectors.shape[0]}.")
        reducer = PCA(2) if reducer is None else clone(reducer)
        with np.errstate(invalid="ignore"):  # equal sentences have no variance
            coordinates = reducer.fit_transform(vectors)
        name = "component" if isinstance(reducer, PCA) else type(reducer).__name__
        names = [f"{name} 1", f"{name} 2"]
        ratios = getattr(reducer, "explained_variance_ratio_", None)
        if ratios is not None and len(ratios) == 2:
            fractions = np.nan_to_num(ratios)
            names = [f"{name} ({fraction:.0%} of the variance)" for name, fraction in zip(names, fractions)]
        return cls(coordinates, y, axis_names=names).plot(ax=ax, **plot_kw)

    def plot(
        self,
        ax: Any = None,
        *,
        target_names: Sequence[str] | None = None,
        cmap: Any = "viridis",
        scatter_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        target_names : sequence of str, default=None
            Names for integer labels: the name of label i is ``target_names[i]``.
        cmap : str or matplotlib Colormap, default="viridis"
            Colours of labels that are real numbers.
        scatter_kw : dict, default=None
            Keywords passed to :meth:`matplotlib.axes.Axes.scatter`.

        Returns
        -------
        display : EmbeddingMapDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `target_names` has no name for a label.
        """
        names = self._label_names(target_names)
        ax = new_axes(type(self).__name__, ax, figsize=(7, 4.5))
        style = {"s": 18, "alpha": 0.7, "linewidths": 0} | (scatter_kw or {})
        x, y = self.coordinates.T
        if self.labels is None:
            self.points_ = [ax.scatter(x, y, **{"color": COLORS[0]} | style)]
        elif self.labels.dtype.kind == "f":
            look = {"c": self.labels, "cmap": with_grey(cmap), "plotnonfinite": True}
            self.points_ = [ax.scatter(x, y, **look | style)]
            ax.figure.colorbar(self.points_[0], ax=ax, label="label")
        else:
            self.points_ = []
            codes = {label: i for i, label in enumerate(names)}
            code_of = np.array([codes[label] for label in self.labels.tolist()], np.intp)
            for i, (label, name) in enumerate(names.items()):
                # Colours come round before marks do, so no two of the first 72 labels share both.
                look = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)]}
                look = _UNLABELLED if label is None else look | {"label": as_label(as_text(name))}
                self.points_.append(ax.scatter(x[code_of == i], y[code_of == i], **look | style))
            # The marks of the legend are large enough to recognise, however small those on the map are.
            scale = max(1.0, (36 / np.mean(style["s"])) ** 0.5)
            draw_legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, markerscale=scale)
        ax.set_xlabel(as_text(self.axis_names[0]), **AS_TEXT)
        ax.set_ylabel(as_text(self.axis_names[1]), **AS_TEXT)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _label_names(self, target_names: Any) -> dict[Any, str]:
        """Return distinct labels, sorted with the missing one last, and their names in the legend."""
        distinct = set() if self.labels is None else set(self.labels.tolist())
        missing = {None: ""} if None in distinct else {}
        labels = _sorted(distinct - {None})
        if target_names is None:
            return {label: str(label) for label in labels} | missing
        if not labels or not all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
            raise ValueError("target_names needs labels that are integers, its positions.")
        names = as_list(target_names, "target_names")
        if labels[0] < 0 or labels[-1] >= len(names):
            raise ValueError(f"target_names has {len(names)} names, but labels go from {labels[0]} to {labels[-1]}.")
        return {label: str(names[label]) for label in labels} | missing


def _one_kind_of_missing(labels: np.ndarray) -> np.ndarray:
    """Return labels with None for each missing one; float labels keep NaN, which the colour scale shows as grey."""
    if labels.dtype != object:
        return labels
    known = [label for label in labels if not is_missing(label)]
    if known and all(isinstance(label, (float, np.floating)) for label in known):
        return np.array([np.nan if is_missing(label) else label for label in labels])
    labels = labels.copy()
    labels[[is_missing(label) for label in labels]] = None
    return labels


def _sorted(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels, key=lambda label: (isinstance(label, str), label))  # numbers, then strings
    except TypeError:
        return sorted(labels, key=str)
