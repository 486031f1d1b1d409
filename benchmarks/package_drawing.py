"""A drawing of the packages: a box for each, and arrows for their imports."""

import html
import re
import textwrap
from collections import Counter

from package_source import direct_imports, docstrings_of, heights_of, import_graph

BOX, HEIGHT = 132, 60  # width and height of a box
STEP, ROW, MARGIN = 140, 88, 14  # from column to column, from row to row, and what the arrows at the side take
# The column of each box, 1 where it is not named here: an arrow that passes a row needs a free column there.
COLUMNS = {"_objectives": 0, "_training": 0, "_corpus": 0, "_shards": 2, "metrics": 3, "datasets": 2}
STYLE = """
.packages { display: block; width: 100%; min-width: 56rem; max-width: 72rem; margin: 1rem auto; }
.packages rect { fill: var(--pst-color-surface, #f3f4f5); stroke: var(--pst-color-border, #c9c9c9); }
.packages text { fill: var(--pst-color-text-base, #222832); font-size: 12px; text-anchor: middle; }
.packages .name { font: bold 13px var(--pst-font-family-monospace, monospace); }
.packages .arrow { fill: none; stroke: var(--pst-color-text-muted, #48566b); marker-end: url(#packages-arrow); }
.packages marker path { fill: var(--pst-color-text-muted, #48566b); }
"""


def drawing(sources):
    """Return an SVG: a box for each unit below those that import it, arrows for imports that follow from no other.

    Its colours are those of the page around it, in which it scrolls where it is too wide.
    """
    graph, words = direct_imports(import_graph(sources)), docstrings_of(sources)
    corners = place_boxes(graph)
    width = max(x for x, _ in corners.values()) + BOX + MARGIN
    height = max(y for _, y in corners.values()) + HEIGHT + 2
    arrows, n_outside = [], 0
    for unit, others in graph.items():
        for other in sorted(others):
            ends = corners[unit], corners[other]
            path, is_free = curve(*ends, corners.values())
            if not is_free:
                path = detour(*ends, width - 2 - 4 * n_outside)
                n_outside += 1
            arrows.append(f'<path class="arrow" d="{path}"><title>{unit} imports {other}</title></path>')
    boxes = [draw_box(unit, words[unit], *corners[unit]) for unit in graph]
    lines = [
        f'<svg class="packages" viewBox="0 0 {width} {height}" role="img" xmlns="http://www.w3.org/2000/svg">',
        "<title>The packages of skembed; an arrow leads to what a package imports</title>",
        f"<style>{STYLE}</style>",
        '<marker id="packages-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker>',
        *arrows,
        *boxes,
        "</svg>\n",
    ]
    return "\n".join(lines)


def place_boxes(graph):
    """Return unit -> left and top of its box."""
    depths = heights_of({unit: {other for other in graph if unit in graph[other]} for unit in graph})
    n_columns = max(3, *Counter(depths.values()).values())
    taken = {}  # (row, column) -> unit
    for unit in sorted(graph, key=lambda unit: (unit not in COLUMNS, unit)):
        column = COLUMNS.get(unit, 1)
        while (depths[unit], column) in taken:
            column = (column + 1) % n_columns
        taken[depths[unit], column] = unit
    return {unit: (MARGIN + column * STEP, 1 + row * ROW) for (row, column), unit in taken.items()}


def curve(upper, lower, boxes):
    """Return an arrow from the bottom of one box to the top of another, and whether it passes behind no box."""
    x, y, to_x, to_y = upper[0] + BOX // 2, upper[1] + HEIGHT, lower[0] + BOX // 2, lower[1] - 1
    bend = (to_y - y) // 2
    is_free = True
    for t in (step / 50 for step in range(1, 50)):
        at_x = x + (to_x - x) * (3 - 2 * t) * t**2
        at_y = y + 3 * bend * (1 - t) * t + (to_y - y) * t**3 + 3 * (to_y - y - 2 * bend) * (1 - t) * t**2
        is_free &= not any(left < at_x < left + BOX and top < at_y < top + HEIGHT for left, top in boxes)
    return f"M{x} {y}C{x} {y + bend} {to_x} {to_y - bend} {to_x} {to_y}", is_free


def detour(upper, lower, side):
    """Return an arrow from the right of one box to the right of another, past all boxes."""
    y, to_y = upper[1] + HEIGHT // 2, lower[1] + HEIGHT // 2
    return f"M{upper[0] + BOX} {y}Q{side} {y} {side} {y + 20}V{to_y - 20}Q{side} {to_y} {lower[0] + BOX + 1} {to_y}"


def draw_box(unit, words, x, y):
    """Return a box with the name of a unit and the beginning of its docstring."""
    middle = x + BOX // 2
    lines = textwrap.wrap(re.match(r"[^:;,.(]+", words)[0], 18)
    texts = [f'<text x="{middle}" y="{y + 35 + 15 * i}">{html.escape(line)}</text>' for i, line in enumerate(lines)]
    name = f'<text class="name" x="{middle}" y="{y + 18}">{unit}</text>'
    return f'<rect x="{x}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="6"/>{name}{"".join(texts)}'
