"""From the numbers of a benchmark to a printed table, a figure and a piece of the documentation."""

import csv
import io
import time

import pandas as pd
from measuring import command, machine, versions


class KeptRows(dict):
    """Figures by key, kept in a CSV file, so that a run that was stopped goes on.

    `keys` is ``{name: type}`` of the parts of a key; figures are numbers by the names of `columns`. Without a path
    nothing is kept.
    """

    def __init__(self, path, keys, columns):
        super().__init__()
        self.path, self.header, self.columns = path, [*keys, *columns], list(columns)
        if path is not None and path.exists():
            with open(path, encoding="utf8", newline="") as file:
                for row in csv.DictReader(file):
                    key = tuple(kind(row[name]) for name, kind in keys.items())
                    super().__setitem__(key, {column: float(row[column] or "nan") for column in columns})

    def __setitem__(self, key, figures):
        super().__setitem__(key, figures)
        print(*key, *(f"{figures[column]:.2f}" for column in self.columns), flush=True)
        if self.path is not None:
            with open(self.path, "w", encoding="utf8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(self.header)
                for key, figures in self.items():
                    writer.writerow([*key, *("" if f != f else f"{f:.3f}" for f in map(figures.get, self.columns))])


def report(options, name, title, rows, *, notes="", draw=None):
    """Print rows, dicts of their cells, and with --out write them as `save` does."""
    table = pd.DataFrame(rows)
    print(f"\n{title}\n\n{table.to_string(index=False, na_rep='')}\n")
    cells = table.astype(object).fillna("").to_numpy().tolist()
    save(options.out, name, as_csv_table(title, [table.columns, *cells]), notes, draw)


def print_table(options, name, title, rows, note):
    """Print a table, and with --out write it as `save` does, to NAME_kept_aside with --kept-aside."""
    text = as_csv_table(title, rows)
    print(text)
    save(options.out, f"{name}_kept_aside" if getattr(options, "kept_aside", False) else name, text, note)


def save(folder, name, text, note="", draw=None):
    """Print how it was measured; write that and tables to NAME.inc, and a figure to NAME.png, if there is a folder."""
    note = how_measured(note)
    print(note)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.inc").write_text(f"{text}\n{note}", encoding="utf8")
        if draw is not None:
            save_figure(folder / f"{name}.png", draw)


def how_measured(note=""):
    """The end of a table: a note, when and on what it was measured, and how to repeat it."""
    when = f"Measured {time.strftime('%Y-%m-%d')} on {machine()}; {versions()}."
    return f"{note} {when} To repeat it::\n\n   {command()}\n".lstrip()


def as_csv_table(title, rows):
    """A csv-table of rows, the first of them its header."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    body = "".join(f"   {line}\n" for line in text.getvalue().splitlines())
    return f".. csv-table:: {title}\n   :header-rows: 1\n\n{body}"


def read_table(path):
    """The rows of a csv-table, the first of them its header."""
    lines = path.read_text(encoding="utf8").split("\n\n")[1].splitlines()
    return list(csv.reader(line.strip() for line in lines))


def save_figure(path, draw, dpi=110):
    """Let `draw` fill a figure and save it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from PIL import Image

    figure = pyplot.figure(figsize=(8, 4.5), layout="constrained")
    draw(figure)
    figure.savefig(path, dpi=dpi)
    with Image.open(path) as drawn:  # 64 colours take a third of the bytes
        small = drawn.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    pyplot.close(figure)


def bars(axes, labels, values, *, colours=None, unit=""):
    """Horizontal bars with their values beside them, the first on top."""
    positions = range(len(labels))
    drawn = axes.barh(positions, values, color=colours or "C0")
    axes.bar_label(drawn, [f" {value:,.0f}" if value >= 1000 else f" {value:.3g}" for value in values], padding=2)
    axes.set_yticks(positions, labels)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)
