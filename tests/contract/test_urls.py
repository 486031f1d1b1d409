"""No door takes a URL for a path: what is written would lie in a folder named after it, and be lost with the machine.

The doors are found: parameters of public functions, methods and classes whose annotation or docstring says that they
may be a path.
"""

import importlib
import inspect
import re
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from estimators import GIVEN, GROUPS, TEXT, fitted, make, rows_of_lengths

import skembed
from benchmarks.papers.__main__ import main
from skembed import SentenceCorpus
from skembed._validation.values import user_path

URLS = [
    "s3://bucket/model",
    Path("s3://bucket/model"),  # which pathlib writes with one slash
    "https://example.org/model",
    "dbfs:/mnt/model",
    "simplecache::s3://bucket/model",
    "FILE:///home/model",
]
MODULES = ["skembed", *(f"skembed.{name}" for name in skembed._SUBMODULES)]


def _documented(owner):
    """Names of the parameters that a docstring calls a path."""
    text = (inspect.getdoc(owner) or "").partition("\nParameters\n")[2].partition("\nReturns\n")[0]
    entries = re.findall(r"^([\w, ]+) : (.*)", text, re.MULTILINE)
    each = ((names.split(", "), kind.split("; ")) for names, kind in entries)  # "a, b : path-like; int"
    named = ((name, kinds[min(i, len(kinds) - 1)]) for names, kinds in each for i, name in enumerate(names))
    return {name for name, kind in named if re.search(r"\bpath", kind)}


def _doors_of(owner, function):
    annotated = {
        name for name, parameter in inspect.signature(function).parameters.items() if "PathLike" in str(parameter)
    }
    return (annotated | _documented(owner)) & set(inspect.signature(function).parameters)


def _doors():
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            functions = {name: (value, value)} if callable(value) else {}
            if inspect.isclass(value):
                methods = inspect.getmembers(
                    value, lambda member: inspect.isfunction(member) or inspect.ismethod(member)
                )
                functions |= {f"{name}.{key}": (method, method) for key, method in methods if key[0] != "_"}
            for full_name, (owner, function) in functions.items():
                yield from ((full_name, door) for door in sorted(_doors_of(owner, function)))


OPENS_URLS = {("SentenceCorpus.from_parquet", "path")}
DOORS = sorted(set(_doors()) - OPENS_URLS)


def _dask_series():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    return dd.from_pandas(pd.Series(TEXT), npartitions=2)


@cache
def _saved_with_model(cls):
    """A folder of an estimator that was fitted with a pretrained model."""
    folder = f"{tempfile.mkdtemp()}/model"
    fitted_with = cls(pretrained=rows_of_lengths, random_state=0).fit(TEXT)
    fitted_with.save(folder) if cls is skembed.SearchIndex else skembed.save(fitted_with, folder)
    return folder


CALLS = {
    ("SearchIndex.load", "path"): skembed.SearchIndex.load,
    ("SearchIndex.save", "path"): lambda url: skembed.SearchIndex(n_components=None).fit(TEXT).save(url),
    ("SentenceCorpus.from_dask", "to"): lambda url: SentenceCorpus.from_dask(_dask_series(), to=url),
    ("SentenceCorpus.from_file", "path"): SentenceCorpus.from_file,
    ("SentenceCorpus.from_file", "to"): lambda url: SentenceCorpus.from_file(__file__, to=url),
    ("SentenceCorpus.from_parquet", "to"): lambda url: SentenceCorpus.from_parquet("no.parquet", column="text", to=url),
    ("SentenceCorpus.from_sentences", "to"): lambda url: SentenceCorpus.from_sentences(TEXT, to=url),
    ("SentenceCorpus.load", "path"): SentenceCorpus.load,
    ("SentenceCorpus.save", "path"): lambda url: SentenceCorpus.from_sentences(TEXT).save(url),
    ("embedder", "model"): lambda url: skembed.arrow.embedder(url, column="text"),
    ("export_model", "path"): lambda url: skembed.formats.export_model(fitted("MeanEmbeddingVectorizer-given"), url),
    ("import_model", "path"): skembed.formats.import_model,
    ("load", "path"): skembed.load,
    ("read_word_vectors", "path"): skembed.formats.read_word_vectors,
    ("save", "path"): lambda url: skembed.save(fitted("Word2VecVectorizer"), url),
    ("to_gensim", "source"): skembed.formats.to_gensim,
    **{
        (name, parameter): lambda url, name=name, parameter=parameter: getattr(skembed, name)(
            **{"model": rows_of_lengths} if name == "PretrainedVectorizer" and parameter != "model" else {},
            **{parameter: url},
        ).fit(TEXT)
        for name, parameter in [
            ("PretrainedVectorizer", "cache"),
            ("PretrainedVectorizer", "model"),
            ("SearchIndex", "pretrained"),
            ("TextVectorizer", "pretrained"),
            ("TextVectorizer", "teacher"),
        ]
    },
    ("SearchIndex.load", "pretrained"): lambda url: skembed.SearchIndex.load(
        _saved_with_model(skembed.SearchIndex), pretrained=url
    ),
    ("compare", "pretrained"): lambda url: skembed.evaluation.compare(TEXT, np.arange(len(TEXT)) % 2, pretrained=url),
    ("compare_search", "pretrained"): lambda url: skembed.evaluation.compare_search(
        TEXT, dict(enumerate(TEXT[:3])), {row: {row: 1} for row in range(3)}, pretrained=url
    ),
    ("load", "pretrained"): lambda url: skembed.load(_saved_with_model(skembed.TextVectorizer), pretrained=url),
    ("transform", "folder"): lambda url: skembed.dask.transform(
        fitted("Word2VecVectorizer"), _dask_series(), folder=url
    ),
    ("transform", "model"): lambda url: skembed.dask.transform(url, _dask_series()),
    ("write_word_vectors", "counts_path"): lambda url: skembed.formats.write_word_vectors(
        fitted("Word2VecVectorizer"), "vectors.txt", counts_path=url
    ),
    ("write_word_vectors", "path"): lambda url: skembed.formats.write_word_vectors(GIVEN, url),
    ("write_word_vectors", "source"): lambda url: skembed.formats.write_word_vectors(url, "vectors.txt"),
}


def call_of(name, parameter):
    """The door as a function of a path."""
    if (name, parameter) in CALLS:
        return CALLS[name, parameter]
    if parameter == "checkpoint":
        return lambda url: make(name.removesuffix(".fit")).fit(TEXT, groups=GROUPS, checkpoint=url)
    if name.endswith(("Vectorizer", "Autoencoder")):
        return lambda url: make(name, **{parameter: url}).fit(TEXT, groups=GROUPS)
    if name.startswith(("read_", "fetch_")):
        return lambda url: getattr(skembed.datasets, name)(**{parameter: url})
    raise NotImplementedError(f"Say in CALLS how a path goes through {name}({parameter}=).")


@pytest.mark.parametrize(("name", "parameter"), DOORS)
def test_a_url_is_refused_and_nothing_is_written(name, parameter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for url in URLS[:2]:
        with pytest.raises(ValueError, match=r"is a URL.*(local folder|Pass the path alone)"):
            call_of(name, parameter)(url)
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("url", URLS, ids=str)
def test_what_is_a_url(url):
    with pytest.raises(ValueError, match=r"is a URL.*(local folder|Pass the path alone)"):
        user_path(url)


def test_parquet_of_a_url_that_pathlib_has_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is a URL"):
        SentenceCorpus.from_parquet(Path("s3://bucket/file.parquet"), column="text")


@pytest.mark.parametrize("option", ["--corpus", "--data", "--out", "--sentence-pairs"])
def test_options_of_the_command(option, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["--corpus", __file__, option, "s3://bucket/model"])
    assert "is a URL" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "path", ["C:/models/a", "C:\\models\\a", "a:b", "./s3:/bucket", "/data/s3:/a", "a::b", "2024-01-01T10:00"]
)
def test_what_is_no_url(path):
    assert user_path(path) == Path(path)
