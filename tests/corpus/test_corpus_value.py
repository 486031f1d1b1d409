"""A corpus as one value: shown, compared, hashed, searched over, pickled and sent, without a look at its sentences."""

import copy
import inspect
import os
import pickle
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import joblib
import joblib.externals.loky.backend.queues as loky_queues
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ParameterGrid, cross_val_score, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils._pprint import _changed_params

from skembed import CBOSVectorizer, SentenceCorpus

try:
    import cloudpickle
except ImportError:  # older versions of joblib bring it
    from joblib.externals import cloudpickle

N_SENTENCES = 150_000


def build(word):
    return SentenceCorpus.from_sentences([f"{word} {i % 977} sat on mat {i % 13} again" for i in range(N_SENTENCES)])


@pytest.fixture(scope="module")
def corpora():
    return build("cat"), build("dog")


@pytest.fixture
def untouched(monkeypatch):
    """Fail if more than a few of the 150,000 sentences are read; older versions of pandas show the first hundred."""
    calls = Counter()

    def read(self, key):
        calls.update(["__getitem__"])
        return ["a", "word"]

    monkeypatch.setattr(SentenceCorpus, "__getitem__", read)
    yield
    assert calls.total() < N_SENTENCES / 50


class Counts(TransformerMixin, BaseEstimator):
    """A stand-in for an estimator with a corpus, which it opens."""

    def __init__(self, corpus=None, scale=1):
        self.corpus = corpus
        self.scale = scale

    def fit(self, X, y=None):
        self.n_tokens_ = self.corpus.n_tokens
        return self

    def transform(self, X):
        return np.array([[len(x) * self.scale] for x in X])


X, y = ["a", "bb"] * 10, [0, 1] * 10


def pipeline(corpus):
    return make_pipeline(Counts(corpus), LogisticRegression())


# -- showing and searching ---------------------------------------------------------------------------------------------


def test_an_array_of_corpora_holds_them(corpora, untouched):
    first, second = corpora
    for made in (
        np.array([first, second]),
        np.asarray([first, second], dtype=object),
        np.ma.MaskedArray([first, second]),
    ):
        assert made.shape == (2,) and made.dtype == object and made[0] is first and made[1] is second
        repr(made), str(made)
    assert np.asarray(first).shape == () and np.asarray(first).item() is first
    assert np.array(first, copy=True)[()] is first and np.full(2, first)[1] is first
    with pytest.raises((TypeError, ValueError)):
        np.asarray(first, dtype=float)


def test_pandas_holds_corpora(corpora, untouched):
    first, second = corpora
    column = pd.Series([first, second, first])
    assert column[1] is second and column.value_counts()[first] == 2
    assert pd.Series(first).tolist() == [first]  # one value, as a string is
    table = pd.DataFrame({"corpus": [first, second], "score": [1, 2]})
    table["other"] = [second, first]
    assert table._repr_html_() and repr(table) and table.isna().sum().sum() == 0
    assert (table.corpus == first).tolist() == [True, False]


def test_estimators_that_hold_a_corpus(corpora, untouched):
    first, second = corpora
    for model in (CBOSVectorizer(corpus=first), make_pipeline(CBOSVectorizer(corpus=first), LogisticRegression())):
        assert "n_sentences=150000" in repr(model)
        assert "n_sentences=150000" in model._repr_html_()
        assert model.get_params()[[*filter(lambda name: name.endswith("corpus"), model.get_params())][0]] is first
        copy.deepcopy(clone(model))
    emb = CBOSVectorizer(corpus=first)
    assert clone(emb).corpus is first and repr(_changed_params(emb)) == repr({"corpus": first})
    assert emb.set_params(corpus=second).corpus is second
    search = GridSearchCV(emb, {"corpus": [first, second]})
    assert repr(search) and search._repr_html_() and len(ParameterGrid({"corpus": [first, second]})) == 2


def test_search_over_corpora(corpora, untouched):
    search = GridSearchCV(pipeline(None), {"counts__corpus": list(corpora)}, cv=2).fit(X, y)
    assert search.cv_results_["param_counts__corpus"].tolist() == list(corpora)
    assert search.best_params_["counts__corpus"] is corpora[0]
    assert pd.DataFrame(search.cv_results_)._repr_html_()
    repr(search), search._repr_html_(), repr(search.cv_results_)


def test_comparing(corpora, untouched, monkeypatch):
    made = []
    corpus_digest = SentenceCorpus.digest.fget.__globals__["corpus_digest"]
    monkeypatch.setattr("skembed._corpus.corpus.corpus_digest", lambda *args: made.append(1) or corpus_digest(*args))
    first, second, other = build("cat"), build("dog"), SentenceCorpus.from_sentences(["cat", "dog"])
    assert first != other and other not in [first, second] and first == first and not made
    assert first != second and len(made) == 2
    assert first == corpora[0] and hash(first) == hash(corpora[0]) and first in [second, corpora[0]]
    assert joblib.hash(first) == joblib.hash(corpora[0]) != joblib.hash(second)
    assert joblib.hash([first, {"a": second}]) == joblib.hash([corpora[0], {"a": corpora[1]}])
    assert len({first, second, *corpora}) == 2 and len(made) <= 4, "a digest is made once for each corpus"


def test_hash_of_joblib_is_of_the_text(corpora):
    corpus = build("cat")
    before = joblib.hash(corpus)
    assert corpus.digest and joblib.hash(corpus) == before == joblib.hash(corpora[0]) != joblib.hash(build("dog"))


def test_a_corpus_is_data_too(corpora):
    """It can be split, searched and cross-validated as before."""
    corpus = corpora[0][:60]
    labels = np.arange(60) % 2
    train, test, y_train, y_test = train_test_split(corpus, labels, random_state=0)
    assert isinstance(train, SentenceCorpus) and (len(train), len(test)) == (len(y_train), len(y_test)) == (45, 15)
    search = GridSearchCV(pipeline(corpus), {"counts__scale": [1, 2]}, cv=3).fit(corpus, labels)
    assert len(search.cv_results_["params"]) == 2
    assert cross_val_score(pipeline(corpus), corpus, labels, cv=3).shape == (3,)


# -- saving ------------------------------------------------------------------------------------------------------------


def _by_joblib(value, path):
    joblib.dump(value, path)
    return joblib.load(path)


def _by_skops(value, path):
    skops.io.dump(value, path)
    return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))


WAYS = {
    "pickle": lambda value, path: pickle.loads(pickle.dumps(value)),
    "pickle 2": lambda value, path: pickle.loads(pickle.dumps(value, protocol=2)),
    "joblib": _by_joblib,
    "joblib compressed": lambda value, path: joblib.load(joblib.dump(value, path, compress=3)[0]),
    "joblib mapped": lambda value, path: joblib.load(joblib.dump(value, path)[0], mmap_mode="r"),
    "cloudpickle": lambda value, path: pickle.loads(cloudpickle.dumps(value)),
    "skops": _by_skops,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_saved_is_whole(corpora, tmp_path, way):
    emb = CBOSVectorizer(corpus=corpora[0])
    assert sum(array.nbytes for array in corpora[0]._content.arrays()) > 4 << 20
    again = WAYS[way](emb, tmp_path / "model").corpus
    assert again is not corpora[0] and again.path is None and again == corpora[0] and again[7] == corpora[0][7]
    for array, expected in zip(again._content.arrays(), corpora[0]._content.arrays()):
        assert type(array) is np.ndarray and array.tobytes() == expected.tobytes()


SAVE = f"""
import joblib, sys
from skembed import CBOSVectorizer, SentenceCorpus
N_SENTENCES = {N_SENTENCES}
{inspect.getsource(build)}
joblib.dump(CBOSVectorizer(corpus=build('cat')), sys.argv[1])
"""


def test_it_is_whole_when_the_process_that_saved_it_is_gone(corpora, tmp_path):
    """The text must not lie in a folder of that process."""
    command = [sys.executable, "-c", SAVE, str(tmp_path / "model")]
    subprocess.run(command, cwd=Path(__file__).resolve().parents[2], check=True)
    assert joblib.load(tmp_path / "model").corpus == corpora[0]


def test_a_corpus_on_disk_is_saved_as_its_path(corpora, tmp_path):
    corpora[0].save(tmp_path / "c")
    stored = SentenceCorpus.load(tmp_path / "c")
    for way in ("pickle", "joblib", "cloudpickle"):
        again = WAYS[way](CBOSVectorizer(corpus=stored), tmp_path / "model").corpus
        assert again.path == str(tmp_path / "c") and again == stored
    assert os.path.getsize(tmp_path / "model") < 5000
    whole = _by_skops(CBOSVectorizer(corpus=joblib.load(tmp_path / "model").corpus), tmp_path / "model.skops").corpus
    again = joblib.load(tmp_path / "model").corpus
    del stored
    shutil.rmtree(tmp_path / "c")
    with pytest.raises(FileNotFoundError, match=r"memory map of the folder .*c, which is gone\. Put the folder back"):
        len(again)
    assert whole.path is None and whole == corpora[0] and pickle.loads(pickle.dumps(whole)) == corpora[0]


# -- workers -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch):
    """Bytes of each message to the processes of joblib."""
    sizes, dumps = [], loky_queues.dumps

    def counting(*args, **kwargs):
        data = dumps(*args, **kwargs)
        sizes.append(len(bytes(data)))
        return data

    monkeypatch.setattr(loky_queues, "dumps", counting)
    return sizes


def test_a_search_does_not_send_the_text_with_each_task(corpora, sent):
    grid = {"counts__scale": [1, 2, 3], "counts__corpus": list(corpora)}
    search = GridSearchCV(pipeline(None), grid, cv=2, n_jobs=2).fit(X, y)
    assert search.best_estimator_[0].n_tokens_ == corpora[0].n_tokens
    assert len(sent) >= 4, "the messages were counted"
    assert max(sent) < 500_000, "the arrays of each corpus take millions of bytes"


def test_what_comes_back_from_a_worker_is_whole(corpora):
    found = cross_validate(pipeline(corpora[0]), X, y, cv=2, n_jobs=2, return_estimator=True)
    for model in found["estimator"]:
        assert model[0].n_tokens_ == corpora[0].n_tokens
        assert model[0].corpus == corpora[0] and model[0].corpus[3] == corpora[0][3]


def _look(corpus):
    return os.getpid(), corpus[5], isinstance(corpus.tokens.base, np.memmap), type(corpus.tokens)


def test_workers_share_one_file(corpora):
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_look)(corpus) for corpus in [*corpora, *corpora])
    for (pid, words, mapped, kind), corpus in zip(found, [*corpora, *corpora]):
        assert pid != os.getpid() and words == corpus[5] and mapped and kind is np.ndarray
