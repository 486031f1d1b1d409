"""Where the similarity of two sentences comes from, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted

from skembed._validation.columns import as_list, as_matrix
from skembed._validation.messages import brief

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_AS_TEXT = {"parse_math": False, "usetex": False}  # no mathematics after a dollar sign, no TeX after a backslash
_LONGEST = 40  # characters of a word; longer ones are cut
_UNDRAWABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # controls but the line feed, surrogates


class SimilarityHeatmapDisplay:
    r"""Heat map of what each pair of words adds to the cosine of two sentences.

    Use :meth:`from_estimator` to make one. A sentence is a weighted sum of word vectors, so its cosine with another
    is, exactly, the sum of the cells:

    .. math::

        \cos(s_a, s_b) = \sum_{i \in a} \sum_{j \in b} \frac{(\omega_i v_i) \cdot (\omega_j v_j)}{|s_a| |s_b|}

    Parameters
    ----------
    contributions : array-like of shape (n_words_a, n_words_b)
        What each pair of words adds to the cosine.
    words_a, words_b : sequence of str
        The words of the first sentence (rows) and of the second (columns).

    Attributes
    ----------
    similarity : float
        The cosine of the two sentences, which is the sum of `contributions`.
    ax_ : matplotlib Axes
        Axes with the heat map.
    figure_ : matplotlib Figure
        Figure with the heat map.
    im_ : matplotlib AxesImage
        Image of the heat map.
    text_ : ndarray of shape (n_words_a, n_words_b), dtype=matplotlib Text, or None
        The numbers in the cells. None if `include_values` is false.

    Raises
    ------
    ValueError
        If a sentence has no word, the shape of `contributions` does not match the words, or a contribution is not
        finite.

    See Also
    --------
    skembed.CBOSVectorizer.explain : The same as numbers.

    Examples
    --------
    >>> from skembed import MeanEmbeddingVectorizer
    >>> from skembed.inspection import SimilarityHeatmapDisplay
    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.8, 0.6], "car": [0.0, 1.0]}
    >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors).fit(["cat dog car"])
    >>> display = SimilarityHeatmapDisplay.from_estimator(emb, "cat car", "dog")
    >>> round(display.similarity, 2), display.ax_.get_title()
    (0.99, 'cosine 0.99')
    """

    contributions: NDArray[np.float64]
    words_a: list[str]
    words_b: list[str]
    similarity: float
    ax_: Axes
    figure_: Figure
    im_: AxesImage
    text_: NDArray[np.object_] | None

    def __init__(self, contributions: ArrayLike, words_a: Iterable[str], words_b: Iterable[str]) -> None:
        self.words_a, self.words_b = as_list(words_a, "words_a"), as_list(words_b, "words_b")
        for name, words in (("first", self.words_a), ("second", self.words_b)):
            if not words:
                raise ValueError(
                    f"The {name} sentence has no word that the model knows, so its cosine with any other is 0 and "
                    'there is nothing to show. With unknown="hash" unknown words count too.'
                )
        self.contributions = np.asarray(as_matrix(contributions, "contributions"), np.float64)
        if self.contributions.shape != (len(self.words_a), len(self.words_b)):
            raise ValueError(
                f"contributions must have shape ({len(self.words_a)}, {len(self.words_b)}), one row for each word of "
                f"words_a and one column for each of words_b; got {self.contributions.shape}."
            )
        if not np.isfinite(self.contributions).all():
            raise ValueError("contributions must be finite numbers.")
        self.similarity = float(self.contributions.sum())

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, a: str, b: str, *, ax: Axes | None = None, **plot_kw: Any
    ) -> Self:
        """Explain the cosine of two sentences, and plot it.

        Parameters
        ----------
        estimator : fitted estimator with the method `explain`, or Pipeline with such a step
            The model of sentences, such as :class:`~skembed.CBOSVectorizer`.
        a, b : str
            The two sentences.
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.
        **plot_kw : dict
            Further parameters of :meth:`plot`.

        Returns
        -------
        display : SimilarityHeatmapDisplay
            The display, plotted.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If the estimator cannot explain, or a sentence has no word.
        """
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            raise TypeError(f"{cls.__name__}.from_estimator needs a fitted estimator, got {brief(estimator)}.")
        check_is_fitted(estimator)
        parts = [estimator, *(step for _, step in getattr(estimator, "steps", []))]
        step = next((part for part in parts if hasattr(part, "explain")), None)
        if step is None:
            raise ValueError(
                f"{cls.__name__}.from_estimator needs an estimator, or a pipeline with a step, that has `explain`, as "
                f"CBOSVectorizer does; {type(estimator).__name__} has none."
            )
        found = copy(step).explain(a, b)  # a snapshot: another thread may fit it
        return cls(found.contributions, found.words_a, found.words_b).plot(ax=ax, **plot_kw)

    def plot(
        self,
        ax: Any = None,
        *,
        include_values: bool = True,
        values_format: str = ".2f",
        cmap: str | Colormap = "RdBu_r",
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
            Whether to write the numbers into the cells.
        values_format : str, default=".2f"
            Format of these numbers.
        cmap : str or matplotlib Colormap, default="RdBu_r"
            Colours from the most negative through zero, always in their middle, to the most positive.
        colorbar : bool, default=True
            Whether to draw a scale of colours.
        im_kw : dict, default=None
            Keywords passed to :meth:`matplotlib.axes.Axes.imshow`.
        text_kw : dict, default=None
            Keywords passed to :meth:`matplotlib.axes.Axes.text`.

        Returns
        -------
        display : SimilarityHeatmapDisplay
            The display itself.
        """
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        rows, columns = ([_drawable(word) for word in words] for words in (self.words_a, self.words_b))
        if ax is None:
            more_width, more_height = (max(0, *map(len, names), 20) - 20 for names in (rows, columns))
            width, height = max(5.0, 2.5 + 0.6 * len(columns)), max(3.0, 1.6 + 0.4 * len(rows))
            size = width + 0.09 * more_width, height + 0.07 * more_height
            ax = plt.subplots(layout="constrained", figsize=size)[1]
        largest = float(np.abs(self.contributions).max()) or 1.0
        style = {"cmap": cmap, "vmin": -largest, "vmax": largest, "interpolation": "nearest", "aspect": "auto"}
        self.im_, self.text_ = ax.imshow(self.contributions, **style | (im_kw or {})), None
        ax.set_xticks(np.arange(len(columns)), columns, **_AS_TEXT)
        ax.set_yticks(np.arange(len(rows)), rows, **_AS_TEXT)
        if max(map(len, columns)) * len(columns) > 50:  # they would run into each other
            ax.tick_params("x", labelrotation=45)
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        if colorbar:
            ax.figure.colorbar(self.im_, ax=ax).set_label("part of the cosine")
        if include_values:
            luminance = self.im_.to_rgba(self.contributions)[..., :3] @ [0.2126, 0.7152, 0.0722]
            self.text_ = np.empty(self.contributions.shape, object)
            for i, j in np.ndindex(self.contributions.shape):
                look = {"color": "white" if luminance[i, j] < 0.45 else "black", "size": 9 if len(columns) <= 12 else 7}
                text = _without_minus_zero(float(self.contributions[i, j]), values_format)
                self.text_[i, j] = ax.text(j, i, text, **{"ha": "center", "va": "center"} | look | (text_kw or {}))
        ax.set(title=f"cosine {self.similarity:.2f}", xlabel="words of the second sentence")
        ax.set_ylabel("words of the first sentence")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _drawable(word: object) -> str:
    """Return a word as it is drawn: cut if long, with undrawable characters replaced."""
    text = _UNDRAWABLE.sub("\ufffd", str(word).replace("\r\n", "\n").replace("\t", " "))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _without_minus_zero(value: float, values_format: str) -> str:
    """Format a number; one that is rounded to zero is written without a sign, as zero is."""
    text = format(value, values_format)
    return format(0.0, values_format) if text == format(-0.0, values_format) else text
