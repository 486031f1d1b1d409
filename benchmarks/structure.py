"""How is the package built: lines, imports, borders that a fit crosses, long functions, names defined twice?

    python benchmarks/structure.py [--package FOLDER] [--out FOLDER]

`--package` measures another copy of skembed. `--out` writes what the page on the architecture includes: the figures
(structure.inc), the packages in words (packages.inc) and the drawing of their imports (packages.svg).
"""

import argparse
import ast
import contextlib
import html
import io
import os
import re
import sys
import tempfile
import textwrap
import tokenize
from collections import Counter
from pathlib import Path

MAX_LINES, MAX_ARGUMENTS = 60, 9
SHORTEST_TABLE = 3  # a literal of as many lines or more is a table
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


# --- The source -------------------------------------------------------------------------------------------------------


class Source:
    """A file of the package: its unit is the first name below skembed, a package or a module."""

    def __init__(self, path, package):
        self.name = path.relative_to(package).as_posix()
        self.parts = path.relative_to(package).with_suffix("").parts
        self.unit = self.parts[0]
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    def code_lines(self):
        """Return the indices of the lines that hold code: no blank line, comment or docstring, a table counted once."""
        lines = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node, clean=False):
                lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
            elif isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)) and is_table(node):
                lines.difference_update(range(node.lineno + 1, node.end_lineno + 1))
        return lines

    def functions(self):
        """Yield (qualified name, function), methods and nested functions too."""

        def below(node, prefix):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, (ast.ClassDef, *FUNCTIONS)):
                    if isinstance(child, FUNCTIONS):
                        yield prefix + child.name, child
                    yield from below(child, f"{prefix}{child.name}.")
                else:
                    yield from below(child, prefix)

        return below(self.tree, "")

    def imported_units(self):
        """Return the units of skembed that the file imports from, at its top or inside a function."""
        package = ["skembed", *self.parts[:-1]]
        names = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*base, *([node.module] if node.module else [])])
                names.update(f"{base}.{alias.name}" for alias in node.names)
        units = {name.split(".")[1] for name in names if name.startswith("skembed.")}
        return units - {self.unit, "__version__"}


def is_table(node):
    """Whether a literal is a long list of literals."""
    literal = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
    return node.end_lineno - node.lineno >= SHORTEST_TABLE - 1 and all(isinstance(n, literal) for n in ast.walk(node))


def read_package(package):
    """Return the sources, sorted by path."""
    return [Source(path, package) for path in sorted(package.rglob("*.py"))]


# --- Packages and their imports ---------------------------------------------------------------------------------------


def import_graph(sources):
    """Return unit -> units that it imports from, of all units but the public names of skembed itself."""
    graph = {source.unit: set() for source in sources if source.unit != "__init__"}
    for source in sources:
        if source.unit in graph:
            graph[source.unit] |= source.imported_units() & graph.keys()
    return graph


def heights_of(graph):
    """Return unit -> the length of the longest chain of imports below it."""
    heights = {}

    def height(unit):
        if unit not in heights:
            heights[unit] = 1 + max((height(other) for other in graph[unit]), default=-1)
        return heights[unit]

    for unit in graph:
        height(unit)
    return heights


def direct_imports(graph):
    """Return the graph without the imports that follow from others."""

    def below(unit):
        return graph[unit].union(*(below(other) for other in graph[unit]))

    return {unit: {o for o in others if not any(o in below(p) for p in others)} for unit, others in graph.items()}


def declared_ranks(package):
    """Return RANKS of the import test beside the package, lowest first; None where there is no test."""
    for path in package.parent.glob("tests/**/test_imports.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "RANKS":
                return ast.literal_eval(node.value)
    return None


def docstrings_of(sources):
    """Return unit -> docstring in one line."""
    return {s.unit: " ".join(ast.get_docstring(s.tree).split()) for s in sources if s.parts[1:] in ((), ("__init__",))}


# --- Figures ----------------------------------------------------------------------------------------------------------


def count_lines(sources):
    """Return a row for each package; modules beside the packages are one row."""
    rows = {}
    for source in sources:
        unit = source.unit if len(source.parts) > 1 else "modules outside packages"
        n_files, n_lines, n_code = rows.get(unit, (0, 0, 0))
        rows[unit] = n_files + 1, n_lines + len(source.text.splitlines()), n_code + len(source.code_lines())
    rows["all"] = tuple(map(sum, zip(*rows.values())))
    return [(unit, *counts) for unit, counts in rows.items()]


def long_functions(sources):
    """Return (file:function, lines of code) of the functions with more than MAX_LINES, longest first."""
    rows = []
    for source in sources:
        code = source.code_lines()
        for name, node in source.functions():
            n_lines = len(code & set(range(node.lineno, node.end_lineno + 1)))
            if n_lines > MAX_LINES:
                rows.append((f"{source.name}:{name}", n_lines))
    return sorted(rows, key=lambda row: -row[1])


def many_arguments(sources):
    """Return (file:function, arguments but self) of the functions with more than MAX_ARGUMENTS, most first."""
    rows = []
    for source in sources:
        for name, node in source.functions():
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            n_arguments = sum(arg.arg not in ("self", "cls") for arg in arguments)
            if n_arguments > MAX_ARGUMENTS:
                rows.append((f"{source.name}:{name}", n_arguments))
    return sorted(rows, key=lambda row: -row[1])


def without_constructors(rows, sources):
    """Split rows of functions: those of constructors of public classes come second."""
    public = set(public_names(sources))
    theirs = [row for row in rows if row[0].endswith(".__init__") and row[0].split(":")[1].split(".")[0] in public]
    return [row for row in rows if row not in theirs], theirs


def public_names(sources):
    """Return `__all__` of skembed."""
    (root,) = (source for source in sources if source.parts == ("__init__",))
    for node in root.tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    raise ValueError("skembed/__init__.py has no __all__.")


def names_defined_twice(sources):
    """Return (name, files) of the functions and classes of a module that another module defines as well."""
    files = {}
    for source in sources:
        names = {node.name for node in source.tree.body if isinstance(node, (ast.ClassDef, *FUNCTIONS))}
        for name in sorted(names):
            files.setdefault(name, []).append(source.name)
    return sorted((name, where) for name, where in files.items() if len(where) > 1 and not name.startswith("__"))


# --- Borders that are crossed -----------------------------------------------------------------------------------------


def count_crossings(task, package):
    """Run a task; return how often a call goes from one file of the package to another, and from unit to unit.

    The caller is the nearest function of the package: calls through scikit-learn or NumPy count. So do generators that
    go on. Calls from compiled code are not seen.
    """
    root = f"{package}{os.sep}"
    files, units = Counter(), Counter()

    def trace(frame, event, argument):
        if event != "call" or not frame.f_code.co_filename.startswith(root):
            return
        called, caller = frame.f_code.co_filename, frame.f_back or sys._getframe(1)  # numba's frames have no caller
        while caller is not None and not caller.f_code.co_filename.startswith(root):
            caller = caller.f_back
        if caller is None or caller.f_code.co_filename == called:
            return
        here, there = (Path(name).relative_to(package).with_suffix("") for name in (caller.f_code.co_filename, called))
        files[here, there] += 1
        if here.parts[0] != there.parts[0]:
            units[here.parts[0], there.parts[0]] += 1

    sys.setprofile(trace)
    try:
        task()
    finally:
        sys.setprofile(None)
    return files, units


def crossings_of_a_fit_and_a_transform(package):
    """Return the crossings of `CBOSVectorizer.fit` on 200 sentences and of `transform`, both compiled before."""
    from skembed import CBOSVectorizer

    sentences = [f"Sentence {i % 17} tells of word{i % 31}, of milk and of cats." for i in range(200)]
    model = CBOSVectorizer(8, max_iter=1, random_state=0).fit(sentences)
    model.transform(sentences)
    fit = count_crossings(lambda: CBOSVectorizer(8, max_iter=1, random_state=0).fit(sentences), package)
    return fit, count_crossings(lambda: model.transform(sentences), package)


# --- Output -----------------------------------------------------------------------------------------------------------


def figures(sources, package):
    """Return rows (what, figure) and, beside, the names behind the figures."""
    graph = import_graph(sources)
    ranks = declared_ranks(package)
    fit, transform = crossings_of_a_fit_and_a_transform(package)
    lengthy, long_constructors = without_constructors(long_functions(sources), sources)
    wide, wide_constructors = without_constructors(many_arguments(sources), sources)
    twice = names_defined_twice(sources)
    rows = [
        ("files", len(sources)),
        ("longest file, lines", max(len(source.text.splitlines()) for source in sources)),
        ("units: packages, and modules beside them", len(graph)),
        ("import ranks in the import test", "none" if ranks is None else len(ranks)),
        ("longest chain of imports from unit to unit", 1 + max(heights_of(graph).values())),
        ("pairs of units where one imports the other", sum(map(len, graph.values()))),
        ("fit: calls from file to file", fit[0].total()),
        ("fit: calls from unit to unit", fit[1].total()),
        ("fit: pairs of files that such a call joins", len(fit[0])),
        ("fit: pairs of units that such a call joins", len(fit[1])),
        ("transform: calls from file to file", transform[0].total()),
        ("transform: calls from unit to unit", transform[1].total()),
        (f"functions of more than {MAX_LINES} lines of code", len(lengthy)),
        (f"functions of more than {MAX_ARGUMENTS} arguments", len(wide)),
        (f"public constructors of more than {MAX_ARGUMENTS} arguments", len(wide_constructors)),
        ("names of functions and classes that several modules define", len(twice)),
    ]
    details = {
        f"Functions of more than {MAX_LINES} lines of code": lengthy,
        f"Public constructors of more than {MAX_LINES} lines of code": long_constructors,
        f"Functions of more than {MAX_ARGUMENTS} arguments": wide,
        f"Public constructors of more than {MAX_ARGUMENTS} arguments": wide_constructors,
        "Names that several modules define": [(name, ", ".join(where)) for name, where in twice],
        "Calls from unit to unit in a fit": [(f"{a} -> {b}", n) for (a, b), n in fit[1].most_common()],
        "Calls from unit to unit in a transform": [(f"{a} -> {b}", n) for (a, b), n in transform[1].most_common()],
    }
    return rows, details


def print_rows(title, rows):
    print(f"\n{title}\n")
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))] if rows else []
    for row in rows:
        print("  ".join(str(value).ljust(width) for value, width in zip(row, widths)).rstrip())
    if not rows:
        print("none")


def packages_in_words(sources):
    """Return a definition list: each unit with its docstring, the users of others first."""
    graph = import_graph(sources)
    heights, words = heights_of(graph), docstrings_of(sources)
    units = sorted(graph, key=lambda unit: (-heights[unit], unit))
    return "".join(f"`{unit}`\n{textwrap.indent(textwrap.fill(words[unit], 117), '   ')}\n\n" for unit in units)


BOX, HEIGHT = 132, 60  # width and height of a box
STEP, ROW, MARGIN = 140, 88, 14  # from column to column, from row to row, and what the arrows at the side take
# The column of each box, 1 where it is not named here: an arrow that passes a row needs a free column there.
COLUMNS = {"_objectives": 0, "_training": 0, "_corpus": 0, "_shards": 2, "metrics": 3, "datasets": 2}
STYLE = """
.packages { display: block; width: 100%; max-width: 30rem; margin: 1rem auto; }
.packages rect { fill: var(--pst-color-surface, #f3f4f5); stroke: var(--pst-color-border, #c9c9c9); }
.packages text { fill: var(--pst-color-text-base, #222832); font-size: 12px; text-anchor: middle; }
.packages .name { font: bold 13px var(--pst-font-family-monospace, monospace); }
.packages .arrow { fill: none; stroke: var(--pst-color-text-muted, #48566b); marker-end: url(#packages-arrow); }
.packages marker path { fill: var(--pst-color-text-muted, #48566b); }
"""


def drawing(sources):
    """Return an SVG: a box for each unit below those that import it, arrows for imports that follow from no other.

    It is narrow enough for a phone, and its colours are those of the page around it.
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


def write_pages(folder, sources, lines, rows):
    """Write what the documentation includes."""
    from reporting import as_csv_table

    folder.mkdir(parents=True, exist_ok=True)
    tables = [
        as_csv_table("Lines", [("package", "files", "lines", "lines of code"), *lines]),
        as_csv_table("Structure", [("what", "figure"), *rows]),
    ]
    (folder / "structure.inc").write_text("\n".join(tables), encoding="utf8")
    (folder / "packages.inc").write_text(packages_in_words(sources), encoding="utf8")
    (folder / "packages.svg").write_text(drawing(sources), encoding="utf8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = Path(__file__).resolve()
    own = next(folder / "skembed" for folder in here.parents if (folder / "skembed" / "__init__.py").exists())
    parser.add_argument("--package", type=Path, default=own, help="folder of the package; default: the one beside this")
    parser.add_argument("--out", type=Path, help="folder for the pages of the documentation")
    options = parser.parse_args()
    package = options.package.resolve()
    sources = read_package(package)
    sys.path.insert(0, str(package.parent))
    sys.dont_write_bytecode = True
    with contextlib.ExitStack() as stack:
        if "NUMBA_CACHE_DIR" not in os.environ:
            os.environ["NUMBA_CACHE_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        rows, details = figures(sources, package)
    lines = count_lines(sources)
    print_rows("Packages: files, lines, lines of code", lines)
    print_rows("Structure", rows)
    for title, found in details.items():
        print_rows(title, found)
    if options.out:
        write_pages(options.out, sources, lines, rows)


if __name__ == "__main__":
    main()
