"""Folders of models: the same bits come back, training goes on, and what cannot be saved is refused."""

import copy
import errno
import os
import subprocess
import sys

import estimators
import numpy as np
import pytest
from estimators import KINDS, NAMES, OTHER_TEXT, TEXT, bits, changed, dense, fitted, learned, make, with_state
from saved_models import of_skembed, saved
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer

import skembed
from benchmarks.forged_folders import array_file
from skembed._saving.header import class_of
from skembed._storage import folders

SAVED = [name for name in NAMES if not name.endswith("-stem")]  # a stemmer that is a function is refused
TRAINING = [name for name in SAVED if hasattr(make(name), "warm_start")]


def fed(model, name):
    """The loaded model in the class of the tests, which takes text alone."""
    back = copy.copy(model)
    back.__class__ = type(make(name))
    return back


def without_steps(model):
    """What was learned, but for the parts of a scikit-learn estimator, whose unused random state is not saved."""
    return {key: value for key, value in learned(model).items() if key != "_tfidf"}


def test_only_estimators_of_text_are_in_folders():
    assert all(class_of(cls.__name__) is cls for cls in estimators.CLASSES)
    assert not any(map(class_of, ("SearchIndex", "save", "__version__", "__all__", "TextEstimator", None)))


def test_another_class_is_refused_with_advice(tmp_path):
    with pytest.raises(TypeError, match="^Save it with joblib or skops: TfidfVectorizer is none of"):
        skembed.save(TfidfVectorizer().fit(TEXT), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("name", "mmap"), [(name, True) for name in SAVED] + [(name, False) for name in KINDS if name in SAVED]
)
def test_what_comes_back_is_the_same(name, mmap, tmp_path):
    model = of_skembed(name)
    before = learned(model)
    skembed.save(model, tmp_path / "model")
    back = skembed.load(tmp_path / "model", mmap=mmap)
    assert type(back) is type(model) and learned(model) == before
    assert bits(back.transform(OTHER_TEXT)) == bits(model.transform(OTHER_TEXT))
    assert without_steps(back) == without_steps(model)
    given = {"init", "corpus", "embedding", "expand_with", "word_vectors"}
    params, expected = back.get_params(deep=False), model.get_params(deep=False)
    different = {key for key in params if bits(params[key]) != bits(expected[key])}
    assert different <= given | {"stop_words", "analyzer"}
    if "analyzer" in different:  # beside `init`, which is not saved, "auto" meant words
        assert (expected["analyzer"], params["analyzer"], params["init"]) == ("auto", "word", None)
    assert list(params.get("stop_words") or ()) == list(expected.get("stop_words") or ())


@pytest.mark.parametrize(
    ("name", "mmap"), [(name, True) for name in TRAINING] + [("CBOSVectorizer", False), ("CSEVectorizer-given", False)]
)
def test_training_goes_on_with_the_same_bits(name, mmap, tmp_path):
    back = fed(skembed.load(saved(name, tmp_path / "model"), mmap=mmap), name)
    straight_on = copy.deepcopy(fitted(name))
    if "expand_with" in back.get_params():
        back.set_params(expand_with=straight_on.expand_with)
    assert learned(back.partial_fit(TEXT)) == learned(straight_on.partial_fit(TEXT))
    back, straight_on = (changed(model, warm_start=True).fit(TEXT) for model in (back, straight_on))
    assert learned(back) == learned(straight_on)


@pytest.mark.parametrize("name", SAVED)
def test_inference_only_transforms_and_learns_no_more(name, tmp_path):
    model = of_skembed(name)
    back = skembed.load(saved(name, tmp_path / "model", inference_only=True))
    assert bits(back.transform(OTHER_TEXT)) == bits(model.transform(OTHER_TEXT))
    if name in TRAINING:
        whole = array_file(saved(name, tmp_path / "whole"))
        assert array_file(tmp_path / "model").stat().st_size < whole.stat().st_size
        for learn in (fed(back, name).partial_fit, changed(fed(back, name), warm_start=True).fit):
            with pytest.raises(ValueError, match="saved for inference only"):
                learn(TEXT)
        anew = fed(back, name).fit(TEXT)
        assert learned(anew.partial_fit(TEXT))
    again = saved(name, tmp_path / "model")
    skembed.save(back, again, inference_only=True)
    assert learned(skembed.load(again)) == learned(back)


def test_the_tokenizer_of_init_and_corpus_stays(tmp_path):
    start = skembed.CBOSVectorizer(6, min_count=1, stop_words=["the"]).fit(TEXT)
    model = skembed.SiameseCBOWVectorizer(init=start, max_iter=1, random_state=0).fit(TEXT)
    skembed.save(model, tmp_path / "model")
    back = skembed.load(tmp_path / "model")
    assert back.init is None and back.stop_words == ("the",)
    assert learned(back.partial_fit(TEXT)) == learned(model.partial_fit(TEXT))


@pytest.mark.parametrize(
    ("name", "dtype", "largest"),
    [(name, "int8", 1 / 127) for name in SAVED] + [(name, "float16", 1e-3) for name in KINDS if name in SAVED],
)
def test_rounded_vectors_are_nearly_the_same(name, dtype, largest, tmp_path):
    model = of_skembed(name)
    sizes = skembed.save(model, tmp_path / "model", inference_only=True, dtype=dtype)
    assert sizes["written"] == sum(file.stat().st_size for file in (tmp_path / "model").iterdir())
    back = skembed.load(tmp_path / "model", mmap=dtype == "int8")
    assert learned(back).keys() <= learned(model).keys()
    found, expected = dense(back.transform(OTHER_TEXT)), dense(model.transform(OTHER_TEXT))
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(found - expected) <= 4 * largest * scale + 1e-6).all()
    skembed.save(back, tmp_path / "again", inference_only=True, dtype=dtype)
    first, second = (next((tmp_path / folder).glob("*.safetensors")) for folder in ("model", "again"))
    assert first.stat().st_size == second.stat().st_size
    assert learned(skembed.load(tmp_path / "again")) == learned(back)


def test_rounded_vectors_are_a_half_and_a_quarter_of_the_bytes(tmp_path):
    words = [f"w{i}" for i in range(500)]
    rows = np.random.default_rng(0).normal(size=(500, 200)) * np.logspace(-6, 3, 500)[:, None]
    model = skembed.MeanEmbeddingVectorizer(word_vectors=(words, rows)).fit([" ".join(words)])
    written = {
        dtype: skembed.save(model, tmp_path / dtype, inference_only=True, dtype=dtype)["written"]
        for dtype in ("float32", "float16", "int8")
    }
    overhead = written["float32"] - 4 * rows.size
    assert written["float16"] < 2 * rows.size + overhead + 100
    assert written["int8"] < rows.size + 4 * 500 + overhead + 500  # a digest, and the name, of another array
    whole = skembed.load(tmp_path / "int8").word_vectors_
    assert (np.abs(whole - rows).max(axis=1) <= np.abs(rows).max(axis=1) / 127 / 2 * 1.001).all()
    vectors = model.word_vectors_.copy()
    vectors[3, 4] = 1e5
    with_state(model, {"word_vectors_": vectors})
    with pytest.raises(ValueError, match="word_vectors_ has numbers that are too large for float16"):
        skembed.save(model, tmp_path / "float16", inference_only=True, dtype="float16")
    model.word_vectors_[3, 4] = np.nan
    with pytest.raises(ValueError, match="word_vectors_ has numbers that are not finite"):
        skembed.save(model, tmp_path / "float32")
    for dtype, match in (("int8", "Set inference_only=True"), ("float64", "dtype must be one of float32")):
        with pytest.raises(ValueError, match=match):
            skembed.save(model, tmp_path / "model", dtype=dtype)


def test_rows_of_zeros_are_not_written(tmp_path):
    model = make("Sent2VecVectorizer-bigrams", n_buckets=100_000).fit(TEXT)
    sizes = skembed.save(model, tmp_path / "model")
    assert sizes["written"] < 200_000 and not sizes["left_out"]
    for mmap in (False, True):
        assert learned(skembed.load(tmp_path / "model", mmap=mmap)) == learned(model)
    small = skembed.save(model, tmp_path / "small", inference_only=True)
    training = ("target_vectors_", "_source_vectors_accumulator", "_target_vectors_accumulator")
    assert small["left_out"] == sum(model._state.arrays[array].nbytes for array in training)


def test_the_card_says_what_the_model_is(tmp_path):
    model = of_skembed("Sent2VecVectorizer-bigrams")
    sizes = skembed.save(model, tmp_path / "model", inference_only=True, dtype="int8")
    card = (tmp_path / "model" / "README.md").read_text()
    for fact in (
        "# Sent2VecVectorizer",
        f"8 dimensions a sentence, {len(model.vocabulary_)} words in the vocabulary",
        f"a text of {model._state.n_tokens} words",
        f"{100 * model.coverage_:.1f} % of the words",
        f"{sizes['left_out'] / 1e6:,.1f} MB that only training needs",
        "stored as int8",
        "- `ngram_range=(1, 2)`",
        "- `random_state=0`",
    ):
        assert fact in card, fact
    assert "learning_rate" not in card and "n_jobs" not in card
    (tmp_path / "model" / "README.md").write_text("edited")
    skembed.load(tmp_path / "model")


def test_a_model_is_replaced_and_other_folders_are_not(tmp_path):
    path = saved("CBOSVectorizer", tmp_path / "model")
    saved("Word2VecVectorizer", path)
    assert type(skembed.load(str(path))) is skembed.Word2VecVectorizer
    (path / "mine.txt").write_text("kept")
    with pytest.raises(FileExistsError, match="not a saved model"):
        saved("CBOSVectorizer", path)
    assert os.listdir(tmp_path) == ["model"]


def test_a_failed_save_leaves_the_old_model(tmp_path, monkeypatch):
    path = saved("CBOSVectorizer", tmp_path / "model")

    def full(file, descriptor):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(folders.os, "replace", full)
    with pytest.raises(OSError, match=r"The model cannot be saved to .*model: No space left"):
        saved("Word2VecVectorizer", path)
    assert type(skembed.load(path)) is skembed.CBOSVectorizer and os.listdir(tmp_path) == ["model"]


FULL = """
import resource, sys
import skembed
path = sys.argv[1]
model = skembed.CBOSVectorizer(50, min_count=1, max_iter=1).fit([f"w{i} w{i + 1}" for i in range(300)])
skembed.save(skembed.CBOSVectorizer(5, min_count=1, max_iter=1).fit(["a b", "c"]), path)
for limit in (int(n) for n in sys.argv[2:]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        skembed.save(model, path)
    except OSError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    print(skembed.load(path).n_components)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of another kind")
def test_a_full_disk_leaves_the_old_model(tmp_path):
    """The limit of a file stands for a full disk: met in the header of the arrays, in an array, and not at all."""
    command = [sys.executable, "-c", FULL, str(tmp_path / "model"), "10", "20000", "1000000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    error = f"[Errno {errno.EFBIG}] The model cannot be saved to {tmp_path / 'model'}: File too large"
    assert done.stdout.splitlines() == [error, "5", error, "5", "50"]
    assert os.listdir(tmp_path) == ["model"]


class Derived(skembed.CBOSVectorizer):
    pass


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"random_state": np.random.RandomState(0)}, "random_state is a RandomState.*None or an int"),
        ({"analyzer": str.split}, "analyzer=.* is code"),
        ({"stemmer": str.lower}, "stemmer=.* is code"),
    ],
)
def test_what_is_code_is_refused_with_advice(changes, match, tmp_path):
    model = make("CBOSVectorizer", **changes).fit(TEXT)
    with pytest.raises(TypeError, match=match):
        skembed.save(model, tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_what_is_no_fitted_estimator_of_skembed_is_refused(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(NotFittedError):
        skembed.save(skembed.CBOSVectorizer(), path)
    for other in (Derived(5, min_count=1).fit(TEXT), skembed.CBOSVectorizer, {"a": 1}, None):
        with pytest.raises(TypeError, match="^Save it with joblib or skops: .* none of what a folder holds, .*BOWPCA"):
            skembed.save(other, path)
    model = make("CBOSVectorizer").fit(TEXT)
    model.note_ = "mine"
    with pytest.raises(ValueError, match="cannot be saved: 'note_' is not what CBOSVectorizer learns"):
        skembed.save(model, path)
    del model.note_
    with_state(model, {"_source_vectors": model._state.arrays["_source_vectors"][:-1]})
    with pytest.raises(ValueError, match="cannot be saved"):
        skembed.save(model, path)
    assert not os.listdir(tmp_path)


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no saved model at"):
        skembed.load(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="no saved model at"):
        skembed.load(tmp_path)  # an empty folder, as a save has it that is not complete
    path = saved("CBOSVectorizer", tmp_path / "model")
    with pytest.raises(ValueError, match="it has no file model.json"):
        skembed.load(tmp_path)
    file = array_file(path)
    file.unlink()
    with pytest.raises(ValueError, match=f"it has no file {file.name}"):
        skembed.load(path)
    file.mkdir()
    with pytest.raises(ValueError, match=f"{file.name} cannot be read"):
        skembed.load(path)
