"""Folders of corpora that are damaged or forged: none is accepted, and none is more than an error."""

import json
import pickle

import numpy as np
import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st

import skembed._corpus.corpus as corpus_module
from benchmarks.forged_folders import array_file, forge, read_arrays
from skembed._corpus.content import Arrays, Content, corpus_digest
from skembed._corpus.corpus import SentenceCorpus
from skembed._text.vocabulary import Vocabulary

TEXT = ["The cat sat.", "The cat slept!", "", "A dog", "Rain, rain, rain.", "the end"]
GROUPS = [0, 0, 0, 1, 1, 2]
FILES = ["arrays", "corpus.json", "doc_ptr", "sent_ptr", "tokens"]


@pytest.fixture
def corpus():
    return SentenceCorpus.from_sentences(TEXT, GROUPS, stop_words=["a"], min_count=1, max_features=7)


def file_of(folder, name):
    return folder / "corpus.json" if name == "corpus.json" else array_file(folder, name)


def test_what_is_not_a_saved_corpus(corpus, tmp_path):
    with pytest.raises(FileNotFoundError, match="no saved corpus at .*nowhere"):
        SentenceCorpus.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="no saved corpus at"):
        SentenceCorpus.load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"is not a saved corpus: it has no file corpus\.json"):
        SentenceCorpus.load(tmp_path)
    with pytest.raises(ValueError, match="is not a saved corpus"):
        SentenceCorpus.load(tmp_path / "file")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"settings": {}}, "settings are missing or wrong"), ({"settings": 3}, "entries are missing or wrong")],
)
def test_wrong_headers(corpus, tmp_path, change, message):
    corpus.save(tmp_path / "c")
    forge(tmp_path / "c", lambda header: header.update(change))
    with pytest.raises(ValueError, match=message):
        SentenceCorpus.load(tmp_path / "c")


def test_a_folder_of_an_older_format(corpus, tmp_path):
    """As the first corpora were: an array is a file of NumPy."""
    (tmp_path / "c").mkdir()
    np.save(tmp_path / "c" / "tokens.npy", corpus.tokens)
    header = {"format": "skembed corpus", "version": 1, "digest": "0", "sizes": {}, "settings": {}}
    (tmp_path / "c" / "corpus.json").write_text(json.dumps(header))
    with pytest.raises(ValueError, match="has the format version 1; this skembed reads version 2"):
        SentenceCorpus.load(tmp_path / "c")
    with pytest.raises(FileExistsError, match="is not a saved corpus"):
        corpus.save(tmp_path / "c")


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("name", Arrays._fields)
def test_missing_short_long_and_wrong_arrays(corpus, tmp_path, name, verify):
    corpus.save(tmp_path / "c")
    array = read_arrays(tmp_path / "c")[name]
    for wrong in (array[:-1], np.append(array, array[-1:]), array.astype(float), array[None]):
        forge(tmp_path / "c", change_arrays=lambda arrays, wrong=wrong: arrays.update({name: wrong}))
        with pytest.raises(ValueError, match=r"c: .*"):
            SentenceCorpus.load(tmp_path / "c", verify=verify)
    forge(tmp_path / "c", change_arrays=lambda arrays: arrays.pop(name))
    with pytest.raises(ValueError, match="c is damaged: it has the arrays"):
        SentenceCorpus.load(tmp_path / "c", verify=verify)


def set_entry(name, index, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][index] = value

    return change


@pytest.mark.parametrize("name", ["sent_ptr", "doc_ptr", "word_ptr"])
def test_ends_of_pointers_are_checked(corpus, tmp_path, name):
    for i in (0, -1):
        corpus.save(tmp_path / "c")
        value = read_arrays(tmp_path / "c")[name][i] + 1
        forge(tmp_path / "c", change_arrays=set_entry(name, i, value))
        with pytest.raises(ValueError, match=rf"{name} must run from 0 to"):
            SentenceCorpus.load(tmp_path / "c", verify=False)


def test_a_wrong_word_id_is_found(corpus, tmp_path):
    corpus.save(tmp_path / "c")
    file = array_file(tmp_path / "c", "tokens")
    content = bytearray(file.read_bytes())
    content[-4:] = (10**9).to_bytes(4, "little")
    file.write_bytes(content)
    with pytest.raises(ValueError, match="tokens does not fit its digest"):
        SentenceCorpus.load(tmp_path / "c")
    with pytest.raises(ValueError, match="tokens must be from 0"):
        SentenceCorpus.load(tmp_path / "c", verify=False)


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
        forge(path, change_arrays=lambda stored, forged=forged: stored.update(forged._asdict()))
        digest = corpus_digest(forged, options)
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
            SentenceCorpus.__new__(SentenceCorpus).__setstate__({**corpus.__getstate__(), "_content": content})
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
    return folder


@settings(max_examples=200)
@given(st.sampled_from(FILES), st.data(), st.booleans(), st.booleans())
def test_any_damage_is_an_error_or_does_no_harm(saved, name, data, mmap, verify):
    file, folder = file_of(saved, name), saved
    before = file.read_bytes()
    file.write_bytes(damaged(before, data))
    try:
        loaded = SentenceCorpus.load(folder, mmap=mmap, verify=verify)
        if verify:
            assert list(loaded) == list(SentenceCorpus.from_sentences(TEXT, stop_words=["a"], max_features=7))
            assert loaded.n_documents == 3
    except ValueError as error:
        assert str(folder) in str(error)
    finally:
        loaded = None  # closes the memory maps
        file.write_bytes(before)
    assert SentenceCorpus.load(folder).n_sentences == len(TEXT)
