"""The rules that keep the package readable, read from its source.

A package imports only from packages above it in RANKS, and only the modules that those offer; methods never import
each other, nor do objectives; imports make no circle; files are short; public functions have types.
"""

import ast
import functools
import graphlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skembed

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "skembed"
MAX_LINES = 400

# One line a rank, lowest first. A package imports from lower ranks only; packages of one rank do not import each other.
RANKS = [
    ["_validation"],
    ["_compiled", "_storage"],
    ["_text", "datasets", "metrics", "precompile"],
    ["_corpus"],
    ["_training", "inspection"],
    ["_encoders", "_objectives", "_shards", "_word_vectors"],
    ["_base"],
    ["_methods", "_pretrained", "research"],
    ["_meta_estimators"],
    ["_saving"],
    ["arrow", "dask", "formats", "search"],
    ["evaluation"],
]
# Packages whose files do not import each other, and are all there for other packages.
SIBLINGS = ["_methods", "_objectives", "_encoders"]
RANK = {unit: rank for rank, units in enumerate(RANKS) for unit in units}
FILES = sorted(PACKAGE.rglob("*.py"))


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def wrong_files(errors_of):
    """What a rule finds wrong, for the files where it finds something."""
    found = {path.relative_to(PACKAGE).as_posix(): errors_of(path) for path in FILES}
    return {name: errors for name, errors in found.items() if errors}


def unit_of(path):
    """Return the first name below the package: a module, or a subpackage for every file in it."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_modules(path, tree):
    """Yield (line, names below skembed) for every import from skembed, at the top of the file or inside a function."""
    package = ["skembed", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "skembed":
                yield node.lineno, parts[1:] or [""]


def offered_modules(unit):
    """Return the modules that other packages may import: all files of siblings, otherwise `__all__`."""
    if unit in SIBLINGS:
        return {path.stem for path in (PACKAGE / unit).glob("[!_]*.py")}
    tree = tree_of(PACKAGE / unit / "__init__.py")
    values = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    return ast.literal_eval(values[0])


def import_errors(path, tree):
    unit, errors = unit_of(path), []
    if unit == "__init__":
        return errors
    for line, (other, *rest) in imported_modules(path, tree):
        if other == "__version__":
            continue
        if other not in RANK:
            errors.append(f"line {line}: imports skembed.{other}; name the file it comes from")
        elif other == unit:
            if unit in SIBLINGS and rest:
                errors.append(f"line {line}: files of {unit} must not import each other")
        elif RANK[other] == RANK[unit]:
            errors.append(f"line {line}: {unit} and {other} have one rank and must not import each other")
        elif RANK[other] > RANK[unit]:
            errors.append(f"line {line}: {unit} stands below {other} and must not import it")
        elif other in SIBLINGS and not rest:
            continue  # to find the files in it
        elif other.startswith("_") and (not rest or rest[0] not in offered_modules(other)):
            errors.append(f"line {line}: {'.'.join([other, *rest[:1]])} is not offered in {other}/__init__.py")
    return errors


def test_every_file_has_a_rank():
    unplaced = {unit_of(path) for path in FILES} - set(RANK) - {"__init__"}
    assert not unplaced, f"give these a line in RANKS (and in the design): {sorted(unplaced)}"


def test_files_import_only_from_lines_above():
    assert wrong_files(lambda path: import_errors(path, tree_of(path))) == {}


@pytest.mark.parametrize(
    ("name", "source", "n_errors"),
    [
        ("_base/text.py", "from .._corpus.corpus import SentenceCorpus\nimport skembed.metrics", 0),
        ("_base/text.py", "from . import saving\nfrom .coverage import CoverageMixin", 0),
        ("_base/text.py", "from .._methods.cbos import CBOSVectorizer", 1),
        ("_base/text.py", "from .._text import tokenizer", 0),
        ("_base/text.py", "from .._text.word_table import find", 1),
        ("_base/text.py", "from .. import _text", 1),
        ("_methods/cbos.py", "from skembed._methods.sent2vec import Sent2VecVectorizer", 1),
        ("_methods/cbos.py", "from .sent2vec import Sent2VecVectorizer", 1),
        ("_methods/cbos.py", "from . import sent2vec", 1),
        ("_objectives/cbos.py", "from .sent2vec import add_ngrams", 1),
        ("_objectives/cbos.py", "from .._encoders.word_sums import WordSums", 1),
        ("_methods/cbos.py", "def fit(self):\n    from ..evaluation import data", 1),
        ("_methods/cbos.py", "import skembed", 1),
        ("_methods/cbos.py", "from .. import CBOSVectorizer", 1),
        ("_methods/cbos.py", "from numba import njit\nimport numpy.random", 0),
        ("_compiled/rows.py", "from .._text.sources import offsets", 1),
        ("_text/sources.py", "from .._corpus.corpus import SentenceCorpus", 1),
        ("_corpus/corpus.py", "from .._base.text import TextEstimator", 1),
        ("_training/trainer.py", "from .._objectives.cbos import CBOSObjective", 1),
        ("_word_vectors/join.py", "from .._methods.cbos import CBOSVectorizer", 1),
        ("evaluation/_sts.py", "from .._methods.cbos import CBOSVectorizer\nfrom ..metrics import pearson", 0),
        ("evaluation/_sts.py", "from .._methods.no_such_file import CBOSVectorizer", 1),
        ("evaluation/_sts.py", "from .. import _methods", 0),
        ("search/_nearest.py", "from ..evaluation import compare", 1),
        ("metrics.py", "from skembed import __version__", 0),
    ],
)
def test_the_rule_is_read_right(name, source, n_errors):
    assert len(import_errors(PACKAGE / name, ast.parse(source))) == n_errors


@pytest.mark.parametrize("package", [unit for unit in RANK if unit.startswith("_")])
def test_files_of_a_package_import_each_other_in_no_circle(package):
    """Ranks order the packages; inside one, any order will do that exists."""
    above = {}
    for path in (PACKAGE / package).glob("*.py"):
        modules = imported_modules(path, tree_of(path))
        above[path.stem] = {rest[0] for _, (other, *rest) in modules if other == package and rest}
    assert list(graphlib.TopologicalSorter(above).static_order())


def test_files_are_short():
    """But for the slow twins of most kernels: one file to read, and one step of adding a method."""
    paths = [
        path for folder in ("skembed", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")
    ]
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in paths}
    long = {name: n_lines for name, n_lines in lengths.items() if n_lines >= MAX_LINES}
    assert list(long) == ["tests/reference.py"], f"split these by topic: {long}"


def public_functions(nodes):
    """Yield the functions that a user may call: without a leading underscore, not nested, not compiled."""
    for node in nodes:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            decorators = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
            if not re.search(r"\b(njit|jit|intrinsic|overload|register_jitable)\b", decorators):
                yield node


def untyped_functions(path):
    nodes = tree_of(path).body
    if any(part.startswith("_") for part in path.relative_to(PACKAGE).parts):  # only its classes are public
        nodes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    untyped = []
    for function in public_functions(nodes):
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        bare = [arg.arg for arg in named if arg.annotation is None and arg.arg not in ("self", "cls")]
        if bare or (function.returns is None and function.name != "__init__"):
            untyped.append(f"line {function.lineno}: {function.name}({', '.join(bare)})")
    return untyped


def test_public_functions_are_typed():
    assert wrong_files(untyped_functions) == {}


def compiled_functions(tree, how):
    """Names of the functions of a file with a decorator that matches `how`."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if any(re.match(how, ast.unparse(d)) for d in node.decorator_list)}


def calls_from_python(tree, inner):
    """Yield the calls of inner functions, {file: names}, that stand in functions of this file that are not compiled."""
    known = compiled_functions(tree, "njit")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").rpartition(".")[2]
            known |= {name.asname or name.name for name in node.names if name.name in inner.get(module, ())}
    compiled = compiled_functions(tree, "njit|kernel|lean_kernel")
    compiled |= set(re.findall(r"\bkernel\((\w+)", ast.unparse(tree)))
    for node in tree.body:
        if getattr(node, "name", None) not in compiled:
            calls = (call for call in ast.walk(node) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name))
            yield from (call for call in calls if call.func.id in known)


def test_python_calls_no_inner_function():
    """They are compiled without what Python needs to call them, so Python would crash."""
    trees = {path: tree_of(path) for path in FILES}
    inner = {}
    for path, tree in trees.items():
        inner.setdefault(path.stem, set()).update(compiled_functions(tree, "njit"))
    assert sum(map(len, inner.values())) > 40
    for path, tree in trees.items():
        wrong = [f"line {call.lineno}: {ast.unparse(call)}" for call in calls_from_python(tree, inner)]
        assert not wrong, path
    example = ast.parse("from ._text.utf8 import decode_character as d\ndef f():\n    return d(1)")
    assert len(list(calls_from_python(example, inner))) == 1


def test_import_is_light():
    heavy = ["dask", "gensim", "matplotlib", "numba", "pandas", "polars", "pyarrow", "rich", "skops", "snowballstemmer"]
    code = f"import json, sys, skembed; print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    command = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    loaded = json.loads(done.stdout)
    # importtime prints one line a module, the importer after what it imports and indented less: show the way there
    shown = re.compile(rf"\b(skembed|{'|'.join(loaded)})\b")
    assert not loaded, "\n".join(line for line in done.stderr.splitlines() if shown.search(line))


def test_public_modules_are_attributes_after_import_skembed():
    """As `sklearn.datasets` is after `import sklearn`."""
    modules = {unit for unit in RANK if unit[0] != "_"}
    code = f"""
import skembed
assert {modules} <= set(dir(skembed))
for name in {modules}:
    assert getattr(skembed, name).__name__ == f"skembed.{{name}}"
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_public_names_exist_and_are_documented():
    missing = [name for name in skembed.__all__ if not hasattr(skembed, name)]
    assert not missing
    page = ROOT / "doc" / "api.rst"
    words = set(re.findall(r"\w+", page.read_text(encoding="utf-8")))
    undocumented = [name for name in skembed.__all__ if not name.startswith("__") and name not in words]
    assert not undocumented, f"add to doc/api.rst: {undocumented}"
