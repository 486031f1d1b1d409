"""From the numbers of a benchmark to a printed table, JSON, a figure and a piece of the documentation."""

import csv
import io
import json
import time

import pandas as pd
from measuring import command, machine, versions


def target(asked, of, measured, limit, *, at_most=False, unit=""):
    """A target and its row; `measured` None means that it could not be measured here."""
    wanted = f"{limit:,.0f}" if limit >= 1000 else f"{limit:g}"
    row = {"asked": asked, "of": of, "target": f"{'at most' if at_most else 'at least'} {wanted} {unit}".strip()}
    if measured is None:
        return row | {"measured": "not measured", "met": ""}
    met = measured <= limit if at_most else measured >= limit
    return row | {"measured": f"{measured:,.{0 if measured >= 1000 else 2}f}", "met": "yes" if met else "no"}


def measured():
    """On what, how and when it is measured."""
    return {"machine": machine(), "versions": versions(), "command": command(), "date": time.strftime("%Y-%m-%d")}


def write_json(folder, name, title, rows, about, *, notes="", targets=(), raw=None):
    """Write NAME.json: the rows, their targets, and on what they were measured."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"title": title, **about, "notes": notes, "rows": rows, "targets": list(targets), "raw": raw}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf8")


def report(options, name, title, rows, *, notes="", targets=(), raw=None, draw=None):
    """Print the rows; with --out write NAME.json, NAME.inc (the table as the documentation shows it) and NAME.png."""
    table = pd.DataFrame(rows)
    print(f"\n{title}\n\n{table.to_string(index=False, na_rep='')}\n")
    if notes:
        print(notes)
    about = measured()
    print("\n".join(f"{key}: {value}" for key, value in about.items()))
    if targets:
        print("\n" + pd.DataFrame(targets).to_string(index=False))
    if options.out is None:
        return
    write_json(options.out, name, title, rows, about, notes=notes, targets=targets, raw=raw)
    (options.out / f"{name}.inc").write_text(as_rst(title, table, notes, about), encoding="utf8")
    if draw is not None:
        save_figure(options.out / f"{name}.png", draw)


def as_rst(title, table, notes, about):
    """A csv-table with its notes and where it was measured."""
    rows = table.astype(object).fillna("").to_numpy().tolist()
    notes = f"{notes}\n\n" if notes else ""
    return (
        f"{as_csv_table(title, [table.columns, *rows])}\n{notes}"
        f"Measured {about['date']} on {about['machine']}; {about['versions']}. To repeat it::\n\n"
        f"   {about['command']}\n"
    )


def how_measured(command):
    """The end of a table's note: on what it was measured, and how to repeat it."""
    return f"{machine()}; {versions()}. To repeat it::\n\n   {command}\n"


def print_table(options, name, title, rows, note):
    """Print a table and a note; with --out write them to NAME.inc, or to NAME_kept_aside.inc with --kept-aside."""
    text = f"{as_csv_table(title, rows)}\n{note} {how_measured(measured()['command'])}"
    print(text)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        suffix = "_kept_aside" if getattr(options, "kept_aside", False) else ""
        (options.out / f"{name}{suffix}.inc").write_text(text, encoding="utf8")


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
