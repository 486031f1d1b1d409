"""What a type checker sees is what there is: static `__all__`, declared attributes, and a typed program that runs.

The program itself is checked by mypy and by pyright, see CONTRIBUTING.md.
"""

import ast
import importlib
import inspect
import runpy
from pathlib import Path

import pytest
from estimators import CLASSES, NAMES, default, fitted

import skembed
from skembed._training.state import Fitted

PACKAGE = Path(skembed.__file__).parent
PUBLIC = {
    "skembed": PACKAGE / "__init__.py",
    "skembed.metrics": PACKAGE / "metrics.py",
    **{f"skembed.{path.parent.name}": path for path in PACKAGE.glob("[a-z]*/__init__.py")},
}


def imported_from(tree):
    """Names that the statements `from skembed... import` of a file give it, those for type checkers too.

    Modules are none of them: `from . import datasets` has no `node.module`.
    """
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    ours = [node for node in imports if node.level or node.module.startswith("skembed")]
    return {alias.asname or alias.name for node in ours for alias in node.names}


def defined_in(tree):
    public = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_"]
    return {node.name for node in public}


@pytest.mark.parametrize("name", PUBLIC)
def test_all_is_a_list_of_strings_and_what_is_exported(name):
    tree = ast.parse(PUBLIC[name].read_text(encoding="utf-8"))
    [listed] = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    names = ast.literal_eval(listed)  # what a type checker can read
    module = importlib.import_module(name)
    assert module.__all__ == names == sorted(set(names))
    brought = imported_from(tree) if PUBLIC[name].name == "__init__.py" else set()  # a module imports for itself
    assert set(names) - {"__version__"} == brought | defined_in(tree)
    assert all(hasattr(module, exported) for exported in names)


def test_lazy_names_are_those_for_type_checkers():
    tree = ast.parse(PUBLIC["skembed"].read_text(encoding="utf-8"))
    homes = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level and node.module
        for alias in node.names
    }
    assert homes == skembed._HOMES


def declared(cls):
    """Names of the attributes that a type checker knows of a class."""
    properties = {name for name, value in inspect.getmembers(cls) if isinstance(value, (property, Fitted))}
    return properties.union(*(vars(base).get("__annotations__", {}) for base in cls.__mro__))


def undeclared(instance):
    learned = instance._state.values() if hasattr(instance, "_state") else {}
    return {name for name in [*vars(instance), *learned] if name[0] != "_"} - declared(type(instance))


@pytest.mark.parametrize("name", NAMES)
def test_fitted_attributes_are_declared(name):
    emb = fitted(name)
    learned = {name for name in undeclared(emb) if name.endswith("_")}
    assert not learned


@pytest.mark.parametrize("cls", CLASSES)
def test_a_declaration_is_no_value(cls):
    assert not [name for name in declared(cls) if name.endswith("_") and name[0] != "_" and hasattr(default(cls), name)]


def test_the_typed_program_runs(capsys):
    program = runpy.run_path(str(Path(__file__).resolve().parents[1] / "typed_program.py"))
    program["main"]()
    assert "CBOSVectorizer(n_components=8" in capsys.readouterr().out
