"""The page on the architecture says what the code does: packages, imports, the steps of a transform and of a fit."""

import ast
import functools
import importlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import skembed

ROOT = Path(skembed.__file__).resolve().parent.parent
PACKAGE = ROOT / "skembed"
PAGE = ROOT / "doc" / "architecture.rst"
(SCRIPT,) = (ROOT / "benchmarks").rglob("structure.py")
UPDATE = f"run: python {SCRIPT.relative_to(ROOT)} --out doc/_results"
STRINGS = ["The cat sleeps.", "It dreams of milk.", "The bank opens.", "It lends money."] * 10


@pytest.fixture
def structure(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    return importlib.import_module("structure")


@pytest.fixture
def package_drawing(structure):
    return importlib.import_module("package_drawing")


@pytest.fixture
def sources(structure):
    return structure.read_package(PACKAGE)


def result(name):
    return (ROOT / "doc" / "_results" / name).read_text(encoding="utf-8")


# --- Packages and imports ---------------------------------------------------------------------------------------------


def test_packages_are_described_by_their_docstrings(structure, sources):
    assert result("packages.inc") == structure.packages_in_words(sources), UPDATE


def test_drawing_shows_the_imports_as_they_are(structure, sources):
    assert result("packages.svg") == structure.drawing(sources), UPDATE


def test_arrows_of_the_drawing_go_down_the_ranks_and_lead_to_every_import(structure, sources):
    """Read from the picture, against the ranks of the import test and the imports in the source."""
    ranks = {unit: rank for rank, units in enumerate(structure.declared_ranks(PACKAGE)) for unit in units}
    drawing = result("packages.svg")
    assert set(re.findall(r'class="name"[^>]*>(\w+)<', drawing)) == set(ranks)
    below = {unit: set() for unit in ranks}
    arrows = re.findall(r"<title>(\w+) imports (\w+)</title>", drawing)
    for unit, other in sorted(arrows, key=lambda arrow: ranks[arrow[0]]):
        assert ranks[other] < ranks[unit], (unit, other)
        below[unit] |= {other} | below[other]
    for unit, others in structure.import_graph(sources).items():
        assert others <= below[unit], unit


def test_boxes_and_arrows_are_apart(structure, package_drawing, sources):
    """Boxes do not overlap, and an arrow passes behind none; text fits in its box."""
    graph = package_drawing.direct_imports(structure.import_graph(sources))
    boxes = package_drawing.place_boxes(graph)
    for x, y in boxes.values():
        near = [
            (a, b)
            for a, b in boxes.values()
            if abs(a - x) < package_drawing.BOX and abs(b - y) < package_drawing.HEIGHT
        ]
        assert near == [(x, y)]
    assert package_drawing.curve((0, 0), (0, 200), [(0, 0), (0, 200)])[1]
    assert not package_drawing.curve((0, 0), (0, 200), [(0, 0), (0, 100), (0, 200)])[1]
    drawing = result("packages.svg")
    n_detours = len(re.findall(r'class="arrow" d="M[^"]*V', drawing))
    assert n_detours == sum(
        not package_drawing.curve(boxes[unit], boxes[other], boxes.values())[1]
        for unit in graph
        for other in graph[unit]
    )
    assert max(map(len, re.findall(r">([^<>\n]+)</text>", drawing))) <= 18
    captions = [re.findall(r"<text", box) for box in drawing.split("<rect")[1:]]
    assert max(map(len, captions)) == 3  # a name and two lines


# --- The steps --------------------------------------------------------------------------------------------------------


def steps_of(title):
    """Return the names that the numbered steps of a section begin with, "module.function"."""
    section = re.search(rf"\n{title}\n-+\n(.*?)\n(\.\. _|-----)", PAGE.read_text(encoding="utf-8"), re.DOTALL).group(1)
    return re.findall(r"^\d+\. `([\w.]+)`", section, re.MULTILINE)


def find(name):
    """Return the module of a step, and its name in it; an error says what does not exist."""
    parts = name.split(".")
    n_parts = next((n for n in range(len(parts), 0, -1) if PACKAGE.joinpath(*parts[:n]).with_suffix(".py").exists()), 0)
    assert n_parts, f"doc/architecture.rst: {name} names no module of skembed"
    path, qualified = PACKAGE.joinpath(*parts[:n_parts]).with_suffix(".py"), ".".join(parts[n_parts:])
    assert definition(path, qualified), (
        f"doc/architecture.rst: {name} does not exist: its module defines no {qualified}"
    )
    return path, qualified


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def definition(path, qualified):
    """Return the function of a module, or the method of a class in it; None if there is none."""
    node = tree_of(path)
    for part in qualified.split("."):
        node = next((child for child in getattr(node, "body", ()) if getattr(child, "name", None) == part), None)
    return node


def is_compiled(node):
    return re.search(r"\b(njit|kernel|lean_kernel|intrinsic)\b", " ".join(map(ast.unparse, node.decorator_list)))


def lines_that_call(caller, step):
    """Return the lines on which a function calls a function of a module, by the name that it has there."""
    (path, qualified), (module, function) = caller, step
    node, names = definition(path, qualified), {function} if path == module else set()
    for imported in ast.walk(tree_of(path)):
        if isinstance(imported, ast.ImportFrom) and (imported.module or "").split(".")[-1] == module.stem:
            names |= {alias.asname or alias.name for alias in imported.names if alias.name == function}
    calls = (call for call in ast.walk(node) if isinstance(call, ast.Call)) if node else ()
    return sorted(call.lineno for call in calls if getattr(call.func, "id", None) in names)


class Call(NamedTuple):
    step: tuple[Path, str]  # module and qualified name
    n_before_return: int  # how many calls were made until it returned


def calls_during(task):
    """Return the calls of functions of skembed, in order. The entry to compiled code is none: numba may not tell."""
    steps, returns, running = [], {}, []

    def trace(frame, event, argument):
        if event in ("call", "return") and frame.f_code.co_filename.startswith(str(PACKAGE)):
            step = Path(frame.f_code.co_filename), frame.f_code.co_qualname
            node = definition(*step)
            if node is not None and is_compiled(node):
                return
            if event == "call":
                running.append(len(steps))
                steps.append(step)
            else:
                returns[running.pop()] = len(steps)

    sys.setprofile(trace)
    try:
        task()
    finally:
        sys.setprofile(None)
    return [Call(step, returns[i]) for i, step in enumerate(steps)]


def check_order(steps, calls):
    """Check that the steps come one after the other: in the calls, and for compiled functions in the source."""
    n_done, compiled = 0, {}  # calls up to the last step in Python; compiled steps since, and the line each has come to
    for name in steps:
        step = find(name)
        wrong = f"doc/architecture.rst: {name} is not called after the step before it"
        if not is_compiled(definition(*step)):
            n_done, compiled = next((i + 1 for i, c in enumerate(calls) if i >= n_done and c.step == step), None), {}
            assert n_done is not None, wrong
            continue
        caller = next((caller for caller in reversed(compiled) if lines_that_call(caller, step)), None)
        if caller is not None:
            later = [line for line in lines_that_call(caller, step) if line > compiled[caller]]
            assert later, wrong
            compiled[caller] = later[0]
        else:  # a function in Python calls it, which still runs or comes later
            running = (i for i, call in enumerate(calls) if call.n_before_return >= n_done)
            caller = next((i for i in running if lines_that_call(calls[i].step, step)), None)
            assert caller is not None, wrong
            n_done, compiled = max(n_done, caller + 1), {}
        compiled[step] = 0


@pytest.fixture(scope="module")
def model():
    from skembed import CBOSVectorizer

    return CBOSVectorizer(8, max_iter=1, min_count=1, random_state=0).fit(STRINGS)


def test_steps_of_a_string(model):
    calls = calls_during(lambda: model.transform([*STRINGS, "An unheard-of zebra."]))
    steps = steps_of("The life of a string")
    assert 8 < len(steps) <= 12
    check_order(steps, calls)


def test_steps_of_a_block(model):
    calls = calls_during(lambda: type(model)(8, max_iter=1, min_count=1, random_state=0).fit(STRINGS))
    steps = steps_of("The life of a block")
    assert 8 < len(steps) <= 12
    check_order(steps, calls)


FIND = "_text.sources.iter_sentences"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([FIND, "_text.sources.iter_sentence"], "_text.sources.iter_sentence does not exist"),
        ([FIND, "_text.source.iter_sentences"], "_text.source.iter_sentences names no module"),
        (["_word_vectors.bag.sum_rows", FIND], "_text.sources.iter_sentences is not called after"),
        ([FIND, "_corpus.readers.Readers.from_sentences"], "from_sentences is not called after"),
        (["_text.scan.scan", "_text.scan._look_up", "_text.scan._find_spans"], "_find_spans is not called after"),
        (
            ["_text.scan.scan", "_training.learned_arrays.update_rows"],
            "_training.learned_arrays.update_rows is not called after",
        ),
        (["_word_vectors.bag.sum_rows", "_text.scan.scan"], "_text.scan.scan is not called after"),
        ([FIND, "_text.known_words.encode_in_python"], "_text.known_words.encode_in_python does not exist"),
    ],
)
def test_wrong_steps_are_named(model, steps, message):
    calls = calls_during(lambda: model.transform(STRINGS))
    with pytest.raises(AssertionError, match=re.escape(message)):
        check_order(steps, calls)


# --- The figures ------------------------------------------------------------------------------------------------------


def test_figures_name_every_package(structure, sources):
    packages = {source.unit for source in sources if len(source.parts) > 1}
    assert packages <= set(re.findall(r"^   (\w+),\d", result("structure.inc"), re.MULTILINE)), UPDATE


@pytest.fixture
def small(structure, tmp_path):
    """A package of two units, a function of three lines of code and one of ten arguments."""
    files = {
        "__init__.py": '"""Small."""\n\n__all__ = ["Public"]\n',
        "_a/__init__.py": '"""Low: knows nothing."""\n',
        "_a/one.py": '"""One."""\n\nTABLE = [\n    1,\n    2,\n    3,\n]\n\n\ndef same(x):\n    """Docstring."""\n\n'
        "    # Comment.\n    y = x\n    return y\n",
        "_b.py": '"""High."""\nfrom ._a import one\nfrom skembed._a.one import same as other\n\n\nclass Public:\n'
        "    def __init__(self, a, b, c, d, e, f, g, h, i, j):\n        pass\n\n\n"
        "def same(a, b, c, d, e, f, g, h, *, i, j):\n    def inner():\n        pass\n",
    }
    package = tmp_path / "skembed"
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    return structure.read_package(package)


def test_lines_of_code(structure, small, monkeypatch):
    rows = {unit: rest for unit, *rest in structure.count_lines(small)}
    assert rows == {"modules outside packages": [2, 16, 9], "_a": [2, 16, 4], "all": [4, 32, 13]}
    monkeypatch.setattr(structure, "MAX_LINES", 2)
    assert structure.long_functions(small) == [("_a/one.py:same", 3), ("_b.py:same", 3)]


def test_arguments_and_names(structure, small):
    rows, constructors = structure.without_constructors(structure.many_arguments(small), small)
    assert rows == [("_b.py:same", 10)]
    assert constructors == [("_b.py:Public.__init__", 10)]
    assert structure.names_defined_twice(small) == [("same", ["_a/one.py", "_b.py"])]


def test_constants_and_types_that_several_modules_define(structure, tmp_path):
    files = {
        "a.py": "ONE, BOTH, _OWN = 1, 2, 3\nKind = int | str\n__all__ = []\n",
        "b.py": "BOTH: int = 2\nKind = _OWN = int\nTABLE = []\n__all__ = []\n",
        "c.py": "from b import TABLE\n\nTABLE[0] = TABLE.ONE = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = structure.names_defined_twice(structure.read_package(tmp_path))
    assert found == [("BOTH", ["a.py", "b.py"]), ("Kind", ["a.py", "b.py"])]


def test_imports(structure, package_drawing, small):
    assert structure.import_graph(small) == {"_a": set(), "_b": {"_a"}}
    graph = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert structure.heights_of(graph) == {"a": 2, "b": 1, "c": 0}
    assert package_drawing.direct_imports(graph) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_calls_from_file_to_file(structure, model):
    files, units = structure.count_crossings(lambda: model.transform(STRINGS), PACKAGE)
    assert files[Path("_base/text"), Path("_base/embedding")] == 1  # the rows of all sentences
    assert units["_base", "_text"] > 3
    assert not any(here == there for here, there in files)
    assert not any(here == there for here, there in units)
    assert files.total() > units.total()
