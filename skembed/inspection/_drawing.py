"""Shared by the displays: axes, the fitted part of a pipeline, colours, text of names, tables of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted

from skembed._validation.messages import brief

# Okabe and Ito's colours, which colour-blind readers can tell apart, without their yellow, which is faint on white, and
# with a grey and Tol's wine.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Names are drawn as plain text: no mathematics after a dollar sign, no TeX after a backslash.
AS_TEXT = {"parse_math": False, "usetex": False}
_LONGEST_NAME = 40  # characters; longer names are cut
_UNDRAWABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # controls but the line feed, surrogates
_NO_SPACE = "\u200b"


def as_text(name: Any) -> str:
    """Return a name as it is drawn: cut if long, with undrawable characters replaced."""
    text = str(name).replace("\r\n", "\n").replace("\t", " ")
    text = _UNDRAWABLE.sub("\ufffd", text)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def as_label(text: str) -> str:
    """Return a label that any legend shows as this text.

    matplotlib reads dollar signs in labels as mathematics, and omits labels that are empty or begin with "_".
    """
    label = text.replace("$", r"\$")
    return _NO_SPACE + label if not label or label.startswith("_") else label


def draw_legend(ax: Any, **legend_kw: Any) -> None:
    """Draw the legend, with labels from :func:`as_label` turned back into plain text."""
    for shown in ax.legend(**legend_kw).get_texts():
        label = shown.get_text()
        if label.count("$") == label.count(r"\$"):  # otherwise mathematics in a label of the user
            shown.set(text=label.removeprefix(_NO_SPACE).replace(r"\$", "$"), **AS_TEXT)


def new_axes(caller: str, ax: Any, **figure_kw: Any) -> Any:
    """The axes to draw on: the given ones, or the only ones of a new figure."""
    check_matplotlib_support(f"{caller}.plot")
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", **figure_kw)[1] if ax is None else ax


def fitted_step(estimator: Any, attribute: str, caller: str) -> Any:
    """The estimator, or the first step of a pipeline, that has the attribute that a display shows."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"{caller}.from_estimator needs a fitted estimator, got {brief(estimator)}.")
    check_is_fitted(estimator)
    for part in [estimator, *(step for _, step in getattr(estimator, "steps", []))]:
        if hasattr(part, attribute):
            return copy(part)  # a snapshot: another thread may fit it
    raise ValueError(
        f"{caller}.from_estimator needs an estimator, or a pipeline with a step, that has `{attribute}`, as "
        f"CBOSVectorizer does; {type(estimator).__name__} has none."
    )


def with_grey(cmap: Any) -> Any:
    """Return the colormap with grey for missing values."""
    from matplotlib import colormaps
    from matplotlib.colors import Colormap

    return (cmap if isinstance(cmap, Colormap) else colormaps[cmap]).with_extremes(bad="0.9")


def draw_table(
    ax: Any,
    values: np.ndarray,
    texts: Sequence[Sequence[str]] | None,
    row_names: Sequence[str],
    column_names: Sequence[str],
    *,
    colorbar_label: str | None,
    im_kw: dict[str, Any],
    text_kw: dict[str, Any] | None,
) -> tuple[Any, np.ndarray | None]:
    """Draw a table as an image with its cells' texts, and return both. Masked values stay grey."""
    cmap = with_grey(im_kw.pop("cmap"))
    image = ax.imshow(values, cmap=cmap, **{"interpolation": "nearest", "aspect": "auto"} | im_kw)
    n_rows, n_columns = values.shape
    ax.set_xticks(np.arange(n_columns), column_names, **AS_TEXT)
    ax.set_yticks(np.arange(n_rows), row_names, **AS_TEXT)
    if max(map(len, column_names)) * n_columns > 50:  # they would run into each other
        ax.tick_params("x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if colorbar_label is not None:
        ax.figure.colorbar(image, ax=ax).set_label(colorbar_label, **AS_TEXT)
    if texts is None:
        return image, None
    luminance = image.to_rgba(values)[..., :3] @ [0.2126, 0.7152, 0.0722]
    drawn = np.empty(values.shape, object)
    for i, j in np.ndindex(values.shape):
        color = "white" if luminance[i, j] < 0.45 else "black"
        style = {"ha": "center", "va": "center", "color": color, "size": 9 if n_columns <= 12 else 7}
        drawn[i, j] = ax.text(j, i, texts[i][j], **style | (text_kw or {}))
    return image, drawn


def table_size(row_names: Sequence[str], column_names: Sequence[str]) -> tuple[float, float]:
    """Return width and height in inches of a figure that keeps a table and its names readable."""
    longest_row, longest_column = (max(0, *map(len, names), 20) - 20 for names in (row_names, column_names))
    width = max(5.0, 2.5 + 0.6 * len(column_names)) + 0.09 * longest_row
    return width, max(3.0, 1.6 + 0.4 * len(row_names)) + 0.07 * longest_column
