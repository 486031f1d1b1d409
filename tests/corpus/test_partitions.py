"""Corpora from Dask series and bags: the same bits for any partitions and whatever runs the tasks."""

import os
import time
from types import SimpleNamespace

import dask
import dask.array
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client
from estimators import as_is

import skembed._corpus.partitions as partitions_module
from benchmarks.forged_folders import read_arrays
from skembed import SentenceCorpus

WORDS = ["cat", "Dog", "über", "a_b", *(f"w{i}" for i in range(30))]


def text_and_groups(n):
    rng = np.random.default_rng(0)
    text = [" ".join(rng.choice(WORDS, rng.integers(0, 7))) for _ in range(n - 1)] + ["..."]
    return text, np.sort(rng.integers(0, n // 3, n)).tolist()


TEXT, GROUPS = text_and_groups(60)
BORDERS = {
    "one": [],
    "two": [31],
    "three": [7, 44],
    "seven": [5, 11, 24, 36, 40, 59],
    "each sentence": list(range(1, 60)),
    "empty ones": [0, 0, 9, 9, 9, 59, 60],
}


@pytest.fixture(autouse=True)
def one_thread():
    """Tasks run in this process, unless a test has a client."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "corpus"


def pieces(values, borders):
    return [values[first:last] for first, last in zip([0, *borders], [*borders, len(values)])]


def as_bag(values, borders):
    return dask.bag.from_delayed([dask.delayed(piece) for piece in pieces(values, borders)])


def as_table(columns, borders):
    whole = pd.DataFrame(columns)
    return dd.from_delayed([dask.delayed(piece) for piece in pieces(whole, borders)], meta=whole.iloc[:0])


def same_bits(a, b):
    return a == b and all(
        x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(a._content.arrays(), b._content.arrays())
    )


@pytest.mark.parametrize("borders", BORDERS.values(), ids=BORDERS)
def test_same_bits_for_any_partitions(folder, borders):
    options = {"min_count": 2, "max_features": 20}
    expected = SentenceCorpus.from_sentences(TEXT, GROUPS, **options)
    table = as_table({"text": TEXT, "doc": GROUPS}, borders)
    found = SentenceCorpus.from_dask(table["text"], table["doc"], to=folder, **options)
    assert same_bits(found, expected) and found.path == str(folder)
    bags = as_bag(TEXT, borders), as_bag(GROUPS, borders)
    assert same_bits(SentenceCorpus.from_dask(*bags, to=folder, **options), expected)
    assert same_bits(SentenceCorpus.from_dask(bags[0], to=folder), SentenceCorpus.from_sentences(TEXT))
    assert [entry.name for entry in folder.parent.iterdir()] == ["corpus"]


def test_same_folder_as_from_file(folder, tmp_path):
    lines = [text if group == before else "\n" + text for text, group, before in zip(TEXT, GROUPS, [0, *GROUPS])]
    (tmp_path / "text.txt").write_text("\n".join(line or " " for line in lines), encoding="utf-8")
    expected = SentenceCorpus.from_file(tmp_path / "text.txt", to=tmp_path / "expected")
    documents = np.repeat(range(expected.n_documents), np.diff(expected.doc_ptr))
    table = as_table({"text": [" ".join(words) for words in expected], "doc": documents}, [7, 20])
    SentenceCorpus.from_dask(table["text"], table["doc"], to=folder)
    one, other = read_arrays(folder), read_arrays(tmp_path / "expected")
    assert {name: array.tobytes() for name, array in one.items()} == {k: v.tobytes() for k, v in other.items()}
    assert len(list(folder.iterdir())) == len(list((tmp_path / "expected").iterdir()))


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame")  # pandas about a call in Dask
def test_partitions_that_dask_merges(folder, tmp_path):
    """Of one column it merges small partitions of Parquet files, by the bytes of that column."""
    wide = {f"x{i}": np.arange(60.0) for i in range(30)}
    (tmp_path / "files").mkdir()
    for i, piece in enumerate(pieces(pa.table({"text": TEXT, "doc": GROUPS, **wide}), range(6, 60, 6))):
        pq.write_table(piece, tmp_path / "files" / f"part.{i}.parquet")
    table = dd.read_parquet(tmp_path / "files")
    assert len(table["text"].to_delayed()) < table["text"].npartitions
    found = SentenceCorpus.from_dask(table["text"], table["doc"].astype("string"), to=folder)
    assert same_bits(found, SentenceCorpus.from_sentences(TEXT, GROUPS))
    lower = table["text"].str.lower()
    assert same_bits(SentenceCorpus.from_dask(lower, to=folder), SentenceCorpus.from_sentences(TEXT))
    assert same_bits(
        SentenceCorpus.from_parquet(tmp_path / "files", column="text"), SentenceCorpus.from_sentences(TEXT)
    )


def read_parquet_of(folder, name, values, borders):
    """A table of Dask from files, of which Dask does not know the divisions."""
    (folder / name).mkdir()
    for i, piece in enumerate(pieces(pa.table({name: values}), borders)):
        pq.write_table(piece, folder / name / f"part.{i}.parquet")
    return dd.read_parquet(folder / name)[name]


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame")  # pandas about a call in Dask
def test_groups_of_another_table(tmp_path):
    """Never shuffled: row by row in partitions of the same sizes, otherwise an error."""
    text = read_parquet_of(tmp_path, "text", TEXT, [15])
    same, other, more = (
        read_parquet_of(tmp_path, *given)
        for given in (("same", GROUPS, [15]), ("other", GROUPS, [20]), ("more", GROUPS, [20, 30]))
    )
    (tmp_path / "to").mkdir()
    folder = tmp_path / "to" / "corpus"
    message = "from two tables, which Dask reads in 2 and 3 partitions.* first, and pass two of its columns: table"
    refused(text, more, message, ValueError, folder)
    refused(text, other, r"^Partition [01] \(.*: groups has (20|40) entries for (15|45) sent", ValueError, folder)
    refused(text.repartition(npartitions=1), same, "which Dask reads in 1 and 2 partitions", ValueError, folder)
    expected = SentenceCorpus.from_sentences(TEXT, GROUPS)
    assert same_bits(SentenceCorpus.from_dask(text.str.lower(), same, to=folder), expected)


def test_groups_with_another_known_index(folder):
    text = dd.from_pandas(pd.Series(TEXT), npartitions=3)
    same, other = (dd.from_pandas(pd.Series(GROUPS), npartitions=n) for n in (3, 4))
    refused(text, other, "divided at other values.*first", ValueError, folder)
    assert same_bits(SentenceCorpus.from_dask(text, same, to=folder), SentenceCorpus.from_sentences(TEXT, GROUPS))


def test_a_filter_that_leaves_a_partition_empty(folder):
    """To a table without rows, pandas would add one for each id."""
    kept = [number > 3 for number in range(60)]
    expected = SentenceCorpus.from_sentences(TEXT[4:], GROUPS[4:])
    whole = pd.DataFrame({"text": TEXT, "doc": GROUPS, "kept": kept})
    table = as_table(whole, [4, 20])
    assert same_bits(SentenceCorpus.from_dask(table["text"][table["kept"]], table["doc"], to=folder), expected)
    table, ids = dd.from_pandas(whole, npartitions=30), dd.from_pandas(whole["doc"], npartitions=30)
    assert same_bits(SentenceCorpus.from_dask(table["text"][table["kept"]], ids, to=folder), expected)


@pytest.mark.parametrize("change", ["clear_divisions", "reset_index"])
def test_divisions_that_are_known_of_one_column(folder, change):
    table = dd.from_pandas(pd.DataFrame({"text": TEXT, "doc": GROUPS}), npartitions=3)
    changed = table.clear_divisions() if change == "clear_divisions" else table.reset_index(drop=True)
    expected = SentenceCorpus.from_sentences(TEXT, GROUPS)
    assert same_bits(SentenceCorpus.from_dask(changed["text"], table["doc"], to=folder), expected)
    assert same_bits(SentenceCorpus.from_dask(table["text"], changed["doc"], to=folder), expected)


def test_a_version_of_dask_that_does_not_say_what_one_table_is(folder, monkeypatch):
    monkeypatch.delattr("dask.dataframe.dask_expr._expr.are_co_aligned")
    table = as_table({"text": TEXT, "doc": GROUPS}, [7, 44])
    found = SentenceCorpus.from_dask(table["text"], table["doc"], to=folder)
    assert same_bits(found, SentenceCorpus.from_sentences(TEXT, GROUPS))


def odd_words(text):
    return [text, "", "a\nb", "\x7f", "\ud800", *text.split()]


def test_any_word_and_any_tokenizer(folder):
    for options in ({"analyzer": odd_words}, {"stemmer": "english", "stop_words": "english"}, {"lowercase": False}):
        found = SentenceCorpus.from_dask(as_bag(TEXT, [9, 30]), to=folder, **options)
        assert same_bits(found, SentenceCorpus.from_sentences(TEXT, **options)), options


def test_many_vocabularies_and_words(folder, monkeypatch):
    """More than one level of the tree, and a vocabulary that is searched in several steps."""
    monkeypatch.setattr(partitions_module, "STEP", 5)
    monkeypatch.setattr(partitions_module, "_ARITY", 2)
    found = SentenceCorpus.from_dask(as_bag(TEXT, range(2, 60, 2)), to=folder, min_count=3)
    assert same_bits(found, SentenceCorpus.from_sentences(TEXT, min_count=3))


def test_documents_at_borders(folder):
    """A document goes on in the next partition that has sentences; equal ids after another one are a new document."""
    text, groups = ["a"] * 8, ["x", "x", "x", "y", "x", "x", "z", "z"]
    for borders in ([2], [3], [4], [1, 2], [2, 2, 5, 5], [3, 4], range(1, 8)):
        found = SentenceCorpus.from_dask(as_bag(text, borders), as_bag(groups, borders), to=folder)
        assert found.doc_ptr.tolist() == [0, 3, 4, 6, 8], borders


def test_the_corpus_is_as_any_other(folder):
    corpus = SentenceCorpus.from_dask(as_bag(TEXT, [20]), as_bag(GROUPS, [20]), to=folder)
    assert isinstance(corpus.tokens.base, np.memmap)
    assert same_bits(corpus[10:30], SentenceCorpus.from_sentences(TEXT, GROUPS)[10:30])
    assert same_bits(SentenceCorpus.load(folder), corpus)
    assert SentenceCorpus.from_dask(as_bag(TEXT, [3]), to=folder).n_documents == 1  # replaced


# -- errors ------------------------------------------------------------------------------------------------------------


def refused(sentences, groups, message, error, folder, **options):
    with pytest.raises(error, match=message):
        SentenceCorpus.from_dask(sentences, groups, to=folder, **options)
    assert [*folder.parent.iterdir()] == []


def test_rows_that_are_no_strings(folder):
    wrong = [*TEXT[:25], 3, *TEXT[26:]]
    message = r"^Partition 1: Row 5 is 3 of type int, not a string"
    refused(as_bag(wrong, [20, 40]), None, message, TypeError, folder)
    missing = as_table({"text": pd.Series([*TEXT[:25], None, *TEXT[26:]], dtype=object)}, [20, 40])["text"]
    message = r'^Partition 1 \(index 20 to 39\): Row 5 is missing .* first: X.fillna\(""\)'
    refused(missing, None, message, TypeError, folder)
    refused(as_bag(TEXT, [20]), None, r"^Partition \d: Row 0: analyzer must", TypeError, folder, analyzer=as_is)
    expected = SentenceCorpus.from_sentences([*TEXT[:25], "", *TEXT[26:]])
    assert SentenceCorpus.from_dask(missing, to=folder, missing="empty") == expected


def test_rows_that_are_not_utf8(folder):
    offsets = np.array([0, 1, 3, 5], np.int32)
    bad = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"a\xff\xfeok")])
    good = pa.array(["a", "b"])
    columns = [pd.Series(pd.array(array, dtype=pd.ArrowDtype(pa.string()))) for array in (good, bad)]
    series = dd.from_delayed([dask.delayed(column) for column in columns], meta=columns[0].iloc[:0])
    refused(series, None, r"^Partition 1 \(index 0 to 2\): Row 1 is not UTF-8: ", ValueError, folder)


def test_groups_that_do_not_fit(folder):
    bag = as_bag(TEXT, [20])
    refused(bag, as_bag(GROUPS, [20, 30]), "bag of 2 partitions, groups must be a bag of as many", ValueError, folder)
    refused(bag, GROUPS, "groups must be a bag", ValueError, folder)
    refused(bag, as_bag(GROUPS, [19]), "^Partition [01]: groups has (19|41) entries for (20|40) s", ValueError, folder)
    missing = [*GROUPS[:30], None, *GROUPS[31:]]
    refused(bag, as_bag(missing, [20]), "^Partition 1: groups has no document id at row 10", ValueError, folder)
    table = as_table({"text": TEXT, "doc": pd.array(missing, dtype="Int64")}, [20])
    refused(table["text"], table["doc"], "^Partition 1 .*: groups has no document id at row 10", ValueError, folder)
    series = as_table({"text": TEXT}, [20])["text"]
    refused(series, GROUPS, "groups must be a series or bag of Dask", TypeError, folder)


def test_what_is_no_collection_of_dask(folder):
    table = as_table({"text": TEXT}, [20])
    for wrong in (TEXT, table, table["text"].compute(), dask.array.ones(3), dask.delayed(TEXT)):
        refused(wrong, None, r'sentences must be a series or bag of Dask, such as table\["text"\]', TypeError, folder)


def test_no_words(folder):
    refused(as_bag([], [0]), None, "The corpus has no sentences", ValueError, folder)
    refused(as_bag(["", "..."], [1]), None, "The text has no words", ValueError, folder)
    refused(as_bag(["a", "b"], [1]), None, "occurs 1 times, below min_count=2", ValueError, folder, min_count=2)


def test_a_folder_that_workers_do_not_see(folder, monkeypatch):
    encode = partitions_module._encode_partition
    monkeypatch.setattr(
        partitions_module, "_encode_partition", lambda *args: encode(*args[:-1], f"{args[-1]}/elsewhere")
    )
    message = "The corpus cannot be saved to .*corpus: a worker does not find it. Choose a folder that this process and"
    refused(as_bag(TEXT, [20]), None, message, OSError, folder)


def test_a_file_that_cannot_be_written(folder):
    resource = pytest.importorskip("resource", reason="of Unix alone")
    text = ["word " * 1000] * 20
    known = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, known[1]))  # of bytes of a file, as if the disk were full
    try:
        refused(as_bag(text, [20]), None, "The corpus cannot be saved to .*corpus: File too large", OSError, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, known)


def test_a_client_that_is_none(folder):
    with pytest.raises(TypeError, match=r"client must be None or a client .* Got 'tcp://.* Pass Client\('tcp://"):
        SentenceCorpus.from_dask(as_bag(TEXT, [20]), to=folder, client="tcp://127.0.0.1:8786")
    closed = SimpleNamespace(get=None, status="closed")
    with pytest.raises(ValueError, match="client is a client that is closed. Connect a new one"):
        SentenceCorpus.from_dask(as_bag(TEXT, [20]), to=folder, client=closed)


def test_libraries_that_are_missing(folder, monkeypatch):
    bag = as_bag(TEXT, [20])
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    refused(bag, None, r"pip install skembed\[dask\]", ImportError, folder)


# -- a cluster ---------------------------------------------------------------------------------------------------------


@pytest.mark.cluster
def test_a_killed_worker_costs_no_bit(folder, tmp_path, cluster, client):
    cluster.scale(2)
    client.wait_for_workers(2)
    flag = str(tmp_path / "killed")

    def words_of(text):
        if "w7" in text and not os.path.exists(flag):
            open(flag, "w").close()
            os._exit(1)
        return text.split()

    options = {"groups": as_bag(GROUPS, BORDERS["three"]), "to": folder, "client": client}
    found = SentenceCorpus.from_dask(as_bag(TEXT, BORDERS["three"]), analyzer=words_of, **options)
    assert os.path.exists(flag)
    assert same_bits(found, SentenceCorpus.from_sentences(TEXT, GROUPS, analyzer=words_of))
    assert not [*folder.parent.glob(".corpus*")]


@pytest.mark.cluster
def test_same_bits_for_any_number_of_workers(folder, cluster, client):
    expected = SentenceCorpus.from_sentences(TEXT, GROUPS)
    table = as_table({"text": TEXT, "doc": GROUPS}, BORDERS["seven"])
    for n_workers in (2, 1):
        cluster.scale(n_workers)
        while len(client.nthreads()) != n_workers:
            time.sleep(0.01)
        found = SentenceCorpus.from_dask(table["text"], table["doc"], to=folder, client=client)
        assert same_bits(found, expected)
    with Client(n_workers=7, threads_per_worker=1, processes=False, dashboard_address=":0"):
        assert same_bits(SentenceCorpus.from_dask(table["text"], table["doc"], to=folder), expected)


@pytest.mark.cluster
def test_errors_of_a_worker(folder, cluster, client):
    refused(as_bag([*TEXT[:25], 3], [20]), None, "^Partition 1: Row 5 is 3 of", TypeError, folder, client=client)
