"""Folders that are damaged, or of another format: each is a clear error, whatever is saved in it."""

import json
import os

import numpy as np
import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from benchmarks.forged_folders import array_file, forge
from skembed._storage.array_files import GrowingArray, map_arrays
from skembed._storage.folders import FolderKind, new_folder, open_folder

KIND = FolderKind("toy", "toy.json", {"text": str}, ("ids",))
FILES = ["toy.json", "ids", "arrays"]
ARRAYS = {"ids": np.arange(9, dtype=np.int32), "rows": np.ones((2, 3), np.float32), "none": np.zeros(0)}


def save(folder):
    with new_folder(folder, KIND) as new:
        new.write({"text": "text"}, ARRAYS)
    return folder


@pytest.fixture
def toy(tmp_path):
    return save(tmp_path / "toy")


def file_of(folder, name):
    return folder / name if name == "toy.json" else array_file(folder, name)


def check(folder, **options):
    found = open_folder(folder, KIND, mmap=False, **options)
    assert found.header["text"] == "text" and set(found.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found.arrays[name], array, strict=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 1}, "format version 1; this skembed reads version 2"),
        ({"version": None}, "format version None; this"),
        ({"format": "other"}, "not the header of a skembed toy"),
        ({"save": "../../../etc"}, "toy.json is damaged"),
        ({"text": 3}, "entries are missing or wrong"),
        ({"more": 3}, "entries are missing or wrong"),
        ({"arrays": {}}, "is damaged: .* does not fit its digest"),
    ],
)
def test_wrong_headers(toy, change, message):
    forge(toy, lambda header: header.update(change))
    with pytest.raises(ValueError, match=message):
        check(toy)


def test_a_header_that_does_not_fit_its_digest(toy):
    header = json.loads((toy / "toy.json").read_text())
    (toy / "toy.json").write_text(json.dumps(header | {"text": "other"}))
    with pytest.raises(ValueError, match=r"toy\.json is damaged: it does not fit its digest"):
        check(toy)


@pytest.mark.parametrize(
    "text", ["", "[", "[]", "null", "{}", '"' * 5, "[" * 100_000, "\x00", '{"format": NaN}', "{}x"]
)
def test_headers_that_are_not_ours(toy, text):
    (toy / "toy.json").write_text(text)
    with pytest.raises(ValueError, match=r"toy\.json is"):
        check(toy)


def test_a_name_that_stands_twice_in_a_header(toy):
    text = (toy / "toy.json").read_text()
    (toy / "toy.json").write_text(text.replace('"text"', '"text": "other", "text"', 1))
    with pytest.raises(ValueError, match="a name stands twice"):
        check(toy)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("name", ["ids", "arrays"])
def test_missing_truncated_and_replaced_files(toy, name, verify):
    file = file_of(toy, name)
    whole = file.read_bytes()
    for content in (whole[:-1], whole + b"x", b"", whole[:20]):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{file.name} is damaged or was not written by skembed"):
            check(toy, verify=verify)
    save_file({"other": np.ones(2)}, file)
    with pytest.raises(ValueError, match="is damaged: "):
        check(toy, verify=verify)
    file.unlink()
    with pytest.raises(ValueError, match=rf"it has no file {file.name}"):
        check(toy, verify=verify)


def test_numbers_that_do_not_fit_their_digest(toy):
    file = file_of(toy, "ids")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"ids does not fit its digest in toy\.json"):
        check(toy)


@settings(max_examples=200)
@given(st.sampled_from(FILES), st.data())
def test_any_damage_is_an_error_or_does_no_harm(tmp_path_factory, name, data):
    folder = save(tmp_path_factory.getbasetemp() / "damage")
    file = file_of(folder, name)
    file.write_bytes(damaged(file.read_bytes(), data))
    try:
        check(folder)
    except ValueError as error:
        assert str(folder) in str(error)


def test_sizes_beyond_the_file_ask_for_no_memory(toy):
    described = {"ids": {"dtype": "I32", "shape": [10**15], "data_offsets": [0, 4 * 10**15]}}
    text = json.dumps(described).encode()
    file_of(toy, "ids").write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(ValueError, match=r"ids-.* is damaged or was not written by skembed"):
        check(toy)


def test_an_array_that_is_not_aligned(tmp_path):
    described = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    text = json.dumps(described).encode()
    text += b" " * (-len(text) % 8 + 1)
    (tmp_path / "file").write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(ValueError, match="not aligned"):
        map_arrays(tmp_path / "file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_the_folder_is_refused(toy, name):
    """Reading it would wait for ever."""
    file = file_of(toy, name)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ValueError, match=f"{file.name} .*it is a pipe"):
        check(toy)


def test_an_array_grows(tmp_path):
    for file in (None, tmp_path / "file"):
        array = GrowingArray("tokens", "int32", file)
        for size in (3, 0, 5, 2, 4000, 1):
            array.append(np.arange(len(array), len(array) + size, dtype=np.int32))
        assert array.array().tolist() == list(range(4011))
        assert array.finish(5).tolist() == list(range(5))
        array.close()
    assert load_file(tmp_path / "file")["tokens"].tolist() == list(range(5))
