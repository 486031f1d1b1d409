"""How much memory does a corpus from a Dask bag take on the workers, the scheduler and the client?

    python benchmarks/speed/partitions.py --data DATA

A text of 70 million words in 64 files, one partition each, is encoded by two worker processes with a memory limit. The
text is Simple English Wikipedia and books, repeated. Measured is the largest resident memory of each process, sampled
every 20 ms, beside that before the run. The digest must be that of ``from_file``. Resident memory counts libraries and
mapped files too. Needs Linux, whose /proc it reads.
"""

import argparse
import gzip
import os
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import Peaks


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with corpora/")
    parser.add_argument("--words", type=int, default=70_000_000)
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--limit", default="1GiB", help="memory limit of a worker")
    options = parser.parse_args()

    import dask
    import dask.bag
    from distributed import LocalCluster

    from skembed import SentenceCorpus

    scheduler_in_client = os.getpid()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text").mkdir()
        n_words = write_files(options.data, folder / "text", options.words, options.partitions)
        files = sorted((folder / "text").iterdir())
        parts = [dask.delayed(read_lines)(str(file)) for file in files]
        sentences = dask.bag.from_delayed([part[0] for part in parts])
        groups = dask.bag.from_delayed([part[1] for part in parts])
        limits = {"memory_limit": options.limit, "local_directory": name}
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", **limits) as cluster:
            with cluster.get_client() as client:
                SentenceCorpus.from_dask(  # compiles and imports
                    dask.bag.from_sequence(["a b", "c"], npartitions=2), to=folder / "small", client=client
                )
                pids = client.run(os.getpid)
                names = {f"worker {i}": pid for i, pid in enumerate(pids.values())}
                with Peaks({**names, "scheduler and client": scheduler_in_client}) as peaks:
                    start = time.perf_counter()
                    corpus = SentenceCorpus.from_dask(sentences, groups, to=folder / "corpus", client=client)
                    seconds = time.perf_counter() - start
                restarted = set(client.run(os.getpid).values()) != set(pids.values())
        n_bytes = sum(file.stat().st_size for file in files)
        print(f"{n_words:,} words, {n_bytes / 2**20:.0f} MiB of text, {options.partitions} partitions: {corpus}")
        print(f"{seconds:.1f} s; workers of {options.limit}" + (", RESTARTED" if restarted else ", none restarted"))
        for process, most in peaks.most.items():
            print(f"{process}: {peaks.before[process]['VmRSS']:.0f} MiB before, at most {most['VmRSS']:.0f} MiB")
        print("equal to from_file:", SentenceCorpus.from_file(folder / "text").digest == corpus.digest)


if __name__ == "__main__":
    main()
