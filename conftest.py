"""Settings of every test run: threads, hypothesis, and where the large data sets are."""

import importlib.metadata
import os
import re
import sys
from pathlib import Path

# One BLAS thread, before NumPy is imported: tests run beside each other, and rounding must not depend on the cores.
for _library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
os.environ["VECLIB_MAXIMUM_THREADS"] = "1"
os.environ.setdefault("MPLBACKEND", "Agg")

ROOT = Path(__file__).resolve().parent

import pytest
from hypothesis import settings

# No deadline: the first call of a kernel compiles it. The same examples in every CI run.
settings.register_profile("skembed", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("skembed")

collect_ignore = ["tests/typed_program.py"]  # tests/docs/test_typing.py runs it


def compiled_kernels():
    """Names of the kernels that this process has called."""
    called = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("skembed."):
            for value in vars(module).values():
                if getattr(value, "overloads", None) and value.__module__ == name:
                    called.add(f"{name}.{value.__name__}")
    return sorted(called)


def pytest_collection_modifyitems(items):
    """Check that tests have lasting names and run nothing yet; leave doctests to NumPy 2, which prints scalars anew."""
    changing = [item.nodeid for item in items if re.search(r"\bat 0x[0-9a-f]{6}", item.nodeid)]
    if changing:
        raise pytest.UsageError(f"The next process will name these tests otherwise; give them ids: {changing}")
    if called := compiled_kernels():
        raise pytest.UsageError(f"A module calls kernels when it is imported; fit in a fixture or a test: {called}")
    # The classes that common tests fit carry the docstrings of the published ones, whose examples run where they stand.
    items[:] = [i for i in items if not (isinstance(i, pytest.DoctestItem) and i.path.name == "estimators.py")]
    if int(importlib.metadata.version("numpy").split(".")[0]) >= 2:
        return
    skip = pytest.mark.skip(reason="doctests show how NumPy 2 prints")
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the corpora and evaluation sets that are too large for the repository."""
    folder = Path(os.environ.get("SKEMBED_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no evaluation data at {folder}; set SKEMBED_DATA to its folder")
    return folder
