"""Ordered English text that is already on the machine: the docstrings of installed packages, parsed, not imported."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_scalar

from skembed._validation.messages import brief
from skembed.datasets._files import description
from skembed.datasets._prose import docstring_prose

__all__ = ["load_docstrings"]

_LETTER = re.compile(r"[^\W\d_]")
# Tests, build scripts, examples, and the code of other projects that these packages carry along under other licences.
_SKIPPED = frozenset(
    "__pycache__ tests test conftest _build_utils _examples examples distutils externals _externals extern _vendor "
    "vendor vendored array_api_compat array_api_extra _uarray uarray cobyqa pyprima _highspy decorator _pep440 "
    "__config__ _distributor_init _distributor_init_local setup".split()
)
# Functions that give a docstring to an object written in C, and what stands before the name that they are given.
_DOC_HELPERS = {"add_newdoc": "", "add_newdoc_for_scalar_type": "", "_array_method_doc": "ndarray."}


class _Document(NamedTuple):
    """One docstring: the qualified name of its object, the subpackage it counts for, its sentences."""

    name: str
    target: str
    sentences: tuple[str, ...]


def _source_files(package: str) -> list[tuple[tuple[str, ...], Path]]:
    """Module path below the package and file of each source file, in an order that no file system changes."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ImportError(
            f"load_docstrings cannot find the package {brief(package)}: install it, or leave it out of packages="
        )
    if not spec.submodule_search_locations:
        return [((), Path(spec.origin))] if spec.origin and spec.origin.endswith(".py") else []
    found: list[tuple[tuple[str, ...], Path]] = []
    for location in spec.submodule_search_locations:
        for path in Path(location).rglob("*.py*"):
            *folders, name = path.relative_to(location).with_suffix("").parts
            is_read = not any(part in _SKIPPED or part.startswith("test_") for part in (*folders, name))
            if is_read and path.suffix in (".py", ".pyi") and all(map(str.isidentifier, folders)):
                found.append((tuple(folders) if name == "__init__" else (*folders, name), path))
    return sorted(found, key=lambda item: (item[0], item[1].suffix, item[1].name))


def _string(node: ast.AST) -> str | None:
    """The text of a string literal, also under a method call such as ``"...".replace("a", "b")``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _added_docs(call: ast.Call) -> Iterator[tuple[str, str]]:
    """Name and text of the docstrings that a call such as ``add_newdoc(...)`` gives to objects written in C."""
    function = call.func
    called = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if called not in _DOC_HELPERS or len(call.args) < 2:
        return
    named_by = call.args[:-1] if called == "add_newdoc" else call.args[:1]  # numpy's own helpers: name, signature, text
    owner = _DOC_HELPERS[called] + ".".join(filter(None, map(_string, named_by)))
    last = call.args[-1]
    for node in last.elts if isinstance(last, ast.List) else [last]:  # a list of (attribute, text), one, or a text
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            attribute, text = _string(node.elts[0]), _string(node.elts[1])
            if attribute is not None and text is not None:
                yield f"{owner}.{attribute}", text
        elif (text := _string(node)) is not None:
            yield owner, text


def _raw_docstrings(body: Sequence[ast.stmt], prefix: str, package: str) -> Iterator[tuple[str, str]]:
    """Qualified name and text of each docstring below `body` in source order, nested functions left out."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{prefix}.{node.name}"
            if text := ast.get_docstring(node, clean=False):
                yield name, text
            if isinstance(node, ast.ClassDef):
                yield from _raw_docstrings(node.body, name, package)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            for name, text in _added_docs(node.value):
                full = name == package or name.startswith(f"{package}.")
                yield (name if full else f"{prefix.rpartition('.')[0] or package}.{name}"), text
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            for field in ("body", "orelse", "finalbody"):
                yield from _raw_docstrings(getattr(node, field, ()), prefix, package)


@lru_cache(maxsize=16)
def _extract(package: str) -> tuple[_Document, ...]:
    """All documents of one package, read once a process."""
    documents = []
    for parts, path in _source_files(package):
        source = path.read_text(encoding="utf-8", errors="replace")
        if '"""' not in source and "'''" not in source:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the escape sequences of other people's strings
                tree = ast.parse(source)
        except (SyntaxError, ValueError):  # a template, or a file for another version of Python
            continue
        # A private subpackage only stores code: users know numpy._core, or numpy.core in older versions, as numpy.
        inside = len(parts) > 1 or (parts and path.stem == "__init__")
        public = inside and not parts[0].startswith("_") and (package, parts[0]) != ("numpy", "core")
        target = f"{package}.{parts[0]}" if public else package
        module = ".".join((package, *parts))
        texts = _raw_docstrings(tree.body, module, package)
        if header := ast.get_docstring(tree, clean=False):
            documents.append(_Document(module, target, docstring_prose(header)))
        documents.extend(_Document(name, target, docstring_prose(text)) for name, text in texts)
    return tuple(documents)


def _source_version(package: str) -> str:
    """The version of the distribution that a package came with."""
    for distribution in (package, {"sklearn": "scikit-learn"}.get(package, package)):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "of unknown version"


@overload
def load_docstrings(
    *, packages: Sequence[str] = ..., min_words: int = 3, return_X_y: Literal[False] = False
) -> Bunch: ...
@overload
def load_docstrings(
    *, packages: Sequence[str] = ..., min_words: int = 3, return_X_y: Literal[True]
) -> tuple[list[str], NDArray[np.int64]]: ...
def load_docstrings(
    *, packages: Sequence[str] = ("numpy", "scipy", "sklearn"), min_words: int = 3, return_X_y: bool = False
) -> Bunch | tuple[list[str], NDArray[np.int64]]:
    """Load the prose of the docstrings of installed packages, sentence by sentence.

    Some tens of thousands of English sentences in reading order, without a download; each docstring is a document. The
    text is about arrays, statistics and machine learning only, and changes with the installed versions: results that
    others should repeat need a fixed corpus.

    Parameters
    ----------
    packages : sequence of str, default=("numpy", "scipy", "sklearn")
        Names of installed packages whose ``.py`` files are on disk, in the order of reading.
    min_words : int, default=3
        Shorter sentences are left out. A word has at least one letter.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    docstrings : :class:`~sklearn.utils.Bunch`
        data : list of str of length n_sentences
            The sentences in reading order.
        groups : ndarray of shape (n_sentences,), dtype int64
            The document of each sentence, from 0, never decreasing.
        target : ndarray of shape (n_sentences,), dtype int64
            The subpackage of each sentence, as an index into `target_names`.
        target_names : list of str
            The subpackages, such as ``"numpy.linalg"``, sorted. Modules directly in a package and its private
            subpackages count as the package itself: ``"numpy"``.
        document_names : list of str of length n_documents
            The qualified name of the object that each document describes.
        DESCR : str
            Source, versions, licence and way of extraction.

    Raises
    ------
    ImportError
        If a package is not installed.
    ValueError
        If `packages` is a plain string, or names a package without docstrings on disk.

    Notes
    -----
    The source files are parsed and never imported, so docstrings made at import time or compiled are missing. Kept are
    summaries, notes, descriptions of parameters and results, and the text between examples; code, tables, headings,
    formulas, references and repeated documents are dropped. The first call takes a few seconds.

    Examples
    --------
    >>> from skembed.datasets import load_docstrings
    >>> docstrings = load_docstrings(packages=["joblib"])
    >>> len(docstrings.data) == len(docstrings.groups) == len(docstrings.target)
    True
    >>> docstrings.target_names[0]
    'joblib'
    """
    if isinstance(packages, str):
        raise ValueError(
            f"packages must be a sequence of names, got the string {brief(packages)}; use [{brief(packages)}]"
        )
    min_words = check_scalar(min_words, "min_words", int, min_val=1)

    seen: set[tuple[str, ...]] = set()
    data: list[str] = []
    kept: list[_Document] = []
    lengths: list[int] = []
    for package in dict.fromkeys(packages):
        documents = _extract(package)
        if not any(document.sentences for document in documents):
            raise ValueError(f"the package {brief(package)} has no docstrings in source files on this machine")
        for document in documents:
            if document.sentences in seen:  # inherited and copied docstrings
                continue
            seen.add(document.sentences)
            long = [s for s in document.sentences if sum(1 for w in s.split() if _LETTER.search(w)) >= min_words]
            if long:
                data += long
                kept.append(document)
                lengths.append(len(long))
    target_names = sorted({document.target for document in kept})
    codes = {name: code for code, name in enumerate(target_names)}
    target = np.repeat(np.array([codes[document.target] for document in kept], dtype=np.int64), lengths)
    if return_X_y:
        return data, target
    versions = ", ".join(f"{package} {_source_version(package)}" for package in packages)
    return Bunch(
        data=data,
        groups=np.repeat(np.arange(len(kept), dtype=np.int64), lengths),
        target=target,
        target_names=target_names,
        document_names=[document.name for document in kept],
        DESCR=description("docstrings").format(
            versions=versions, sentences=len(data), documents=len(kept), min_words=min_words
        ),
    )
