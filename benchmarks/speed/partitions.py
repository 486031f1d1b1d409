"""How much memory does a corpus from a Dask bag take on the workers, the scheduler and the client?

    python benchmarks/speed/partitions.py --data DATA [--out OUT]

A text of 70 million words in 64 files, one partition each, is encoded by two worker processes with a memory limit. The
text is Simple English Wikipedia and books, repeated. Sampled every 20 ms: what each process owns (anonymous memory),
and what of that and of mapped files and libraries is resident. Needs Linux, whose /proc it reads.
"""

import gzip
import os
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import Peaks, arguments, dask_cluster
from reporting import report

from skembed import SentenceCorpus


def write_files(data, folder, n_words, n_files):
    """Write documents to files of about equal length, repeating the text if need be; returns the number of words."""
    documents = []
    for name in ("simplewiki", "books_small"):
        with gzip.open(Path(data) / "corpora" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            documents += [(document.strip() + "\n\n", len(document.split())) for document in file.read().split("\n\n")]
    left, written = cycle(documents), 0
    for i in range(n_files):
        with (folder / f"{i:02}.txt").open("w", encoding="utf-8") as file:
            while written < n_words * (i + 1) / n_files:
                document, length = next(left)
                file.write(document)
                written += length
    return written


def read_lines(path):
    """Sentences of a file and the document of each."""
    groups, sentences, document = [], [], 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.isspace():
                document += 1
            else:
                sentences.append(line.rstrip("\n"))
                groups.append((path, document))
    return sentences, groups


def main():
    """Measure and report."""
    words = {"type": int, "default": 70_000_000}
    partitions, limit = {"type": int, "default": 64}, {"default": "1GiB", "help": "memory limit of a worker"}
    options = arguments(__doc__, words=words, partitions=partitions, limit=limit)

    import dask
    import dask.bag

    with tempfile.TemporaryDirectory() as name, dask_cluster(2, "--memory-limit", options.limit) as (client, pids):
        folder = Path(name)
        (folder / "text").mkdir()
        n_words = write_files(options.data, folder / "text", options.words, options.partitions)
        files = sorted((folder / "text").iterdir())
        parts = [dask.delayed(read_lines)(str(file)) for file in files]
        sentences = dask.bag.from_delayed([part[0] for part in parts])
        groups = dask.bag.from_delayed([part[1] for part in parts])
        small = dask.bag.from_sequence(["a b", "c"], npartitions=2)
        SentenceCorpus.from_dask(small, to=folder / "small", client=client)  # compiles and imports
        with Peaks({**pids, "this process": os.getpid()}) as peaks:
            start = time.perf_counter()
            corpus = SentenceCorpus.from_dask(sentences, groups, to=folder / "corpus", client=client)
            seconds = time.perf_counter() - start
        lost = set(pids.values()) - set(client.run(os.getpid).values()) - {pids["scheduler"]}
        is_equal = SentenceCorpus.from_file(folder / "text").digest == corpus.digest
        n_bytes = sum(file.stat().st_size for file in files)
    rows = []
    for process, most in peaks.most.items():
        row = {"process": process}
        for kind, title in (("RssAnon", "own"), ("VmRSS", "resident")):
            row |= {f"{title}, before (MiB)": round(peaks.before[process][kind])}
            row |= {f"{title}, at most (MiB)": round(most[kind])}
        rows.append(row)
    title = f"Memory of each process: {n_words / 1e6:.0f} million words in {options.partitions} partitions"
    equal = "The corpus is that of ``from_file``, bit for bit." if is_equal else "The corpus is NOT that of from_file."
    restarted = f"{len(lost) or 'none'} was restarted"
    notes = f"{n_bytes / 2**20:.0f} MiB of text in {seconds:.0f} s, by workers of {options.limit}; {restarted}. {equal}"
    report(options, "partitions", title, rows, notes=notes)


if __name__ == "__main__":
    main()
