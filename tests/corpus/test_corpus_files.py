"""A corpus on disk: written as it streams, saved, loaded, replaced, damaged."""

import errno
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from estimators import as_is
from hypothesis import given, settings
from hypothesis import strategies as st

import skembed._corpus.corpus as corpus_module
import skembed._text.files as text_files_module
from skembed._corpus.content import Content
from skembed._corpus.corpus import SentenceCorpus
from skembed._corpus.storage import Arrays, GrowingArray, corpus_digest
from skembed._text.vocabulary import Vocabulary

TEXT = ["The cat sat.", "The cat slept!", "", "A dog", "Rain, rain, rain.", "the end"]
GROUPS = [0, 0, 0, 1, 1, 2]
FILES = sorted(["corpus.json", *(f"{name}.npy" for name in Arrays._fields)])


@pytest.fixture
def corpus():
    return SentenceCorpus.from_sentences(TEXT, GROUPS, stop_words=["a"], min_count=1, max_features=7)


def same_bits(a, b):
    return all(
        x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a._content.arrays(), b._content.arrays())
    )


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
    assert sorted(os.listdir(tmp_path / "deep" / "c")) == FILES and os.listdir(tmp_path / "deep") == ["c"]


def test_written_as_it_streams(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [" ".join(f"w{i}" for i in rng.zipf(1.3, rng.integers(0, 9)) % 500) for _ in range(20_000)]
    groups = np.sort(rng.integers(0, 900, len(lines)))
    options = {"min_count": 3, "max_features": 200, "stemmer": str.upper}
    memory = SentenceCorpus.from_sentences(lines, groups, **options)
    streamed = SentenceCorpus.from_sentences(iter(lines), iter(groups), **options, to=tmp_path / "c")
    assert same_bits(memory, streamed) and memory == streamed and len(memory) == 20_000
    assert isinstance(streamed.tokens.base, np.memmap) and streamed.path == str(tmp_path / "c")
    assert sorted(os.listdir(tmp_path / "c")) == FILES
    memory.save(tmp_path / "saved")
    assert contents(tmp_path / "c") == contents(tmp_path / "saved")
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
    before = os.stat(tmp_path / "c" / "tokens.npy").st_mtime_ns
    stored.save(tmp_path / "c")  # onto itself: nothing to do
    assert os.stat(tmp_path / "c" / "tokens.npy").st_mtime_ns == before
    stored.save(tmp_path / "d")
    assert contents(tmp_path / "c") == contents(tmp_path / "d")


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
import os, resource, sys
import numpy as np
from skembed import SentenceCorpus
path, streamed, n_sentences, limit = sys.argv[1], sys.argv[2] == "True", int(sys.argv[3]), int(sys.argv[4])
text = [f"w{i} w{i + 1}" for i in range(n_sentences)]
corpus = SentenceCorpus.from_sentences(text)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    SentenceCorpus.from_sentences(text, to=path) if streamed else corpus.save(path)
except OSError as error:
    print(error.errno, error)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of another kind")
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(("n_sentences", "limit"), [(50_000, 100_000), (2000, 500), (2, 300)])
def test_no_space_left(tmp_path, streamed, n_sentences, limit):
    """The limit stands for a full disk; it is met in the first array, while a buffer is written, and in the header."""
    arguments = [str(tmp_path / "deep" / "c"), str(streamed), str(n_sentences), str(limit)]
    done = subprocess.run([sys.executable, "-c", FULL, *arguments], capture_output=True, text=True, check=False)
    path = re.escape(str(tmp_path / "deep" / "c"))
    assert re.search(rf"^{errno.EFBIG} .*The corpus cannot be saved to {path}: File too large$", done.stdout), done
    assert os.listdir(tmp_path / "deep") == []


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


# -- damage ------------------------------------------------------------------------------------------------------------


def test_what_is_not_a_saved_corpus(corpus, tmp_path):
    with pytest.raises(FileNotFoundError, match="no saved corpus at .*nowhere"):
        SentenceCorpus.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"is not a saved corpus: it has no file corpus\.json"):
        SentenceCorpus.load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is not a saved corpus"):
        SentenceCorpus.load(tmp_path / "file")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "format version 2; this skembed reads version 1"),
        ({"format": "other"}, "not the header of a skembed corpus"),
        ({"digest": "0" * 32}, "is damaged: the arrays do not fit the digest"),
        ({"settings": {}}, "entries are missing or wrong"),
        ({"sizes": {}}, "entries are missing or wrong"),
        ({"sizes": 3}, "entries are missing or wrong"),
    ],
)
def test_wrong_headers(corpus, tmp_path, change, message):
    corpus.save(tmp_path / "c")
    header = tmp_path / "c" / "corpus.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | change))
    with pytest.raises(ValueError, match=message):
        SentenceCorpus.load(tmp_path / "c")


@pytest.mark.parametrize("text", ["", "[", "[]", "null", "{}", '"' * 5, "[" * 100_000, "\x00", '{"format": NaN}'])
def test_headers_that_are_not_ours(corpus, tmp_path, text):
    corpus.save(tmp_path / "c")
    (tmp_path / "c" / "corpus.json").write_text(text)
    with pytest.raises(ValueError, match=r"corpus\.json is"):
        SentenceCorpus.load(tmp_path / "c")


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("name", Arrays._fields)
def test_missing_short_long_and_wrong_arrays(corpus, tmp_path, name, verify):
    corpus.save(tmp_path / "c")
    file = tmp_path / "c" / f"{name}.npy"
    array = np.load(file)
    file.unlink()
    with pytest.raises(ValueError, match=rf"{name}\.npy is missing"):
        SentenceCorpus.load(tmp_path / "c", verify=verify)
    for wrong in (array[:-1], np.append(array, array[-1:]), array.astype(float), array[None]):
        np.save(file, wrong)
        with pytest.raises(ValueError, match=rf"{name}\.npy holds .*, expected"):
            SentenceCorpus.load(tmp_path / "c", verify=verify)
    np.save(file, np.array([{}]), allow_pickle=True)
    with pytest.raises(ValueError, match=rf"{name}\.npy is truncated, damaged or not an array"):
        SentenceCorpus.load(tmp_path / "c", verify=verify)


@pytest.mark.parametrize("name", ["sent_ptr", "doc_ptr", "word_ptr"])
def test_ends_of_pointers_are_checked(corpus, tmp_path, name):
    corpus.save(tmp_path / "c")
    file = tmp_path / "c" / f"{name}.npy"
    for i in (0, -1):
        array = np.load(file)
        array[i] += 1
        np.save(file, array)
        with pytest.raises(ValueError, match=rf"{name} must run from 0 to"):
            SentenceCorpus.load(tmp_path / "c", verify=False)
        array[i] -= 1
        np.save(file, array)


def test_a_wrong_word_id_is_found(corpus, tmp_path):
    corpus.save(tmp_path / "c")
    array = np.load(tmp_path / "c" / "tokens.npy")
    array[3] = 10**9
    np.save(tmp_path / "c" / "tokens.npy", array)
    with pytest.raises(ValueError, match="c is damaged"):
        SentenceCorpus.load(tmp_path / "c")


FORGED = {
    "tokens": [(0, 10**9), (1, -1), (2, 0), (slice(None), 3)],
    "sent_ptr": [(1, 2**62), (2, -(2**62)), (slice(1, 3), [5, 4])],
    "doc_ptr": [(1, 2**62), (1, 0)],
    "word_ptr": [(3, 2**62), (3, 10**6), (3, -5), (slice(None), 0)],
    "counts": [(slice(None), 2**62), (0, 99), (-1, -1)],
    "text": [(slice(None), ord("a")), (0, 0xFF), (0, 0x80)],
}


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("name", FORGED)
def test_forged_arrays_are_refused_on_every_path(corpus, tmp_path, name, mmap):
    path = tmp_path / "c"
    corpus.save(path)
    handle = pickle.dumps(SentenceCorpus.load(path))
    arrays = corpus._content.arrays()
    for index, value in FORGED[name]:
        forged = arrays._replace(**{name: getattr(arrays, name).copy()})
        getattr(forged, name)[index] = value
        options = corpus._settings
        for array in Arrays._fields:
            np.save(path / f"{array}.npy", getattr(forged, array))
        header = json.loads((path / "corpus.json").read_text())
        digest = corpus_digest(forged, options)
        (path / "corpus.json").write_text(json.dumps(header | {"digest": digest}))
        for verify in (True, False):
            with pytest.raises(ValueError, match=rf"c: .*({name}|counts|tokens|word)"):
                SentenceCorpus.load(path, mmap=mmap, verify=verify)
        sent = pickle.loads(handle.replace(corpus.digest.encode(), digest.encode()))
        with pytest.raises(ValueError, match=r"c: .*"):
            len(sent)
        with pytest.raises(ValueError, match=r"The pickle of a SentenceCorpus: .*"):
            corpus_module._from_arrays(tuple(forged), corpus.tokenizer, options, None, None)
        content = Content.from_arrays(forged)
        with pytest.raises(ValueError, match="SentenceCorpus: "):
            SentenceCorpus.__new__(SentenceCorpus).__setstate__({**corpus.__getstate__(), "_loaded": content})
        with pytest.raises(ValueError, match="SentenceCorpus: "):
            SentenceCorpus(*content)


def test_word_borders_within_a_character_are_refused():
    vocabulary = Vocabulary.from_packed(np.frombuffer("äö".encode(), np.uint8), np.array([0, 1, 4]), np.array([1, 1]))
    with pytest.raises(ValueError, match="word_ptr cuts a character"):
        SentenceCorpus([0, 1], [0, 2], [0, 1], vocabulary)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage") / "c"
    SentenceCorpus.from_sentences(TEXT, GROUPS, stop_words=["a"], max_features=7).save(folder)
    return folder, contents(folder)


@settings(max_examples=200)
@given(st.sampled_from(FILES), st.data(), st.booleans(), st.booleans())
def test_any_damage_is_an_error_or_does_no_harm(saved, name, data, mmap, verify):
    folder, files = saved
    content = bytearray(files[name])
    if data.draw(st.booleans(), label="truncate"):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 3), label="flips")):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    (folder / name).write_bytes(content)
    try:
        loaded = SentenceCorpus.load(folder, mmap=mmap, verify=verify)
        if verify:
            assert list(loaded) == list(SentenceCorpus.from_sentences(TEXT, stop_words=["a"], max_features=7))
            assert loaded.n_documents == 3
    except ValueError as error:
        assert str(folder) in str(error)
    finally:
        loaded = None  # closes the memory maps
        (folder / name).write_bytes(files[name])
    assert SentenceCorpus.load(folder).n_sentences == len(TEXT)


def test_sizes_beyond_the_file_ask_for_no_memory(saved, tmp_path):
    folder, _ = saved
    shutil.copytree(folder, tmp_path / "c")
    header = json.loads((tmp_path / "c" / "corpus.json").read_text())
    header["sizes"]["tokens"] = 10**15
    (tmp_path / "c" / "corpus.json").write_text(json.dumps(header))
    with open(tmp_path / "c" / "tokens.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<i4", "fortran_order": False, "shape": (10**15,)})
    for mmap in (True, False):
        with pytest.raises(ValueError, match=r"tokens\.npy is truncated"):
            SentenceCorpus.load(tmp_path / "c", mmap=mmap)


def test_an_array_grows(tmp_path):
    for folder in (None, tmp_path):
        array = GrowingArray("tokens", folder)
        for size in (3, 0, 5, 2, 4000, 1):
            array.append(np.arange(len(array), len(array) + size, dtype=np.int32))
        assert array.array().tolist() == list(range(4011))
        assert array.finish(5).tolist() == list(range(5))
        array.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_the_folder_is_refused(tmp_path, name):
    """Reading it would wait for ever."""
    path = tmp_path / "corpus"
    SentenceCorpus.from_sentences(TEXT).save(path)
    (path / name).unlink()
    os.mkfifo(path / name)
    with pytest.raises(ValueError, match=f"{name} .*it is a pipe"):
        SentenceCorpus.load(path)
