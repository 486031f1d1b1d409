"""Compiled code on disk: where it lies, who compiles it, and that no state of it changes a bit or ends a fit."""

import inspect
import os
import re
import shutil
import subprocess
import sys

import joblib
import numpy as np
import pytest
from numba.core.errors import TypingError
from test_processes import HANGS_AFTER, ROOT, run

from skembed._compiled import compile as compiling
from skembed._compiled.sync import fill_uniform


def rows_of_one_kernel():
    """Run one kernel, which stands for all: each is cached in the same way, and this one compiles in a second."""
    rows = np.zeros((3, 5), np.float32)
    fill_uniform(rows, 7, 0.5)
    return rows.tobytes().hex()


RUN_ONE_KERNEL = f"""
import numpy as np
from skembed._compiled.sync import fill_uniform
{inspect.getsource(rows_of_one_kernel)}
print(rows_of_one_kernel())
"""


def test_processes_on_an_empty_cache_and_a_damaged_one(tmp_path):
    """They start together, and wait for the first, which compiles."""
    expected = rows_of_one_kernel()

    def run_one_kernel():
        return counted(RUN_ONE_KERNEL, SKEMBED_CACHE_DIR=str(tmp_path))

    found = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(run_one_kernel)() for _ in range(4))
    assert [bits for bits, _ in found] == [[expected]] * 4
    assert sum(n_compiled > 0 for _, n_compiled in found) == 1
    files = {path: path.stat().st_size for path in tmp_path.rglob("*.nb?") if "fill_uniform" in path.name}
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    assert not list(tmp_path.rglob("*.tmp.*"))
    for suffix in (".nbc", ".nbi"):  # as after a power cut
        for path, size in files.items():
            if path.suffix == suffix:
                os.truncate(path, size // 2)
        assert run_one_kernel()[0] == [expected]
    assert all(path.stat().st_size > 0.9 * size for path, size in files.items())  # made whole again


@pytest.fixture(scope="module")
def site_packages(tmp_path_factory):
    """A copy of the package, in a folder that can be written."""
    folder = tmp_path_factory.mktemp("site-packages")
    shutil.copytree(ROOT / "skembed", folder / "skembed", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def imported_from(folder, *, everything):
    """Code that imports the package of a folder."""
    all_of_it = "import skembed.research\nfor name in skembed.__all__: getattr(skembed, name)\n" if everything else ""
    return f"""
sys.path[:0] = [{str(folder)!r}]
import skembed
assert skembed.__file__.startswith({str(folder)!r})
{all_of_it}"""


def homes(folder):
    """The variables that say where the user's cache folder is, on every system."""
    return dict.fromkeys(["HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"], str(folder))


@pytest.mark.parametrize("chosen", ["", "NUMBA_CACHE_DIR", "SKEMBED_CACHE_DIR"])
def test_compiled_code_lies_in_the_users_cache_folder_or_the_chosen_one(chosen, site_packages, tmp_path):
    """Files that pip did not install would stay when it uninstalls, and hide the next installation."""
    own = tmp_path / "own.py"
    own.write_text("import numba\n@numba.njit(cache=True)\ndef double(x):\n    return 2 * x\n")
    code = imported_from(site_packages, everything=not chosen)
    code = f"{code}{RUN_ONE_KERNEL}\nsys.path[:0] = [{str(tmp_path)!r}]\nimport own\nown.double(21)"
    folders = {**homes(tmp_path / "home"), "NUMBA_CACHE_DIR": "", "SKEMBED_CACHE_DIR": ""}
    if chosen:
        folders[chosen] = str(tmp_path / "chosen")
    assert run(code, **folders).strip() == rows_of_one_kernel()
    files = [path.relative_to(tmp_path).parts for path in tmp_path.rglob("*.nb?")]
    assert {parts[0] for parts in files if not parts[-1].startswith("own.")} == {"chosen" if chosen else "home"}
    assert not list(site_packages.rglob("*.nb?"))
    # Functions that are not the package's stay where numba puts them.
    assert {parts[0] for parts in files if parts[-1].startswith("own.")} == {
        "chosen" if chosen == "NUMBA_CACHE_DIR" else "__pycache__"
    }


def test_nowhere_to_keep_compiled_code(site_packages):
    nowhere = {**homes(os.devnull), "SKEMBED_CACHE_DIR": os.devnull}  # nobody, not even root, can make a folder there
    code = imported_from(site_packages, everything=True) + RUN_ONE_KERNEL
    assert run(code, **nowhere).strip() == rows_of_one_kernel()
    assert not list(site_packages.rglob("*.nb?"))


def test_compiled_code_belongs_to_all_its_sources(tmp_path, monkeypatch):
    """An edit in any package with kernels, or a move of a file, gives a new digest; other edits do not."""
    package = tmp_path / "skembed"
    shutil.copytree(ROOT / "skembed", package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    monkeypatch.setattr(compiling, "_PACKAGE", package)
    digests = [compiling.digest_of_sources()]
    with_kernels = {}
    for path in sorted(package.rglob("*.py")):
        if re.search(r"^@(njit|kernel|lean_kernel|intrinsic)\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            with_kernels.setdefault(path.relative_to(package).parts[0], path)
    assert {"_compiled", "_text", "_encoders", "_training", "_objectives"} <= set(with_kernels)
    for path in with_kernels.values():
        path.write_text(path.read_text(encoding="utf-8") + "\nSCALE = 2\n", encoding="utf-8")
        digests.append(compiling.digest_of_sources())
    moved = with_kernels["_training"]
    moved.rename(moved.with_name("another_name.py"))
    digests.append(compiling.digest_of_sources())
    assert len(set(digests)) == len(digests)
    (package / "_text" / "without_kernels.py").write_text("no compiled function")
    assert compiling.digest_of_sources() == digests[-1]


COUNT = """
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event)
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
"""


def counted(code, **environment):
    """Run code in a fresh process; what it printed, and how many functions it compiled."""
    *printed, n_compiled = run(f"{COUNT}{code}\nprint(len(compiled))", **environment).split()
    return printed, int(n_compiled)


HOLD = """
import time
from skembed._compiled import compile as compiling
from skembed._compiled.sync import fill_uniform
assert compiling._lock(f"{fill_uniform._cache._cache_file._index_path}.lock")
print("holds", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(compiling.fcntl is None, reason="a system without such locks")
def test_a_killed_process_leaves_no_lock(tmp_path):
    environment = {**os.environ, "SKEMBED_CACHE_DIR": str(tmp_path)}
    holder = subprocess.Popen([sys.executable, "-c", HOLD], cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    assert holder.stdout.readline().strip() == b"holds"
    waiter = subprocess.Popen(
        [sys.executable, "-c", f"print('begins', flush=True)\n{RUN_ONE_KERNEL}"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert waiter.stdout.readline().strip() == "begins"
    with pytest.raises(subprocess.TimeoutExpired):
        waiter.wait(5)
    holder.kill()
    holder.communicate()
    assert waiter.communicate(timeout=60)[0].strip() == rows_of_one_kernel()


@pytest.mark.skipif(compiling.fcntl is None, reason="a system without such locks")
def test_a_process_waits_for_a_lock_only_so_long(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_LONGEST_WAIT", 0.1)
    path = str(tmp_path / "kernel.lock")
    assert compiling._lock(path)
    other = os.open(path, os.O_RDWR)
    compiling.release_locks(path)
    compiling.fcntl.flock(other, compiling.fcntl.LOCK_EX)
    assert not compiling._lock(path)
    os.close(other)
    assert compiling._lock(path)
    compiling.release_locks()
    assert not compiling._lock(str(tmp_path / "missing" / "kernel.lock"))


def test_an_error_while_compiling_releases_the_lock(monkeypatch):
    held = []
    monkeypatch.setattr(compiling, "release_locks", lambda: held.append("released"))
    with pytest.raises(TypingError):
        compiling.kernel(lambda x: x.nothing)(1)
    assert held == ["released"]


def test_compiled_code_that_may_only_be_read_is_read(tmp_path):
    """As in a container, whose image has compiled code of another user."""
    assert counted(RUN_ONE_KERNEL, SKEMBED_CACHE_DIR=str(tmp_path))[1] > 0
    before = sorted(path.name for path in tmp_path.rglob("*"))
    code = """
import tempfile
def refuse(*args, **kwargs):
    raise PermissionError("read-only")
tempfile.TemporaryFile = refuse
"""
    assert counted(code + RUN_ONE_KERNEL, SKEMBED_CACHE_DIR=str(tmp_path)) == ([rows_of_one_kernel()], 0)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_code_that_nobody_has_used_for_long_is_swept(tmp_path):
    names = [
        "skembed-0123456789abcdef-cp311-numba0.68.0-znver3",
        "skembed-fedcba9876543210-cp313t-numba0.70.0-x",
        "a-b",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.nbc").touch()
    for name in names[::2]:
        os.utime(tmp_path / name, (0, 0))
    run(RUN_ONE_KERNEL, SKEMBED_CACHE_DIR=str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {*names[1:], compiling.cache_folder().name}


def test_full_disk_does_not_end_a_fit(tmp_path):
    code = """
import numba.core.caching
def full(*args, **kwargs):
    raise OSError(28, "No space left on device")
numba.core.caching.IndexDataCacheFile.save = full
from skembed._compiled.compile import kernel
@kernel
def double(x):
    return 2 * x
print(double(21))
"""
    script = tmp_path / "script.py"
    script.write_text(f"import sys; sys.path[:0] = [{str(ROOT)!r}]\n{code}")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=HANGS_AFTER, check=False)
    assert done.stdout.strip() == "42", done.stderr[-3000:]
