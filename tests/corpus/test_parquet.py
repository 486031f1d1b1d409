"""Corpora from Parquet files: the same bits as from the values of the columns, and errors that name file and row."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from estimators import as_is
from pyarrow.dataset import dataset

import skembed._text.parquet as parquet_module
from skembed import SentenceCorpus

TEXT = ["The cat sat.", "The cat slept!", "", "A dog", "Rain, rain, über rain.", "the end", "...", "a_b"]
GROUPS = ["x", "x", "x", "y", "y", "z", "z", "x"]


@pytest.fixture
def table():
    return pa.table({"text": TEXT, "doc": GROUPS, "n": range(len(TEXT))})


def same_bits(a, b):
    return a == b and all(
        x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a._content.arrays(), b._content.arrays())
    )


def written(folder, table, borders, name="part.{}.parquet", **options):
    """Write a table to files that end at the borders."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, (first, last) in enumerate(zip([0, *borders], [*borders, len(table)])):
        pq.write_table(table.slice(first, last - first), folder / name.format(i), **options)
    return folder


@pytest.mark.parametrize("borders", [[], [4], [0, 1, 2, 2, 5, 8]], ids=str)
@pytest.mark.parametrize("row_group_size", [1, 3, 100])
def test_same_bits_as_from_sentences(tmp_path, table, borders, row_group_size):
    folder = written(tmp_path / "files", table, borders, row_group_size=row_group_size)
    options = {"min_count": 2, "stop_words": ["the"], "max_features": 3}
    expected = SentenceCorpus.from_sentences(TEXT, GROUPS, **options)
    found = SentenceCorpus.from_parquet(folder, column="text", groups="doc", to=tmp_path / "corpus", **options)
    assert same_bits(found, expected) and found.path == str(tmp_path / "corpus")
    assert same_bits(SentenceCorpus.from_parquet(folder, column="text"), SentenceCorpus.from_sentences(TEXT))


def test_same_bits_as_from_file(tmp_path, table):
    (tmp_path / "text.txt").write_text("\n".join([*TEXT[:2], "", *TEXT[3:]]), encoding="utf-8")
    expected = SentenceCorpus.from_file(tmp_path / "text.txt")
    rows = table.filter(pa.array([bool(text) for text in TEXT]))
    folder = written(tmp_path / "files", rows.set_column(1, "doc", pa.array([0, 0, *[1] * (len(rows) - 2)])), [1, 2, 4])
    assert same_bits(SentenceCorpus.from_parquet(folder, column="text", groups="doc"), expected)


@pytest.mark.parametrize("kind", [pa.float64(), pa.null()], ids=str)
def test_a_file_without_rows(tmp_path, table, kind):
    """pandas writes the column of such a file as numbers."""
    folder = written(tmp_path / "files", table, [4])
    pq.write_table(pa.table({"text": pa.array([], kind), "doc": pa.array([], kind)}), folder / "part.9.parquet")
    expected = SentenceCorpus.from_sentences(TEXT, GROUPS)
    assert same_bits(SentenceCorpus.from_parquet(folder, column="text", groups="doc"), expected)


@pytest.mark.skipif(os.name != "posix", reason="links to folders")
def test_links_to_folders(tmp_path, table):
    folder, other = tmp_path / "files", written(tmp_path / "other", table.slice(4), [])
    written(folder / "a", table.slice(0, 4), [])
    (folder / "b").symlink_to(other)
    (folder / "loop").symlink_to(folder)
    expected = SentenceCorpus.from_sentences(TEXT)
    assert same_bits(SentenceCorpus.from_parquet(folder, column="text"), expected)


def test_a_url_matches_the_files_that_a_path_matches(tmp_path, table):
    written(tmp_path, table.slice(0, 4), [])
    pq.write_table(table, tmp_path / ".hidden.parquet")
    for pattern, n_sentences in [("*.parquet", 4), (".*.parquet", len(TEXT)), ("**/*.parquet", 4)]:
        for path in (f"{tmp_path}/{pattern}", f"file://{tmp_path}/{pattern}"):
            assert SentenceCorpus.from_parquet(path, column="text").n_sentences == n_sentences, path


@pytest.mark.parametrize(("path", "error"), [("", ValueError), (3, TypeError)])
def test_what_is_no_path(path, error):
    with pytest.raises(error, match="path"):
        SentenceCorpus.from_parquet(path, column="text")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_types_of_strings(tmp_path, table, kind):
    texts = pa.array(TEXT)
    # pyarrow 14 makes a dictionary by its own method alone.
    texts = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    folder = written(tmp_path, table.set_column(0, "text", texts), [3])
    assert same_bits(SentenceCorpus.from_parquet(folder, column="text"), SentenceCorpus.from_sentences(TEXT))


def test_batches_of_large_row_groups(tmp_path, table, monkeypatch):
    """A document may go on in the next batch and the next row group."""
    monkeypatch.setattr(parquet_module, "BATCH_SIZE", 2)
    folder = written(tmp_path, table, [], row_group_size=5)
    found = SentenceCorpus.from_parquet(folder, column="text", groups="doc")
    assert same_bits(found, SentenceCorpus.from_sentences(TEXT, GROUPS))


def test_any_type_with_an_analyzer(tmp_path):
    tokens = [["a", "b"], [], None, ["b"]]
    folder = written(tmp_path, pa.table({"tokens": tokens}), [1])
    analyzer = none_as_empty
    found = SentenceCorpus.from_parquet(folder, column="tokens", analyzer=analyzer)
    assert same_bits(found, SentenceCorpus.from_sentences(tokens, analyzer=analyzer))


def none_as_empty(tokens):
    return tokens or []


# -- where files are ---------------------------------------------------------------------------------------------------


def test_files_are_read_in_the_order_of_other_programs(tmp_path):
    rows = pa.table({"text": [f"w{i}" for i in range(12)]})
    folder = written(tmp_path / "f", rows, range(1, 12))
    order = sorted(range(12), key=str)
    assert pd.read_parquet(folder)["text"].tolist() == [f"w{i}" for i in order]
    expected = SentenceCorpus.from_sentences([f"w{i}" for i in order])
    url = (tmp_path / "f").as_uri()
    for path in (folder, str(folder), folder / "*.parquet", tmp_path / "**" / "part*", url, f"{url}/part.*.parquet"):
        assert same_bits(SentenceCorpus.from_parquet(path, column="text"), expected), path
    reverse = [folder / f"part.{i}.parquet" for i in range(11, -1, -1)]
    assert [*SentenceCorpus.from_parquet(reverse, column="text")] == [[f"w{i}"] for i in range(11, -1, -1)]


ODD_NAMES = [
    "2",
    "10",
    "B/1",
    "a/z",
    "a-b/c",
    "a.b/c",
    "a/b/1",
    "a1/q",
    "b",
    "day=10/p",
    "day=2/p",
    "x y",
    "\ue000",
    "\U0001f600",
    "é",
]


def test_files_of_both_formats_are_read_in_one_order(tmp_path):
    for name in ODD_NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"name": [name]}), tmp_path / f"{name}.parquet")
        (tmp_path / f"{name}.txt").write_text(name, encoding="utf-8")
    as_they_are = {"token_pattern": r".+", "lowercase": False}
    found = [
        SentenceCorpus.from_parquet(tmp_path, column="name", **as_they_are),
        SentenceCorpus.from_file(tmp_path, **as_they_are),
    ]
    expected = {"pyarrow": dataset(tmp_path, exclude_invalid_files=True).to_table(columns=["name"])["name"].to_pylist()}
    if int(pl.__version__.split(".")[0]) >= 2:  # its first versions went through folders by themselves
        everything = pl.read_parquet(tmp_path / "**" / "*.parquet", hive_partitioning=False)
        expected["polars"] = everything["name"].to_list()
    for names in expected.values():
        assert [[*corpus] for corpus in found] == [[[name] for name in names]] * 2


@pytest.mark.parametrize("ids", ["n", "doc", "text", "category"])
def test_ids_are_returned_beside_the_corpus(tmp_path, table, ids):
    table = table.append_column("category", pa.array(GROUPS).dictionary_encode())
    folder = written(tmp_path / "files", table, [1, 2, 5], row_group_size=2)
    for groups in (None, "doc"):
        for to in (None, tmp_path / "to"):
            found, keys = SentenceCorpus.from_parquet(folder, column="text", groups=groups, return_ids=ids, to=to)
            assert same_bits(found, SentenceCorpus.from_parquet(folder, column="text", groups=groups))
            assert keys.tolist() == table[ids].to_pylist()
    pq.write_table(table.set_column(2, "n", pa.array([*range(7), None])), tmp_path / "g.parquet")
    message = "g.parquet, row group 0, row 7: the column 'n' is null there. Write the file with an id in each row"
    refused(tmp_path / "g.parquet", message, return_ids="n")
    refused(folder, "has no column 'key'. Its columns are text, doc", return_ids="key")
    refused(folder, "column, groups and return_ids are names of columns", TypeError, return_ids=3)


def test_folders_of_partitions_and_files_of_other_programs(tmp_path, table):
    written(tmp_path / "year=2023" / "deep", table.slice(0, 3), [])
    written(tmp_path / "year=2024", table.slice(3), [])
    written(tmp_path / "_temporary", table, [])
    written(tmp_path, table, [], name=".part.{}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    for path in (tmp_path, tmp_path.as_uri()):
        assert same_bits(SentenceCorpus.from_parquet(path, column="text"), SentenceCorpus.from_sentences(TEXT))
        refused(path, "no column 'year'. It is part of the name of a folder, year=2023. Read .* Dask", groups="year")
        refused(path, "no column 'yea'. Its columns are text, doc, n", groups="yea")


def test_patterns_of_folders(tmp_path, table):
    """A folder that matches is read as its path is; what several patterns match, once."""
    written(tmp_path / "year=2023", table.slice(0, 3), [1])
    written(tmp_path / "year=2024" / "text.parquet", table.slice(3), [])  # Spark names a folder so
    written(tmp_path / "_temporary" / "deep", table, [])
    (tmp_path / "year=2024" / "_SUCCESS").write_text("")
    expected = SentenceCorpus.from_sentences(TEXT)
    for pattern in ("year=*", "*", "year=*/**/*.parquet", ""):
        for path in (tmp_path / pattern, f"{tmp_path.as_uri()}/{pattern}"):
            assert same_bits(SentenceCorpus.from_parquet(path, column="text"), expected), path
    refused(tmp_path / "_temp*", r"The folders that match .*_temp\* have no file \*\.parquet")


def test_a_file_system_of_fsspec(table):
    import fsspec

    memory = fsspec.filesystem("memory")
    with memory.open("/texts/a.parquet", "wb") as file:
        pq.write_table(table, file)
    try:
        for url in ("memory://texts/a.parquet", "memory://texts", "memory://texts/*.parquet"):
            found = SentenceCorpus.from_parquet(url, column="text", groups="doc")
            assert same_bits(found, SentenceCorpus.from_sentences(TEXT, GROUPS))
        with pytest.raises(
            ValueError, match=r"^memory://.*/a.parquet has no column 'txt'. Its columns are text, doc, n\."
        ):
            SentenceCorpus.from_parquet("memory://texts", column="txt")
        with pytest.raises(FileNotFoundError, match="There is no Parquet file at memory://texts/z"):
            SentenceCorpus.from_parquet("memory://texts/z*", column="txt")
    finally:
        memory.rm("/texts", recursive=True)


def test_no_hidden_file_at_the_root_of_a_file_system(table):
    import fsspec

    memory, names = fsspec.filesystem("memory"), ("/.hidden.parquet", "/shown.parquet")
    try:
        for name in names:
            with memory.open(name, "wb") as file:
                pq.write_table(table, file)
        assert same_bits(
            SentenceCorpus.from_parquet("memory://*.parquet", column="text"), SentenceCorpus.from_sentences(TEXT)
        )
    finally:
        for name in names:
            memory.rm(name)


# -- errors ------------------------------------------------------------------------------------------------------------


def refused(path, message, error=ValueError, **options):
    with pytest.raises(error, match=message):
        SentenceCorpus.from_parquet(path, **{"column": "text", **options})


def test_columns_are_checked_before_a_file_is_read(tmp_path, table):
    folder = written(tmp_path, table, [4])
    refused(folder, r"part.0.parquet has no column 'txt'. Its columns are text, doc, n\.$", column="txt")
    refused(folder, r"part.0.parquet: the column 'n' is of type int64, not of strings. .* are text, doc\.", column="n")
    refused(folder, "part.0.parquet has no column 'author'", groups="author")
    twice = pa.table([table["text"], table["text"], table["n"]], names=["text", "text", "n"])
    pq.write_table(twice, folder / "twice.parquet")
    refused(folder, "twice.parquet has 2 columns named 'text'. Write the file with a name for each")
    refused(folder / "twice.parquet", "twice.parquet has 2 columns named 'text'", column="n", groups="text")
    (folder / "twice.parquet").unlink()
    refused(folder, r"names of columns, strings; got \['text'\]", TypeError, column=["text"])
    pq.write_table(table.drop_columns(["doc"]), folder / "part.2.parquet")
    refused(folder, "part.2.parquet has no column 'doc'", groups="doc")
    pq.write_table(table.select(["n"]), folder / "part.0.parquet")
    refused(folder / "part.0.parquet", "It has no column of strings", column="n")


def test_paths(tmp_path):
    refused(tmp_path, r"The folder .* has no file \*.parquet")
    refused(tmp_path / "none.parquet", "There is no file or folder .*none.parquet", FileNotFoundError)
    refused(tmp_path / "a*", r"No file matches .*a\*", FileNotFoundError)
    refused([], "path is an empty list")
    refused(3, "path must be a path or a list of paths, got 3", TypeError)
    with (tmp_path / "open").open("wb") as file:
        refused(file, "path must be a path or a list of paths, got .*Buffered", TypeError)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.parquet")
        refused(tmp_path, "pipe.parquet is a pipe, not a regular file")


def test_rows_that_are_null(tmp_path, table):
    text = [*TEXT[:5], None, *TEXT[6:]]
    folder = written(tmp_path, table.set_column(0, "text", pa.array(text)), [3], row_group_size=2)
    message = "part.1.parquet, row group 1, row 2: the column 'text' is null there. Set missing=.empty. "
    refused(folder, message, to=tmp_path / "to")
    assert not (tmp_path / "to").exists()
    refused(folder, r"analyzer must return", TypeError, analyzer=as_is)
    expected = SentenceCorpus.from_sentences([sentence or "" for sentence in text])
    assert SentenceCorpus.from_parquet(folder, column="text", missing="empty") == expected
    for ids in ([*GROUPS[:7], None], [*range(7), None]):
        pq.write_table(table.set_column(1, "doc", pa.array(ids)), tmp_path / "g.parquet")
        message = "g.parquet, row group 0, row 7: the column 'doc' is null there. .* with a document id in"
        refused(tmp_path / "g.parquet", message, groups="doc")


def test_rows_that_are_not_utf8(tmp_path):
    offsets = np.array([0, 3, 5, 7], np.int32)
    bad = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"abc\xff\xfeok")])
    pq.write_table(pa.table({"text": pa.concat_arrays([pa.array(["a"] * 4), bad])}), tmp_path / "b", row_group_size=3)
    refused(tmp_path / "b", "b, row group 1, row 5: the column 'text' is not UTF-8 there: .* byte 0xff in position 0")


def test_damaged_files(tmp_path, table):
    (tmp_path / "text.parquet").write_text("The cat sat.\n")
    refused(tmp_path / "text.parquet", "text.parquet cannot be read, it is damaged or not Parquet: .*magic bytes")
    long = pa.table({"text": [f"sentence {i}" for i in range(3000)]})
    pq.write_table(long, tmp_path / "long.parquet", row_group_size=1000)
    start = pq.ParquetFile(tmp_path / "long.parquet").metadata.row_group(1).column(0).data_page_offset
    data = bytearray((tmp_path / "long.parquet").read_bytes())
    data[start : start + 300] = bytes(byte ^ 0x5A for byte in data[start : start + 300])
    (tmp_path / "long.parquet").write_bytes(data)
    refused(tmp_path / "long.parquet", "long.parquet, row group 1 cannot be read, it is damaged or not Parquet: ")
    (tmp_path / "cut.parquet").write_bytes(data[:2000])
    refused([tmp_path / "long.parquet", tmp_path / "cut.parquet"], "cut.parquet cannot be read")


def test_no_rows(tmp_path, table):
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    refused(tmp_path / "empty.parquet", "The corpus has no sentences")


def test_libraries_that_are_missing(tmp_path, table, monkeypatch):
    written(tmp_path, table, [])
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    refused("memory://x", r"pip install skembed\[parquet\]", ImportError)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    refused(tmp_path, r"pip install skembed\[parquet\]", ImportError)
