"""Thousands of damaged and forged folders and files: each opens, or is a ValueError. The benchmark runs many more."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import skembed

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def forgeries():
    before = list(sys.path)
    yield runpy.run_path(str(BENCHMARKS / "forgeries.py"))
    sys.path[:] = before


def opened(folder):
    """Open a folder as quickly as can be, but for what a kernel would read."""
    if (folder / "corpus.json").exists():
        len(list(skembed.SentenceCorpus.load(folder, verify=False)))
    elif (folder / "model.json").exists():
        skembed.load(folder, mmap=True)
    elif (folder / "index.json").exists():
        skembed.SearchIndex.load(folder, mmap=True)
    else:
        for file in folder.iterdir():
            skembed.formats.read_word_vectors(file)


@pytest.mark.parametrize(
    ("name", "n_mutations"),
    [
        *((name, 200) for name in ["corpus", "index", "model: CBOS", "model: BOW-PCA"]),
        *((name, 400) for name in ["word2vec, text", "word2vec, binary"]),  # of which few are refused
    ],
)
def test_hundreds_of_mutations(name, n_mutations, forgeries, tmp_path):
    kind, folder = forgeries["originals"](tmp_path, only=name)[name]
    contents = {file: file.read_bytes() for file in folder.iterdir()}
    outcomes = []
    for seed in range(n_mutations):
        for file, data in contents.items():
            file.write_bytes(data)
        forgeries["KINDS"][kind][0](folder, np.random.default_rng(seed))
        try:
            opened(folder)
        except ValueError as error:
            assert str(folder) in str(error) or "corpus" in str(error), error
            outcomes.append("refused")
        else:
            outcomes.append("opened")
    assert min(map(outcomes.count, ("refused", "opened"))) > 10
