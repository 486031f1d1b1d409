"""`from_file`: several paths, compressed files, and files that are not what they are taken for."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import sqlite3
import zipfile

import numpy as np
import pandas as pd
import pytest
from corpus_checks import documents

from skembed import SentenceCorpus
from skembed._text.files import READ_SIZE

LINES = "The cat sat on the mat.\nThe cat slept.\n\nThe dog barked at Ünö.\n" * 20


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.txt"


def split_on_spaces(line):  # is not compiled, so files are read as lines
    return line.lower().split()


READERS = pytest.mark.parametrize("options", [{}, {"analyzer": split_on_spaces}], ids=["bytes", "lines"])


# -- which files -------------------------------------------------------------------------------------------------------


def test_several_paths_in_the_given_order(tmp_path):
    for name, text in {"b.txt": "b one\nb two", "a.txt": "a", "folder/d.txt": "d", "folder/c.txt": "c"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    paths = [tmp_path / "b.txt", str(tmp_path / "folder"), tmp_path / "a.txt"]
    expected = [[["b", "one"], ["b", "two"]], [["c"]], [["d"]], [["a"]]]
    for given in (paths, tuple(paths), iter(paths)):
        assert documents(SentenceCorpus.from_file(given)) == expected
    assert documents(SentenceCorpus.from_file(sorted(tmp_path.glob("*.txt")))) == [expected[3], expected[0]]
    assert documents(SentenceCorpus.from_file(paths, to=tmp_path / "corpus")) == expected
    with pytest.raises(FileNotFoundError, match="no file or folder .*nowhere"):  # before the others are read
        SentenceCorpus.from_file([tmp_path / "b.txt", tmp_path / "nowhere"])


@pytest.mark.parametrize("path", [[], ()])
def test_no_path(path):
    with pytest.raises(ValueError, match="path is an empty list"):
        SentenceCorpus.from_file(path)


@pytest.mark.parametrize("path", [{"a.txt", "b.txt"}, {"a.txt": 1}, b"a.txt", None, 3, io.StringIO("a.txt")])
def test_what_is_no_path(path):
    with pytest.raises(TypeError, match="path must be a path or a list of paths"):
        SentenceCorpus.from_file(path)


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "text.txt").write_text("a b\nc")
    monkeypatch.chdir(tmp_path)
    corpus = SentenceCorpus.from_file("~/text.txt", to="~/made")
    assert corpus.path == str(tmp_path / "made")
    corpus.save("~/saved")
    corpus.save("~/made")  # it is there already
    assert SentenceCorpus.load("~/saved") == SentenceCorpus.from_file(["~/text.txt"]) == corpus
    assert SentenceCorpus.load("~/saved").path == str(tmp_path / "saved")
    assert SentenceCorpus.from_sentences(["a b", "c"], to="~/made").path == str(tmp_path / "made")
    assert sorted(os.listdir(tmp_path)) == ["made", "saved", "text.txt"]


COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@READERS
@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files(tmp_path, suffix, options):
    data = COMPRESS[suffix](LINES.encode() * 500)
    (tmp_path / "a.txt").write_text(LINES * 500, encoding="utf-8")
    expected = SentenceCorpus.from_file(tmp_path / "a.txt", **options)
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / f"a.txt{suffix}"
    file.write_bytes(data)
    assert SentenceCorpus.from_file(file, **options) == SentenceCorpus.from_file(folder, **options) == expected
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 0xFF
    for damaged in (data[: len(data) // 2], b"plain text", bytes(flipped)):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"a\.txt\{suffix} is damaged or not a complete \{suffix} file"):
            SentenceCorpus.from_file(folder, **options)
    file.rename(folder / "b.txt")
    (folder / "b.txt").write_bytes(data)
    with pytest.raises(ValueError, match=rf"b\.txt looks compressed\. .* name that ends in \{suffix}"):
        SentenceCorpus.from_file(folder, **options)


def test_zstd_is_not_read(tmp_path):
    (tmp_path / "a.txt.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    for path in (tmp_path, tmp_path / "a.txt.zst"):
        with pytest.raises(ValueError, match=r"a\.txt\.zst is compressed with zstd.*Decompress it"):
            SentenceCorpus.from_file(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
def test_only_regular_files_are_read(tmp_path):
    (tmp_path / "a.txt").write_text("a text")
    os.mkfifo(tmp_path / "b.txt")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "zero.txt").symlink_to("/dev/zero")
    for path, kind in {"b.txt": "a pipe", "": "a pipe", "folder": "a device", "folder/zero.txt": "a device"}.items():
        with pytest.raises(ValueError, match=rf"\.txt is {kind}, not a regular file\. .*from_sentences\(open"):
            SentenceCorpus.from_file(tmp_path / path)
    (tmp_path / "b.txt").unlink()
    (tmp_path / "b.txt").symlink_to(tmp_path / "gone")
    with pytest.raises(FileNotFoundError, match=r"b\.txt"):
        SentenceCorpus.from_file(tmp_path)
    (tmp_path / "b.txt").unlink()
    (tmp_path / "b.txt").symlink_to(tmp_path / "a.txt")
    assert SentenceCorpus.from_file([tmp_path / "b.txt"])[0] == ["a", "text"]


@pytest.mark.skipif(os.name != "posix", reason="links to folders")
def test_links_to_folders(tmp_path):
    """Each folder is read once, also if a link leads to the folder that it is in."""
    for name in ("main/a", "main/.hidden", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.txt").write_text(name)
    (tmp_path / "main" / "b").symlink_to(tmp_path / "other")
    (tmp_path / "main" / "loop").symlink_to(tmp_path / "main")
    found = SentenceCorpus.from_file(tmp_path / "main")
    assert [*found] == [["main", "a"], ["other"]] and found.n_documents == 2


# -- what they hold ----------------------------------------------------------------------------------------------------


def _zip():
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    return memory.getvalue()


def _npy():
    memory = io.BytesIO()
    np.save(memory, np.zeros(3))
    return memory.getvalue()


def _sqlite(tmp_path):
    connection = sqlite3.connect(tmp_path / "base")
    connection.execute("create table t (a text)")
    connection.commit()
    connection.close()
    return (tmp_path / "base").read_bytes()


def _parquet():
    memory = io.BytesIO()
    pd.DataFrame({"text": ["a", "b"]}).to_parquet(memory)
    return memory.getvalue()


@READERS
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (_npy, "a NumPy array"),
        (_parquet, "a Parquet file"),
        (_zip, r"a zip archive \(as \.docx"),
        (lambda: b"%PDF-1.7\n%\xe2\xe3\n", "a PDF document"),
        (lambda: pickle.dumps(["a", "b"]), "a pickle"),
        (_sqlite, "an SQLite database"),
    ],
    ids=["npy", "parquet", "zip", "pdf", "pickle", "sqlite"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_files_that_are_no_text(tmp_path, file, make, what, options, encoding):
    file.write_bytes(make(tmp_path) if make is _sqlite else make())
    with pytest.raises(ValueError, match=rf"a\.txt looks like {what}.*, not text\. .*from_sentences"):
        SentenceCorpus.from_file(file, encoding=encoding, **options)


def test_json_lines(file):
    file.write_text("".join(json.dumps({"text": f"sentence {i}"}) + "\n" for i in range(9)))
    with pytest.raises(ValueError, match=r"a\.txt looks like JSON lines.*from_sentences"):
        SentenceCorpus.from_file(file)
    corpus = SentenceCorpus.from_file(file, analyzer=lambda line: json.loads(line)["text"].split())
    assert corpus[3] == ["sentence", "3"]  # who reads JSON on purpose may
    file.write_text('{"text": "' + "word " * READ_SIZE + '"}')
    with pytest.raises(ValueError, match="looks like JSON lines"):
        SentenceCorpus.from_file(file)
    for text in ("{this} is a set", '{"', '["a"]', '"a"', "{}:", "3"):
        file.write_text(text + " a word\nb\n")
        assert len(SentenceCorpus.from_file(file)) == 2


@READERS
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [LINES, "a b", "Ünö dos tres\n" * 9, "今天天气很好。\n明天 下雨。\n" * 3])
def test_text_of_two_or_four_bytes_a_character(file, encoding, text, options):
    file.write_bytes(text.encode(encoding))
    with pytest.raises(ValueError, match=rf"a\.txt looks like {encoding[:6].upper()}\. Pass encoding='{encoding}'\."):
        SentenceCorpus.from_file(file, **options)
    with pytest.raises(ValueError, match="looks like"):
        SentenceCorpus.from_file(file, encoding="latin-1", **options)
    corpus = SentenceCorpus.from_file(file, encoding=encoding, **options)
    file.write_text(text, encoding="utf-8")
    assert corpus == SentenceCorpus.from_file(file, **options)


@READERS
@pytest.mark.parametrize("ahead", [0, 3, 100_000])
def test_nul_characters(file, options, ahead):
    file.write_bytes(b"a line of text\n" * ahead + b"one \0 more\nlast\n" + b"text " * 10)
    with pytest.raises(ValueError, match=rf"a\.txt, line {ahead + 1} has a NUL character"):
        SentenceCorpus.from_file(file, **options)
    file.write_bytes("".join(f"line {i}\n" for i in range(9)).encode("utf-32"))
    with pytest.raises(ValueError, match=r"a\.txt, line 1 has a NUL character"):
        SentenceCorpus.from_file(file, encoding="utf-16", **options)


@READERS
def test_the_first_of_a_nul_character_and_wrong_bytes_is_named(file, options):
    ahead = b"a line of text\n" * 9
    file.write_bytes(ahead + b"two \0\nthr\xff\n")
    with pytest.raises(ValueError, match=r"a\.txt, line 10 has a NUL character"):
        SentenceCorpus.from_file(file, **options)
    file.write_bytes(ahead + b"thr\xff\ntwo \0\n")
    with pytest.raises(ValueError, match=r"a\.txt, line 10, byte offset 3 in the line: .* is not valid utf-8"):
        SentenceCorpus.from_file(file, **options)


@READERS
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_line_ends_of_old_macs(file, encoding, options):
    for text in ("one\rtwo\rthree\r", "one\rtwo", "a sentence\r" * READ_SIZE):
        file.write_bytes(text.encode(encoding))
        with pytest.raises(ValueError, match=r"a\.txt has carriage returns but no line feeds.*mac2unix"):
            SentenceCorpus.from_file(file, encoding=encoding, **options)
    for text in ("one\r", "one\r\ntwo\rthree\r\n", "one"):
        file.write_bytes(text.encode(encoding))
        assert SentenceCorpus.from_file(file, encoding=encoding, **options)[0] == ["one"]


def test_nothing_is_written_for_a_file_that_is_no_text(tmp_path, file):
    file.write_bytes(_npy())
    with pytest.raises(ValueError, match="NumPy"):
        SentenceCorpus.from_file(file, to=tmp_path / "corpus")
    assert os.listdir(tmp_path) == ["a.txt"]
