"""How long does it take to import skembed, and until the first vectors of a process are there?

    python benchmarks/speed/startup.py --data DATA --before CHECKOUT

Every measurement is a fresh process, in seconds of its CPU time, user and system: they compile on one core. The text
has 40 sentences, so learning takes no time. A cold cache is an empty folder; a warm one has been filled by the same
program. "Kept" is a cache that nobody may write to, without a home folder, as in a container whose image was built
with ``python -m skembed.precompile``. Eight processes start at once; their wall-clock time is beside that of one, since
they share the cores. With --before, the code of an earlier checkout is measured in turns.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import ONE_THREAD, arguments, median, rounds_of
from reporting import bars, report

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, sys, time
import sklearn.pipeline
times = [time.process_time()]
import skembed
{load}
times.append(time.process_time())
sentences = ["The cat sat on the mat.", "It slept there all day long."] * 20
{first}
times.append(time.process_time())
{use}
times.append(time.process_time())
modules = [name for name in sys.modules if name.startswith("skembed.")]
print(json.dumps([*times, len(modules)]))
"""
TASKS = {
    "CBOSVectorizer": (
        "skembed.CBOSVectorizer",
        "model = skembed.CBOSVectorizer(random_state=0).fit(sentences)",
        "model.transform(sentences)",
    ),
    "TextVectorizer": (
        "skembed.TextVectorizer",
        "model = skembed.TextVectorizer(random_state=0).fit(sentences)",
        "model.transform(sentences)",
    ),
    "SearchIndex": (
        "skembed.SearchIndex",
        "model = skembed.SearchIndex(random_state=0).fit(sentences)",
        'model.search(["the cat"], k=3)',
    ),
    "nearest": (
        "skembed.search.nearest; import numpy",
        "rows = numpy.eye(40, 20, dtype=numpy.float32)",
        "skembed.search.nearest(rows, rows, k=3)",
    ),
}
STEPS = ["importing scikit-learn", "import", "first fit", "first use"]


def environment_of(code, cache):
    return {
        **os.environ,
        **ONE_THREAD,
        "PYTHONPATH": str(code),
        "SKEMBED_CACHE_DIR": str(cache),
        "NUMBA_CACHE_DIR": str(cache),  # which earlier code reads
    }


def run(task, code, cache, prefix=(), **environment):
    """CPU seconds of each step in a fresh process, and how many modules of skembed it loaded."""
    load, first, use = TASKS[task]
    command = [*prefix, sys.executable, "-c", PROGRAM.format(load=load, first=first, use=use)]
    environment = {**environment_of(code, cache), **environment}
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    *times, n_modules = json.loads(done.stdout.split("\n")[-2])
    return [end - start for start, end in zip([0.0, *times], times)], n_modules


def kept(task, code, cache):
    """A cache that may only be read, without a home folder."""
    paths = [Path(cache), *Path(cache).rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    # To root nothing is read-only until it gives up that privilege.
    prefix = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    try:
        return run(task, code, cache, prefix, HOME=os.devnull, XDG_CACHE_HOME="")
    finally:
        for path in paths:
            path.chmod(0o755)


def at_once(n_processes, task, code):
    """Seconds by the wall clock, and CPU seconds of all after their imports, on an empty cache; and how many failed."""
    load, first, use = TASKS[task]
    program = PROGRAM.format(load=load, first=first, use=use)
    with tempfile.TemporaryDirectory() as empty:
        start = time.perf_counter()
        command, environment = [sys.executable, "-c", program], environment_of(code, empty)
        started = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(n_processes)
        ]
        printed = [process.communicate()[0] for process in started]
        wall = time.perf_counter() - start
    times = [json.loads(lines) for lines, process in zip(printed, started) if process.returncode == 0]
    return wall, sum(used - imported for _, imported, _, used, _ in times), n_processes - len(times)


def total(steps):
    """Seconds of all steps but the import of scikit-learn."""
    return sum(steps[1:])


def main():
    options = arguments(__doc__, before={"type": Path, "help": "an earlier checkout"})
    codes = {"now": ROOT} | ({"before": options.before} if options.before else {})
    tasks = ["CBOSVectorizer"] if options.quick else list(TASKS)
    rows, modules = [], {}
    states = {"cold": run, "warm": run, "kept": kept}

    def measure(task, code):
        """All states of the cache: a cold one is warm afterwards."""
        with tempfile.TemporaryDirectory() as cache:
            return [measured(task, code, cache) for measured in states.values()]

    runs = {(task, name): partial(measure, task, code) for task in tasks for name, code in codes.items()}
    found = {}
    for (task, name), results in rounds_of(runs, options.rounds).items():
        for i, state in enumerate(states):
            found[state, task, name] = [result[i][0] for result in results]
        modules[f"{task}, {name}"] = results[0][0][1]
    for (state, task, name), times in found.items():
        steps = [median([steps[i] for steps in times]) for i in range(len(STEPS))]
        row = {"what": task, "cache": state, "code": name}
        row |= {step: round(seconds, 2) for step, seconds in zip(STEPS[1:], steps[1:])}
        rows.append({**row, "in all": round(total(steps), 2)})
    for n_processes in (1, 8):
        wall, cpu, failed = at_once(n_processes, "CBOSVectorizer", ROOT)
        row = {
            "what": f"{n_processes} at once: CBOSVectorizer",
            "cache": "cold",
            "code": "now",
            "in all": round(cpu, 1),
        }
        rows.append({**row, "wall clock": round(wall, 1), "failed": failed})
    notes = "Modules of skembed that are loaded: " + ", ".join(f"{n} ({name})" for name, n in modules.items())

    def draw(figure):
        cold = [row for row in rows if row["cache"] == "cold" and "first use" in row]
        bars(
            figure.subplots(),
            [f"{row['what']}, {row['code']}" for row in cold],
            [row["in all"] for row in cold],
            unit="CPU s",
        )

    report(options, "startup", "First vectors", rows, notes=f"{notes}.", draw=draw)


if __name__ == "__main__":
    main()
