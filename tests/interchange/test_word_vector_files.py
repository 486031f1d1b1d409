"""Files of word vectors that gensim and GloVe wrote (see benchmarks/quality/interchange_files.py)."""

import json
from pathlib import Path

import numpy as np
import pytest

from skembed import MeanEmbeddingVectorizer
from skembed.formats import read_word_vectors

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("name", ["gensim.txt", "gensim.bin"])
def test_files_of_gensim(name):
    expected = json.loads((FILES / "gensim.json").read_text(encoding="utf-8"))
    words, vectors = read_word_vectors(FILES / name)
    assert words == expected["sentences"]
    np.testing.assert_array_equal(vectors, np.array(expected["vectors"], np.float32))


def test_files_of_glove():
    rows = [line.split() for line in (FILES / "glove.txt").read_text(encoding="utf-8").splitlines()]
    words, vectors = read_word_vectors(FILES / "glove.txt")
    assert words == [row[0] for row in rows]
    np.testing.assert_array_equal(vectors, np.array([row[1:] for row in rows]).astype(np.float32))
    emb = MeanEmbeddingVectorizer(word_vectors=FILES / "glove.txt", unknown="zero").fit(["the cat"])
    np.testing.assert_allclose(emb.transform(["the cat"])[0], vectors[:2].mean(axis=0), rtol=1e-6)
