"""The rules that keep the package readable, read from its source.

A file imports only from lines above it, and methods never each other; files are short; public functions have types.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skembed

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "skembed"
MAX_LINES = 420

# One line a rank, lowest first. A file imports from lower ranks only; files of one rank are strangers to each other.
RANKS = [
    ["_brief", "_paths", "_scikit_learn"],
    ["_compile", "_limits"],
    ["_threads"],
    ["_bytes"],
    ["_text"],
    ["_strings"],
    ["_tokenizer"],
    ["_sentences", "_text_files"],
    ["_word_table"],
    ["_word_cut", "_word_order"],
    ["_word_scan"],
    ["_sharing"],
    ["_saving"],
    ["_encoder"],
    ["_known_words"],
    ["_vocabulary"],
    ["_corpus_files"],
    ["_corpus_content"],
    ["_corpus"],
    ["_input"],
    ["_word_vector_files"],
    ["_word_vectors"],
    ["_norms"],
    ["metrics"],
    ["_coverage", "_inspection", "_showing"],
    ["_kernels"],
    ["_work_space"],
    ["_simd"],
    ["_vectors"],
    ["_pooling"],
    ["_spelling"],
    ["_parameters"],
    ["_base"],
    ["_pooled"],
    ["_common_components"],
    ["_joined_vectors"],
    ["_given_vectors"],
    ["_touches"],
    ["_negatives"],
    ["_runs"],
    ["_blocks"],
    ["_training"],
    ["_memory"],
    ["_trained"],
    ["_sent2vec_kernel", "_word2vec"],
    ["_cbos", "_sent2vec", "_siamese_cbow", "_mean_embedding", "_bow_pca"],
    ["datasets"],
    ["evaluation"],
    ["inspection"],
    ["io"],
]
RANK = {unit: rank for rank, units in enumerate(RANKS) for unit in units}
FILES = sorted(PACKAGE.rglob("*.py"))


def unit_of(path):
    """Return the first name below the package: a module, or a subpackage for every file in it."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_units(path, tree):
    """Yield (line, unit) for every import of a part of skembed, at the top of the file or inside a function."""
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
                yield node.lineno, parts[1] if len(parts) > 1 else ""


def import_errors(path, source):
    unit, errors = unit_of(path), []
    if unit == "__init__":
        return errors
    for line, other in imported_units(path, ast.parse(source)):
        if other in (unit, "__version__"):
            continue
        if other not in RANK:
            errors.append(f"line {line}: imports skembed.{other}; name the file it comes from")
        elif RANK[other] == RANK[unit]:
            errors.append(f"line {line}: {unit} and {other} have one rank and must not import each other")
        elif RANK[other] > RANK[unit]:
            errors.append(f"line {line}: {unit} stands below {other} and must not import it")
    return errors


def test_every_file_has_a_rank():
    unplaced = {unit_of(path) for path in FILES} - set(RANK) - {"__init__"}
    assert not unplaced, f"give these a line in RANKS (and in the design): {sorted(unplaced)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_file_imports_only_from_lines_above(path):
    assert unit_of(path) in {*RANK, "__init__"}, "has no rank: see test_every_file_has_a_rank"
    assert not import_errors(path, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "source", "n_errors"),
    [
        ("_base.py", "from ._corpus import SentenceCorpus\nimport skembed.metrics\nfrom . import _tokenizer", 0),
        ("_base.py", "from . import _cbos", 1),
        ("_cbos.py", "from skembed._sent2vec import Sent2VecVectorizer", 1),
        ("_cbos.py", "def fit(self):\n    from .io import save", 1),
        ("_cbos.py", "import skembed", 1),
        ("_cbos.py", "from . import CBOSVectorizer", 1),
        ("_cbos.py", "from numba import njit\nimport numpy.random", 0),
        ("evaluation/_sts.py", "from .._cbos import CBOSVectorizer\nfrom ..metrics import pearson", 0),
        ("evaluation/_sts.py", "from ..io import load", 1),
        ("io.py", "from skembed import __version__", 0),
    ],
)
def test_the_rule_is_read_right(name, source, n_errors):
    assert len(import_errors(PACKAGE / name, source)) == n_errors


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_file_is_short(path):
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines < MAX_LINES, f"{n_lines} lines: split the file by topic"


def public_functions(tree):
    """Yield the functions that a user may call: without a leading underscore, not nested, not compiled."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node)
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            decorators = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
            if not re.search(r"\b(njit|jit|intrinsic|overload|register_jitable)\b", decorators):
                yield node


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_public_functions_are_typed(path):
    untyped = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.stem.startswith("_"):  # of a private file only the classes are public
        tree.body = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for function in public_functions(tree):
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        bare = [arg.arg for arg in named if arg.annotation is None and arg.arg not in ("self", "cls")]
        if bare or (function.returns is None and function.name != "__init__"):
            untyped.append(f"line {function.lineno}: {function.name}({', '.join(bare)})")
    assert not untyped, "give these types:\n" + "\n".join(untyped)


def compiled_functions(tree, how):
    """Names of the functions of a file with a decorator that matches `how`."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if any(re.match(how, ast.unparse(d)) for d in node.decorator_list)}


def calls_from_python(tree, inner):
    """Yield the calls of inner functions, {file: names}, that stand in functions of this file that are not compiled."""
    known = compiled_functions(tree, "njit")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            known |= {name.asname or name.name for name in node.names if name.name in inner.get(node.module, ())}
    compiled = compiled_functions(tree, "njit|kernel|lean_kernel")
    compiled |= set(re.findall(r"\bkernel\((\w+)", ast.unparse(tree)))
    for node in tree.body:
        if getattr(node, "name", None) not in compiled:
            calls = (call for call in ast.walk(node) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name))
            yield from (call for call in calls if call.func.id in known)


def test_python_calls_no_inner_function():
    """They are compiled without what Python needs to call them, so Python would crash."""
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.glob("*.py")}
    inner = {name: compiled_functions(tree, "njit") for name, tree in trees.items()}
    assert sum(map(len, inner.values())) > 40
    for name, tree in trees.items():
        wrong = [f"line {call.lineno}: {ast.unparse(call)}" for call in calls_from_python(tree, inner)]
        assert not wrong, name
    example = ast.parse("from ._bytes import decode as d\ndef f():\n    return d(1)")
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


def test_public_names_exist_and_are_documented():
    missing = [name for name in skembed.__all__ if not hasattr(skembed, name)]
    assert not missing
    page = ROOT / "doc" / "api.rst"
    words = set(re.findall(r"\w+", page.read_text(encoding="utf-8")))
    undocumented = [name for name in skembed.__all__ if not name.startswith("__") and name not in words]
    assert not undocumented, f"add to doc/api.rst: {undocumented}"
