"""Vectors for columns of Dask tables and Arrow batches: the bits of `transform`, a model that is loaded once."""

import pickle
import shutil
import sys

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn import config_context

import skembed.arrow
import skembed.dask
from skembed import BOWPCA, CBOSVectorizer
from skembed._saving import shared

TEXT = ["The cat sleeps.", "It dreams of milk.", "The bank opens.", "It lends money.", ""] * 8


@pytest.fixture(scope="module")
def model():
    return CBOSVectorizer(n_components=6, random_state=0, max_iter=1).fit(TEXT)


@pytest.fixture
def folder(model, tmp_path):
    skembed.save(model, tmp_path / "model", inference_only=True)
    return tmp_path / "model"


@pytest.fixture(autouse=True)
def one_thread():
    """Tasks run in this process, unless a test has a client."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def loads(monkeypatch):
    """The models that this process loads."""
    found, load = [], shared.load_with_digest
    monkeypatch.setattr(shared, "load_with_digest", lambda path, **options: found.append(path) or load(path, **options))
    monkeypatch.setattr(shared, "_LOADED", {})
    return found


def series_of(text, borders):
    whole = pd.Series(text, index=range(100, 100 + len(text)), dtype=object, name="text")
    pieces = [whole[first:last] for first, last in zip([0, *borders], [*borders, len(whole)])]
    return dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=whole.iloc[:0])


@pytest.mark.parametrize("borders", [[], [3, 20], [0, 1, 2, 2, 40]], ids=str)
def test_same_bits_for_any_partitions(model, folder, loads, borders):
    for given in (model, folder, str(folder)):
        vectors = skembed.dask.transform(given, series_of(TEXT, borders))
        assert vectors.npartitions == len(borders) + 1
        found = vectors.compute()
        assert list(found.columns) == list(model.get_feature_names_out()) and list(found.index) == list(
            range(100, 100 + len(TEXT))
        )
        assert set(found.dtypes) == {np.dtype("float32")} == set(vectors.dtypes)
        assert found.to_numpy().tobytes() == model.transform(TEXT).tobytes()
    assert len(loads) == 2  # one folder for the estimator, and the other


def test_dask_never_calls_the_function_with_rows_of_its_own(folder, monkeypatch):
    rows = []
    vectors_of = skembed.dask._vectors
    monkeypatch.setattr(skembed.dask, "_vectors", lambda text, *args: rows.extend(text) or vectors_of(text, *args))
    vectors = skembed.dask.transform(folder, series_of(TEXT, [7]))
    assert rows == []
    vectors.compute()
    assert sorted(rows) == sorted(TEXT)


def test_the_task_is_small(model, folder):
    assert len(pickle.dumps(shared.SavedModel.of(folder))) < 1000
    assert shared.SavedModel.of(model, folder).path == str(folder)


def test_a_process_keeps_few_models(model, tmp_path, loads):
    saved = [shared.SavedModel.of(model, tmp_path / str(i)) for i in range(6)]
    for one in [*saved, *saved[2:], saved[0]]:
        assert one.load().n_jobs == 1
    assert loads == [one.path for one in [*saved, saved[0]]]


def test_another_model_at_the_path(folder, loads):
    vectors = skembed.dask.transform(folder, series_of(TEXT, [7]))
    shared._LOADED.clear()  # as in a worker
    skembed.save(CBOSVectorizer(n_components=6, random_state=1).fit(TEXT), folder, inference_only=True)
    with pytest.raises(ValueError, match="Another model was saved to .*model meanwhile"):
        vectors.compute()
    folder.rename(folder.with_name("moved"))
    with pytest.raises(FileNotFoundError, match="A process finds no model at .*model. Save it to a folder that"):
        vectors.compute()
    with pytest.raises(FileNotFoundError, match="There is no saved model at"):
        skembed.dask.transform(folder, series_of(TEXT, [7]))


def test_a_special_pattern(tmp_path):
    pattern = r"[a-z]+"
    model = CBOSVectorizer(n_components=4, token_pattern=pattern).fit(TEXT)
    for given, options in ((model, {"folder": tmp_path / "m"}), (tmp_path / "m", {"token_pattern": pattern})):
        found = skembed.dask.transform(given, series_of(TEXT, []), **options).compute()
        assert np.array_equal(found, model.transform(TEXT))
    with pytest.raises(ValueError, match="token_pattern"):
        skembed.dask.transform(tmp_path / "m", series_of(TEXT, []))


def test_what_is_refused(model, folder, tmp_path):
    for wrong in (TEXT, series_of(TEXT, []).to_frame(), pd.Series(TEXT)):
        with pytest.raises(TypeError, match=r'must be a series of Dask, such as table\["text"\], got'):
            skembed.dask.transform(model, wrong)
    with pytest.raises(TypeError, match="model must be an estimator of skembed, or the path"):
        skembed.dask.transform(dict, series_of(TEXT, []))
    counts = BOWPCA(None).fit(TEXT)
    with pytest.raises(ValueError, match="BOWPCA.* has sparse rows"):
        skembed.dask.transform(counts, series_of(TEXT, []), folder=tmp_path / "h")
    with pytest.raises(ValueError, match="BOWPCA.* has sparse rows"):
        skembed.arrow.embedder(tmp_path / "h", column="text")
    with pytest.raises(TypeError, match=r"path of a folder .*, got CBOSVectorizer. Save .* skembed\.save"):
        skembed.arrow.embedder(model, column="text")
    with pytest.raises(ValueError, match="column and name are both 'text'"):
        skembed.arrow.embedder(folder, column="text", name="text")
    wrong = series_of([*TEXT[:9], None, *TEXT[9:]], [7])
    message = "In the partition with the index 107 to 140: Row 2 is missing"
    with pytest.raises(TypeError, match=message):
        skembed.dask.transform(folder, wrong).compute()


def test_without_dask_the_error_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.base", None)
    with pytest.raises(ImportError, match=r"pip install skembed\[dask\]"):
        skembed.dask.transform(model, TEXT)


def test_arrow_batches(model, folder, loads):
    table = pa.table({"n": range(len(TEXT)), "text": TEXT})
    batches = [*table.to_batches(max_chunksize=7), table.slice(0, 0).combine_chunks().to_batches()]
    batches[-1:] = [table.to_batches()[0].slice(0, 0)]
    embed = pickle.loads(pickle.dumps(skembed.arrow.embedder(folder, column="text", name="v")))
    found = pa.Table.from_batches(embed(batches))
    assert found.schema.names == ["n", "text", "v"] and found.schema.field("v").type == pa.list_(pa.float32())
    assert np.array_equal(np.array(found["v"].to_pylist(), np.float32), model.transform(TEXT))
    assert found.drop_columns(["v"]) == table and len(loads) == 1
    with pytest.raises(ValueError, match="There is no column 'x'. The columns are n, text"):
        list(skembed.arrow.embedder(folder, column="x")(batches))
    with pytest.raises(ValueError, match="There is a column 'n' already. Pass another name"):
        list(skembed.arrow.embedder(folder, column="text", name="n")(batches))
    twice = pa.RecordBatch.from_arrays([pa.array(["a"])] * 2, ["text", "text"])
    with pytest.raises(ValueError, match="There are several columns 'text'"):
        list(embed([twice]))
    wrong = pa.RecordBatch.from_pydict({"text": ["a", None]})
    with pytest.raises(TypeError, match="In the batch that begins at row 2: Row 1 is missing"):
        list(skembed.arrow.embedder(folder, column="text")([wrong.slice(0, 1), wrong.slice(0, 1), wrong]))


def test_arrow_batches_keep_their_schema(folder):
    schema = pa.schema([pa.field("text", pa.string(), nullable=False, metadata={"a": "b"})], metadata={"c": "d"})
    (found,) = skembed.arrow.embedder(folder, column="text")(
        [pa.RecordBatch.from_arrays([pa.array(TEXT)], schema=schema)]
    )
    assert found.schema.metadata == schema.metadata and found.schema.field("text").equals(schema.field("text"), True)


def test_what_is_no_record_batch(folder, monkeypatch):
    table = pa.table({"text": TEXT})
    embed = skembed.arrow.embedder(folder, column="text")
    for wrong in (table, [table], table.to_batches()[0]):
        with pytest.raises(TypeError, match=r"^Pass record batches, of a table table.to_batches\(\); got "):
            list(embed(wrong))
    for names in ({"column": 0}, {"column": "text", "name": None}):
        with pytest.raises(TypeError, match="must be the name of a column, a string; got (0|None)"):
            skembed.arrow.embedder(folder, **names)
    monkeypatch.setattr(skembed.arrow, "INT32_MAX", 6 * len(TEXT) - 1)
    with pytest.raises(ValueError, match=f"A batch of {len(TEXT)} rows is too long.* at most {len(TEXT) - 1} rows"):
        list(embed(table.to_batches()))


def test_another_container_set_in_scikit_learn(model, folder):
    batch = pa.RecordBatch.from_pydict({"text": TEXT})
    with config_context(transform_output="pandas"):
        found = skembed.dask.transform(folder, series_of(TEXT, [7])).compute()
        (embedded,) = skembed.arrow.embedder(folder, column="text", name="v")([batch])
    assert np.array_equal(found, model.transform(TEXT))
    assert np.array_equal(np.array(embedded["v"].to_pylist(), np.float32), found)


def test_bytes_that_are_no_text(folder):
    offsets = np.array([0, 1, 3, 5], np.int32)
    bad = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"a\xff\xfeok")])
    series = pd.Series(pd.array(bad, dtype=pd.ArrowDtype(pa.string())), index=[7, 8, 9])
    lazy = dd.from_delayed([dask.delayed(series)], meta=series.iloc[:0])
    with pytest.raises(ValueError, match="In the partition with the index 7 to 9: Row 1 is not UTF-8: "):
        skembed.dask.transform(folder, lazy).compute()
    batches = [pa.RecordBatch.from_arrays([array], ["text"]) for array in (pa.array(["a", "b"]), bad)]
    with pytest.raises(ValueError, match="In the batch that begins at row 2: Row 1 is not UTF-8: "):
        list(skembed.arrow.embedder(folder, column="text")(batches))


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark(model, folder, monkeypatch):
    """The recipe of the documentation, in the processes of a local session."""
    sql = pytest.importorskip("pyspark.sql")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java.")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        table = session.createDataFrame(list(enumerate(TEXT)), "id long, text string").repartition(3)
        embed = skembed.arrow.embedder(folder, column="text")
        vectors = table.mapInArrow(embed, schema="id long, text string, vector array<float>")
        rows = sorted(vectors.collect())
        assert [row["text"] for row in rows] == TEXT
        assert np.array_equal(np.array([row["vector"] for row in rows], np.float32), model.transform(TEXT))
        missing = session.createDataFrame([(0, None)], "id long, text string")
        with pytest.raises(Exception, match="In the batch that begins at row 0: Row 0 is missing"):
            missing.mapInArrow(embed, schema="id long, text string, vector array<float>").collect()
    finally:
        session.stop()


@pytest.mark.cluster
def test_workers_load_the_model_once(model, folder, cluster, client):
    cluster.scale(2)
    client.wait_for_workers(2)
    vectors = skembed.dask.transform(folder, series_of(TEXT, range(5, 40, 5)))
    found = client.compute(vectors, sync=True)
    assert found.to_numpy().tobytes() == model.transform(TEXT).tobytes()
    assert max(client.run(lambda: len(shared._LOADED)).values()) == 1
