"""How much weight a model gives to rare and to frequent words: the length of their vectors."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from skembed._compiled.norms import row_norms
from skembed._validation.columns import as_list, as_scores, check_same_length
from skembed._validation.messages import brief
from skembed.inspection._drawing import AS_TEXT, COLORS, as_text, fitted_step, new_axes

if TYPE_CHECKING:
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_N_BINS = 25  # of the line of medians


class NormProfileDisplay:
    r"""Length of the word vectors against the frequency of the words, with Arora's weight beside it.

    Use :meth:`from_estimator` to make one. In a sum of word vectors a long vector counts for more, so this is how a
    model weighs words without being told to. Figure 1 of [1]_ shows it for Sent2Vec beside the weight that [2]_ sets by
    hand,

    .. math::

        \omega_w = \frac{a}{a + f_w}

    where :math:`f_w` is the word's fraction of all words in the text.

    Parameters
    ----------
    frequencies : array-like of shape (n_words,)
        Fraction of the text that each word makes, above 0 and at most 1.
    norms : array-like of shape (n_words,)
        Euclidean length of its vector.
    words : sequence of str, default=None
        The words themselves, so that :meth:`plot` can mark some.

    Attributes
    ----------
    ax_ : ndarray of 2 matplotlib Axes
        Axes with the lengths, and axes with the weight.
    figure_ : matplotlib Figure
        Figure with both.
    points_ : matplotlib PathCollection
        The words.
    median_ : matplotlib Line2D
        Median length of words of about the same frequency.
    weight_ : matplotlib Line2D
        Arora's weight.

    Raises
    ------
    ValueError
        If the arrays differ in length or are empty, a frequency is not in (0, 1], or a norm is not finite.

    References
    ----------
    .. [1] M. Pagliardini, P. Gupta and M. Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional
       n-Gram Features", NAACL-HLT, 2018.
    .. [2] Sanjeev Arora, Yingyu Liang and Tengyu Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
       ICLR, 2017.

    Examples
    --------
    >>> from skembed import MeanEmbeddingVectorizer
    >>> from skembed.inspection import NormProfileDisplay
    >>> vectors = {"the": [0.3, 0.4], "cat": [3.0, 4.0]}
    >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors).fit(["the cat", "the the"])
    >>> display = NormProfileDisplay.from_estimator(emb, mark=["the"])
    >>> display.frequencies.tolist(), display.norms.round(3).tolist()
    ([0.75, 0.25], [0.5, 5.0])
    """

    frequencies: NDArray[np.float64]
    norms: NDArray[np.float64]
    words: list[str] | None
    ax_: NDArray[np.object_]
    figure_: Figure
    points_: PathCollection
    median_: Line2D
    weight_: Line2D

    def __init__(self, frequencies: Any, norms: Any, *, words: Any = None) -> None:
        self.frequencies = as_scores(frequencies, "frequencies")
        self.norms = as_scores(norms, "norms")
        self.words = None if words is None else as_list(words, "words")
        columns = {"frequencies": self.frequencies, "norms": self.norms}
        check_same_length(columns if self.words is None else columns | {"words": self.words})
        if self.frequencies.size == 0:
            raise ValueError("There is no word to show: none of the vectors' words occurs in the text of `fit`.")
        if not ((self.frequencies > 0) & (self.frequencies <= 1)).all():
            raise ValueError("frequencies must be above 0 and at most 1: divide the counts by the number of all words.")

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **plot_kw: Any) -> Self:
        """Plot the lengths of the word vectors of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with `word_vectors_` and `word_counts_`, or Pipeline with such a step
            The model, such as :class:`~skembed.Sent2VecVectorizer`. Words of given vectors that do not occur in the
            text of `fit` are left out.
        ax : matplotlib Axes or array-like of 2 matplotlib Axes, default=None
            Where to plot, see :meth:`plot`.
        **plot_kw : dict
            Further parameters of :meth:`plot`.

        Returns
        -------
        display : NormProfileDisplay
            The display, plotted.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If the estimator has no word vectors, or none of a word that occurs.
        """
        step = fitted_step(estimator, "word_vectors_", cls.__name__)
        counts = np.asarray(step.word_counts_, np.int64)
        occurs = np.flatnonzero(counts > 0)
        norms = row_norms(np.asarray(step.word_vectors_)[occurs])
        words = list(step.vocabulary_)
        # Relative to all words of the text, as in SIF weights, those without a vector included.
        return cls(counts[occurs] / max(1, step._n_tokens), norms, words=[words[row] for row in occurs]).plot(
            ax=ax, **plot_kw
        )

    def plot(
        self, ax: Any = None, *, a: float = 1e-3, mark: Any = (), scatter_kw: dict[str, Any] | None = None
    ) -> Self:
        """Draw the lengths, and Arora's weight beside them.

        Parameters
        ----------
        ax : matplotlib Axes or array-like of 2 matplotlib Axes, default=None
            One is divided in two. None makes a new figure.
        a : float, default=1e-3
            The parameter of the weight; [2]_ uses 1e-3.
        mark : sequence of str, default=()
            Words to point out by name.
        scatter_kw : dict, default=None
            Keywords passed to :meth:`matplotlib.axes.Axes.scatter`.

        Returns
        -------
        display : NormProfileDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `a` is not positive, a word of `mark` is not among `words`, or `ax` is neither one nor two axes.

        References
        ----------
        .. [2] Sanjeev Arora, Yingyu Liang and Tengyu Ma, "A Simple but Tough-to-Beat Baseline for Sentence
           Embeddings", ICLR, 2017.
        """
        if not a > 0:
            raise ValueError(f"a must be positive, got {brief(a)}.")
        rows = self._rows_of(mark)
        left, right = self._two_axes(ax)
        from matplotlib.patheffects import withStroke

        style = {"s": 6, "alpha": 0.3, "color": "0.5", "linewidths": 0, "label": "one word", "rasterized": True}
        self.points_ = left.scatter(self.frequencies, self.norms, **style | (scatter_kw or {}))
        (self.median_,) = left.plot(*self._medians(), color=COLORS[0], lw=2, label="median")
        for row, word in rows.items():
            point = self.frequencies[row], self.norms[row]
            left.plot(*point, "o", ms=5, color=COLORS[3])
            offset = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            note = left.annotate(as_text(word), point, **offset, color=COLORS[3], **AS_TEXT)
            note.set(weight="bold", path_effects=[withStroke(linewidth=3, foreground="white")])
        left.margins(x=0.1)  # space for a mark at the end
        left.set(xscale="log", ylabel="length of the word's vector", ylim=(0, None))
        left.legend(markerscale=2)
        grid = np.geomspace(self.frequencies.min(), self.frequencies.max(), 200)
        (self.weight_,) = right.plot(grid, a / (a + grid), color=COLORS[0], lw=2)
        right.set(xscale="log", ylabel=f"Arora's weight, a = {a:g}", ylim=(0, 1.05))
        for axis in (left, right):
            axis.set_xlabel("fraction f of the word in the text")
        self.ax_, self.figure_ = np.array([left, right], object), left.figure
        return self

    def _rows_of(self, mark: Any) -> dict[int, str]:
        if isinstance(mark, str):
            raise ValueError(f"mark must be a sequence of words, got the string {brief(mark)}; use [{brief(mark)}].")
        mark = as_list(sorted(mark) if isinstance(mark, Set) else mark, "mark")
        rows = {word: row for row, word in enumerate(self.words or [])}
        for word in mark:
            if word not in rows:
                raise ValueError(
                    f"{brief(word)} cannot be marked: it is not among the {len(rows)} words shown. Words of the "
                    "vocabulary are written as the tokenizer leaves them, in lower case by default."
                )
        return {rows[word]: word for word in mark}

    def _two_axes(self, ax: Any) -> tuple[Any, Any]:
        if ax is None:
            left, right = new_axes(type(self).__name__, None, ncols=2, figsize=(9, 3.8))
            return left, right
        new_axes(type(self).__name__, ax)  # is matplotlib there?
        if not hasattr(ax, "get_subplotspec"):
            both = np.asarray(ax, object).ravel()
            if len(both) != 2:
                raise ValueError(f"ax must be one matplotlib Axes or two, got {len(both)}.")
            return both[0], both[1]
        if ax.get_subplotspec() is None:
            raise ValueError("ax is not in a grid of subplots, so it cannot be divided. Pass two axes.")
        from matplotlib.gridspec import GridSpecFromSubplotSpec

        ax.set_axis_off()
        grid = GridSpecFromSubplotSpec(1, 2, subplot_spec=ax.get_subplotspec())
        return ax.figure.add_subplot(grid[0]), ax.figure.add_subplot(grid[1])

    def _medians(self) -> tuple[np.ndarray, np.ndarray]:
        """Median frequency and median length in bins of equal width on the logarithmic axis."""
        logs = np.log(self.frequencies)
        width = (np.ptp(logs) or 1.0) / _N_BINS
        bins = np.minimum(((logs - logs.min()) / width).astype(int), _N_BINS - 1)
        members = [np.flatnonzero(bins == b) for b in np.unique(bins)]
        return (
            np.array([np.median(self.frequencies[rows]) for rows in members]),
            np.array([np.median(self.norms[rows]) for rows in members]),
        )
