"""What happens when folders are damaged or forged: only errors of our own, or anything else?

    python benchmarks/forgeries.py [--trials 100000] [--first 0] [--seconds 3600] [--log FILE] [--out doc/_results]
    python benchmarks/forgeries.py --trials 0 --log FILE [--out doc/_results]

Mutates the saved folder of a corpus, of models, of a checkpoint and of a search index, and files of word vectors: bytes
of a file, or numbers of an array, with all digests made to fit. Each is loaded and, if that goes well, used: text and a
corpus are embedded, a pass of training goes on, a fit learns from the corpus or goes on from the checkpoint, an index
finds and adds documents. A process of its own does that, so that a crash or a hang is counted too. "Clear errors" are
ValueErrors; whatever else happens is listed with the seed that repeats it.

With --log each outcome is a line of a file, and a run with the same file goes on after the seeds that it has, and
counts them too. Several processes take different --first and files of their own, which are joined into one in the end.
"""

import argparse
import contextlib
import json
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the modules that all benchmarks share

import forged_folders
import numpy as np
from reporting import report

import skembed

TEXT = [
    "The cat sat on the mat.",
    "A dog sleeps in the sun, naïve 北京.",
    "rain rain rain",
    "",
    "the end of the cat",
] * 8
HANG = 120  # seconds; a forged setting may make a kernel compile
EXTREMES = [0, 1, -1, 2, 10**6, 2**31 - 1, -(2**31), 2**62, -(2**62), 2**63 - 1, -(2**63)]


def given_rows(n):
    """A model that somebody else has trained: a row for each text."""
    return dict(zip(TEXT, np.random.default_rng(0).normal(size=(len(TEXT), n)).astype(np.float32)))


GIVEN = given_rows(5)


def models():
    options = {"min_count": 1, "max_iter": 1, "random_state": 0}
    yield "CBOS", skembed.CBOSVectorizer(6, **options)
    yield "Sent2Vec, bigrams", skembed.Sent2VecVectorizer(6, ngram_range=(1, 2), n_buckets=50, **options)
    yield "word2vec, mean", skembed.MeanEmbeddingVectorizer(6, min_count=1, n_removed_components=1, random_state=0)
    yield "BOW-PCA", skembed.BOWPCA(3)
    yield "CSE", skembed.CSEVectorizer(5, n_filters=4, min_count=1, max_iter=1, random_state=0)
    yield "target", skembed.TargetVectorizer(6, **options)
    yield "paragraph, dm", skembed.ParagraphVectorizer(6, algorithm="dm", combine="concatenate", window=1, **options)
    yield "student", skembed.StudentVectorizer(random_state=0)
    yield "TextVectorizer", skembed.TextVectorizer(random_state=0)
    yield "TextVectorizer, student", skembed.TextVectorizer(teacher=given_rows(7), pretrained=GIVEN, random_state=0)
    yield "skip-thought", skembed.research.SkipThoughtVectorizer(6, word_components=4, **options)


def changed_bytes(data, random):
    """Bytes with some of them changed, cut out, doubled or cut off."""
    data, kind, first = bytearray(data), random.integers(4), int(random.integers(max(1, len(data))))
    last = first + int(random.integers(1, 40))
    if kind == 0 and data:
        data[first] ^= int(random.integers(1, 256))
    elif kind == 1:
        del data[first:last]
    elif kind == 2:
        data[first:first] = data[first:last]
    else:
        del data[first:]
    return bytes(data)


def changed_array(array, random):
    """An array with other numbers, another length or another order."""
    array, kind = np.array(array), random.integers(6)
    flat = array.reshape(-1)
    if kind == 0 and len(flat):
        value = EXTREMES[random.integers(len(EXTREMES))]
        flat[random.integers(len(flat))] = np.array([value]).astype(array.dtype)[0]
    elif kind == 1 and len(flat):
        flat[random.integers(len(flat))] = flat[random.integers(len(flat))]
    elif kind == 2:
        array = array[: random.integers(len(array) + 1)]
    elif kind == 3:
        array = np.concatenate([array, array[: random.integers(1, 5)]])
    elif kind == 4:
        array = array[::-1]
    elif len(flat):
        with np.errstate(all="ignore"):
            flat[:] = np.array([EXTREMES[random.integers(len(EXTREMES))]]).astype(array.dtype)[0]
    return np.ascontiguousarray(array)


def forge_folder(folder, random):
    """Change the folder of a corpus, a model or a checkpoint."""
    kind, header_file = random.integers(4), forged_folders.header_file(folder)
    header = json.loads(header_file.read_text())
    if kind == 0:
        files = sorted(folder.glob("*.safetensors"))
        file = files[random.integers(len(files))]
        file.write_bytes(changed_bytes(file.read_bytes(), random))
        with contextlib.suppress(Exception):  # of a file that is none any more
            forged_folders.forge(folder)
    elif kind == 1:
        text = header_file.read_bytes()
        for _ in range(20):  # until it is JSON again
            try:
                header = json.loads(changed_bytes(text, random))
                break
            except ValueError:
                pass
        if isinstance(header, dict):
            forged_folders.write_header(folder, header)
        else:
            header_file.write_text(json.dumps(header))
    else:

        def change(arrays):
            for _ in range(random.integers(1, 3)):
                name = sorted(arrays)[random.integers(len(arrays))]
                arrays[name] = changed_array(arrays[name], random)

        forged_folders.forge(folder, change_arrays=change)


def forge_files(folder, random):
    """Change one of some files without a digest."""
    file = sorted(folder.iterdir())[random.integers(len(list(folder.iterdir())))]
    data = file.read_bytes()
    for _ in range(random.integers(1, 4)):
        data = changed_bytes(data, random)
    file.write_bytes(data)


def use_corpus(folder, mmap=False):
    corpus = skembed.SentenceCorpus.load(folder, mmap=mmap, verify=False)
    skembed.Sent2VecVectorizer(4, min_count=1, max_iter=1, ngram_range=(1, 2), n_buckets=20).fit(corpus).transform(
        corpus
    )
    list(corpus), corpus[::2].sentence_frequencies()


def use_model(folder, mmap=False):
    has_model = b"student.landmarks" in forged_folders.header_file(folder).read_bytes()
    model = skembed.load(folder, mmap=mmap, pretrained=GIVEN if has_model else None)
    model.transform(TEXT)
    if isinstance(model, skembed.TextVectorizer):
        return
    model.transform(skembed.SentenceCorpus.from_sentences(TEXT))
    if hasattr(model, "partial_fit") and model._learns_from == "text":
        model.partial_fit(TEXT)


def use_checkpoint(folder, mmap=False):
    model = skembed.CBOSVectorizer(6, min_count=1, max_iter=2, random_state=0)
    model.fit(TEXT, checkpoint=folder).transform(TEXT)


def use_index(folder, mmap=False):
    index = skembed.SearchIndex.load(folder, mmap=mmap)
    index.search(["a cat in the sun", "rain"], k=3)
    index.add(["a new cat"]).remove([0]).search(["rain"], k=3)


def use_vectors(folder, mmap=False):
    for file in folder.iterdir():
        words, vectors = skembed.formats.read_word_vectors(file)
        assert len(words) == len(vectors) and np.isfinite(vectors).all()
        skembed.MeanEmbeddingVectorizer(word_vectors=(words, vectors)).fit(TEXT).transform(TEXT)


KINDS = {
    "corpus": (forge_folder, use_corpus),
    "model": (forge_folder, use_model),
    "checkpoint": (forge_folder, use_checkpoint),
    "index": (forge_folder, use_index),
    "vectors": (forge_files, use_vectors),
}


def worker(original, kind, seeds, results):
    """Mutate, load and use, one seed after the other; report each before and after."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    contents = {file.name: file.read_bytes() for file in original.iterdir()}
    forge, use = KINDS[kind]
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "forged"
        folder.mkdir()
        for seed in seeds:
            for name, data in contents.items():
                (folder / name).write_bytes(data)
            forge(folder, np.random.default_rng(seed))
            results.put((seed, "began"))
            try:
                use(folder, mmap=seed % 2 == 1)
                results.put((seed, "works"))
            except ValueError:
                results.put((seed, "clear error"))
            except BaseException as error:
                results.put((seed, f"{type(error).__name__}: {error!s:.100}"))
    results.put((None, "done"))


def run(original, kind, seeds, until):
    """Seed and outcome of each trial, in processes of their own."""
    seeds, context = list(seeds), multiprocessing.get_context("fork")
    while seeds and time.monotonic() < until:
        results = context.SimpleQueue()
        process = context.Process(target=worker, args=(original, kind, seeds, results))
        process.start()
        seed = seeds[0]
        while True:
            # Seconds one by one: while all processes are suspended, at most one of them passes.
            if not any(results._reader.poll(1) for _ in range(HANG)) or time.monotonic() > until:
                outcome = "hang" if time.monotonic() < until else "end"
                process.kill()
                process.join()
                if process.exitcode != -9:
                    outcome = f"crash {process.exitcode}"
                break
            try:
                seed, outcome = results.get()
            except EOFError:
                outcome = "crash"
                break
            if seed is None:
                return
            if outcome != "began":
                yield seed, outcome
        if outcome == "end":
            return
        yield seed, outcome
        seeds = seeds[seeds.index(seed) + 1 :]


def originals(parent, only=None):
    """Sound folders and files: name -> (kind, folder)."""
    found = {}

    def wanted(name, kind):
        if only in (None, name):
            found[name] = kind, parent / name.replace(": ", " ")
        return only in (None, name)

    if wanted("corpus", "corpus"):
        skembed.SentenceCorpus.from_sentences(TEXT).save(found["corpus"][1])
    if wanted("checkpoint", "checkpoint"):
        use_checkpoint(found["checkpoint"][1])
    if wanted("index", "index"):
        skembed.SearchIndex(6, keep_text=True, random_state=0).fit(TEXT).save(found["index"][1])
    for name, model in models():
        if wanted(f"model: {name}", "model"):
            of_each = {"pairs": [0, 1] * 20, "targets": np.eye(5)[np.arange(40) % 5]}
            model.fit(TEXT, of_each.get(getattr(model, "_learns_from", None)))
            skembed.save(model, found[f"model: {name}"][1])
    vectors = {word: np.arange(3.0) + i for i, word in enumerate(["cat", "dog", "naïve", "北京", "rain"])}
    for name in ("text", "binary"):
        if wanted(f"word2vec, {name}", "vectors"):
            folder = found[f"word2vec, {name}"][1]
            folder.mkdir()
            skembed.formats.write_word_vectors(vectors, folder / "vectors", binary=name == "binary")
    return found


def read_log(file):
    """Outcomes that a file has: (folder, seed) -> outcome. The last line may be half written."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    trials = (json.loads(line) for line in lines if line.endswith("\n"))
    return {(name, seed): outcome for name, seed, outcome in trials}


def tabulate(outcomes, options):
    """Report the counts for each folder, and list what is neither a clear error nor harmless."""
    kinds, counts = ("clear error", "works", "anything else"), {}
    for (name, _), outcome in outcomes.items():
        counts.setdefault(name, Counter())[outcome if outcome in kinds else kinds[-1]] += 1
    counts["all"] = sum(counts.values(), Counter())
    rows = [
        {"folder of": name, "injected": sum(of.values())} | {k: of[k] for k in kinds} for name, of in counts.items()
    ]
    report(options, "forgeries", "Damaged and forged folders", rows)
    surprises = [(*trial, outcome) for trial, outcome in outcomes.items() if outcome not in kinds]
    print(*surprises[:50], sep="\n")
    return bool(surprises)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--only", help="name of one folder")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    outcomes = read_log(options.log) if options.log else {}
    if not options.trials:
        return tabulate(outcomes, options)
    with tempfile.TemporaryDirectory() as parent, open(options.log or "/dev/null", "a", buffering=1) as log:
        folders = originals(Path(parent), options.only)
        for name, (kind, folder) in folders.items():
            KINDS[kind][1](folder)  # compiles, for all workers
            print(name, sum(file.stat().st_size for file in folder.iterdir()), "bytes", flush=True)
        ends = time.monotonic() + options.seconds
        for left, (name, (kind, folder)) in zip(range(len(folders), 0, -1), folders.items(), strict=True):
            seeds = range(options.first, options.first + options.trials // len(folders))
            seeds = [seed for seed in seeds if (name, seed) not in outcomes]
            until = time.monotonic() + (ends - time.monotonic()) / left
            for seed, outcome in run(folder, kind, seeds, until):
                outcomes[name, seed] = outcome
                log.write(json.dumps([name, seed, outcome]) + "\n")
            print(name, time.strftime("%H:%M:%S"), flush=True)
    return tabulate(outcomes, options)


if __name__ == "__main__":
    sys.exit(main())
