"""What a bug report needs: the versions of Python and of the packages, and the machine."""

import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

__all__ = ["show_versions"]

_PACKAGES = ("skembed", "scikit-learn", "numpy", "scipy", "numba", "llvmlite", "joblib", "threadpoolctl", "safetensors")
_OPTIONAL = ("snowballstemmer", "PyStemmer", "matplotlib", "skops", "dask", "pandas", "polars", "pyarrow", "gensim")


def show_versions() -> None:
    """Print the versions of Python and of the packages, and the machine, for a bug report.

    Imports none of the packages. Optional packages that are not installed are left out.

    Examples
    --------
    >>> import skembed
    >>> skembed.show_versions()
    System:
        python: ...
    """
    system = {
        "python": sys.version.replace("\n", " "),
        "executable": sys.executable,
        "machine": platform.platform(),
        "cores": os.cpu_count(),
    }
    print("System:")
    _print_rows(system)
    print("\nPackages:")
    _print_rows({name: _version(name) for name in _PACKAGES})
    installed = {name: found for name in _OPTIONAL if (found := _version(name)) is not None}
    if installed:
        print("\nOptional packages:")
        _print_rows(installed)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _print_rows(rows: Mapping[str, object]) -> None:
    for name, value in rows.items():
        print(f"{name:>15s}: {value}")
