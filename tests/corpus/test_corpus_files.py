"""A corpus on disk: written as it streams, saved, loaded, replaced."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from estimators import as_is
from hypothesis import given, settings
from hypothesis import strategies as st

import skembed._text.files as text_files_module
from benchmarks.forged_folders import read_arrays
from skembed._corpus.corpus import SentenceCorpus

TEXT = ["The cat sat.", "The cat slept!", "", "A dog", "Rain, rain, rain.", "the end"]
GROUPS = [0, 0, 0, 1, 1, 2]
FILES = ["arrays", "corpus.json", "doc_ptr", "sent_ptr", "tokens"]


@pytest.fixture
def corpus():
    return SentenceCorpus.from_sentences(TEXT, GROUPS, stop_words=["a"], min_count=1, max_features=7)


def same_bits(a, b):
    return all(
        x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a._content.arrays(), b._content.arrays())
    )


def names(folder):
    """Names of the files, without what differs from save to save."""
    return sorted(name.partition("-")[0] for name in os.listdir(folder))


def content(folder):
    """All that a folder holds, without what differs from save to save."""
    arrays = {name: array.tobytes() for name, array in read_arrays(folder).items()}
    return json.loads((folder / "corpus.json").read_text()) | {"save": None}, arrays


def contents(folder):
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


# -- the same bits, however written ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("verify", [True, False])
def test_save_and_load(corpus, tmp_path, mmap, verify):
    assert corpus.save(str(tmp_path / "deep" / "c")) is None
    loaded = SentenceCorpus.load(tmp_path / "deep" / "c", mmap=mmap, verify=verify)
    assert loaded == corpus and same_bits(loaded, corpus) and loaded.tokenizer == corpus.tokenizer
    assert (loaded.min_count, loaded.max_features, repr(loaded)) == (1, 7, repr(corpus))
    assert loaded.path == (str(tmp_path / "deep" / "c") if mmap else None)
    assert isinstance(loaded.tokens.base, np.memmap) == mmap
    for array in (loaded.tokens, loaded.sent_ptr, loaded.doc_ptr):
        assert type(array) is np.ndarray and not array.flags.writeable
    assert names(tmp_path / "deep" / "c") == FILES and os.listdir(tmp_path / "deep") == ["c"]


def test_written_as_it_streams(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [" ".join(f"w{i}" for i in rng.zipf(1.3, rng.integers(0, 9)) % 500) for _ in range(20_000)]
    groups = np.sort(rng.integers(0, 900, len(lines)))
    options = {"min_count": 3, "max_features": 200, "stemmer": str.upper}
    memory = SentenceCorpus.from_sentences(lines, groups, **options)
    streamed = SentenceCorpus.from_sentences(iter(lines), iter(groups), **options, to=tmp_path / "c")
    assert same_bits(memory, streamed) and memory == streamed and len(memory) == 20_000
    assert isinstance(streamed.tokens.base, np.memmap) and streamed.path == str(tmp_path / "c")
    assert names(tmp_path / "c") == FILES
    memory.save(tmp_path / "saved")
    assert content(tmp_path / "c") == content(tmp_path / "saved")
    assert SentenceCorpus.load(tmp_path / "c", stemmer=str.upper) == memory
    file = tmp_path / "text.txt"
    file.write_text("\n".join(line or "." for line in lines))
    monkeypatch.setattr(text_files_module, "READ_SIZE", 1000)
    assert same_bits(
        SentenceCorpus.from_file(file, **options, to=tmp_path / "f"), SentenceCorpus.from_sentences(lines, **options)
    )


@given(st.lists(st.lists(st.text(st.characters() | st.sampled_from("\ud800\udc00\x00\n")), max_size=3), min_size=1))
@settings(max_examples=30)
def test_any_words_round_trip(sentences):
    sentences.append(["last"])
    with tempfile.TemporaryDirectory() as folder:
        corpus = SentenceCorpus.from_sentences(sentences, analyzer=as_is)
        corpus.save(Path(folder, "c"))
        loaded = SentenceCorpus.load(Path(folder, "c"), analyzer=as_is, mmap=False)
        assert loaded == corpus and list(loaded) == sentences and same_bits(loaded, corpus)


@pytest.mark.parametrize("rows", [[], [2]])
def test_selections_without_words_can_be_saved(corpus, tmp_path, rows):
    corpus[rows].save(tmp_path / "c")
    assert SentenceCorpus.load(tmp_path / "c") == corpus[rows]
    assert list(SentenceCorpus.load(tmp_path / "c", mmap=False)) == [[] for _ in rows]
    assert SentenceCorpus.load(tmp_path / "c").sentence_frequencies().tolist() == []


def test_callables_must_be_passed_again(tmp_path):
    corpus = SentenceCorpus.from_sentences([["a"], ["b"]], analyzer=as_is, to=tmp_path / "c")
    assert corpus.tokenizer.analyzer is as_is
    with pytest.raises(ValueError, match=r"as_is'.*Pass it again: analyzer="):
        SentenceCorpus.load(tmp_path / "c")
    again = SentenceCorpus.load(tmp_path / "c", analyzer=list, mmap=False)  # it may have moved
    again.save(tmp_path / "d")
    assert SentenceCorpus.load(tmp_path / "d", analyzer=as_is) == again == corpus


# -- the folder that it is written to ----------------------------------------------------------------------------------


def test_an_older_corpus_is_replaced(corpus, tmp_path):
    corpus.save(tmp_path / "c")
    old = SentenceCorpus.load(tmp_path / "c", mmap=False)
    corpus[:2].save(tmp_path / "c")
    assert SentenceCorpus.load(tmp_path / "c") == corpus[:2] and list(old) == list(corpus)
    (tmp_path / "empty").mkdir()
    corpus.save(tmp_path / "empty")
    assert sorted(os.listdir(tmp_path)) == ["c", "empty"]


def test_saving_a_stored_corpus(corpus, tmp_path):
    corpus.save(tmp_path / "c")
    stored = SentenceCorpus.load(tmp_path / "c")
    before = os.listdir(tmp_path / "c")
    stored.save(tmp_path / "c")  # onto itself: nothing to do
    assert os.listdir(tmp_path / "c") == before
    stored.save(tmp_path / "d")
    assert content(tmp_path / "c") == content(tmp_path / "d")


@pytest.mark.parametrize("streamed", [True, False])
def test_what_is_not_a_corpus_is_not_replaced(corpus, tmp_path, streamed):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("mine")
    corpus.save(tmp_path / "mixed")
    (tmp_path / "mixed" / "notes.txt").write_text("mine")
    for name in ("file", "folder", "mixed"):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(FileExistsError, match=f"{name} exists and is not a saved corpus"):
            SentenceCorpus.from_sentences(TEXT, to=tmp_path / name) if streamed else corpus.save(tmp_path / name)
        assert sorted(tmp_path.rglob("*")) == before


def test_failure_leaves_nothing_and_keeps_the_old(corpus, tmp_path):
    corpus.save(tmp_path / "c")
    before = contents(tmp_path / "c")
    for sentences, error in ((["a", None], TypeError), ([], ValueError), ([""], ValueError)):
        with pytest.raises(error):
            SentenceCorpus.from_sentences(sentences, to=tmp_path / "c")
    assert os.listdir(tmp_path) == ["c"] and contents(tmp_path / "c") == before


FULL = """
import json, resource, sys
from skembed import SentenceCorpus
for path, streamed, n_sentences, limit in json.loads(sys.argv[1]):
    text = [f"w{i} w{i + 1}" for i in range(n_sentences)]
    corpus = SentenceCorpus.from_sentences(text)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        SentenceCorpus.from_sentences(text, to=path) if streamed else corpus.save(path)
    except OSError as error:
        print(error.errno, error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of another kind")
def test_no_space_left(tmp_path):
    """The limit stands for a full disk; it is met in the first array, while a buffer is written, and in the header."""
    sizes = [(50_000, 100_000), (2000, 500), (2, 300)]
    jobs = [
        (str(tmp_path / f"{streamed} {limit}" / "c"), streamed, n_sentences, limit)
        for n_sentences, limit in sizes
        for streamed in (True, False)
    ]
    done = subprocess.run([sys.executable, "-c", FULL, json.dumps(jobs)], capture_output=True, text=True, check=False)
    expected = [f"[Errno {errno.EFBIG}] The corpus cannot be saved to {path}: File too large" for path, *_ in jobs]
    assert done.stdout.splitlines() == [f"{errno.EFBIG} {error}" for error in expected], done.stderr
    assert not any(os.listdir(Path(path).parent) for path, *_ in jobs)


@pytest.mark.parametrize("streamed", [True, False])
def test_folder_that_cannot_be_made(corpus, tmp_path, streamed):
    (tmp_path / "file").write_text("mine")
    path = tmp_path / "file" / "deep" / "c"
    with pytest.raises(OSError, match=r"The corpus cannot be saved to .*c: (Not a directory|File exists|.*path.*)$"):
        SentenceCorpus.from_sentences(TEXT, to=path) if streamed else corpus.save(path)
    assert os.listdir(tmp_path) == ["file"]


def test_an_error_of_reading_is_none_of_writing(tmp_path):
    def stream():
        yield "a sentence"
        raise OSError(errno.EIO, "Input/output error", str(tmp_path / "source.txt"))

    with pytest.raises(OSError, match=r"Input/output error: .*source\.txt'$"):
        SentenceCorpus.from_sentences(stream(), to=tmp_path / "c")
    assert os.listdir(tmp_path) == []
