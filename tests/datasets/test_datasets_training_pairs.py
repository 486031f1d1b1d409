"""Pairs to learn from: captions, the words of a lexicon; small files, then the published ones."""

import gzip
import hashlib
from itertools import combinations

import numpy as np
import pytest

from skembed.datasets import _download, _files, _training_pairs, fetch_image_captions, fetch_ppdb_lexicon
from skembed.datasets._training_pairs import read_image_captions, read_ppdb_lexicon

CAPTIONS = ["A dog.\nA cat.\nA cow.\n", "Dog\nCat\nCow\n", "d\nc\nw\n", "D\nC\nW\n", "1\n2\n3\n"]


def write_captions(folder, texts=CAPTIONS):
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts, 1):
        (folder / f"train.{number}.en.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_ppdb_lexicon(tmp_path):
    path = tmp_path / "part.txt"
    path.write_text(
        "film movie picture\nmovie film cinema\nfilm picture film\nalone\n\nsoir\u00e9e evening\n", encoding="utf-8"
    )
    pairs = [("film", "movie"), ("film", "picture"), ("movie", "cinema"), ("soir\u00e9e", "evening")]
    assert read_ppdb_lexicon(path).data == pairs


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_ppdb_lexicon(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_ppdb_lexicon(tmp_path)


def test_image_captions(tmp_path, monkeypatch):
    monkeypatch.setattr(_training_pairs, "_evaluation_images", lambda: np.array([1, 28_999]))
    write_captions(tmp_path)
    whole = read_image_captions(tmp_path, remove_evaluation=False)
    assert whole.data[:6] == ["A dog.", "Dog", "d", "D", "1", "A cat."]
    assert whole.target.dtype == np.int64
    assert whole.target.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    kept = read_image_captions(tmp_path)
    assert kept.target.tolist() == [0] * 5 + [2] * 5
    assert kept.data == whole.data[:5] + whole.data[10:]
    # The pairs are those of the groups.
    assert kept.pairs == [*combinations(kept.data[:5], 2), *combinations(kept.data[5:], 2)]


def test_image_captions_that_are_wrong(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"no file train\.1\.en\.gz; skembed\.datasets\.fetch_image_captions\(\)"
    ):
        read_image_captions(tmp_path)
    write_captions(tmp_path)
    write_captions(tmp_path, [*CAPTIONS[:3], "D\n \nW\n", CAPTIONS[4]])
    with pytest.raises(ValueError, match=r"train\.4\.en\.gz, line 2: the caption is empty"):
        read_image_captions(tmp_path)
    write_captions(tmp_path, [*CAPTIONS[:4], "1\n2\n"])
    with pytest.raises(ValueError, match=r"train\.5\.en\.gz has 2 lines, but train\.1\.en\.gz has 3: they must match"):
        read_image_captions(tmp_path)


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-9], lambda raw: b"plain text", lambda raw: raw[:10] + b"\xff" * 9]
)
def test_damaged_gzip_files(tmp_path, damage):
    path = write_captions(tmp_path) / "train.2.en.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"train\.2\.en\.gz is no complete gzip file: .*; get it again"):
        read_image_captions(tmp_path)


def test_a_gzip_file_that_unpacks_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "_MOST_BYTES", 20)
    with pytest.raises(ValueError, match=r"train\.1\.en\.gz unpacks to more than the limit of 20 bytes"):
        read_image_captions(write_captions(tmp_path))


@pytest.mark.parametrize(("function", "n"), [(fetch_image_captions, 10), (fetch_ppdb_lexicon, 1)])
def test_the_fetched_files_are_read(tmp_path, monkeypatch, function, n):
    """Files that pass the check of their content are read from the folder that they belong in."""
    home = tmp_path / "skembed"
    write_captions(home / "image_captions")
    (home / "ppdb").mkdir()
    (home / "ppdb" / "ppdb-xl.txt").write_text("film movie\n")
    table = {}
    for name, source in _download.sources().items():
        if (home / name).is_file():
            raw = (home / name).read_bytes()
            table[name] = source._replace(n_bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())
    monkeypatch.setattr(_download, "sources", lambda: table)
    assert len(function(data_home=tmp_path, download_if_missing=False).data) == n


def test_evaluation_images():
    images = _training_pairs._evaluation_images()
    assert len(images) == 7956
    assert np.all(np.diff(images) > 0)
    assert 0 <= images[0] and images[-1] < 29_000


def test_converted_captions_leave_out_these_images(data_dir):
    path = data_dir / "pairs" / "flickr30k_captions.tsv.gz"
    if not path.is_file():
        pytest.skip("the converted captions are not among the data")
    kept = [int(line.split("\t", 1)[0]) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert np.array_equal(kept, np.setdiff1d(np.arange(29_000), _training_pairs._evaluation_images()))
