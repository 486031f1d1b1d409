"""Binary models that fastText and sent2vec wrote: the vectors of these programs, and errors for damaged files.

The files, and what the programs made of some sentences, are by benchmarks/quality/interchange_files.py.
"""

import copy
import json
import pickle
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from estimators import with_state
from sklearn.base import clone

import skembed
from skembed import MeanEmbeddingVectorizer, Sent2VecVectorizer
from skembed._text.sources import encode_words
from skembed._word_vectors.character_ngrams import average
from skembed.formats import import_model, read_word_vectors

FILES = Path(__file__).parent / "files"
MODELS = ["fasttext", "fasttext_words", "fasttext_labels", "sent2vec", "sent2vec_words"]
SETTINGS = ["n_components", "window", "epochs", "min_count", "negative", "word_ngrams", "loss", "kind", "n_buckets"]
SETTINGS += ["shortest", "longest", "rate"]
SIZES = {"n_entries": (64, "<i"), "n_words": (68, "<i"), "n_labels": (72, "<i"), "pruned": (84, "<q")}


def expected(name):
    found = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    return found["sentences"], np.array(found["vectors"])


@pytest.mark.parametrize("name", MODELS)
def test_vectors_are_those_of_the_program(name):
    sentences, vectors = expected(name)
    emb = import_model(FILES / f"{name}.bin")
    assert isinstance(emb, Sent2VecVectorizer if "sent2vec" in name else MeanEmbeddingVectorizer)
    # One by one, as there is a warning about a text with so many unknown words.
    rows = np.vstack([emb.transform([sentence]) for sentence in sentences])
    np.testing.assert_allclose(rows, vectors, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["fasttext", "sent2vec"])
def test_a_model_that_was_saved_or_pickled_is_the_same(name, tmp_path):
    emb = import_model(FILES / f"{name}.bin")
    rows = emb.transform(expected(name)[0])
    skembed.save(emb, tmp_path / "model", inference_only=True)
    for back in (skembed.load(tmp_path / "model"), pickle.loads(pickle.dumps(emb))):
        np.testing.assert_array_equal(back.transform(expected(name)[0]), rows)


def test_a_text_decides_the_weights_of_the_words_and_unknown_words_have_ngrams():
    emb = clone(import_model(FILES / "fasttext.bin")).set_params(weighting="idf")
    emb.fit(["the cat", "the dogs", "the cat"])
    rows = emb.transform(["dogs", "cat", "the dogs"])
    words, vectors = expected("fasttext")
    np.testing.assert_allclose(rows[1], emb.word_weights_[emb.vocabulary_["cat"]] * vectors[words.index("cat")], 1e-5)
    assert rows[0].any()
    with pytest.raises(ValueError, match="unknown='ngrams' was set after the fit"):
        emb.set_params(unknown="hash").fit(["the cat"]).set_params(unknown="ngrams").transform(["dogs"])
    emb = import_model(FILES / "fasttext.bin")
    for lengths in ((1,), (1, 10**9), ("1", "2")):
        stored = pickle.dumps(with_state(copy.copy(emb), ngram_lengths=lengths))
        with pytest.raises(ValueError, match="_ngram_lengths is"):
            pickle.loads(stored)
    with pytest.raises(ValueError, match="needs the path of a binary model of fastText"):
        MeanEmbeddingVectorizer(word_vectors={"cat": [1.0]}, unknown="ngrams").fit(["cat"])
    with pytest.raises(ValueError, match="needs the path of a binary model of fastText"):
        MeanEmbeddingVectorizer(word_vectors=FILES / "sent2vec.bin", unknown="ngrams").fit(["cat"])


def test_word_vectors_of_a_binary_model():
    words, vectors = read_word_vectors(FILES / "fasttext.bin")
    given, program = expected("fasttext")
    known = [word for word in given if word in words]
    np.testing.assert_allclose(
        vectors[[words.index(word) for word in known]], program[[given.index(word) for word in known]], 0, 1e-6
    )
    assert read_word_vectors(FILES / "fasttext.bin", limit=3)[0] == words[:3]
    few, rows = read_word_vectors(FILES / "fasttext.bin", words=["cat", "zebra"])
    assert few == ["cat"]
    np.testing.assert_array_equal(rows[0], vectors[words.index("cat")])
    with pytest.raises(ValueError, match="has none of the 1 chosen words"):
        read_word_vectors(FILES / "fasttext.bin", words=["zebra"])


def test_a_word_that_is_cut_within_a_character_stays_apart(tmp_path):
    content = (FILES / "fasttext.bin").read_bytes().replace(b"\0cat\0", b"\0c\xc3t\0").replace(b"cat\0", b"c\xc3t\0")
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    assert "c\udcc3t" in import_model(path).vocabulary_
    with pytest.raises(ValueError, match=r"model\.bin, dictionary entry \d+: the word b'c\\xc3t' is not text in utf-8"):
        read_word_vectors(path)


# -- damaged files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fasttext", "sent2vec"])
def test_files_that_are_cut_short(name, tmp_path):
    content, path = (FILES / f"{name}.bin").read_bytes(), tmp_path / "model.bin"
    for length in [*range(4, 100), *range(100, len(content), 31), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"model\.bin.*(cut short|damaged)"):
            import_model(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(ValueError, match=r"model\.bin has 1 bytes after the target vectors"):
        import_model(path)


def forged(name, changes):
    """A file with other settings, sizes of the dictionary, or bytes at an offset."""
    content = bytearray((FILES / f"{name}.bin").read_bytes())
    for field, value in changes.items():
        if isinstance(field, int):
            content[field : field + len(value)] = value
        elif field in SETTINGS:
            struct.pack_into("<i", content, 8 + 4 * SETTINGS.index(field), value)
        else:
            offset, kind = {"n_entries": (64, "i"), "n_words": (68, "i"), "n_labels": (72, "i"), "pruned": (84, "q")}[
                field
            ]
            struct.pack_into(f"<{kind}", content, offset, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({4: b"\x0d"}, "has the format version 13"),
        ({"n_components": 0}, "vectors of length 0"),
        ({"n_components": 2**31 - 1}, "do not fit in its"),
        ({"n_buckets": -5}, "-5 buckets"),
        ({"n_buckets": 2**31 - 1}, "do not fit in its"),
        ({"n_buckets": 49}, "source vectors have the shape"),
        ({"word_ngrams": 0}, "word n-grams of 0 words"),
        ({"longest": 2**30}, "n-grams of 2 to 1073741824 characters"),
        ({"kind": 5}, "word and character n-grams, which is not supported"),
        ({"kind": 9}, "the kind of model 9"),
        ({"n_entries": 2**31 - 1, "n_words": 2**31 - 1}, "do not fit in its"),
        ({"n_words": -1}, "-1 words"),
        ({"n_labels": 3}, "and 3 labels"),
        ({"pruned": 7}, "is a pruned model"),
        ({96: b"\xff\xff\xff\xff\xff\xff\xff\xff"}, "dictionary entry 0: the count is -1"),
        ({104: b"\x01"}, "dictionary entry 0: the count is 114 and the type 1"),
    ],
)
def test_forged_fields_are_named(changes, message, tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(forged("fasttext", changes))
    with pytest.raises(ValueError, match=rf"model\.bin.*{re.escape(message)}"):
        import_model(path)
    with pytest.raises(ValueError, match=rf"model\.bin.*{re.escape(message)}"):
        read_word_vectors(path)


def test_forged_matrices_are_named(tmp_path):
    content, path = (FILES / "sent2vec.bin").read_bytes(), tmp_path / "model.bin"
    start = next(i for i in range(200, len(content)) if content[i + 9 : i + 17] == struct.pack("<q", 4))  # 4 columns
    for change, message in [
        ({start: b"\x01"}, "source vectors are quantised"),
        ({start + 1: struct.pack("<q", 2**62)}, "ends within the source vectors"),
        ({start + 1: struct.pack("<q", -1)}, "source vectors have the shape"),
        ({start + 9: struct.pack("<q", 5)}, "source vectors have the shape"),
        ({start + 17: b"\x00\x00\xc0\x7f"}, "source vectors have NaN"),
        ({"word_ngrams": 2, "n_buckets": 0}, "no buckets for them"),
    ]:
        path.write_bytes(forged("sent2vec", change))
        with pytest.raises(ValueError, match=rf"model\.bin.*{message}"):
            import_model(path)


@pytest.mark.parametrize("name", ["fasttext", "sent2vec"])
def test_any_change_is_an_error_or_another_model(name, tmp_path):
    content, path, random = (FILES / f"{name}.bin").read_bytes(), tmp_path / "model.bin", np.random.default_rng(0)
    n_opened = 0
    for _ in range(150):
        changed = bytearray(content)
        for at in random.integers(4, len(content) - 4 * random.integers(0, 2) * 400, random.integers(1, 4)):
            changed[at] = random.integers(256)
        path.write_bytes(changed)
        try:
            emb = import_model(path)
        except ValueError as error:
            assert "model.bin" in str(error)
        else:
            n_opened += 1
            assert emb.transform(["the cat sits"]).shape == (1, 4)
    assert 0 < n_opened < 150


def test_what_is_no_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no model at"):
        import_model(tmp_path / "nothing")
    for content in (b"", b"2 2\ncat 1 0\ndog 0 1\n"):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(ValueError, match="is not a binary model of fastText or sent2vec"):
            import_model(tmp_path / "file")


# -- the kernel --------------------------------------------------------------------------------------------------------


def slow_ngrams(word, shortest, longest):
    marked = f"<{word}>" if word else ""
    for first in range(len(marked)):
        for last in range(first + 1, min(first + longest, len(marked)) + 1):
            n = last - first
            if n >= shortest and not (n == 1 and (first == 0 or last == len(marked))):
                yield marked[first:last]


def slow_hash(text):
    bits = 2166136261
    for byte in text.encode():
        bits = (bits ^ (byte if byte < 128 else byte + 0xFFFFFF00)) * 16777619 % 2**32
    return bits


@pytest.mark.kernel
@pytest.mark.parametrize("lengths", [(1, 3), (3, 6), (0, 1), (5, 2), (1, 0)])
def test_means_of_ngrams_against_a_slow_twin(lengths):
    words = ["", "a", "cat", "été", "кошка", "日本語", "x" * 30]
    random = np.random.default_rng(1)
    ngrams, own = random.normal(size=(17, 5)).astype(np.float32), random.normal(size=(len(words), 5)).astype(np.float32)
    for has_own_row in (False, True):
        out = own.copy()
        average(*encode_words(words), lengths, ngrams, out, has_own_row=has_own_row)
        for word, row, start in zip(words, out, own):
            rows = [ngrams[slow_hash(ngram) % 17] for ngram in slow_ngrams(word, *lengths)] + [start] * has_own_row
            np.testing.assert_allclose(
                row, np.sum(rows or [np.zeros(5)], axis=0) / max(1, len(rows)), rtol=1e-5, atol=1e-6
            )
