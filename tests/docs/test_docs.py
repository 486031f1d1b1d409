"""The documentation says what the code does: defaults, parameters, methods, and the examples of the guide."""

import doctest
import functools
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import scipy
from sklearn.utils import Bunch

import skembed
from skembed.datasets import load_docstrings

ROOT = Path(__file__).resolve().parents[2]
DOC = ROOT / "doc"
PUBLIC = {name: getattr(module, name) for module in (skembed, skembed.research) for name in sorted(module.__all__)}
CLASSES = [value for value in PUBLIC.values() if inspect.isclass(value)]
ESTIMATORS = [cls for cls in CLASSES if hasattr(cls, "fit")]
FOLDERS = [".", "tasks", "user_guide", "methods", "research", "extending"]
PAGES = sorted(page for folder in FOLDERS for page in DOC.glob(f"{folder}/*.rst"))
DOCUMENTED_SCIPY = "1.17.1"  # whose docstrings are the text of some examples
by_name = {"ids": lambda cls: cls.__name__}


@pytest.mark.parametrize("cls", ESTIMATORS, **by_name)
def test_every_parameter_is_documented_with_its_default(cls):
    section = re.search(r"\nParameters\n-+\n(.*?)\nAttributes\n", inspect.getdoc(cls), re.DOTALL).group(1)
    documented = dict(re.findall(r"^(\w+) : .*default=(.*)$", section, re.MULTILINE))
    parameters = inspect.signature(cls).parameters
    assert re.findall(r"^[*]{0,2}(\w+) : ", section, re.MULTILINE) == list(parameters)
    parameters = {name: p for name, p in parameters.items() if p.default is not p.empty}
    assert list(documented) == list(parameters)
    # In the raw docstring, rst wants two backslashes for one.
    defaults = {name: eval(text.replace("\\\\", "\\")) for name, text in documented.items()}
    assert defaults == {name: parameter.default for name, parameter in parameters.items()}


@pytest.mark.parametrize("cls", CLASSES, **by_name)
def test_every_public_method_has_a_docstring(cls):
    bare = [
        name for name, member in inspect.getmembers(cls) if name[0] != "_" and callable(member) and not member.__doc__
    ]
    assert not bare


class AnyOutput(doctest.OutputChecker):
    """The code runs; what it prints depends on the installed version of scipy."""

    def check_output(self, want, got, optionflags):
        return bool(want) == bool(got)


class PercentToAPoint(doctest.OutputChecker):
    """Accuracy in per cent may differ by a point: libraries of linear algebra round differently."""

    def check_output(self, want, got, optionflags):
        percent = r"(\d+\.\d) %"
        wanted, found = re.findall(percent, want), re.findall(percent, got)
        if len(wanted) == len(found) and all(abs(float(a) - float(b)) <= 1 for a, b in zip(wanted, found)):
            want, got = re.sub(percent, "#", want), re.sub(percent, "#", got)
        return super().check_output(want, got, optionflags)


@functools.cache
def docstrings_of(packages):
    return load_docstrings(packages=packages)


def docstrings_read_once(*, packages=("numpy", "scipy", "sklearn")):
    """`load_docstrings`, which takes as long as the rest of a page."""
    return Bunch(**docstrings_of(tuple(packages)))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOC).as_posix())
def test_examples_of_the_guide(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(skembed.datasets, "load_docstrings", docstrings_read_once)
    if "load_docstrings" in path.read_text(encoding="utf-8") and scipy.__version__ != DOCUMENTED_SCIPY:
        monkeypatch.setattr(doctest, "OutputChecker", AnyOutput)  # the text of the page is another one
    else:
        monkeypatch.setattr(doctest, "OutputChecker", PercentToAPoint)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    done = doctest.testfile(
        str(path), module_relative=False, optionflags=flags, encoding="utf-8", globs={"folder": str(path.parent)}
    )
    assert done.failed == 0


def test_code_of_pages_and_docstrings_is_at_most_88_wide():
    """Wider code is cut off, or scrolls, beside a sidebar and on a phone."""
    wide = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*PAGES, *(ROOT / "skembed").rglob("*.py")]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (code := re.match(r"\s*(?:>>>|\.\.\.) (.*)", line)) and len(code[1]) > 88
    ]
    assert not wide


def test_every_method_has_a_page_and_test():
    pages = [(DOC / "methods" / f"{page}.rst").read_text(encoding="utf-8") for page in ("index", "for_research")]
    listed = {page: name for text in pages for name, page in re.findall(r"^   (\w+) <(\w+)>$", text, re.M)}
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    names = [name for name, home in skembed._HOMES.items() if home.startswith("_methods.")]
    assert {skembed._HOMES[name] for name in names} == {
        f"_methods.{path.stem}" for path in (ROOT / "skembed" / "_methods").glob("[!_]*.py")
    }
    files = {name: skembed._HOMES[name].removeprefix("_methods.") for name in names}
    files |= {name: PUBLIC[name].__module__.rpartition("._")[2] for name in skembed.research.__all__}
    for name, file in files.items():
        assert listed.get(file) == name, f"add to doc/methods/index.rst: {name} <{file}>"
        page = (DOC / "methods" / f"{file}.rst").read_text(encoding="utf-8")
        assert page.splitlines()[2] == name  # the title
        assert page.index("*Use it when*") < page.index(">>>") < page.index(".. math::")
        assert (ROOT / "tests" / "methods" / f"test_{file}.py").is_file()
        assert f"`{name}`" in changes, f"add to CHANGELOG.md: {name}"


@pytest.mark.parametrize("page", ["reproducibility", "what_can_go_wrong"])
def test_every_promise_names_a_test_that_exists(page):
    page = (DOC / "user_guide" / f"{page}.rst").read_text(encoding="utf-8")
    promised = set(re.findall(r"`(test_\w+)`", page))
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(promised) > 15
    assert promised <= set(re.findall(r"^def (test_\w+)", tests, re.MULTILINE))


def test_links_are_checked(tmp_path):
    page = '<a href="{}"></a><a href="https://example.org/nothing"></a><h1 id="top"></h1>'
    (tmp_path / "folder").mkdir()
    for good in ("b.html#top", "#top", "folder/", "b.html"):
        (tmp_path / "a.html").write_text(page.format(good), encoding="utf-8")
        (tmp_path / "b.html").write_text(page.format("a.html"), encoding="utf-8")
        (tmp_path / "folder" / "index.html").write_text(page.format("../a.html"), encoding="utf-8")
        checked = subprocess.run([sys.executable, DOC / "check_links.py", tmp_path], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
    for wrong in ("b.html#nowhere", "c.html", "#nowhere", "../b.html"):
        (tmp_path / "a.html").write_text(page.format(wrong), encoding="utf-8")
        checked = subprocess.run([sys.executable, DOC / "check_links.py", tmp_path], capture_output=True, text=True)
        assert checked.returncode == 1 and f"a.html:1: {wrong}" in checked.stdout


@pytest.mark.parametrize("folder", ["tasks", "user_guide", "methods"])
def test_pages_for_users_stay_short(folder):
    """As CONTRIBUTING says; what takes longer is in doc/research."""
    n_words = {path.name: len(path.read_text(encoding="utf8").split()) for path in (DOC / folder).glob("*.rst")}
    assert len(n_words) > 5 and {name: n for name, n in n_words.items() if n > 1500} == {}
