"""How long does it take to import skembed, and until the first fit of a process trains?

    python benchmarks/speed/startup.py --data DATA

Every measurement is a fresh process. "First fit" runs from the call of `fit` on 40 sentences until it returns; that
little text trains in no time. A cold cache is an empty folder for numba; a warm one has been filled by the same fit.
The last rows start eight processes at once on an empty cache, and one on a read-only copy without a home folder.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import ONE_THREAD, arguments, learners, median, rounds_of, spread
from reporting import bars, report, target

IMPORT = "import time; t = time.perf_counter(); import sklearn; print(time.perf_counter() - t)"
# In the process that has imported scikit-learn: what an import takes differs more from process to process.
IMPORTED = "import time, sklearn; t = time.perf_counter(); import skembed; {}; print(time.perf_counter() - t)"
FIT = """
import time, sklearn, skembed
model = skembed.{}(random_state=0, **{})
sentences = ["The cat sat on the mat.", "It slept there all day long."] * 20
t = time.perf_counter()
model.fit(sentences)
print(time.perf_counter() - t)
"""


def seconds_of(code, *, prefix=(), **environment):
    """Run code in a fresh process; the figure that it prints last."""
    environment = {**os.environ, **ONE_THREAD, **environment}
    command = [*prefix, sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout.split()[-1])


def first_fit(code, cache):
    def run():
        if cache is not None:
            return seconds_of(code, NUMBA_CACHE_DIR=cache)
        with tempfile.TemporaryDirectory() as empty:
            return seconds_of(code, NUMBA_CACHE_DIR=empty)

    return run


def many_at_once(code, n_processes=8):
    """Seconds until all have ended, and how many failed."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, **ONE_THREAD, "NUMBA_CACHE_DIR": empty}
        start = time.perf_counter()
        started = [
            subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL)
            for _ in range(n_processes)
        ]
        failed = sum(process.wait() != 0 for process in started)
        return time.perf_counter() - start, failed


def read_only(code):
    """First fit on a copy of the package that cannot be written, without a home."""
    import skembed

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "skembed"
        shutil.copytree(Path(skembed.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for path in [*copy.rglob("*"), copy, Path(folder)]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        environment = {"HOME": f"{folder}/home", "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": "", "PYTHONPATH": folder}
        # To root nothing is read-only until it gives up that privilege.
        prefix = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
        try:
            return seconds_of(code, prefix=prefix, **environment)
        finally:
            for path in (Path(folder), copy, *(p for p in copy.rglob("*") if p.is_dir())):
                path.chmod(0o755)


def main():
    options = arguments(__doc__)
    codes = {name: FIT.format(cls, settings) for name, (cls, settings) in learners().items()}
    if options.quick:
        codes = {"CBOS": codes["CBOS"]}
    with tempfile.TemporaryDirectory() as cache:
        runs = {
            "import sklearn": lambda: seconds_of(IMPORT),
            "import skembed after it": lambda: seconds_of(IMPORTED.format("pass")),
            "import skembed and load an estimator after it": lambda: seconds_of(
                IMPORTED.format("skembed.CBOSVectorizer")
            ),
        }
        for name, code in codes.items():
            first_fit(code, cache)()
            runs[f"first fit, warm cache, {name}"] = first_fit(code, cache)
            runs[f"first fit, cold cache, {name}"] = first_fit(code, None)
        results = rounds_of(runs, options.rounds)
    eight, failed = many_at_once(codes["CBOS"])
    results["eight processes at once, empty cache, CBOS"] = [eight]
    try:
        results["read-only package, no home, CBOS"] = [read_only(codes["CBOS"])]
        works = 1.0
    except RuntimeError as error:
        print(error)
        works = 0.0
    rows = [{"what": n, "seconds": round(median(found), 4), "± %": spread(found)} for n, found in results.items()]
    added = 1e3 * median(results["import skembed after it"])
    targets = [target("import skembed over importing scikit-learn", "", added, 50, at_most=True, unit="ms")]
    for name, found in results.items():
        if name.startswith("first fit"):
            asked, of = name.split(" cache, ")
            limit = 1.5 if "warm" in name else 15
            targets.append(target(f"{asked} cache", of, median(found), limit, at_most=True, unit="s"))
    targets.append(target("eight processes at once on an empty cache, failures", "", failed, 0, at_most=True))
    targets.append(target("a read-only package without a home works (1: yes)", "", works, 1))

    def draw(figure):
        bars(figure.subplots(), [row["what"] for row in rows], [row["seconds"] for row in rows], unit="seconds")

    notes = f"skembed adds {added:.1f} ms to importing scikit-learn."
    report(options, "startup", "Import and first fit", rows, notes=notes, targets=targets, raw=results, draw=draw)


if __name__ == "__main__":
    main()
