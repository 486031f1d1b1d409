"""Drawings of a run's figures by matplotlib, if it is installed."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from sklearn.metrics import ConfusionMatrixDisplay

from ._paper_tables import Figures
from ._papers import PAPER_TABLES, SYSTEMS
from ._sections import Picture
from ._tables import OURS


def draw_all(ranking: Sequence[Mapping[str, Any]], figures: Figures, agreements: Mapping[str, Any]) -> list[Picture]:
    """Draw what there are figures for; nothing without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    pictures = []
    if ranking:
        height = 1 + 0.28 * len(ranking)
        caption = "Similarity: rank, and mean of Pearson's r over all sets, with 95 % intervals."
        pictures.append(draw(partial(_draw_ranking, ranking=ranking), caption, (8, height)))
        caption = (
            "Similarity against the seconds of training. A number is the method's rank in the drawing of similarity; "
            "methods that learn nothing are left out."
        )
        pictures.append(draw(partial(_draw_costs, ranking=ranking, figures=figures), caption))
    if points := list(_beside_published(figures)):
        caption = "Figures with the papers' settings against those that the papers print; equal on the line."
        pictures.append(draw(partial(_draw_published, points=points), caption, (6.5, 6)))
    for name, result in agreements.items():
        caption = f"Errors on {name} that two methods share, of those that both make."
        size = 3 + 0.55 * len(result.names)
        pictures.append(draw(partial(_draw_agreement, result=result), caption, (size + 1, size)))
    return pictures


def draw(paint: Callable[[Any], None], caption: str, size: tuple[float, float] = (8, 5.5)) -> Picture:
    """Paint on new axes, and keep the image."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    paint(figure.add_subplot())
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    return Picture(caption, image.getvalue())


def _draw_ranking(axes: Any, ranking: Sequence[Mapping[str, Any]]) -> None:
    means = [100 * row["mean"] for row in ranking]
    errors = [[100 * abs(row["mean"] - row[end]) for row in ranking] for end in ("low", "high")]
    axes.errorbar(means, range(len(ranking)), xerr=errors, fmt="o", capsize=2)
    axes.set_yticks(range(len(ranking)), [f"{row['method']}  {rank}" for rank, row in enumerate(ranking, 1)])
    axes.set_ylim(len(ranking) - 0.5, -0.5)  # the best on top
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("Pearson's r times 100")


def _draw_costs(axes: Any, ranking: Sequence[Mapping[str, Any]], figures: Figures) -> None:
    for rank, row in enumerate(ranking, start=1):  # names would cover each other
        seconds = figures.values.get((OURS, row["method"], "training", "corpus", "seconds"), 0)
        if seconds > 0.01:
            axes.plot(seconds, 100 * row["mean"], "C0o")
            axes.annotate(str(rank), (seconds, 100 * row["mean"]), (4, 2), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.grid(alpha=0.3)
    axes.set_xlabel("seconds of training")
    axes.set_ylabel("Pearson's r times 100")


def _beside_published(figures: Figures) -> Iterator[tuple[str, float, float]]:
    """Give the paper, its figure and ours, for each figure in per cent."""
    for table in PAPER_TABLES:
        for name in table.systems:
            system = SYSTEMS[name]
            for column in table.columns:
                ours = None if system.as_published is None else figures.ours(system.as_published, column)
                published = figures.published(system, column, table.source)
                if ours is not None and published is not None and column.metric not in ("mse", "hours"):
                    yield table.source, published, ours


def _draw_published(axes: Any, points: Sequence[tuple[str, float, float]]) -> None:
    for source in dict.fromkeys(point[0] for point in points):
        of_paper = [point for point in points if point[0] == source]
        axes.scatter([point[1] for point in of_paper], [point[2] for point in of_paper], s=14, alpha=0.6, label=source)
    axes.axline((50, 50), slope=1, color="grey", linewidth=0.8)
    axes.legend()
    axes.grid(alpha=0.3)
    axes.set_xlabel("published")
    axes.set_ylabel("here")


def _draw_agreement(axes: Any, result: Any) -> None:
    display = ConfusionMatrixDisplay(result.agreement, display_labels=result.names)
    display.plot(ax=axes, values_format=".2f", xticks_rotation="vertical", cmap="Blues", im_kw={"vmin": 0, "vmax": 1})
    axes.set(xlabel="", ylabel="")
    for text in display.text_.ravel():
        # scikit-learn takes the middle of the values in the matrix, and all of these may be dark.
        text.set_color("white" if float(text.get_text()) > 0.5 else "black")
