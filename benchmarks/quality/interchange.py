"""How far are the vectors of other programs from those that skembed reads from, or writes to, their files?

    python benchmarks/quality/interchange.py [--out doc/_results/quality]

The files in tests/interchange/files were written by the other programs (interchange_files.py), with the vectors that
they give to words or sentences. "Largest difference" is that of a number of these vectors from that of skembed, and for
export, where rows have length one, of a number of a row. Programs that must be installed for the last rows: gensim,
model2vec, sentence-transformers; a row without them is left out.
"""

import argparse
import json
import sys
import tempfile
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import report

import skembed

FILES = Path(__file__).parents[2] / "tests" / "interchange" / "files"
IMPORTED = {
    "fasttext": ("fastText 0.9.2", "binary model with character n-grams"),
    "fasttext_words": ("fastText 0.9.2", "binary model of words"),
    "fasttext_labels": ("fastText 0.9.2", "binary model of a classifier"),
    "sent2vec": ("epfml/sent2vec 9efbc2d", "binary model with word n-grams"),
    "sent2vec_words": ("epfml/sent2vec 9efbc2d", "binary model of words"),
    "model2vec": ("model2vec 0.10.0", "folder, word pieces, shared rows and weights"),
    "model2vec_words": ("model2vec 0.10.0", "folder, words, rows of length one"),
    "sentence_transformers": ("sentence-transformers 6.2.0", "folder, word pieces, rows of length one"),
    "sentence_transformers_words": ("sentence-transformers 6.2.0", "folder, words"),
}
SENTENCES = ["The cat, the DOG and the café's mat.", "кошка спит", "unknown words", ""]


def imported(name):
    path = FILES / (name if (FILES / name).exists() else f"{name}.bin")
    expected = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    return np.abs(skembed.formats.import_model(path).transform(expected["sentences"]) - expected["vectors"]).max()


def word_vectors(name):
    expected = json.loads((FILES / "gensim.json").read_text(encoding="utf-8"))
    words, vectors = skembed.formats.read_word_vectors(FILES / name)
    assert words == expected["sentences"]
    return np.abs(vectors - expected["vectors"]).max()


def glove_vectors():
    lines = [line.split() for line in (FILES / "glove.txt").read_text(encoding="utf-8").splitlines()]
    words, vectors = skembed.formats.read_word_vectors(FILES / "glove.txt")
    assert words == [line[0] for line in lines]
    return np.abs(vectors - np.array([line[1:] for line in lines]).astype(np.float32)).max()


def given_by_gensim(name):
    """Vectors that gensim has read itself."""
    from gensim.models import KeyedVectors

    keyed = KeyedVectors.load_word2vec_format(FILES / name, binary=name.endswith(".bin"))
    emb = skembed.MeanEmbeddingVectorizer(word_vectors=keyed, lowercase=False, token_pattern=r"\S+")
    return np.abs(emb.fit(keyed.index_to_key).transform(keyed.index_to_key) - keyed.vectors).max()


def written_for_gensim(emb, folder, binary):
    from gensim.models import KeyedVectors

    file, counts = folder / "vectors", folder / "counts.txt"
    skembed.formats.write_word_vectors(emb, file, binary=binary, counts_path=counts)
    return difference_of_keyed(emb, KeyedVectors.load_word2vec_format(file, counts, binary=binary))


def difference_of_keyed(emb, keyed):
    assert keyed.index_to_key == list(emb.vocabulary_)
    assert [keyed.get_vecattr(word, "count") for word in keyed.index_to_key] == emb.word_counts_.tolist()
    return np.abs(keyed.vectors - emb.word_vectors_).max()


def exported(emb, folder, program):
    skembed.formats.export_model(emb, folder / "model")
    if program == "model2vec":
        from model2vec import StaticModel

        rows = StaticModel.from_pretrained(folder / "model").encode(SENTENCES)
    else:
        from sentence_transformers import SentenceTransformer

        rows = SentenceTransformer(str(folder / "model"), device="cpu").encode(SENTENCES)
    return np.abs(rows - normalize(emb.transform(SENTENCES))).max()


def row(program, file, direction, difference):
    return {"program": program, "file": file, "direction": direction, "largest difference": f"{difference:.0e}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of unknown words, which these sentences are full of
    rows = [row(*IMPORTED[name], "import", imported(name)) for name in IMPORTED]
    rows += [
        row("gensim 4.4.0", f"word2vec {kind}", "import", word_vectors(name))
        for kind, name in {"text": "gensim.txt", "binary": "gensim.bin"}.items()
    ]
    rows.append(row("GloVe", "text", "import", glove_vectors()))
    words = ["the", "cat", "dog", "café", "mat", "кошка", "and"]
    vectors = np.random.default_rng(0).normal(size=(len(words), 50)).astype(np.float32)
    emb = skembed.MeanEmbeddingVectorizer(word_vectors=(words, vectors), weighting="sif", unknown="zero")
    emb.fit(SENTENCES)
    with tempfile.TemporaryDirectory() as folder:
        if find_spec("gensim"):
            gensim = f"gensim {version('gensim')}"
            rows.append(row(gensim, "KeyedVectors", "import", given_by_gensim("gensim.bin")))
            for kind in ("text", "binary"):
                difference = written_for_gensim(emb, Path(folder), kind == "binary")
                rows.append(row(gensim, f"word2vec {kind}, with counts", "export", difference))
            keyed = skembed.formats.to_gensim(emb)
            rows.append(row(gensim, "KeyedVectors, with counts", "export", difference_of_keyed(emb, keyed)))
        for program in ("model2vec", "sentence_transformers"):
            if find_spec(program):
                name = f"{program.replace('_', '-')} {version(program)}"
                rows.append(row(name, "folder of words", "export", exported(emb, Path(folder), program)))
    report(options, "interchange", "Vectors of other programs' files", rows)


if __name__ == "__main__":
    main()
