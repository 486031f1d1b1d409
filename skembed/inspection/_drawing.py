"""What the displays share: axes to draw on, the part of a pipeline to look at, colours, and tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted

# Okabe and Ito's colours, which colour-blind readers can tell apart, without their yellow, which is faint on white, and
# with a grey and Tol's wine.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def new_axes(caller: str, ax: Any, **figure_kw: Any) -> Any:
    """The axes to draw on: the given ones, or the only ones of a new figure."""
    check_matplotlib_support(f"{caller}.plot")
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", **figure_kw)[1] if ax is None else ax


def fitted_part(estimator: Any, attribute: str, caller: str) -> Any:
    """The estimator, or the first step of a pipeline, that has the attribute that a display shows."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"{caller}.from_estimator needs a fitted estimator, got {estimator!r}.")
    check_is_fitted(estimator)
    for part in [estimator, *(step for _, step in getattr(estimator, "steps", []))]:
        if hasattr(part, attribute):
            return copy(part)  # as it is now, whatever a fit in another thread makes of it
    raise ValueError(
        f"{caller}.from_estimator needs an estimator, or a pipeline with a step, that has `{attribute}`, as "
        f"CBOSVectorizer does; {type(estimator).__name__} has none."
    )


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
    from matplotlib import colormaps
    from matplotlib.colors import Colormap

    cmap = im_kw.pop("cmap")
    cmap = (cmap if isinstance(cmap, Colormap) else colormaps[cmap]).with_extremes(bad="0.9")
    image = ax.imshow(values, cmap=cmap, **{"interpolation": "nearest", "aspect": "auto"} | im_kw)
    n_rows, n_columns = values.shape
    ax.set_xticks(np.arange(n_columns), column_names)
    ax.set_yticks(np.arange(n_rows), row_names)
    if max(map(len, column_names)) * n_columns > 50:  # they would run into each other
        ax.tick_params("x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if colorbar_label is not None:
        ax.figure.colorbar(image, ax=ax, label=colorbar_label)
    if texts is None:
        return image, None
    luminance = image.to_rgba(values)[..., :3] @ [0.2126, 0.7152, 0.0722]
    drawn = np.empty(values.shape, object)
    for i, j in np.ndindex(values.shape):
        color = "white" if luminance[i, j] < 0.45 else "black"
        style = {"ha": "center", "va": "center", "color": color, "size": 9 if n_columns <= 12 else 7}
        drawn[i, j] = ax.text(j, i, texts[i][j], **style | (text_kw or {}))
    return image, drawn


def table_size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Width and height in inches of a figure in which the cells of a table can be read."""
    return max(5.0, 2.5 + 0.6 * n_columns), max(3.0, 1.6 + 0.4 * n_rows)
