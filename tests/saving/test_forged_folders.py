"""Folders of models that are damaged or forged: none is accepted, and none is more than an error."""

import warnings

import numpy as np
import pytest
from estimators import OTHER_TEXT, TEXT, bits, make
from saved_models import of_skembed, saved

import skembed
from benchmarks.forged_folders import array_file, forge, header_file
from skembed._storage import folders


def set_in(*names_and_value):
    *names, last, value = names_and_value

    def change(header):
        for name in names:
            header = header[name]
        header[last] = value

    return change


def put(name, change):
    return lambda arrays: arrays.update({name: np.ascontiguousarray(change(arrays[name]))})


def entry(index, value):
    def change(array):
        array = array.copy()
        array[index] = value
        return array

    return change


def test_a_forged_model_within_a_model_is_refused(tmp_path):
    inner = "attributes", "word2vec_", "model"
    for change, match in (
        (set_in(*inner, "class", "os.system"), "'os.system' is no class"),
        (set_in(*inner, "parameters", "window", 0), "'window' parameter"),
        (set_in(*inner, "attributes", "_seed", None), "_seed is missing"),
        (set_in(*inner, "attributes", "word2vec_", {"model": {}}), "holds a model itself"),
        (set_in("attributes", "word2vec_", {"model": {}}), "word2vec_ is no model"),
        (set_in("attributes", "_spelling_weight", 2.0), "_spelling_weight is 2.0"),
        (set_in("attributes", "_processed_vectors", {"array": "word_weights_"}), "_processed_vectors is"),
    ):
        path = saved("MeanEmbeddingVectorizer-spelled", tmp_path / "model")
        forge(path, change_header=change)
        with pytest.raises(ValueError, match=match):
            skembed.load(path)


FORGED_HEADERS = {
    "newer": (set_in("version", 3), "format version 3; this skembed reads version 2"),
    "class": (set_in("class", "os.system"), "'os.system' is no class"),
    "parameter": (set_in("parameters", "cmd", 1), "unexpected keyword argument 'cmd'"),
    "value": (set_in("parameters", "n_buckets", 0), "n_buckets"),
    "attribute": (set_in("attributes", "transform", 1), "has no 'transform'"),
    "missing": (lambda header: header["attributes"].pop("_source_vectors"), "_source_vectors is missing"),
    "entry": (lambda header: header.pop("tokenizer"), "entries are missing"),
    "buckets": (set_in("attributes", "_layout", "dict", "n_buckets", 2**30), "rows|_source_vectors"),
    "no layout": (set_in("attributes", "_layout", "dict", {}), "_layout"),
    "no width": (set_in("attributes", "n_features_out_", 0), "n_features_out_|_source_vectors"),
    "width": (set_in("attributes", "n_features_out_", 2**40), "n_features_out_|_source_vectors"),
    "type": (set_in("attributes", "_seed", "1"), "_seed is '1', which has the wrong type"),
    "array": (set_in("attributes", "word_weights_", {"array": "none"}), "the array 'none' is missing"),
    "other array": (set_in("attributes", "word_weights_", {"array": "word_counts_"}), "word_weights_ is ndarray"),
    "tag": (set_in("attributes", "_seed", {"pickle": "x"}), "is no value"),
    "pattern": (set_in("tokenizer", "token_pattern", r"(\w+\w+)+!"), "pass it again: token_pattern="),
    "pattern of a parameter": (set_in("parameters", "token_pattern", r"(\w+\w+)+!"), "pass it again: token_pattern="),
    "callable": (set_in("tokenizer", "analyzer", {"dict": {"callable": "os:system"}}), "analyzer"),
}
FORGED_ARRAYS = {
    "offsets": (put("vocabulary_.offsets", entry(3, 2**62)), "offsets of the words must rise"),
    "falling": (put("vocabulary_.offsets", entry(3, 1)), "offsets of the words must rise"),
    "first": (put("vocabulary_.offsets", entry(0, -1)), "offsets of the words must rise"),
    "no offsets": (put("vocabulary_.offsets", lambda ptr: ptr[:0]), "offsets of the words must rise"),
    "offsets of bytes": (put("vocabulary_.offsets", lambda ptr: ptr.astype(np.uint8)), "wrong type"),
    "no words": (lambda arrays: arrays.pop("vocabulary_.text"), "words are missing"),
    "utf-8": (put("vocabulary_.text", entry(0, 0xFF)), "utf-8"),
    "twice": (put("vocabulary_.text", lambda text: np.full_like(text, ord("a"))), "stands twice"),
    "rows": (put("_source_vectors", lambda rows: rows[:-1]), "_source_vectors is ndarray of shape"),
    "double": (put("_source_vectors", lambda rows: rows.astype(np.float64)), "_source_vectors is ndarray"),
    "weights": (put("word_weights_", lambda weights: weights[:-1]), "word_weights_ is ndarray of shape"),
    "accumulator": (put("_source_vectors_accumulator", lambda sums: sums[:-1]), "_source_vectors_accumulator is"),
}


@pytest.mark.parametrize("case", FORGED_HEADERS)
def test_a_forged_header_is_refused(case, tmp_path):
    change, match = FORGED_HEADERS[case]
    path = saved("CBOSVectorizer-given", tmp_path / "model")
    forge(path, change_header=change)
    with pytest.raises(ValueError, match=match) as caught:
        skembed.load(path)
    assert "model.json" in str(caught.value)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("case", FORGED_ARRAYS)
def test_forged_arrays_are_refused(case, mmap, tmp_path):
    change, match = FORGED_ARRAYS[case]
    path = saved("CBOSVectorizer", tmp_path / "model")
    forge(path, change_arrays=change)
    with pytest.raises(ValueError, match=match) as caught:
        skembed.load(path, mmap=mmap)
    assert str(path) in str(caught.value)


def test_forged_filters_are_refused(tmp_path):
    for change, match in (
        (set_in("attributes", "_windows", "tuple", 0, {"tuple": [9, 9, 9]}), "_windows"),
        (set_in("attributes", "_layout", "dict", "filter_widths", {"tuple": [9, 9, 9]}), "filters_|positions|_filters"),
        (set_in("attributes", "_directions", None), "_directions is missing"),
    ):
        path = saved("CSEVectorizer", tmp_path / "model")
        forge(path, change_header=change)
        with pytest.raises(ValueError, match=match):
            skembed.load(path)


def mutated(data, generator):
    """Bytes with some of them changed, cut out, doubled or cut off."""
    data, kind = bytearray(data), generator.integers(4)
    first = int(generator.integers(len(data)))
    last = first + int(generator.integers(1, 40))
    if kind == 0:
        data[first] ^= 1 << int(generator.integers(8))
    elif kind == 1:
        del data[first:last]
    elif kind == 2:
        data[first:first] = data[first:last]
    else:
        del data[first:]
    return bytes(data)


class Anything:
    def __ne__(self, other):
        return False


PACKED = {
    "no scales": (lambda arrays: arrays.pop("_source_vectors.scales"), "int8, without a scale"),
    "scales": (put("_source_vectors.scales", lambda scales: scales[:-1]), "int8, without a scale"),
    "infinite": (put("_source_vectors.scales", entry(0, np.inf)), "not finite"),
    "overflow": (put("_source_vectors.scales", entry(slice(None), 3e38)), "not finite"),
    "no rows": (lambda arrays: arrays.pop("_source_vectors.rows"), "those are not named"),
    "no number": (lambda arrays: arrays.pop("_source_vectors.n_rows"), "those are not named"),
    "rows": (put("_source_vectors.rows", entry(0, -1)), "must rise from 0"),
    "order": (put("_source_vectors.rows", lambda rows: rows[::-1]), "must rise from 0"),
    "twice": (put("_source_vectors.rows", lambda rows: np.append(rows[:1], rows[:-1])), "must rise from 0"),
    "last": (put("_source_vectors.rows", entry(-1, 2**62)), "must rise from 0"),
    "number": (put("_source_vectors.n_rows", entry(0, 2**50)), "do not fit in memory|too big|100151|rows"),
    "negative": (put("_source_vectors.n_rows", entry(0, -1)), "must rise from 0"),
    "other": (lambda arrays: arrays.update({"x.rows": np.zeros(1, np.int64)}), "x.rows belongs to no array"),
}


@pytest.mark.parametrize("case", PACKED)
def test_forged_rounded_arrays_are_refused(case, tmp_path):
    change, match = PACKED[case]
    model = make("Sent2VecVectorizer-bigrams", n_buckets=100_000).fit(TEXT)
    skembed.save(model, tmp_path / "model", inference_only=True, dtype="int8")
    forge(tmp_path / "model", change_arrays=change)
    with pytest.raises(ValueError, match=match):
        skembed.load(tmp_path / "model")


@pytest.mark.parametrize("fits", [False, True], ids=["damaged", "forged"])
@pytest.mark.parametrize("file_of", [header_file, array_file])
def test_mutated_files_are_refused_or_give_the_same_model(file_of, fits, tmp_path, monkeypatch):
    model = of_skembed("Sent2VecVectorizer-bigrams")
    path, generator = saved("Sent2VecVectorizer-bigrams", tmp_path / "model"), np.random.default_rng(0)
    file = file_of(path)
    expected, original = bits(model.transform(OTHER_TEXT)), file.read_bytes()
    if fits:  # as if somebody had made all digests anew
        monkeypatch.setattr(folders, "digest_of", lambda header: header["digest"])
        monkeypatch.setattr(folders, "digest_of_array", lambda array: Anything())
    n_refused = 0
    for trial in range(150):
        file.write_bytes(mutated(original, generator))
        try:
            back = skembed.load(path, mmap=bool(trial % 2))
        except ValueError as error:
            assert str(path) in str(error), error
            n_refused += 1
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = back.transform(OTHER_TEXT)
            except ValueError:  # parameters that contradict the fit
                assert fits
                continue
        assert fits or bits(found) == expected
    assert n_refused > 50
