"""One estimator in several threads, and estimators of classes that others derive: nothing is mixed, lost or refused."""

import copy
import os
import pickle
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from estimators import GROUPS, METHODS, OTHER_TEXT, TEXT, bits, dense, fitted, learned, make
from sklearn.base import clone

from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer, SentenceCorpus
from skembed._base import embedding, queries
from skembed._base.pooled import PooledVectorizer
from skembed._base.trained import TrainedVectorizer
from skembed._methods import bow_pca

ROOT = Path(__file__).resolve().parents[2]
HANGS_AFTER = 120  # seconds; far above what any of these takes


class Stop:
    """A point in a method at which the first thread waits until another one has done something meanwhile."""

    def __init__(self, monkeypatch, cls, method):
        self.there, self.resume = threading.Event(), threading.Event()
        original = getattr(cls, method)

        def stop_once(*args, **kwargs):
            if not self.there.is_set():
                self.there.set()
                assert self.resume.wait(HANGS_AFTER)
            return original(*args, **kwargs)

        monkeypatch.setattr(cls, method, stop_once)

    def during(self, call, meanwhile):
        """Return what `call` gives if `meanwhile` is done while it stands there."""
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(call)
            try:
                assert self.there.wait(HANGS_AFTER)
                meanwhile()
            finally:
                self.resume.set()
            return future.result()


OTHER = [sentence.replace("cat", "parrot") + " tiger lion" for sentence in TEXT[::-1]]


def refit(estimator):
    """Another text, another size: nothing of the old model fits to anything of the new one."""
    if "n_components" in estimator.get_params() and estimator.n_components:
        estimator.set_params(n_components=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(OTHER)


READS = {
    "transform": lambda e: e.transform(OTHER_TEXT),
    "similarity": lambda e: e.similarity(OTHER_TEXT, TEXT[:8]),
    "explain": lambda e: e.explain(TEXT[0], TEXT[4]).contributions,
    "most_similar": lambda e: e.most_similar(["cat dog", "cat rain"]),
    "coverage": lambda e: e.coverage(OTHER_TEXT),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", ["CBOSVectorizer-stem", "Sent2VecVectorizer-hash", "MeanEmbeddingVectorizer-spelled"])
def test_a_reader_sees_one_state_while_another_thread_fits(monkeypatch, name, read):
    estimator = make(name).fit(TEXT, groups=GROUPS)
    expected = READS[read](estimator)
    place, method = {"explain": (queries, "_feature_names"), "coverage": (embedding, "encode_batch")}.get(
        read, (PooledVectorizer, "_pool")
    )
    found = Stop(monkeypatch, place, method).during(lambda: READS[read](estimator), lambda: refit(estimator))
    assert bits(found) == bits(expected)
    assert estimator.n_features_out_ == 5


@pytest.mark.parametrize("n_components", [8, None])
def test_bags_see_one_state_while_another_thread_fits(monkeypatch, n_components):
    estimator = BOWPCA(n_components, weighting="idf", random_state=0).fit(TEXT)
    expected = estimator.transform(OTHER_TEXT)
    stop = Stop(monkeypatch, bow_pca, "_weighted_counts")
    found = stop.during(lambda: estimator.transform(OTHER_TEXT), lambda: refit(estimator))
    assert bits(found) == bits(expected)


def test_vectors_and_words_taken_from_an_estimator_are_of_one_fit(monkeypatch):
    source = Sent2VecVectorizer(8, min_count=1, random_state=0).fit(TEXT)
    expected = MeanEmbeddingVectorizer(word_vectors=[source]).fit(TEXT)
    import skembed._word_vectors.read as module

    stop = Stop(monkeypatch, module, "_as_vectors")
    model = MeanEmbeddingVectorizer(word_vectors=[source])
    stop.during(lambda: model.fit(TEXT), lambda: refit(source))
    assert bits(model.word_vectors_) == bits(expected.word_vectors_)


@pytest.mark.parametrize("name", ["CBOSVectorizer", "MeanEmbeddingVectorizer-given", "BOWPCA"])
def test_a_fit_takes_effect_all_at_once(monkeypatch, name):
    """Whoever looks at the estimator at any moment has all of the old model or all of the new one."""
    estimator = make(name).fit(TEXT, groups=GROUPS)
    seen = []

    def state():  # without what scikit-learn notes of callbacks
        return {name: value for name, value in learned(estimator).items() if "callback" not in name}

    class Watched(type(estimator)):
        def __setattr__(self, attribute, value):
            super().__setattr__(attribute, value)
            if self is estimator:
                seen.append(state())

    before = state()
    estimator.__class__ = Watched
    estimator.fit(OTHER)
    after = state()
    assert seen and before != after
    assert all(found in (before, after) for found in seen)


def test_a_fit_within_a_fit():
    class TwoPasses(CBOSVectorizer):
        def fit(self, X, y=None, *, groups=None):
            super().fit(X, y, groups=groups)
            return self.partial_fit(X, y, groups=groups)

    joined = MeanEmbeddingVectorizer(word_vectors=[TwoPasses(8, min_count=1, random_state=0)], random_state=0)
    assert len(joined.fit(TEXT).word_vectors_) > 10
    assert TwoPasses(8, min_count=1, max_iter=2).fit(TEXT).n_iter_ == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_while_another_thread_fits():
    code = f"""
import os, sys, threading, warnings
sys.path[:0] = {[str(ROOT / "tests"), str(ROOT)]}
warnings.simplefilter("ignore")  # Python warns of forks with threads
from estimators import TEXT, make
from skembed._base.trained import TrainedVectorizer
estimator = make("CBOSVectorizer-stem").fit(TEXT)
rows = estimator.transform(TEXT).tobytes()
inside, resume = threading.Event(), threading.Event()
original = TrainedVectorizer._learn_vocabulary
def wait(self, *args):
    inside.set()
    resume.wait()
    return original(self, *args)
TrainedVectorizer._learn_vocabulary = wait
thread = threading.Thread(target=estimator.fit, args=(TEXT,))
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    TrainedVectorizer._learn_vocabulary = original
    os._exit(0 if estimator.transform(TEXT).tobytes() == rows and estimator.partial_fit(TEXT).n_iter_ == 3 else 1)
status = os.waitpid(child, 0)[1]
resume.set()
thread.join()
print(status)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.strip() == "0", done.stderr[-2000:]


@pytest.mark.parametrize("name", METHODS)
def test_what_lies_beside_an_estimator_is_no_part_of_it(name):
    estimator = make(name).fit(TEXT, groups=GROUPS)
    before, size = set(vars(estimator)), len(pickle.dumps(estimator))
    estimator.transform(OTHER_TEXT)
    assert set(vars(estimator)) == before and len(pickle.dumps(estimator)) == size
    assert "known_tokens" in vars(estimator._state)
    assert "known_tokens" not in vars(copy.deepcopy(estimator)._state) and not hasattr(clone(estimator), "vocabulary_")


# -- derived classes -------------------------------------------------------------------------------------------------


class Required(CBOSVectorizer):
    """One with an argument that has no default, as scikit-learn allows."""

    def __init__(self, flavour, n_components=8, *, min_count=2, stemmer=str.upper, corpus=None, max_iter=1):
        super().__init__(n_components, min_count=min_count, stemmer=stemmer, corpus=corpus, max_iter=max_iter)
        self.flavour = flavour


class Equal(CBOSVectorizer):
    """Python gives a class with an `__eq__` no hash."""

    def __eq__(self, other):
        return type(self) is type(other)


class Empty(CBOSVectorizer):
    def __len__(self):
        return 0


class Slotted(CBOSVectorizer):
    __slots__ = ("extra",)

    def _pool(self, *args):
        assert self.extra == "here"
        return super()._pool(*args)


class Delegating(CBOSVectorizer):
    def __getattr__(self, name):
        if name == "nickname":
            return "cbos"
        raise AttributeError(name)


def test_a_required_argument_and_a_corpus():
    corpus = SentenceCorpus.from_sentences(TEXT, min_count=3)
    # Defaults are those of the class: it takes over what the corpus was made with.
    model = Required("sweet", corpus=corpus).fit([])
    assert model.transform(TEXT).shape == (len(TEXT), 8)
    assert Required("sweet").fit(corpus).word_counts_.min() >= 3
    with pytest.raises(ValueError, match="min_count=1 contradicts corpus"):
        Required("sweet", min_count=1, corpus=corpus).fit([])
    with pytest.raises(ValueError, match="stemmer=.* contradicts corpus"):
        Required("sweet", stemmer=str.title, corpus=corpus).fit([])


def test_a_min_count_without_a_default():
    class Strict(CBOSVectorizer):
        def __init__(self, min_count, corpus=None):
            super().__init__(8, min_count=min_count, corpus=corpus)

    corpus = SentenceCorpus.from_sentences(TEXT, min_count=3)
    assert Strict(3, corpus=corpus).fit([]).word_counts_.min() >= 3
    with pytest.raises(ValueError, match="min_count=2 contradicts corpus"):
        Strict(2, corpus=corpus).fit([])


@pytest.mark.filterwarnings("ignore:Only .* have a vector")  # the vectors are of stems, the text of the last fit is not
@pytest.mark.parametrize("cls", [Equal, Empty, Slotted, Delegating], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("options", [{}, {"stemmer": str.upper}, {"token_pattern": r"\w+"}], ids=str)
def test_derived_classes_do_what_their_base_does(cls, options):
    options = {"n_components": 8, "min_count": 1, "random_state": 0, **options}
    expected = CBOSVectorizer(**options).fit(TEXT, groups=GROUPS)
    model = cls(**options)
    if cls is Slotted:
        model.extra = "here"
    model.fit(TEXT, groups=GROUPS)
    assert model.transform(OTHER_TEXT).tobytes() == expected.transform(OTHER_TEXT).tobytes()
    assert (
        model.transform(
            SentenceCorpus.from_sentences(
                TEXT, **{k: v for k, v in options.items() if k in ("stemmer", "token_pattern")}
            )
        ).tobytes()
        == expected.transform(TEXT).tobytes()
    )
    assert model.most_similar("cat") == expected.most_similar("cat")
    assert model.similarity(TEXT, TEXT[::-1]).tolist() == expected.similarity(TEXT, TEXT[::-1]).tolist()
    assert model.estimate_memory(TEXT) == expected.estimate_memory(TEXT)
    assert bits(copy.copy(model).word_vectors_) == bits(expected.word_vectors_)
    if cls is not Slotted:  # scikit-learn refuses to pickle what has slots
        assert bits(pickle.loads(pickle.dumps(model)).transform(TEXT)) == bits(expected.transform(TEXT))
    joined = MeanEmbeddingVectorizer(word_vectors=[model], unknown="zero").fit(TEXT)
    assert joined.vocabulary_ == expected.vocabulary_


def test_estimators_that_are_equal_are_not_mixed_up():
    first, second = (Equal(8, min_count=1, random_state=seed).fit(text) for seed, text in ((0, TEXT), (1, OTHER)))
    rows = [first.transform(TEXT), second.transform(TEXT), first.transform(TEXT)]
    assert bits(rows[0]) == bits(rows[2]) != bits(rows[1])
    by_estimator = {make("CBOSVectorizer"): 1}
    assert list(by_estimator.values()) == [1]


def test_an_attribute_that_is_set_while_it_fits_stays(monkeypatch):
    estimator = make("CBOSVectorizer")
    original = TrainedVectorizer._learn_vocabulary

    def note(self, *args):
        self.remark = "set meanwhile"
        return original(self, *args)

    monkeypatch.setattr(TrainedVectorizer, "_learn_vocabulary", note)
    assert estimator.fit(TEXT).remark == "set meanwhile"


def test_many_readers_while_one_estimator_is_fitted_again_and_again():
    estimator = make("CBOSVectorizer-stem").fit(TEXT)
    allowed = set()
    for seed in range(3):
        allowed.add(clone(estimator).set_params(random_state=seed).fit(TEXT).transform(OTHER_TEXT).tobytes())
    stop = threading.Event()
    found = set()

    def read():
        while not stop.is_set():
            found.add(dense(estimator.transform(OTHER_TEXT)).tobytes())

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for seed in [0, 1, 2] * 5:
                estimator.set_params(random_state=seed).fit(TEXT)
        finally:
            stop.set()
        for reader in readers:
            reader.result()
    assert found <= allowed
    assert np.isfinite(estimator.transform(TEXT)).all() and fitted("BOWPCA") is not None
