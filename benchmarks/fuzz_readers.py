"""Coverage-guided fuzzing of the readers of files, by atheris: only clear errors, bounded memory and time.

    pip install atheris
    python benchmarks/fuzz_readers.py [--targets binary_model word_vectors ...] [--seconds 300] [--corpus FOLDER]
                                      [--out doc/_results]
    python benchmarks/fuzz_readers.py --repeat TARGET FILE

Starts from the files of the tests and from saved folders, with their digests made to fit after each change, so that
what lies behind them is reached. What opens is used: a few sentences are embedded. Kernels run as compiled. A
ValueError that names the file is a clear error; another error, an end of the process, more than 20 seconds of the
processor or more than 2 GB of memory ends a target and is kept in the corpus folder, for --repeat.
"""

import argparse
import contextlib
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import types
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the modules that all benchmarks share

import forged_folders
import numpy as np

FILES = Path(__file__).resolve().parents[1] / "tests" / "interchange" / "files"
# Modules that decide what a file is, and have no code that numba compiles: that cannot be instrumented.
READERS = (
    "skembed._word_vectors.fasttext",
    "skembed._word_vectors.files",
    "skembed._word_vectors.read",
    "skembed.formats",
    "skembed._text.piece_tokenizer",
    "skembed._validation",
    "skembed._saving",
    "skembed._storage.array_files",
    "skembed._storage.folders",
    "skembed._corpus.content",
)
TEXT = ["the cat sits on the mat", "The Cat, the DOG's café. кошка 日本語", "", "a\tb\u2003c  d [UNK] unknowns drinks"]
LONGEST = {"binary_model": 8192, "word_vectors": 4096, "tokenizer": 4096, "static_folder": 8192}  # bytes of an input
LONGEST |= {"saved_model": 16384, "saved_corpus": 8192}
SECONDS, MEGABYTES = 20, 2048  # of the processor, since a process may be suspended
HANG = 900  # seconds
COUNTS = ("clear error", "opened")
STATISTICS = {"branches": r"cov: (\d+)", "peak MB": r"stat::peak_rss_mb:\s+(\d+)"}


def write_folder(folder, originals, data):
    """The files of a folder, one of them with other content: the first byte says which."""
    folder.mkdir(exist_ok=True)
    names = sorted(originals)
    changed = names[data[0] % len(names)] if data else names[0]
    for name in names:
        (folder / name).write_bytes(bytes(data[1:]) if name == changed else originals[name])


def inputs_of(originals):
    """An input for each file of a folder, as write_folder reads it."""
    return [bytes([index]) + originals[name] for index, name in enumerate(sorted(originals))]


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


class BinaryModel:
    """Models of fastText and sent2vec."""

    json_after = None  # bytes

    def seeds(self, folder):
        return [file.read_bytes() for file in FILES.glob("*.bin") if file.name != "gensim.bin"]

    def use(self, path, data):
        import skembed

        path.write_bytes(data)
        if data[:4] == b"\xba\x16\x4f\x2f":
            skembed.formats.import_model(path).transform(TEXT)
        skembed.formats.read_word_vectors(path)


class WordVectors:
    """Files in word2vec text and binary format and in that of GloVe."""

    json_after = None

    def seeds(self, folder):
        import gzip

        plain = [(FILES / name).read_bytes() for name in ("gensim.bin", "gensim.txt", "glove.txt")]
        return [*plain, *map(gzip.compress, plain)]

    def use(self, path, data):
        import skembed

        path.write_bytes(data)
        words, vectors = skembed.formats.read_word_vectors(path)
        assert len(words) == len(vectors) and np.isfinite(vectors).all()


class Tokenizer:
    """Files tokenizer.json of the library tokenizers."""

    json_after = 0

    def seeds(self, folder):
        return [file.read_bytes() for file in FILES.rglob("tokenizer.json")]

    def use(self, path, data):
        from skembed._text.piece_tokenizer import PieceTokenizer

        try:
            tokenizer = PieceTokenizer(data.decode("utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        known = set(tokenizer.tokens)
        assert all(token in known for text in TEXT for token in tokenizer(text))


class StaticFolder:
    """Folders of model2vec and sentence-transformers: one of their files is changed."""

    json_after = 1

    def seeds(self, folder):
        self.originals = contents(FILES / "model2vec") | contents(FILES / "sentence_transformers")
        folders = [contents(path) for path in FILES.glob("*/") if path.is_dir()]
        wanted = {name: index for index, name in enumerate(sorted(self.originals))}
        return [bytes([wanted[name]]) + data for one in folders for name, data in one.items() if name in wanted]

    def use(self, path, data):
        import skembed

        write_folder(path, self.originals, data)
        skembed.formats.import_model(path).transform(TEXT)


class SavedModel:
    """Folders of skembed.save: the arrays or the header are changed, and the digests made to fit."""

    json_after = 1

    def seeds(self, folder):
        import skembed

        model = skembed.Sent2VecVectorizer(3, ngram_range=(1, 2), n_buckets=9, min_count=1, max_iter=1, random_state=0)
        skembed.save(model.fit(TEXT * 3), folder / "original")
        self.originals = contents(folder / "original")
        del self.originals["README.md"]
        return inputs_of(self.originals)

    def use(self, path, data):
        import skembed

        write_folder(path, self.originals, data)
        with contextlib.suppress(Exception):  # of files that are none any more
            forged_folders.forge(path)
        skembed.load(path, mmap=len(data) % 2 == 1).transform(TEXT)


class SavedCorpus:
    """Folders of SentenceCorpus.save, whose digest is not looked at."""

    json_after = 1

    def seeds(self, folder):
        import skembed

        skembed.SentenceCorpus.from_sentences(TEXT * 2).save(folder / "original")
        self.originals = contents(folder / "original")
        return inputs_of(self.originals)

    def use(self, path, data):
        import skembed

        write_folder(path, self.originals, data)
        with contextlib.suppress(Exception):
            forged_folders.forge(path)
        corpus = skembed.SentenceCorpus.load(path, mmap=len(data) % 2 == 1, verify=False)
        list(corpus), corpus[::2].sentence_frequencies()


TARGETS = {
    re.sub("(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower(): cls
    for cls in (BinaryModel, WordVectors, Tokenizer, StaticFolder, SavedModel, SavedCorpus)
}


VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    -(2**70),
    1e308,
    "",
    "a",
    "\ud800",
    "##",
    [],
    {},
    [[[[1]]]],
    {"type": "a"},
]


def changed_json(value, random):
    """A JSON value in which something has another value, is gone, or is there twice."""
    places, queue = [], [value]
    for inner in queue:
        if isinstance(inner, (dict, list)):
            inside = [(inner, key) for key in (inner if isinstance(inner, dict) else range(len(inner)))]
            places += inside
            queue += [inner[key] for _, key in inside]
    if not places:
        return copy.deepcopy(random.choice(VALUES))
    owner, key = random.choice(places)
    kind = random.randrange(4)
    if kind == 0:
        del owner[key]
    elif kind == 1 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(owner[key]))
    elif kind == 2:
        owner[key] = copy.deepcopy(random.choice(queue))
    else:
        owner[key] = copy.deepcopy(random.choice(VALUES))
    return value


def json_mutator(n_before):
    """Mutate the JSON of an input as JSON, after some bytes before it; or let libFuzzer change its bytes."""
    import random

    import atheris

    def mutate(data, max_size, seed):
        generator = random.Random(seed)
        before, text, after = data[:n_before], data[n_before:], b""
        is_safetensors = text[8:9] == b"{"
        if is_safetensors:
            length = int.from_bytes(text[:8], "little")
            text, after = text[8 : 8 + length], text[8 + length :]
        try:
            value = json.loads(text) if generator.randrange(3) else None
            for _ in range(generator.randrange(1, 3)):
                value = value and changed_json(value, generator)
            text = json.dumps(value).encode()
        except (ValueError, RecursionError):
            value = None
        if value is None:
            return atheris.Mutate(data, max_size)
        length = len(text).to_bytes(8, "little") if is_safetensors else b""
        changed = before + length + text + after
        return changed if len(changed) <= max_size else data

    return mutate


def one_input(target, path, counts):
    def run(data):
        start = time.process_time()
        try:
            target.use(path, data)
        except ValueError as error:
            if str(path) not in str(error):
                raise AssertionError(f"the error does not name {path}: {error}") from error
            counts[0] += 1
        else:
            counts[1] += 1
        seconds = time.process_time() - start
        assert seconds < SECONDS, f"{seconds:.0f} seconds"

    return run


def instrument(instrument_func):
    """Let the functions of the readers report their branches."""
    for name, module in list(sys.modules.items()):
        if name.startswith(READERS):
            for owner in [module, *(value for value in vars(module).values() if isinstance(value, type))]:
                for value in list(vars(owner).values()):
                    function = getattr(value, "fget", value)
                    if isinstance(function, types.FunctionType) and function.__module__ == name:
                        instrument_func(function)


def fuzz(name, corpus, seconds):
    """Run a target in this process; libFuzzer ends it."""
    import atheris

    import skembed
    import skembed.formats._binary_models
    import skembed.formats._static_folders

    instrument(atheris.instrument_func)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    folder = corpus / name
    inputs, scratch = folder / "inputs", Path(tempfile.mkdtemp(dir=corpus))
    inputs.mkdir(parents=True, exist_ok=True)
    target = TARGETS[name]()
    counts = np.memmap(folder / "counts", np.int64, "w+", shape=(2,))
    run = one_input(target, scratch / "forged", counts)
    for data in target.seeds(scratch):
        (inputs / hashlib.sha1(data).hexdigest()).write_bytes(data)
        run(data)  # compiles what seeds need
    skembed.Sent2VecVectorizer(3, min_count=1, max_iter=1).fit(TEXT).transform(TEXT)
    counts[:] = 0
    limits = [f"-timeout={HANG}", f"-rss_limit_mb={MEGABYTES}", f"-max_len={LONGEST[name]}", "-len_control=0"]
    options = [*limits, f"-max_total_time={seconds}", f"-artifact_prefix={folder}/", "-print_final_stats=1"]
    more = {} if target.json_after is None else {"custom_mutator": json_mutator(target.json_after)}
    atheris.Setup([sys.argv[0], *options, str(inputs)], lambda data: run(bytes(data)), **more)
    atheris.Fuzz()


def repeat(name, file):
    target, folder = TARGETS[name](), Path(tempfile.mkdtemp())
    target.seeds(folder)
    target.use(folder / "forged", file.read_bytes())


def row_of(name, corpus, done):
    """What libFuzzer says at the end, and what was counted, here and in the runs with this corpus before."""
    counts = np.memmap(corpus / name / "counts", np.int64, "r", shape=(2,))
    text = done.stderr.decode("utf-8", "replace")
    found = {key: int((re.findall(pattern, text) or [0])[-1]) for key, pattern in STATISTICS.items()}
    kinds = ("crash", "oom", "timeout", "leak")
    crashes = [file for kind in kinds for file in (corpus / name).glob(f"{kind}-*")]
    file = corpus / name / "row.json"
    row = json.loads(file.read_text()) if file.exists() else {"target": name, "inputs": 0}
    row["inputs"] += int(counts.sum()) + len(crashes)
    row |= {key: max(row.get(key, 0), value) for key, value in found.items()}
    row |= {key: row.get(key, 0) + int(value) for key, value in zip(COUNTS, counts, strict=True)}
    row["anything else"] = max(len(crashes), int(done.returncode != 0))
    file.write_text(json.dumps(row))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--seconds", type=int, default=300, help="for each target")
    parser.add_argument("--corpus", type=Path, help="folder of the inputs and counts; a later run goes on from it")
    parser.add_argument("--repeat", nargs=2, metavar=("TARGET", "FILE"))
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.repeat:
        return repeat(options.repeat[0], Path(options.repeat[1]))
    corpus = options.corpus or Path(tempfile.mkdtemp())
    if options.inside:
        return fuzz(options.inside, corpus, options.seconds)
    from reporting import report

    rows = []
    for name in options.targets:
        (corpus / name).mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, "--inside", name, "--corpus", corpus, "--seconds", str(options.seconds)]
        done = subprocess.run(command, stderr=subprocess.PIPE, check=False, env={**os.environ, "PYTHONHASHSEED": "0"})
        (corpus / f"{name}.log").write_bytes(done.stderr)
        rows.append(row_of(name, corpus, done))
        print(rows[-1], flush=True)
    rows = [json.loads(file.read_text()) for name in TARGETS if (file := corpus / name / "row.json").exists()]
    report(options, "fuzzing", "Readers under coverage-guided fuzzing", rows)
    return any(row["anything else"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
