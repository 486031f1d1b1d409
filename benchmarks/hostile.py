"""Text that no one meant for a method, and interrupts: what does each estimator make of them?

    python benchmarks/hostile.py [--tokens 10000000] [--only text] [--methods CBOSVectorizer ...]
                                 [--log FILE] [--out doc/_results]

Each estimator learns from a few sentences and from one of millions of words, millions of sentences without a word, or a
word of 50 MB, and transforms them, in a process of its own. The table has seconds of the processor and the peak of the
memory beyond that of the text, or the outcome. For an interrupt, the process gets SIGINT within a fit and within a
transform that would take long, and the table has the seconds until it ends. With --log a later run leaves out what the
file has, and shows it too.
"""

import argparse
import json
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the modules that all benchmarks share

import numpy as np
from measuring import public
from reporting import report

from skembed._base.text import TextEstimator

PLAIN = ["The cat sat on the mat.", "A dog sleeps in the sun.", "Rain falls on the town.", "The train is late."] * 10
QUICK = {"n_components": 10, "word_components": 10, "n_filters": 10, "n_buckets": 1000, "max_iter": 1, "min_count": 1}
QUICK |= {"random_state": 0, "n_jobs": 1}
LIMIT = 600  # seconds
GIVEN = {word: np.arange(3.0) + i for i, word in enumerate("cat dog rain train sun mat".split())}


def texts(n):
    return {
        f"a sentence of {n:,} words": lambda: [" ".join(["cat dog rain zebra"] * (n // 4))],
        f"{n:,} sentences without words": lambda: [""] * n,
        f"a word of {5 * n:,} bytes": lambda: ["x" * (5 * n)],
    }


def estimators():
    found = {}
    for name, cls in public().items():
        if isinstance(cls, type) and issubclass(cls, TextEstimator):
            required = {"word_vectors": [GIVEN]} if name == "MetaEmbeddingVectorizer" else {}
            model = cls(**required)
            found[name] = model.set_params(**{key: QUICK[key] for key in QUICK if key in model.get_params()})
    return found


def learn(model, text):
    """Fit a model to a text, with what else it needs."""
    if model._learns_from == "pairs":
        return model.fit(text, np.arange(len(text)) // 2)
    if model._learns_from == "targets":
        targets = np.ones((len(text), 2), np.float32)
        targets[::2, 1] = -1
        return model.fit(text, targets)
    return model.fit(text)


def rows_of(model, text):
    rows = model.transform(text)
    return rows.toarray() if hasattr(rows, "toarray") and rows.shape[0] < 1000 else rows


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def try_text(name, case, n):
    """Outcome, seconds and megabytes of a fit and a transform of a text."""
    model = estimators()[name]
    rows_of(learn(model, PLAIN), PLAIN)  # compiles
    hostile = texts(n)[case]()
    before, start = peak(), time.process_time()
    try:
        rows = rows_of(learn(model, [*PLAIN, *hostile, *hostile[:1]]), [*PLAIN, *hostile])
        sums = rows.sum(axis=1)
        assert rows.shape[0] == len(PLAIN) + len(hostile) and np.isfinite(sums).all()
        outcome = "works"
    except (ValueError, MemoryError) as error:
        outcome = f"{type(error).__name__}: {error}"
    return {"outcome": outcome, "CPU seconds": time.process_time() - start, "MB": peak() - before}


def try_interrupt(name, where, n):
    """Seconds from SIGINT to the end of a fit or a transform that would take much longer."""
    model = estimators()[name]
    rows_of(learn(model, PLAIN), PLAIN)
    text = PLAIN * (n // 250)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "max_iter" in model.get_params() and where == "fit":
        model.set_params(max_iter=10**6)
    pressed, done = [], threading.Event()

    def press():
        while not done.wait(1.5 if not pressed else 5):
            pressed.append(time.perf_counter())
            signal.raise_signal(signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    start = time.perf_counter()
    try:
        while time.perf_counter() < start + 60:  # what is too quick begins again
            learn(model, text) if where == "fit" else rows_of(model, text)
        return {"outcome": "not interrupted"}
    except KeyboardInterrupt:
        end = time.perf_counter()
        done.set()
    return {"outcome": "interrupted", "signals": len(pressed), "seconds": end - pressed[0]}


def in_a_process(kind, name, case, n):
    command = [sys.executable, __file__, "--case", json.dumps([kind, name, case, n])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"outcome": f"more than {LIMIT} s"}
    if done.returncode:
        return {"outcome": f"exit {done.returncode}: {done.stderr.strip()[-300:]}"}
    return json.loads(done.stdout.splitlines()[-1])


def by_estimator(rows):
    """A row for each estimator: what each text took, or what came of it, and the longest time until an interrupt."""
    found = {}
    for row in rows:
        cells = found.setdefault(row["estimator"], {"estimator": row["estimator"]})
        if row["case"].startswith("interrupt"):
            name = "until an interrupt ends it, s"
            cells[name] = max(cells.get(name, 0), round(row.get("seconds", LIMIT), 1))
            continue
        n_words = re.search(r"a sentence of ([\d,]+)", row["case"])
        if n_words:
            cells["words"] = n_words[1]
        what = "long sentence" if n_words else "long word" if row["case"].startswith("a word") else "empty sentences"
        works = row["outcome"] == "works"
        cells[f"{what}, CPU s"] = round(row["CPU seconds"], 1) if works else row["outcome"]
        cells[f"{what}, MB"] = round(row["MB"]) if works else ""
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--only", choices=["text", "interrupt"])
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        warnings.simplefilter("ignore")
        kind, name, case, n = json.loads(options.case)
        print(json.dumps((try_text if kind == "text" else try_interrupt)(name, case, n)))
        return
    cases = [("text", case) for case in texts(options.tokens)] + [("interrupt", "fit"), ("interrupt", "transform")]
    log = options.log.read_text() if options.log and options.log.exists() else ""
    rows = list(map(json.loads, log.splitlines()))
    for kind, case in cases:
        for name in options.methods or estimators():
            row = {"case": case if kind == "text" else f"interrupt in {case}", "estimator": name}
            if options.only in (None, kind) and not any(row.items() <= one.items() for one in rows):
                rows.append(row | in_a_process(kind, name, case, options.tokens))
                print(rows[-1], flush=True)
                if options.log:
                    options.log.write_text("".join(json.dumps(one) + "\n" for one in rows))
    report(options, "hostile", "Hostile text, and interrupts", by_estimator(rows))


if __name__ == "__main__":
    main()
