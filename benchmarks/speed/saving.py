"""Save and load a model of 300,000 words: CPU seconds and megabytes of skembed's folders, joblib and skops.

    python benchmarks/speed/saving.py [--rounds 3] [--words 300000] [--out doc/_results/speed]

Every way saves and loads the same fitted model, in turns. Loading ends when the model has embedded a sentence. Seconds
are of the processor, user and system, since files are in the cache of the system. Only skembed's folders are written
through to the disk before the save ends, which takes as long as the disk does.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import joblib
import numpy as np
from measuring import cpu_seconds, median, rounds_of
from reporting import report

import skembed

SENTENCE = ["word1 word2 word77"]


def model_of(n_words, n_components):
    """A word2vec model that has learned each word from a few sentences."""
    generator = np.random.default_rng(0)
    words = [f"word{i}" for i in range(n_words)]
    text = [" ".join(words[i] for i in row) for row in generator.permutation(n_words).reshape(-1, 10)]
    model = skembed.Word2VecVectorizer(n_components, min_count=1, max_iter=1, random_state=0)
    return model.fit(text)


def skops_ways():
    import skops.io

    def load(path):
        return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))

    return skops.io.dump, load


def ways():
    """Name -> (save(model, path), load(path))."""

    def folder(load_options=(), **options):
        return (
            lambda model, path: skembed.save(model, path, **options),
            lambda path: skembed.load(path, **dict(load_options)),
        )

    found = {
        "skembed.save": folder(),
        "skembed.save, load(mmap=True)": folder({"mmap": True}),
        "inference_only=True": folder(inference_only=True),
        "inference_only=True, load(mmap=True)": folder({"mmap": True}, inference_only=True),
        "inference_only=True, float16": folder(inference_only=True, dtype="float16"),
        "inference_only=True, int8": folder(inference_only=True, dtype="int8"),
        "joblib": (joblib.dump, joblib.load),
    }
    try:
        found["skops"] = skops_ways()
    except ImportError:
        print("skipped: skops")
    return found


def size_of(path):
    return (
        sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the table")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--words", type=int, default=300_000)
    parser.add_argument("--components", type=int, default=100)
    options = parser.parse_args()
    model = model_of(options.words, options.components)
    expected = model.transform(SENTENCE)
    found = ways()
    with tempfile.TemporaryDirectory() as parent:
        paths = {name: Path(parent) / f"way{i}" for i, name in enumerate(found)}

        def run(name):
            save, load = found[name]
            start = cpu_seconds()
            save(model, paths[name])
            saved = cpu_seconds()
            rows = load(paths[name]).transform(SENTENCE)
            loaded = cpu_seconds()
            assert np.allclose(rows, expected, atol=0.05 * np.abs(expected).max())
            print(f"{name}: {saved - start:.2f} s, {loaded - saved:.2f} s", flush=True)
            return {"save": saved - start, "load": loaded - saved}

        results = rounds_of({name: lambda name=name: run(name) for name in found}, options.rounds)
        rows = [
            {
                "way": name,
                "MB": round(size_of(paths[name]) / 1e6, 1),
                "save, CPU s": round(median([one["save"] for one in of_way]), 2),
                "load, CPU s": round(median([one["load"] for one in of_way]), 2),
            }
            for name, of_way in results.items()
        ]
    title = f"A word2vec model of {options.words:,} words and {options.components} dimensions, saved and loaded"
    measured = "One round" if options.rounds == 1 else f"Medians of {options.rounds} rounds in turns"
    notes = f"{measured}. Loading includes the check of all digests and the first sentence, which indexes the words."
    report(options, "saving", title, rows, notes=notes)


if __name__ == "__main__":
    main()
