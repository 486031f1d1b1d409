"""Processes that are killed at any moment of a fit with checkpoints, a save, or a corpus being written: what is left?

    python benchmarks/kills.py [--kills 1000] [--seconds 600] [--out doc/_results]

A child process works in a folder and gets SIGKILL after a random time. Of a fit, the next child goes on with the same
checkpoint, until one comes to its end: its vectors must have the bits of an unbroken fit. Of a save and of a corpus
that is streamed to disk, the folder must open, and hold the old or the new. A second table is what a person sees: a
program is killed in its fit and started again.
"""

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the modules that all benchmarks share

from reporting import report

import skembed

WORDS = "cat dog mouse purr rain snow storm wind bread butter oven train station ticket".split()
TEXT = [" ".join(random.Random(i).choices(WORDS, k=8)) for i in range(3000)]
PROGRAM = """\
import hashlib
import skembed

words = "cat dog mouse purr rain snow storm wind bread butter oven train station ticket".split()
text = [" ".join(words[i * k % 14] for k in range(1, 9)) + f" word{i % 9000}" for i in range(200_000)]
emb = skembed.CBOSVectorizer(100, max_iter=6, random_state=0, verbose=1).fit(text, CHECKPOINT)
print("bits:", hashlib.sha256(emb.word_vectors_.tobytes()).hexdigest()[:16])
"""


def model(seed=0):
    return skembed.CBOSVectorizer(20, min_count=1, max_iter=12, random_state=seed)


def bits(array):
    return hashlib.sha256(array.tobytes()).hexdigest()


class Fit:
    """Fits with a checkpoint; one that comes to its end writes what it learned."""

    name, outcome = "fit with checkpoints", "{} fits went on and ended with the bits of an unbroken one"

    def __init__(self, folder):
        self.folder, self.expected = folder, bits(model().fit(TEXT).word_vectors_)
        self.n_ended = 0

    def once(self):
        self.work()
        self.look()
        self.n_ended = 0

    def work(self):
        found = bits(model().fit(TEXT, checkpoint=self.folder / "state").word_vectors_)
        (self.folder / "done").write_text(found)

    def look(self):
        """What is wrong after a kill, or None; at the end of a fit, begin the next one."""
        done = self.folder / "done"
        if done.exists():
            found = done.read_text()
            done.unlink()
            for file in (self.folder / "state").iterdir():
                file.unlink()
            (self.folder / "state").rmdir()
            self.n_ended += found == self.expected
            return None if found in (self.expected, "") else "other bits"  # killed while it wrote them
        return None


class Save:
    """Saves one of two models after the other to a folder."""

    name, outcome = "save", "the old or the new, whole"

    def __init__(self, folder):
        self.folder, self.models = folder, [model(seed).fit(TEXT) for seed in (0, 1)]
        self.expected = {bits(one.transform(TEXT[:9])) for one in self.models}
        skembed.save(self.models[0], folder / "model")

    def once(self):
        for one in self.models:
            skembed.save(one, self.folder / "model")

    def work(self):
        while True:
            self.once()

    def look(self):
        return None if bits(skembed.load(self.folder / "model").transform(TEXT[:9])) in self.expected else "other rows"


class Streaming:
    """Streams one of two texts after the other to a corpus on disk."""

    name, outcome = "corpus streamed to disk", "the old or the new, whole"

    def __init__(self, folder):
        self.folder, self.texts = folder, [TEXT, TEXT[::-1]]
        self.expected = [skembed.SentenceCorpus.from_sentences(text) for text in self.texts]
        self.expected[0].save(folder / "corpus")

    def once(self):
        for text in self.texts:
            skembed.SentenceCorpus.from_sentences(iter(text), to=self.folder / "corpus")

    def work(self):
        while True:
            self.once()

    def look(self):
        found = skembed.SentenceCorpus.load(self.folder / "corpus", verify=True)
        return None if any(found == one for one in self.expected) else "another text"


def killed(job, seconds):
    """Let a child work, and kill it; whether it was still at work."""
    child = os.fork()
    if child == 0:
        job.work()
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def trials(cls, n_kills, until):
    """Kills, what was found after them, and what was wrong."""
    counts, wrong, generator = Counter(), [], random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        job = cls(Path(folder))
        start = time.perf_counter()
        job.once()
        longest = time.perf_counter() - start
        while counts["kills"] < n_kills and time.monotonic() < until:
            counts["kills"] += killed(job, generator.uniform(0, longest))
            try:
                fault = job.look()
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
            if fault is not None:
                wrong.append(fault)
        if isinstance(job, Fit):
            job.work()
            wrong += filter(None, [job.look()])
        return counts["kills"], job.outcome.format(getattr(job, "n_ended", "")), wrong


def transcript(folder):
    """Lines that a person sees: an unbroken fit, one that is killed in its third pass, and the same program again."""
    lines = []
    for title, checkpoint, is_killed in (
        ("without a checkpoint", "checkpoint=None", False),
        ('checkpoint="run", killed by SIGKILL', 'checkpoint="run"', True),
        ("the same program again", 'checkpoint="run"', False),
    ):
        command = [sys.executable, "-c", PROGRAM.replace("CHECKPOINT", checkpoint)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
        found = []
        for line in process.stdout:
            found.append(line.rstrip())
            if is_killed and "pass 3/" in line:
                process.kill()
        process.wait()
        lines += [(title, line) for line in found] + ([(title, "Killed")] if is_killed else [])
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000, help="of each kind")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows, faults = [], []
    for cls in (Fit, Save, Streaming):
        n_kills, outcome, wrong = trials(cls, options.kills, time.monotonic() + options.seconds / 3)
        rows.append({"killed in": cls.name, "kills": n_kills, "afterwards": outcome, "anything else": len(wrong)})
        print(rows[-1], wrong[:5], flush=True)
        faults += wrong
    report(options, "kills", "Processes killed at random moments", rows)
    with tempfile.TemporaryDirectory() as folder:
        seen = [{"program": title, "prints": line} for title, line in transcript(Path(folder))]
    report(options, "killed_fit", "A fit that was killed and went on", seen)
    unbroken, last = (next(row["prints"] for row in order if "bits" in row["prints"]) for order in (seen, seen[::-1]))
    return bool(faults) or unbroken != last


if __name__ == "__main__":
    sys.exit(main())
