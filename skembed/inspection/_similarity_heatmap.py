"""Where the similarity of two sentences comes from, word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from skembed._validation.columns import as_list, as_matrix
from skembed.inspection._drawing import as_text, draw_table, fitted_step, new_axes, table_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


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

    def __init__(self, contributions: Any, words_a: Any, words_b: Any) -> None:
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
    def from_estimator(cls, estimator: Any, a: str, b: str, *, ax: Any = None, **plot_kw: Any) -> Self:
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
        found = fitted_step(estimator, "explain", cls.__name__).explain(a, b)
        return cls(found.contributions, found.words_a, found.words_b).plot(ax=ax, **plot_kw)

    def plot(
        self,
        ax: Any = None,
        *,
        include_values: bool = True,
        values_format: str = ".2f",
        cmap: Any = "RdBu_r",
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
        rows, columns = ([as_text(word) for word in words] for words in (self.words_a, self.words_b))
        ax = new_axes(type(self).__name__, ax, figsize=table_size(rows, columns))
        texts = [[_without_minus_zero(value, values_format) for value in row] for row in self.contributions.tolist()]
        largest = float(np.abs(self.contributions).max()) or 1.0
        self.im_, self.text_ = draw_table(
            ax,
            self.contributions,
            texts if include_values else None,
            rows,
            columns,
            colorbar_label="part of the cosine" if colorbar else None,
            im_kw={"cmap": cmap, "vmin": -largest, "vmax": largest} | (im_kw or {}),
            text_kw=text_kw,
        )
        ax.set(title=f"cosine {self.similarity:.2f}", xlabel="words of the second sentence")
        ax.set_ylabel("words of the first sentence")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _without_minus_zero(value: float, values_format: str) -> str:
    """Format a number; one that is rounded to zero is written without a sign, as zero is."""
    text = format(value, values_format)
    return format(0.0, values_format) if text == format(-0.0, values_format) else text
