"""What the benchmarks share: workers that take turns, CPU seconds, the machine in words, tables and figures.

Everything timed runs in a worker: a process of its own that prepares once and then repeats its task when told. So the
things compared take turns round after round, on a machine whose speed may change meanwhile, and none of them warms
the other's caches or holds the other's memory.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import runpy
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# One thread in every library underneath, so that "one thread" means one.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# The rows of a method that has not just one.
_ROWS = {
    "FastSentVectorizer": {"FastSent": {}, "FastSent+AE": {"autoencode": True}},
    "ParagraphVectorizer": {"PV-DBOW": {}, "PV-DM": {"algorithm": "dm"}},
    "Sent2VecVectorizer": {"Sent2Vec": {}, "Sent2Vec, bigrams": {"ngram_range": [1, 2]}},
    "Word2VecVectorizer": {"skip-gram": {"algorithm": "skipgram"}, "CBOW": {"algorithm": "cbow"}},
}
NAMED_VERSIONS = ("numba", "numpy", "scipy", "scikit-learn", "gensim", "fse")


def public():
    """Name -> value of all that skembed offers, estimators that are there to be measured included."""
    import skembed

    return {name: getattr(module, name) for module in (skembed, skembed.research) for name in module.__all__}


def learners(*evidence):
    """Name of a row -> (class, settings), for all methods that learn vectors in passes over some kinds of evidence.

    The kinds are "text", which is the default, "pairs" and "targets".
    """
    rows = {}
    for name, cls in public().items():
        if (
            not re.match(r"skembed\.(_methods|research)\.", getattr(cls, "__module__", ""))
            or "max_iter" not in cls._get_param_names()
        ):
            continue
        if cls._learns_from in (evidence or ("text",)):
            title = next(iter(cls._paper_settings), name)
            rows |= {row: (name, settings) for row, settings in _ROWS.get(name, {title: {}}).items()}
    return rows


class Missing(Exception):
    """A peer is not installed."""


class Worker:
    """A process that runs ``prepare(**settings)``, a function of a script, and then what that returned, at each `run`.

    Raises `Missing` if the preparation could not import something.
    """

    def __init__(self, script, prepare, environment=None, **settings):
        command = [sys.executable, __file__, str(script), prepare, json.dumps(settings)]
        environment = {**os.environ, **ONE_THREAD, **(environment or {})}
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        answer = self._answer()
        if "missing" in answer:
            self.close()
            raise Missing(answer["missing"])

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"worker ended with status {self.process.wait()}: {shlex.join(self.process.args)}")
        return json.loads(line)

    def start(self, **arguments):
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()

    def finish(self):
        """Return ``{"wall": seconds, "cpu": seconds, "value": what the task returned}``."""
        return self._answer()

    def run(self, **arguments):
        self.start(**arguments)
        return self.finish()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def cpu_seconds():
    """User and system seconds of this process, all its threads, and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def serve(script, prepare, settings):
    """Run the other side of `Worker`."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer
    sys.path.insert(0, str(Path(script).parent))
    try:
        task = runpy.run_path(script)[prepare](**settings)
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), file=answers, flush=True)
        return
    print(json.dumps({}), file=answers, flush=True)
    for line in sys.stdin:
        arguments = json.loads(line)
        wall, cpu = time.perf_counter(), cpu_seconds()
        value = task(**arguments)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
        value = value() if callable(value) else value  # what is not to be timed, such as a digest
        print(json.dumps({"wall": wall, "cpu": cpu, "value": value}), file=answers, flush=True)


@contextlib.contextmanager
def workers(script, wanted):
    """Name -> Worker for ``{name: (prepare, settings)}``; a peer that is not there is left out with a line."""
    alive = {}
    try:
        for name, (prepare, settings) in wanted.items():
            try:
                alive[name] = Worker(script, prepare, **settings)
            except Missing as missing:
                print(f"skipped: {name} ({missing})", flush=True)
        yield alive
    finally:
        for worker in alive.values():
            worker.close()


def rounds_of(runs, n_rounds):
    """Call each of ``{name: function}`` once a round; returns ``{name: [result of each round]}``."""
    results = {name: [] for name in runs}
    for i in range(n_rounds):
        # The order turns, so that nobody always comes after the same neighbour.
        names = list(runs)[i % len(runs) :] + list(runs)[: i % len(runs)]
        for name in names:
            results[name].append(runs[name]())
    return results


def children_of(parent):
    """Process ids of the living children of a process. Needs Linux."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                yield int(path.parent.name)


def resident_mebibytes(pid):
    """Memory of a process: what is resident, and what of that is its own. Needs Linux."""
    lines = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {words[0][:-1]: int(words[1]) / 1024 for words in lines if words[0] in ("VmRSS:", "RssAnon:")}


class Peaks:
    """Watches the memory of processes, `{name: process id}`, as a context.

    `before` and `most` have for each name what `resident_mebibytes` returns.
    """

    def __init__(self, pids, *, interval=0.02):
        self.pids, self.interval, self.done = pids, interval, threading.Event()

    def __enter__(self):
        self.before = {name: resident_mebibytes(pid) for name, pid in self.pids.items()}
        self.most = {name: dict(found) for name, found in self.before.items()}
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self):
        while not self.done.wait(self.interval):
            for name, pid in self.pids.items():
                with contextlib.suppress(OSError):  # it has ended
                    for kind, size in resident_mebibytes(pid).items():
                        self.most[name][kind] = max(self.most[name][kind], size)

    def __exit__(self, *error):
        self.done.set()
        self.thread.join()


def median(values):
    return statistics.median(values)


def spread(values):
    """Half the range, in per cent of the median."""
    return round(50 * (max(values) - min(values)) / max(abs(median(values)), 1e-12), 1)


def arguments(doc, **more):
    """Command line that every benchmark has; `more` is ``name=keywords of add_argument``."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with corpora/ and eval/")
    parser.add_argument("--out", type=Path, help="folder for table (.inc) and figure (.png)")
    parser.add_argument("--quick", action="store_true", help="a small sample of the text and one round: does it run?")
    parser.add_argument("--rounds", type=int, help="how often each thing is measured; default 3")
    for name, keywords in more.items():
        parser.add_argument("--" + name.replace("_", "-"), **keywords)
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    return options


@contextlib.contextmanager
def saved_corpus(options, n_sentences=None, names=("simplewiki",)):
    """Folder of a corpus of some files of DATA/corpora; `n_sentences` of it, or a tenth of that with --quick.

    Several names in a tuple are one corpus, whose name has a plus sign between theirs.
    """
    from skembed import SentenceCorpus

    with tempfile.TemporaryDirectory(prefix="skembed-bench-") as folder:
        for name in names:
            names_of_files = (name,) if isinstance(name, str) else name
            name = "+".join(names_of_files)
            corpus = SentenceCorpus.from_file([options.data / "corpora" / f"{one}.txt.gz" for one in names_of_files])
            if n_sentences or options.quick:
                corpus = corpus[: (n_sentences or corpus.n_sentences) // (10 if options.quick else 1)]
            print(f"{name}: {corpus}", flush=True)
            corpus.save(f"{folder}/{name}")
        yield Path(folder)


def machine():
    """One line about the machine."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, load {load:.1f} at the end"


def versions():
    """One line about the software."""
    import skembed

    found = [f"Python {platform.python_version()}", f"skembed {skembed.__version__}"]
    for name in NAMED_VERSIONS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return ", ".join(found)


def command():
    """The command line as it can be repeated, without the folders of this machine."""
    files = dict.fromkeys(["--points", "--start", "--models", "--log", "--csv"], "FILE")
    folders = {f"--{name}": name.upper() for name in ("data", "corpus", "other", "pairs", "rows", "wordnet")}
    names = {**folders, **files, "--aside": "PUBLISHED", "--sent2vec-bin": "NAME=PATH"}
    if any(before == "--out" and Path(word).is_absolute() for before, word in zip(sys.argv, sys.argv[1:])):
        names["--out"] = "OUT"
    words = [names.get(before, word) for before, word in zip(["", *sys.argv], sys.argv)]
    folder = Path(__file__).resolve().parent
    script = Path(words[0]).resolve()
    name = script.relative_to(folder).as_posix() if script.is_relative_to(folder) else script.name
    return shlex.join(["python", f"benchmarks/{name}", *words[1:]])


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))


@contextlib.contextmanager
def dask_cluster(n_workers, *options, direct=False):
    """A client, and the ids of the processes of the scheduler and of the workers, which get the options.

    With `direct`, the client reaches the workers itself, not through the scheduler.
    """
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        file = f"{folder}/scheduler.json"

        def start(module, *options):
            command = [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", file, *options]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            stack.callback(process.terminate)
            return process.pid

        local = "--port", "0", "--dashboard-address", ":0", "--host", "127.0.0.1"
        pids = {"scheduler": start("dask_scheduler", *local)}
        for _ in range(n_workers):
            start("dask_worker", "--nthreads", "1", "--no-dashboard", "--local-directory", folder, *options)
        with Client(scheduler_file=file, direct_to_workers=direct) as client:
            client.wait_for_workers(n_workers)
            found = client.run(os.getpid).values()
            yield client, pids | {f"worker {index}": pid for index, pid in enumerate(found, 1)}
