"""Is this revision as fast as another one: text to ids, fits and `transform`, in turns?

    python benchmarks/speed/revisions.py --data DATA --other FOLDER [--rounds N] [--out doc/_results/speed]

FOLDER is a checkout of the other revision. Each task runs in a process of each revision, round after round; one thread
is counted in CPU seconds, two by the wall clock. The speed is that of this revision divided by that of the other: the
median of the ratios of the rounds.
"""

import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, median, rounds_of, spread, workers
from reporting import report

ROOT = Path(__file__).resolve().parents[2]
N_SENTENCES, N_PASSES = 400_000, 2
N_REPEATS = 5  # of what takes a tenth of a second
METHODS = {
    "CBOS": ("CBOSVectorizer", {}),
    "Siamese CBOW": ("SiameseCBOWVectorizer", {}),
    "Sent2Vec": ("Sent2VecVectorizer", {}),
    "Sent2Vec, bigrams": ("Sent2VecVectorizer", {"ngram_range": [1, 2]}),
    "skip-gram": ("Word2VecVectorizer", {"algorithm": "skipgram"}),
    "CBOW": ("Word2VecVectorizer", {"algorithm": "cbow"}),
}


def read_lines(path):
    return Path(path).read_text(encoding="utf8").splitlines()


def make(cls, settings, n_jobs):
    """An estimator; older revisions learn word2vec by another class."""
    import skembed

    made = getattr(skembed, cls if hasattr(skembed, cls) else "MeanEmbeddingVectorizer")
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    return made(max_iter=N_PASSES, random_state=0, n_jobs=n_jobs, **settings)


def prepare_ids(path, kind, n_jobs):
    """Text to ids, from strings or from a file."""
    from skembed import SentenceCorpus

    sentences = read_lines(path)

    def task():
        for _ in range(N_REPEATS):
            if kind == "list":
                SentenceCorpus.from_sentences(sentences, n_jobs=n_jobs)
            else:
                SentenceCorpus.from_file(path, n_jobs=n_jobs)

    task()
    return task


def prepare_fit(path, cls, settings, n_jobs):
    """A whole fit of an encoded corpus."""
    from skembed import SentenceCorpus

    corpus = SentenceCorpus.from_file(path)

    def task():
        return make(cls, settings, n_jobs).fit(corpus) and None

    task()
    return task


def prepare_transform(path, n_jobs):
    """Strings to rows."""
    sentences = read_lines(path)
    model = make("CBOSVectorizer", {}, n_jobs).fit(sentences)

    def task():
        for _ in range(N_REPEATS):
            model.transform(sentences)

    task()
    return task


def tasks(path):
    """(What, threads) -> (prepare, settings)."""
    kinds = {"text to ids, strings": "list", "text to ids, a file": "file"}
    for n_jobs in (1, 2):
        for what, kind in kinds.items():
            yield (what, n_jobs), ("prepare_ids", {"path": path, "kind": kind, "n_jobs": n_jobs})
        for method, (cls, settings) in METHODS.items():
            options = {"path": path, "cls": cls, "settings": settings, "n_jobs": n_jobs}
            yield (f"fit, {method}", n_jobs), ("prepare_fit", options)
        yield ("transform of strings, CBOS", n_jobs), ("prepare_transform", {"path": path, "n_jobs": n_jobs})


def compare(roots, prepare, settings, n_rounds, cache):
    """Seconds of each round, by revision."""
    wanted = {
        name: (prepare, settings | {"environment": {"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": f"{cache}/{name}"}})
        for name, root in roots.items()
    }
    clock = "cpu" if settings["n_jobs"] == 1 else "wall"
    with workers(__file__, wanted) as alive:
        found = rounds_of({name: worker.run for name, worker in alive.items()}, n_rounds)
    return {name: [run[clock] for run in runs] for name, runs in found.items()}


def revision(root):
    return subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=root, capture_output=True, text=True).stdout[
        :7
    ]


def main():
    """Measure and report."""
    options = arguments(__doc__, other={"type": Path, "required": True, "help": "checkout of the other revision"})
    roots = {"other": options.other.resolve(), "this": ROOT}
    other = revision(options.other) or "the other"
    rows = []
    with tempfile.TemporaryDirectory(prefix="skembed-bench-") as folder:
        path = f"{folder}/text.txt"
        with gzip.open(options.data / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf8") as file:
            lines = [line for line, _ in zip(file, range(N_SENTENCES // (10 if options.quick else 1)))]
        Path(path).write_text("".join(lines), encoding="utf8")
        for (what, n_jobs), (prepare, settings) in tasks(path):
            seconds = compare(roots, prepare, settings, options.rounds, folder)
            ratios = [before / now for before, now in zip(seconds["other"], seconds["this"])]
            row = {"task": what, "threads": n_jobs}
            row |= {f"seconds at {other}": round(median(seconds["other"]), 2), "now": round(median(seconds["this"]), 2)}
            rows.append(row | {"speed": round(median(ratios), 2), "± %": spread(ratios)})
            print(rows[-1], flush=True)
    report(
        options,
        "revisions",
        f"Speed beside revision {other}, {len(lines):,} lines of text, {N_PASSES} passes",
        rows,
        notes="One thread: CPU seconds; two: by the wall clock. The speed is the median of the ratios of the rounds.",
    )


if __name__ == "__main__":
    main()
