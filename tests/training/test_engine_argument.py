"""The argument `engine`: what it may be, and how many processes it starts.

These are `n_jobs`; as many as cores if that is None, unless joblib says otherwise.
"""

from types import SimpleNamespace

import joblib
import pytest
from estimators import GROUPS, TEXT, TRAINED_CLASSES, corpus, learned, make
from sklearn.model_selection import GridSearchCV

from skembed._shards.engines import Processes

pytestmark = pytest.mark.filterwarnings("ignore:n_shards=.* leaves each shard")


def test_processes_are_as_many_as_cores_but_no_more_than_shards():
    n_cores = joblib.cpu_count()
    cases = {(None,): n_cores, (-1,): n_cores, (None, 1): 1, (5,): 5, (5, 4): 4, (1, 4): 1}
    assert {case: Processes(*case).n_processes for case in cases} == cases


def test_a_context_of_joblib_decides():
    with joblib.parallel_config(n_jobs=7):
        assert [Processes(*case).n_processes for case in [(None,), (2,), (None, 4)]] == [7, 2, 4]


@pytest.mark.parametrize(("backend", "n_jobs", "found"), [("loky", 2, 1), ("threading", 2, 1), ("loky", 1, None)])
def test_workers_of_joblib_start_none(backend, n_jobs, found):
    """They share the cores; with one job there are no workers."""
    calls = [joblib.delayed(lambda: Processes(None).n_processes)()] * 2
    assert joblib.Parallel(n_jobs, backend)(calls) == [found or joblib.cpu_count()] * 2


def test_processes_learn_without_a_number_of_jobs(monkeypatch):
    model = make("CBOSVectorizer", n_shards=3, n_jobs=None)
    expected, seen, parallel = learned(model.fit(corpus())), set(), joblib.Parallel

    def noted(n_jobs, *args, **options):
        seen.add(n_jobs)
        return parallel(n_jobs, *args, **options)

    monkeypatch.setattr(joblib, "effective_n_jobs", {-1: 2}.__getitem__)
    monkeypatch.setattr(joblib, "Parallel", noted)
    assert learned(model.fit(corpus(), engine="processes")) == expected
    assert seen == {2}


def test_a_parallel_search_with_processes():
    model = make("CBOSVectorizer", n_shards=3, n_jobs=None)
    texts = [f"the cat sleeps on mat {i % 9}" for i in range(60)]
    search = GridSearchCV(model, {"window": [1, 2]}, scoring=score, cv=2, n_jobs=2, refit=False, error_score="raise")
    assert list(search.fit(texts, engine="processes").cv_results_["mean_test_score"]) == [1, 1]


def score(estimator, X, y=None):
    return Processes(estimator.n_jobs).n_processes


@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if "n_shards" not in make(name).get_params()])
def test_other_methods_refuse_an_engine(name):
    with pytest.raises(TypeError, match="engine"):
        make(name).fit(TEXT, groups=GROUPS, engine="processes")
    with pytest.raises(TypeError, match="n_shards"):
        type(make(name))(n_shards=2)


def test_wrong_engine():
    for n_shards in (None, 1, 2):
        with pytest.raises(ValueError, match="engine must be None, 'processes' or a client"):
            make("CBOSVectorizer", n_shards=n_shards).fit(corpus(), engine="threads")
    with pytest.warns(UserWarning, match="n_shards=None leaves nothing to an engine"):
        make("CBOSVectorizer").fit(corpus(), engine="processes")


@pytest.mark.parametrize(
    "engine, advice",
    [
        ("tcp://127.0.0.1:8786", r"Pass Client\('tcp://127.0.0.1:8786'\)\."),
        (SimpleNamespace(get_client=None), "Pass Client"),
    ],
    ids=["an address", "a cluster"],
)
def test_what_is_no_client_yet(engine, advice):
    with pytest.raises(ValueError, match=f"engine must be None, .*{advice}"):
        make("CBOSVectorizer", n_shards=2).fit(corpus(), engine=engine)
