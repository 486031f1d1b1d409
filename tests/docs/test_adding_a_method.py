"""A method is added to a copy of the package by the steps of CONTRIBUTING.md alone, and the common tests find it."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from skembed._compiled.compile import cache_folder

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
    of_objective = [line for line in imports if not re.search("skembed._base|sklearn|numbers", line)]
    of_objective = [line.replace("LearnedArray, Rows, Update, start_uniform", "Rows, Update") for line in of_objective]
    of_estimator = [
        line
        for line in imports
        if re.search("skembed._base|sklearn|numbers|learned_arrays|_training.state|typing", line)
    ]
    for other in ("NamedTuple", "Rows", "Update"):
        of_estimator = [line.replace(f", {other}", "") for line in of_estimator]
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


# Each run is a process of its own, which begins with the libraries imported and nothing of the package. It reads a copy
# of what the package has compiled, since the sources are the same, by the name of that folder, which would change with
# the new sources. The copy ends with these tests, so the kernel of the new method is always compiled from its source.
RUNS = """
import json, os, sys
import numba, numpy, pandas, pytest, scipy.sparse, sklearn.pipeline

for line in sys.stdin:
    folder, arguments, output = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        sys.path[0] = folder
        os.environ["PYTHONPATH"] = folder
        for stream in (1, 2):
            os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        from skembed._compiled import compile
        compile._FOLDER = os.environ["NAME_OF_FOLDER"]
        code = pytest.main(["-q", "-p", "no:cacheprovider", *arguments])
        sys.stdout.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def run_tests(tmp_path_factory):
    """Return a function that runs some tests of a folder in another process: their exit status, and what they print."""
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    output, compiled = tmp_path_factory.mktemp("output") / "output", tmp_path_factory.mktemp("compiled")
    (compiled / cache_folder().name).mkdir()
    for file in cache_folder().glob("*.nb?"):
        shutil.copy(file, compiled / cache_folder().name)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"SKEMBED_CACHE_DIR": str(compiled), "NAME_OF_FOLDER": cache_folder().name}
    with subprocess.Popen(
        [sys.executable, "-c", RUNS],
        cwd=output.parent,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def run(folder, tests, select):
            print(json.dumps([str(folder), ["-k", select, *tests], str(output)]), file=process.stdin, flush=True)
            return int(process.stdout.readline()), output.read_text(encoding="utf-8")

        yield run
        process.stdin.close()


QUICK = ["tests/docs/test_imports.py", "tests/docs/test_docs.py", "tests/docs/test_typing.py"]
RULES = (
    f"{NAME} or {FILE} or public_names or all_is_a_list or lazy_names or page_and_test "
    "or import_only or are_short or are_typed"
)
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


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A copy of the package with the method."""
    folder = tmp_path_factory.mktemp("complete")
    copy_with(added(), folder)
    return folder


# Of files that are read and not imported, the process with all tests looks at the copy without one of them.
READ = [step for step in FOUND_BY if step.startswith("doc/") or FOUND_BY[step] == PAGE_AND_TEST]
READ.remove("skembed/__init__.py")
WITHOUT_ONE = f"""
import shutil
from pathlib import Path
import pytest
from test_docs import ROOT, test_every_method_has_a_page_and_test
from test_imports import test_public_names_exist_and_are_documented

CHECKS = {{
    "{PAGE_AND_TEST}": test_every_method_has_a_page_and_test,
    "{PUBLIC_NAMES}": test_public_names_exist_and_are_documented,
}}

@pytest.mark.parametrize("step, check", {[(step, FOUND_BY[step]) for step in READ]})
def test_a_missing_file_is_found(step, check):
    file, written = ROOT / step, (ROOT / step).read_bytes()
    try:
        file.unlink()
        if (Path({str(ROOT)!r}) / step).exists():
            shutil.copy(Path({str(ROOT)!r}) / step, file)
        with pytest.raises((AssertionError, FileNotFoundError)) as found:
            CHECKS[check]()
        assert "{NAME}" in str(found.value) or "{FILE}" in str(found.value)
    finally:
        file.write_bytes(written)
"""


@pytest.fixture(scope="module")
def tested(complete, run_tests):
    """Exit status and output of the common tests of the new method, and of the tests above."""
    test = complete / "tests" / "docs" / "test_without_one.py"
    test.write_text(WITHOUT_ONE, encoding="utf-8")
    tests = [f"tests/methods/test_{FILE}.py", f"skembed/_methods/{FILE}.py", "tests/papers/test_methods.py"]
    tests += [
        f"tests/{name}.py" for name in ("contract/test_conformance", "training/test_checkpoints", "saving/test_folders")
    ]
    try:
        return run_tests(complete, ["-rp", *QUICK, *tests, str(test)], f"{RULES} or a_missing_file_is_found")
    finally:
        test.unlink()


@pytest.mark.slow
def test_common_tests_find_the_new_method(tested):
    code, output = tested
    assert code == 0, output[-5000:]
    assert int(re.search(r"(\d+) passed", output)[1]) > 50 + len(READ)


@pytest.mark.slow
@pytest.mark.parametrize("step", READ)
def test_a_missing_file_is_found(step, tested):
    assert re.search(rf"PASSED .*test_a_missing_file_is_found\[{re.escape(step)}-", tested[1])


@pytest.mark.slow
@pytest.mark.parametrize("step", [step for step in FOUND_BY if step not in READ])
def test_a_missing_step_is_found(step, complete, run_tests):
    file, written = complete / step, (complete / step).read_bytes()
    try:
        file.unlink()
        if (ROOT / step).exists():
            shutil.copy(ROOT / step, file)
        code, output = run_tests(complete, ["--maxfail=1", FOUND_BY[step]], "test")
    finally:
        file.write_bytes(written)
    assert code == 1 and "1 failed" in output, output[-5000:]
    assert NAME in output or FILE in output
