"""How is the package built: lines, imports, borders that a fit crosses, long functions, names defined twice?

    python benchmarks/structure.py [--package FOLDER] [--out FOLDER]

`--package` measures another copy of skembed. `--out` writes what the page on the architecture includes: the figures
(structure.inc), the packages in words (packages.inc) and the drawing of their imports (packages.svg).
"""

import argparse
import ast
import contextlib
import os
import sys
import tempfile
import textwrap
from collections import Counter
from pathlib import Path

from package_drawing import drawing
from package_source import declared_ranks, docstrings_of, heights_of, import_graph, read_package

MAX_LINES, MAX_ARGUMENTS = 60, 9


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
    """Return (name, files) of what several modules define: functions, classes, and public constants and types."""
    files = {}
    for source in sources:
        for name in sorted(source.defined_names()):
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
        (f"public constructors of more than {MAX_LINES} lines of code", len(long_constructors)),
        (f"functions of more than {MAX_ARGUMENTS} arguments", len(wide)),
        (f"public constructors of more than {MAX_ARGUMENTS} arguments", len(wide_constructors)),
        ("names that several modules define, private constants aside", len(twice)),
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


def write_pages(folder, sources, lines, rows):
    """Write what the documentation includes."""
    from reporting import as_csv_table

    folder.mkdir(parents=True, exist_ok=True)
    tables = [
        as_csv_table("Lines", [("package", "files", "lines", "lines of code"), *lines]),
        as_csv_table("Structure", [("what", "today"), *rows]),
    ]
    (folder / "structure.inc").write_text("\n".join(tables), encoding="utf8")
    (folder / "packages.inc").write_text(packages_in_words(sources), encoding="utf8")
    (folder / "packages.svg").write_text(drawing(sources), encoding="utf8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    own = Path(__file__).resolve().parents[1]
    parser.add_argument(
        "--package", type=Path, default=own / "skembed", help="its folder; default: the one beside this"
    )
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
