"""Fits that were killed go on from a checkpoint, and end with the bits of an unbroken fit."""

import contextlib
import copy
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from estimators import GROUPS, RECURRENT, TEXT, TRAINED, TRAINED_CLASSES, changed, dense, learned, make
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import skembed
from benchmarks import forged_folders
from skembed._training.checkpoint import Checkpoint

ROOT = Path(__file__).resolve().parents[2]


class Killed(BaseException):
    """Ends a fit as a signal would, but for what the process does at its end."""


@contextlib.contextmanager
def killed_after(n_writes):
    """End a fit after it has written this many checkpoints, the first of which is that of no pass."""
    write, left = Checkpoint.write, [n_writes]

    def write_and_die(self, *args):
        write(self, *args)
        left[0] -= 1
        if not left[0]:
            raise Killed

    Checkpoint.write = write_and_die
    try:
        with pytest.raises(Killed):
            yield
    finally:
        Checkpoint.write = write


def fit(estimator, **options):
    return estimator.fit(TEXT, groups=GROUPS, **options)


def options_of(name, **changes):
    return {key: value for key, value in changes.items() if key in make(name).get_params()}


@pytest.mark.parametrize("name", TRAINED)
def test_a_killed_fit_ends_with_the_same_bits(name, tmp_path):
    options = options_of(name, max_iter=3, n_jobs=1)
    expected = learned(fit(make(name, **options)))
    broken = make(name, **options)
    with killed_after(2):
        fit(broken, checkpoint=tmp_path / "state")
    assert not hasattr(broken, "vocabulary_")
    changed(broken, n_jobs=2, verbose=0)
    assert learned(fit(broken, checkpoint=tmp_path / "state")) == expected
    after = fit(clone(broken), checkpoint=tmp_path / "state")  # from a finished fit, the model
    assert learned(after) == expected
    assert os.listdir(tmp_path) == ["state"]


@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if "early_stopping" in make(name).get_params()])
def test_early_stopping_goes_on(name, tmp_path):
    rate = {"learning_rate": 0.5} if name not in RECURRENT else {}
    options = {"max_iter": 6, "early_stopping": True, "n_iter_no_change": 2, "tol": 0.2, **rate}
    expected = fit(make(name, **options))
    for n_writes in {3, expected.n_iter_ + 1}:  # in between, and between the last pass and the end
        with killed_after(n_writes):
            fit(make(name, **options), checkpoint=tmp_path / str(n_writes))
        assert learned(fit(make(name, **options), checkpoint=tmp_path / str(n_writes))) == learned(expected)


def test_a_fit_goes_on_from_any_pass_and_every_few(tmp_path):
    expected = learned(fit(make("CBOSVectorizer-sgd", max_iter=5)))
    for n_writes, passes in ((1, 0), (2, 2), (3, 4), (4, 5)):
        path = tmp_path / str(n_writes)
        with killed_after(n_writes):
            fit(make("CBOSVectorizer-sgd", max_iter=5), checkpoint=path, checkpoint_every=np.int64(2))
        assert json.loads((path / "checkpoint.json").read_text())["progress"].get("n_passes", 0) == passes
        assert learned(fit(make("CBOSVectorizer-sgd", max_iter=5), checkpoint=str(path))) == expected
    for every in (0, True, 1.5, "1", None):
        with pytest.raises(ValueError, match="checkpoint_every must be a number of passes, at least 1"):
            fit(make("CBOSVectorizer"), checkpoint=tmp_path / "other", checkpoint_every=every)


@pytest.mark.parametrize("name", ["CBOSVectorizer", "TargetVectorizer", "ParagraphVectorizer", "SkipThoughtVectorizer"])
def test_what_is_learned_on_goes_on(name, tmp_path):
    """With `warm_start` after `partial_fit`, and `partial_fit` after a fit that was killed."""
    begun = make(name, warm_start=True).partial_fit(TEXT, groups=GROUPS)
    straight_on = fit(copy.deepcopy(begun)).partial_fit(TEXT[::-1])
    before = learned(begun)
    with killed_after(2):
        fit(begun, checkpoint=tmp_path / "state")
    assert learned(begun) == before
    assert learned(fit(begun, checkpoint=tmp_path / "state").partial_fit(TEXT[::-1])) == learned(straight_on)
    with pytest.raises(ValueError, match=r"is of another fit.*the start \(vocabulary, init.*was"):
        fit(begun, checkpoint=tmp_path / "state")  # from where it is now


def test_labels_and_sets_of_pairs_go_on(tmp_path):
    y = np.arange(len(TEXT)) % 3
    expected = learned(make("CBOSVectorizer", max_iter=3).fit(TEXT, y))
    with killed_after(2):
        make("CBOSVectorizer", max_iter=3).fit(TEXT, y, checkpoint=tmp_path / "labels")
    with pytest.raises(ValueError, match="what y, groups or pairs say was"):
        make("CBOSVectorizer", max_iter=3).fit(TEXT, y[::-1], checkpoint=tmp_path / "labels")
    assert learned(make("CBOSVectorizer", max_iter=3).fit(TEXT, y, checkpoint=tmp_path / "labels")) == expected
    pairs = [("a cat", "the cat"), ("a dog", "dogs bark"), ("rain", "a wet day")]
    sets = [skembed.PairCorpus.from_pairs(pairs), skembed.PairCorpus.from_pairs(pairs[1:])]
    model = skembed.ParaphraseVectorizer(4, min_count=1, max_iter=2, random_state=0)
    expected = learned(clone(model).fit(sets))
    for n_writes in range(1, 6):
        with killed_after(n_writes):
            clone(model).fit(sets, checkpoint=tmp_path / str(n_writes))
        assert learned(clone(model).fit(sets, checkpoint=tmp_path / str(n_writes))) == expected


def test_sets_of_pairs_that_stop_early_go_on(tmp_path):
    sets = [
        skembed.PairCorpus.from_pairs([(f"{name}{i} r{i % 9}", f"q{name}{i} r{i % 9}") for i in range(60)])
        for name in "ab"
    ]
    model = skembed.ParaphraseVectorizer(
        4, max_iter=5, early_stopping=True, n_iter_no_change=2, tol=0.3, random_state=0, learning_rate=0.01
    )
    straight_on = clone(model).fit(sets)
    assert 5 < straight_on.n_iter_ + 2 < 10  # both stop
    for n_writes in range(2, straight_on.n_iter_ + 2):
        path = tmp_path / str(n_writes)
        with killed_after(n_writes):
            clone(model).fit(sets, checkpoint=path)
        found = clone(model).fit(sets, checkpoint=path)
        assert learned(found) == learned(straight_on) and found.n_iter_ == len(found.loss_curve_)


def test_without_a_random_state_the_fit_that_began_goes_on(tmp_path):
    with killed_after(2):
        fit(make("CBOSVectorizer", random_state=None), checkpoint=tmp_path / "state")
    seed = json.loads((tmp_path / "state" / "checkpoint.json").read_text())["seed"]
    found = fit(make("CBOSVectorizer", random_state=None), checkpoint=tmp_path / "state")
    expected = fit(make("CBOSVectorizer", random_state=None))
    assert found._state.seed == seed != expected._state.seed
    with killed_after(2):
        fit(make("CBOSVectorizer", random_state=np.random.RandomState(3)), checkpoint=tmp_path / "other")
    with pytest.raises(ValueError, match="of another fit: .*random_state gave another seed"):
        fit(make("CBOSVectorizer", random_state=4), checkpoint=tmp_path / "other")
    back = fit(make("CBOSVectorizer", random_state=np.random.RandomState(3)), checkpoint=tmp_path / "other")
    assert learned(back) == learned(fit(make("CBOSVectorizer", random_state=np.random.RandomState(3))))


OTHER_FITS = {
    "max_iter was 2, now it is 5": lambda: fit_at(max_iter=5),
    "learning_rate was 0.1, now it is 0.2; window was 1, now it is 2": lambda: fit_at(learning_rate=0.2, window=2),
    "the class was 'CBOSVectorizer', now it is 'SiameseCBOWVectorizer'": lambda: fit_at(name="SiameseCBOWVectorizer"),
    "the text was '10 documents, 90 sentences, .*now it is '10 documents, 89": lambda: fit_at(n=89),
    "ngram_range was .* now it is": lambda: fit_at(ngram_range=(1, 2)),
    "stemmer was None, now it is 'function'; the text was": lambda: fit_at(name="CBOSVectorizer-stem"),
    "the start .*was": lambda: fit_at(init=dict.fromkeys(["cat", "dog", "rain", "bread"], np.ones(8, np.float32))),
}


def fit_at(path=None, n=90, name="CBOSVectorizer", **changes):
    make(name, **changes).fit(TEXT[:n], groups=GROUPS[:n], checkpoint=path or "state")


@pytest.mark.filterwarnings("ignore:Only .* of the words of the text have a vector:UserWarning")
def test_another_fit_is_refused_and_the_error_says_what_differs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with killed_after(2):
        fit_at()
    before = {file.name: file.read_bytes() for file in Path("state").iterdir()}
    for match, other in OTHER_FITS.items():
        with pytest.raises(ValueError, match=match) as caught:
            other()
        assert "choose another path, or delete the folder" in str(caught.value)
        assert {file.name: file.read_bytes() for file in Path("state").iterdir()} == before
    monkeypatch.setattr("skembed._training.checkpoint.__version__", "99.0")
    with pytest.raises(ValueError, match="the version of skembed was '.*', now it is '99.0'"):
        fit_at()


def test_a_folder_of_something_else_is_refused_and_an_empty_one_is_used(tmp_path):
    (tmp_path / "state").mkdir()
    fit(make("CBOSVectorizer"), checkpoint=tmp_path / "state")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("kept")
    (tmp_path / "file").write_text("kept")
    skembed.save(fit(make("CBOSVectorizer")), tmp_path / "model")
    for name in ("mine", "file", "model"):
        with pytest.raises(ValueError, match=f"{name} is not a saved checkpoint"):
            fit(make("CBOSVectorizer"), checkpoint=tmp_path / name)
    with pytest.raises(OSError, match=r"checkpoint cannot be saved to .*file/state: (File exists|Not a directory)"):
        fit(make("CBOSVectorizer"), checkpoint=tmp_path / "file" / "state")
    assert sorted(os.listdir(tmp_path)) == ["file", "mine", "model", "state"]


def forge(path, change_progress=lambda progress: None, change_arrays=lambda arrays: None):
    """Change a checkpoint and make its digests fit."""
    forged_folders.forge(path, lambda header: change_progress(header["progress"]), change_arrays)


FORGED = {
    "passes": {"change_progress": lambda progress: progress.update(n_passes=10**9)},
    "steps": {"change_progress": lambda progress: progress.update(n_steps=-1)},
    "losses": {"change_progress": lambda progress: progress.update(losses=["x"])},
    "end": {"change_progress": lambda progress: progress.pop("is_finished")},
    "entry": {"change_progress": lambda progress: progress.pop("n_worse")},
    "nan": {"change_arrays": lambda arrays: arrays["_source_vectors"].fill(np.nan)},
    "rows": {"change_arrays": lambda arrays: arrays.update(_source_vectors=arrays["_source_vectors"][1:].copy())},
    "missing": {"change_arrays": lambda arrays: arrays.pop("_source_vectors")},
    "other": {"change_arrays": lambda arrays: arrays.update(a=np.ones(2, np.float32))},
    "type": {"change_arrays": lambda arrays: arrays.update(_source_vectors=arrays["_source_vectors"].astype("f8"))},
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_checkpoint_is_refused(case, tmp_path):
    fit(make("CBOSVectorizer"), checkpoint=tmp_path / "state")
    forge(tmp_path / "state", **FORGED[case])
    model = make("CBOSVectorizer")
    with pytest.raises(ValueError, match=r"The checkpoint at .*state is damaged"):
        fit(model, checkpoint=tmp_path / "state")
    assert not hasattr(model, "vocabulary_")


def test_mutated_checkpoints_are_refused_or_end_with_the_same_bits(tmp_path):
    expected = learned(fit(make("CBOSVectorizer", max_iter=2)))
    with killed_after(2):
        fit(make("CBOSVectorizer", max_iter=2), checkpoint=tmp_path / "state")
    files = {file: file.read_bytes() for file in (tmp_path / "state").iterdir()}
    generator, n_refused = np.random.default_rng(0), 0
    for trial in range(60):
        for file, data in files.items():
            file.write_bytes(data)
        file, data = sorted(files.items())[trial % 2]
        changed = bytearray(data)
        for _ in range(generator.integers(1, 4)):
            changed[generator.integers(len(changed))] = generator.integers(256)
        file.write_bytes(changed[: generator.integers(len(changed) + 1)] if trial % 3 == 0 else changed)
        try:
            found = fit(make("CBOSVectorizer", max_iter=2), checkpoint=tmp_path / "state")
        except ValueError as error:
            assert "state" in str(error)
            n_refused += 1
        else:
            assert learned(found) == expected
    assert n_refused > 50


def test_a_checkpoint_that_another_fit_replaces_meanwhile_is_refused(tmp_path):
    fit(make("CBOSVectorizer"), checkpoint=tmp_path / "state")
    found = Checkpoint(tmp_path / "state")
    shutil.rmtree(tmp_path / "state")
    fit(make("CBOSVectorizer", learning_rate=0.2), checkpoint=tmp_path / "state")
    with pytest.raises(ValueError, match="Another fit has replaced the checkpoint"):
        found.read()


def test_settings_that_json_has_not(tmp_path):
    model = make("CBOSVectorizer", learning_rate=np.float32(0.1), window=np.int64(1), stop_words={"the"})
    with killed_after(2):
        fit(clone(model), checkpoint=tmp_path / "state")
    assert learned(fit(clone(model), checkpoint=tmp_path / "state")) == learned(fit(model))


def test_checkpoints_are_no_parameter(tmp_path):
    """Clones and searches know nothing of them; a pipeline passes them on."""
    model = make("Sent2VecVectorizer")
    assert "checkpoint" not in model.get_params()
    pipe = make_pipeline(model).fit(TEXT, sent2vecvectorizer__checkpoint=tmp_path / "state")
    assert learned(pipe[0]) == learned(make("Sent2VecVectorizer").fit(TEXT))
    assert os.listdir(tmp_path) == ["state"]
    rows = make("Sent2VecVectorizer").fit_transform(TEXT, checkpoint=tmp_path / "state")
    assert np.array_equal(rows, pipe.transform(TEXT))


def test_the_log_says_that_a_fit_goes_on(tmp_path, capsys):
    with killed_after(3):
        fit(make("CBOSVectorizer", max_iter=4, verbose=1), checkpoint=tmp_path / "state")
    capsys.readouterr()
    fit(make("CBOSVectorizer", max_iter=4, verbose=1), checkpoint=tmp_path / "state")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[CBOSVectorizer] pass 3/4, goes on from the checkpoint" and len(lines) == 3


PROGRAM = """
import resource, sys, time
import skembed
from skembed._training.checkpoint import Checkpoint

def fit(path, limit=None):
    text = [f"the cat sleeps on mat {i // 40}" for i in range(2000)]
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    model = skembed.CBOSVectorizer(50, max_iter=10, min_count=1, n_jobs=1, random_state=0)
    return model.fit(text, checkpoint=path)

if __name__ == "__main__":
    write = Checkpoint.write

    def write_and_wait(self, arrays, progress):
        write(self, arrays, progress)
        if progress.get("n_passes") == 3:
            print("has written", flush=True)
            time.sleep(600)

    Checkpoint.write = write_and_wait
    fit(sys.argv[1], *map(int, sys.argv[2:]))
"""


def program(*args):
    command = [sys.executable, "-c", PROGRAM, *map(str, args)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_a_process_that_was_killed_goes_on(tmp_path):
    here = {"__name__": "here"}
    exec(PROGRAM, here)
    expected = learned(here["fit"](None))
    _, error = program(tmp_path / "state", 10_000).communicate()  # the limit of a file stands for a full disk
    assert b"OSError: [Errno 27] The checkpoint cannot be saved to" in error, error
    assert passes_of(tmp_path / "state") == 0
    process = program(tmp_path / "state")
    assert process.stdout.readline() == b"has written\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert passes_of(tmp_path / "state") == 3
    assert learned(here["fit"](tmp_path / "state")) == expected
    assert passes_of(tmp_path / "state") == 10 and os.listdir(tmp_path) == ["state"]


def passes_of(path):
    try:
        return json.loads((path / "checkpoint.json").read_text())["progress"].get("n_passes", 0)
    except (OSError, ValueError):
        return 0


# -- estimators that learn the vectors inside --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("MeanEmbeddingVectorizer", {}),
        (
            "MeanEmbeddingVectorizer",
            {"n_components": 5, "word_vectors": skembed.Word2VecVectorizer(5, min_count=1, max_iter=3)},
        ),
    ],
)
@pytest.mark.parametrize("seed", [0, None])
def test_a_killed_fit_of_the_vectors_inside_ends_with_the_same_bits(name, options, seed, tmp_path):
    broken, state = make(name, **options).set_params(random_state=seed), tmp_path / "state"
    with killed_after(2):
        fit(broken, checkpoint=state)
    assert not hasattr(broken, "vocabulary_")
    n_passes = json.loads((state / "checkpoint.json").read_text())["progress"]["n_passes"]
    assert n_passes == 1
    rows = fit(clone(broken).set_params(n_jobs=2), checkpoint=state, checkpoint_every=2).transform(TEXT)
    again = fit(clone(broken), checkpoint=state)  # from a finished fit
    expected = fit(make(name, **options)) if seed == 0 else again
    for found in (rows, again.transform(TEXT)):
        assert dense(found).tobytes() == dense(expected.transform(TEXT)).tobytes()
    with pytest.raises(ValueError, match="is of another fit"):
        broken.fit(TEXT[1:], checkpoint=state)


def test_there_is_no_checkpoint_of_vectors_that_are_given(tmp_path):
    corpus, state = skembed.SentenceCorpus.from_sentences(TEXT, groups=GROUPS), tmp_path / "state"
    learned_before = skembed.CBOSVectorizer(5, min_count=1, max_iter=1).fit(corpus)
    joined = [skembed.CBOSVectorizer(5, min_count=1), skembed.Word2VecVectorizer(5, min_count=1)]
    for estimator, reason in (
        (skembed.MeanEmbeddingVectorizer(word_vectors=learned_before), "word_vectors has them already"),
        (skembed.MeanEmbeddingVectorizer(word_vectors=joined), "the fit of MetaEmbeddingVectorizer has none"),
    ):
        with pytest.raises(ValueError, match=reason):
            estimator.fit(corpus, checkpoint=state)
    assert not state.exists()
