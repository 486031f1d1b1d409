"""The texts that come with the package, and those that lie on the machine."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import Bunch

from skembed import datasets
from skembed.datasets import load_docstrings, load_paraphrase_groups, split_sentences


def digest(docstrings):
    """Return a fingerprint of every field that holds text or numbers."""
    text = "\n".join([*docstrings.data, *docstrings.document_names, *docstrings.target_names])
    numbers = docstrings.groups.tobytes() + docstrings.target.tobytes()
    return hashlib.sha256(text.encode() + numbers).hexdigest()


@pytest.fixture(scope="module")
def docstrings():
    return load_docstrings()


@pytest.fixture
def make_package(tmp_path, monkeypatch):
    """Write a package from {path: source} and put it on the import path."""

    def make(name, files):
        for path, source in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(source), encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        return name

    return make


def test_public_names():
    assert {"load_docstrings", "load_paraphrase_groups", "split_sentences"} <= set(datasets.__all__)


# ---------------------------------------------------------------------------------------------------------------------
# load_docstrings


def test_docstrings_structure(docstrings):
    assert isinstance(docstrings, Bunch)
    assert len(docstrings.data) == len(docstrings.groups) == len(docstrings.target)
    assert docstrings.groups.dtype == docstrings.target.dtype == np.int64
    assert np.array_equal(np.unique(docstrings.groups), np.arange(len(docstrings.document_names)))
    assert np.all(np.diff(docstrings.groups) >= 0)
    assert np.array_equal(np.unique(docstrings.target), np.arange(len(docstrings.target_names)))
    assert docstrings.target_names == sorted(set(docstrings.target_names))
    # A document lies in one subpackage, and its name says in which package.
    first = np.flatnonzero(np.diff(docstrings.groups, prepend=-1))
    for name, code in zip(docstrings.document_names, docstrings.target[first]):
        assert name.partition(".")[0] == docstrings.target_names[code].partition(".")[0]
    assert np.array_equal(docstrings.target, docstrings.target[first][docstrings.groups])


def test_docstrings_amount(docstrings):
    assert len(docstrings.data) > 40_000
    assert len(docstrings.document_names) > 5_000
    words = Counter()
    for sentence, code in zip(docstrings.data, docstrings.target):
        words[docstrings.target_names[code].partition(".")[0]] += len(sentence.split())
    assert set(words) == {"numpy", "scipy", "sklearn"}
    assert min(words.values()) > 50_000
    assert {"numpy", "numpy.linalg", "scipy.stats", "sklearn.cluster", "sklearn.linear_model"} <= set(
        docstrings.target_names
    )


@pytest.mark.parametrize(
    "pattern", [r">>>", r":[a-z]+:`", r"`", r"::\W*$", r"%\(", r"\n", r"  ", r"^\s|\s$", r"\ue000"]
)
def test_docstrings_hold_no_markup(docstrings, pattern):
    assert [sentence for sentence in docstrings.data if re.search(pattern, sentence)] == []


def test_docstrings_are_prose(docstrings):
    finished = sum(sentence[-1] in '.!?:)"' for sentence in docstrings.data)
    assert finished > 0.85 * len(docstrings.data)
    assert np.mean([len(sentence.split()) for sentence in docstrings.data]) > 8
    # Objects written in C have their text through add_newdoc.
    assert any(name.endswith(".ndarray.tobytes") for name in docstrings.document_names)


def test_docstrings_description(docstrings):
    for package in ("numpy", "scipy", "sklearn"):
        assert re.search(rf"\b{package} \d", docstrings.DESCR)
    assert "BSD" in docstrings.DESCR
    assert str(len(docstrings.data)) in docstrings.DESCR


def test_docstrings_min_words(docstrings):
    shorter, usual, longer = (load_docstrings(packages=["joblib"], min_words=n) for n in (1, 3, 12))
    assert len(longer.data) < len(usual.data) < len(shorter.data)
    assert all(len(sentence.split()) >= 12 for sentence in longer.data)
    assert set(longer.data) < set(usual.data)
    assert min(map(len, map(str.split, docstrings.data))) == min(map(len, map(str.split, usual.data))) == 3


def test_docstrings_packages_and_return_X_y():
    data, target = load_docstrings(packages=["hypothesis"], return_X_y=True)
    assert len(data) == len(target)
    names = load_docstrings(packages=["hypothesis"]).target_names
    assert {name.partition(".")[0] for name in names} == {"hypothesis"}
    assert len(load_docstrings(packages=("joblib",)).data) > 100


def test_docstrings_are_the_callers_own():
    other = load_docstrings(packages=["joblib"])
    before = digest(other)
    other.data.clear()
    other.groups[:] = 0
    other.target_names[0] = "?"
    assert digest(load_docstrings(packages=["joblib"])) == before


def test_docstrings_same_in_another_process():
    code = "from skembed.datasets import load_docstrings; from test_datasets import digest"
    code = f"{code}; print(digest(load_docstrings(packages=['hypothesis', 'joblib'])))"
    folder = Path(__file__).resolve().parent
    environment = {**os.environ, "PYTHONHASHSEED": "4321", "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=folder.parents[1], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == digest(load_docstrings(packages=["hypothesis", "joblib"]))


def test_docstrings_extraction_rules(make_package):
    name = make_package(
        "skembed_made_up_prose",
        {
            "__init__.py": '''
            """Title of the package
            ====================

            It holds :func:`~a.b.fit` and ``double`` words, see `the site <https://example.org>`_ and [1]_. The sum
            goes on over two lines, e.g. Here. The square :math:`x^2 + y` is a hole. The symbol :math:`\\\\alpha` stays.

            .. versionadded:: 1.2
               This is not prose at all.

            .. note:: A note is prose.
               It has two sentences.

            .. math::

                not = a + sentence + of + words

            A literal block follows::

                this is code and no prose

            =======  ==========
            A table  has words
            =======  ==========
            of its   own here.
            =======  ==========

            - The first item of a list
              is wrapped here.
            - The second item is not.

            References
            ----------
            .. [1] Nobody wants to read this here.
            """
            ''',
            "module.py": '''
            def work(x, y=2):
                """work(x, y=2)

                Do the work of the day.

                Parameters
                ----------
                x : array of shape (n, m), not to be read
                    The numbers to work on. Defined only
                    when `x` has names.
                y : int, default=2
                    The number of hours:

                    - few hours are enough;

                Returns
                -------
                array of some shape
                    The result of the work.

                See Also
                --------
                rest : Do no work at all.

                Examples
                --------
                An example comes first:

                >>> work(1)
                this output is not prose.

                And then one more.
                """

            async def wait():
                """Do the waiting now."""
                def inner():
                    """An inner function is left out."""

            if True:
                class Thing:
                    """A thing of the module."""

                    def method(self):
                        """Do the work of a method."""

                    def again(self):
                        """A thing of the module."""
            ''',
            "sub/__init__.py": "",
            "sub/deep/more.py": '"""A deep module speaks."""\n',
            "_private/code.py": "'''The private code speaks.'''\n",
            "sub/c.py": """
            from numpy.lib import add_newdoc
            add_newdoc("skembed_made_up_prose.sub", "f", '''f(a, b)

                The first compiled function.''')
            add_newdoc("skembed_made_up_prose.sub", "f", ("attr", '''The attribute of a function.'''))
            add_newdoc("short", '''The short form of @NAME@ is dropped. The rest is kept.'''.replace("a", "b"))
            add_newdoc("skembed_made_up_prose", "g", [("one", '''The first of a list.'''),
                                                      ("two", '''The second one.''')])
            """,
            "stub.pyi": 'def typed() -> None:\n    """A stub may speak too."""\n',
            "broken.py": '"""Not Python 3."""\nprint "old"\n',
            "tests/test_it.py": '"""Tests are not read here."""\n',
            "externals/other.py": '"""Other projects are not read here."""\n',
        },
    )
    found = load_docstrings(packages=[name])
    documents = {}
    for group, sentence in zip(found.groups, found.data):
        documents.setdefault(found.document_names[group].removeprefix(name).lstrip("."), []).append(sentence)
    assert documents == {
        "": [
            "It holds fit and double words, see the site and [1].",
            "The sum goes on over two lines, e.g. Here.",
            "The symbol alpha stays.",
            "A note is prose.",
            "It has two sentences.",
            "A literal block follows:",
            "The first item of a list is wrapped here.",
            "The second item is not.",
        ],
        "_private.code": ["The private code speaks."],
        "module.work": [
            "Do the work of the day.",
            "The numbers to work on.",
            "Defined only when x has names.",
            "The number of hours:",
            "few hours are enough;",
            "The result of the work.",
            "An example comes first:",
            "And then one more.",
        ],
        "module.wait": ["Do the waiting now."],
        "module.Thing": ["A thing of the module."],
        "module.Thing.method": ["Do the work of a method."],
        "stub.typed": ["A stub may speak too."],
        "sub.f": ["The first compiled function."],
        "sub.f.attr": ["The attribute of a function."],
        "sub.short": ["The rest is kept."],
        "g.one": ["The first of a list."],
        "g.two": ["The second one."],
        "sub.deep.more": ["A deep module speaks."],
    }
    assert found.target_names == [name, f"{name}.sub"]
    assert list(documents)[:2] == ["", "_private.code"]
    assert "of unknown version" in found.DESCR


def test_docstrings_of_a_package_without_any(make_package):
    name = make_package("skembed_made_up_silence", {"__init__.py": "x = 1\n"})
    with pytest.raises(ValueError, match="has no docstrings in source files"):
        load_docstrings(packages=[name])


@pytest.mark.parametrize(
    "packages, error, message",
    [
        ("numpy", ValueError, "got the string 'numpy'"),
        (["no_such_package_here"], ImportError, "cannot find the package 'no_such_package_here'"),
        (["math"], ValueError, "no docstrings in source files"),
    ],
)
def test_docstrings_rejects_packages(packages, error, message):
    with pytest.raises(error, match=message):
        load_docstrings(packages=packages)


@pytest.mark.parametrize("min_words, error", [(0, ValueError), (2.5, TypeError), (None, TypeError)])
def test_docstrings_rejects_min_words(min_words, error):
    with pytest.raises(error, match="min_words"):
        load_docstrings(packages=["joblib"], min_words=min_words)


# ---------------------------------------------------------------------------------------------------------------------
# load_paraphrase_groups

NEAR_MISSES = [
    ("staff friendly", "staff polite", "staff friendly and polite"),
    ("room clean", "room small", "room clean but small"),
    ("room quiet", "room noisy"),
    ("breakfast included", "breakfast extra"),
    ("train late", "train on time", "train cancelled"),
    ("luggage lost", "luggage damaged"),
    ("ticket cheap", "ticket expensive"),
    ("rain all day", "rain in the morning", "no rain all day"),
    ("cake easy", "cake quick", "cake quick and easy"),
    ("oil for butter", "butter for oil"),
    ("food good", "food cheap", "food good and cheap"),
    ("update fixed the bug", "update caused the bug"),
    ("car to Ben", "car to Anna"),
    ("battery long", "battery short", "battery charges fast", "battery charges slowly"),
    ("screen bright", "screen sharp", "screen bright and sharp"),
    ("match postponed", "match cancelled"),
    ("tablets before meals", "tablets after meals"),
]


def test_paraphrase_groups_structure():
    groups = load_paraphrase_groups()
    assert isinstance(groups, Bunch)
    assert len(groups.data) == len(groups.target) == len(groups.topics) == 390
    assert len(groups.target_names) == len(set(groups.target_names)) == 99
    assert groups.target.dtype == np.int64
    assert np.array_equal(np.unique(groups.target), np.arange(99))
    sizes = np.bincount(groups.target)
    assert set(sizes) == {3, 4, 5}
    assert len(set(groups.topics)) == 11
    for code in range(99):  # a group has one topic
        assert len({topic for topic, t in zip(groups.topics, groups.target) if t == code}) == 1
    data, target = load_paraphrase_groups(return_X_y=True)
    assert data == groups.data
    assert np.array_equal(target, groups.target)
    assert "entails" in groups.DESCR


def test_paraphrase_groups_sentences_are_clean_and_differ():
    data = load_paraphrase_groups().data
    assert len({" ".join(re.findall(r"\w+", sentence.lower())) for sentence in data}) == len(data)
    for sentence in data:
        assert re.fullmatch(r"[A-Z][A-Za-z ,'-]+\.", sentence), sentence
        assert split_sentences(sentence) == [sentence]


@pytest.mark.parametrize("family", NEAR_MISSES, ids=lambda family: family[0])
def test_paraphrase_groups_near_misses_share_a_topic(family):
    groups = load_paraphrase_groups()
    codes = [groups.target_names.index(name) for name in family]
    assert len({topic for topic, code in zip(groups.topics, groups.target) if code in codes}) == 1


def test_paraphrase_groups_are_hard_but_not_hopeless_for_words():
    data, target = load_paraphrase_groups(return_X_y=True)
    model = make_pipeline(CountVectorizer(), LinearSVC(class_weight="balanced", random_state=0))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    assert 0.25 < cross_val_score(model, data, target, cv=folds).mean() < 0.7
