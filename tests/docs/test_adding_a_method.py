"""A method is added to a copy of the package by the steps of CONTRIBUTING.md alone, and the common tests find it."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME, FILE = "NextSentenceVectorizer", "next_sentence"
COPIED = ["skembed", "benchmarks", "tests", "doc", "conftest.py", "pyproject.toml", "CONTRIBUTING.md", "CHANGELOG.md"]
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes long in plain Python")


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def steps():
    """Files that the list of CONTRIBUTING.md names, for the method that the test adds."""
    section = read("CONTRIBUTING.md").partition("## Add a method\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([^`]+)`:", section.replace("my_method", FILE), re.MULTILINE)


def parts_of(path):
    """Source of the statements of a file: imports, and the others by name."""
    text = read(path)
    tree = ast.parse(text)
    imports, named = [], {}
    for node in tree.body:
        first = min(part.lineno for part in [node, *getattr(node, "decorator_list", [])])
        lines = text.splitlines()[first - 1 : node.end_lineno]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append("\n".join(lines))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            named[node.name] = "\n".join(lines)
    return imports, named


def inserted(path, line, before):
    """The file with a line put before another one."""
    text = read(path)
    assert text.count(before) == 1, (path, before)
    return text.replace(before, line + before)


def added():
    """The new content of each file of the steps."""
    imports, named = parts_of("doc/extending/next_sentence.py")
    test_imports, tested = parts_of("tests/docs/test_extending.py")
    of_objective = [line for line in imports if not re.search("skembed._base|sklearn|numbers|learned_arrays", line)]
    of_estimator = [
        line
        for line in imports
        if re.search("skembed._base|sklearn|numbers|learned_arrays|_training.state|typing", line)
    ]
    of_estimator = [line.replace("Any, NamedTuple", "Any") for line in of_estimator]
    estimator = named.pop(NAME)
    objective = "\n\n\n".join(named.values())
    of_estimator.append(f"from skembed._objectives.{FILE} import NextSentenceObjective")
    twin = tested["twin"].replace("def twin", "def next_sentence")
    twin = twin.replace("starts_of(plan)", "starts").replace("draws_of(plan, negative)", "draws")
    twin = twin.replace("plan, negative=3", "plan, starts, draws").replace(
        "    starts = starts\n    draws = draws\n", ""
    )
    init = read("skembed/__init__.py")
    for line, before in (
        (f'    "{NAME}": "_methods.{FILE}",\n', '    "PairCorpus": "'),
        (f'    "{NAME}",\n', '    "PairCorpus",'),
        (f"    from ._methods.{FILE} import {NAME} as {NAME}\n", "    from ._methods.paraphrase import"),
    ):
        assert init.count(before) == 1
        init = init.replace(before, line + before)
    use = "*Use it when* you read of it in this test.\n\n>>> 1\n1"
    page = f".. _{FILE}:\n\n{NAME}\n{'=' * len(NAME)}\n\n{use}\n\n.. math::\n\n    L\n"
    row = [f":class:`{NAME}`", "you read of it in this test", "the sum of its words; the next sentence"]
    row = "   * - " + "\n     - ".join(row) + "\n"
    index = inserted("doc/methods/index.rst", f"   {NAME} <{FILE}>\n", "   Sent2VecVectorizer <sent2vec>\n")
    index = index.replace("   * - :class:`Sent2Vec", row + "   * - :class:`Sent2Vec")
    return {
        f"skembed/_objectives/{FILE}.py": '"""The next sentence."""\n\n'
        + "\n".join(of_objective)
        + f"\n\n\n{objective}\n",
        f"skembed/_methods/{FILE}.py": '"""The next sentence."""\n\n'
        + "\n".join(of_estimator)
        + f"\n\n\n{estimator}\n",
        "skembed/__init__.py": init,
        "doc/api.rst": inserted("doc/api.rst", f"   {NAME}\n", "   Sent2VecVectorizer\n"),
        f"doc/methods/{FILE}.rst": page,
        "doc/methods/index.rst": index,
        "tests/reference.py": read("tests/reference.py") + f"\n\n{twin}\n",
        f"tests/methods/test_{FILE}.py": "\n".join(
            [
                *(line for line in test_imports if not line.startswith("from reference")),
                "import reference",
                "from reference import take_steps",
                f"from skembed import {NAME}",
                "\n",
                tested["make_objective"],
                "\n",
                "def twin(text, vectors, plan):",
                "    return reference.next_sentence(text, vectors, plan, starts_of(plan), draws_of(plan, 3))",
                "\n",
                tested["test_a_block_is_the_twin"],
                "",
            ]
        ),
        "CHANGELOG.md": read("CHANGELOG.md") + f"\n- `{NAME}`.\n",
    }


def copy_with(files, folder):
    """Copy the package, its tests and its pages, and write some files."""
    ignore = shutil.ignore_patterns("__pycache__", "_build", "auto_examples", "generated", ".hypothesis", "_results")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder / name)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def run_tests(folder, tests, select):
    """Run some tests of the copy in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", select, *tests]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


QUICK = ["tests/docs/test_imports.py", "tests/docs/test_docs.py", "tests/docs/test_typing.py"]
RULES = f"{NAME} or {FILE} or public_names or all_is_a_list or lazy_names or page_and_test"
# The quickest test that fails where a step is missing.
PUBLIC_NAMES = "tests/docs/test_imports.py::test_public_names_exist_and_are_documented"
PAGE_AND_TEST = "tests/docs/test_docs.py::test_every_method_has_a_page_and_test"
FOUND_BY = {
    f"skembed/_objectives/{FILE}.py": PUBLIC_NAMES,
    f"skembed/_methods/{FILE}.py": PUBLIC_NAMES,
    "skembed/__init__.py": PAGE_AND_TEST,
    "doc/api.rst": PUBLIC_NAMES,
    f"doc/methods/{FILE}.rst": PAGE_AND_TEST,
    "doc/methods/index.rst": PAGE_AND_TEST,
    "tests/reference.py": f"tests/methods/test_{FILE}.py",
    f"tests/methods/test_{FILE}.py": PAGE_AND_TEST,
    "CHANGELOG.md": PAGE_AND_TEST,
}


def test_steps_are_all_that_is_written():
    assert list(added()) == steps() == list(FOUND_BY)


@pytest.mark.slow
def test_common_tests_find_the_new_method(tmp_path):
    copy_with(added(), tmp_path)
    folders = ["tests/contract", "tests/training", "tests/saving"]
    tests = [*QUICK, *folders, "tests/papers/test_methods.py"]
    done = run_tests(tmp_path, [*tests, f"tests/methods/test_{FILE}.py", f"skembed/_methods/{FILE}.py"], RULES)
    assert done.returncode == 0, done.stdout[-5000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 250


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A copy of the package with the method, which has been imported once."""
    folder = tmp_path_factory.mktemp("complete")
    copy_with(added(), folder)
    done = run_tests(folder, sorted(set(FOUND_BY.values()) - {f"tests/methods/test_{FILE}.py"}), "test")
    assert done.returncode == 0, done.stdout[-5000:]
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("step", list(FOUND_BY))
def test_a_missing_step_is_found(step, complete):
    file, written = complete / step, (complete / step).read_bytes()
    try:
        file.unlink()
        if (ROOT / step).exists():
            shutil.copy(ROOT / step, file)
        done = run_tests(complete, ["--maxfail=1", FOUND_BY[step]], "test")
    finally:
        file.write_bytes(written)
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout[-5000:]
    assert NAME in done.stdout or FILE in done.stdout
