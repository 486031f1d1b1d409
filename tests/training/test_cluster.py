"""Learning in shards on a Dask cluster of processes: the same bits, also if a worker is killed."""

import asyncio
import os
import warnings

import pytest
from estimators import GROUPS, TEXT, corpus, learned, make

from skembed import SentenceCorpus
from skembed._shards import dask_cluster, engines, plan, rounds
from skembed._shards.plan import TokenSpans

pytest.importorskip("distributed")
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", ["CBOSVectorizer", "ParagraphVectorizer"])
def test_a_cluster_changes_no_bit(client, name):
    expected = learned(make(name, n_shards=3).fit(TEXT, groups=GROUPS))
    assert learned(make(name, n_shards=3).fit(TEXT, groups=GROUPS, engine=client)) == expected


@pytest.mark.parametrize("n_before", [0, 5], ids=["in the first round", "in a later one"])
def test_a_killed_worker_costs_no_bit(client, tmp_path, monkeypatch, n_before):
    expected = learned(make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS))
    log, learn = tmp_path / "calls", rounds.learn
    log.touch()

    def killed_once(job, tasks):
        with log.open("a+") as file:
            file.write(".")
        if log.stat().st_size == n_before + 1:
            os._exit(1)
        return learn(job, tasks)

    monkeypatch.setattr(rounds, "learn", killed_once)
    assert learned(make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=client)) == expected
    assert log.stat().st_size > n_before + 1


def test_rows_are_sent_once_in_a_pass(client, monkeypatch):
    sent, scatter = [], client.scatter

    def counted(items, **options):
        sent.extend(isinstance(item, rounds.Job) for item in items)
        return scatter(items, **options)

    monkeypatch.setattr(client, "scatter", counted)
    make("CBOSVectorizer", n_shards=3, max_iter=2).fit(TEXT, groups=GROUPS, engine=client)
    assert sum(sent) == 2 < len(sent)


@pytest.fixture
def mapped(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "LARGE", 1)
    corpus().save(tmp_path / "corpus")
    return SentenceCorpus.load(tmp_path / "corpus")


def sent_tokens(client, monkeypatch):
    """The tokens of tasks, as they are sent from now on."""
    sent, scatter = [], client.scatter

    def noted(items, **options):
        sent.extend(task.shard.tokens for item in items if isinstance(item, list) for task in item)
        return scatter(items, **options)

    monkeypatch.setattr(client, "scatter", noted)
    return sent


def test_tokens_stay_in_a_file_that_all_workers_read(client, monkeypatch, mapped):
    expected = learned(make("CBOSVectorizer", n_shards=3).fit(corpus()))
    sent = sent_tokens(client, monkeypatch)
    assert learned(make("CBOSVectorizer", n_shards=3).fit(mapped, engine=client)) == expected
    assert sent
    assert all(isinstance(tokens, TokenSpans) for tokens in sent)


@pytest.mark.parametrize("when", ["at first", "when a worker joins"])
def test_tokens_are_sent_where_a_worker_has_no_such_file(client, monkeypatch, mapped, when):
    expected = learned(make("CBOSVectorizer", n_shards=3).fit(corpus()))
    file = plan.file_of(mapped.tokens)._replace(digest=b"another file")
    monkeypatch.setattr(dask_cluster, "file_of", lambda tokens: file)
    if when == "when a worker joins":
        monkeypatch.setattr(dask_cluster.Dask, "_file_that_all_read", lambda self, tokens: file)
    sent = sent_tokens(client, monkeypatch)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert learned(make("CBOSVectorizer", n_shards=3).fit(mapped, engine=client)) == expected
    told = [str(one.message) for one in found if "no longer reads the corpus" in str(one.message)]
    assert len(told) == (when == "when a worker joins")
    in_file = [isinstance(tokens, TokenSpans) for tokens in sent]
    assert any(in_file) == (when == "when a worker joins")
    assert not in_file[-1]


@pytest.mark.parametrize(
    "name, error",
    [("scatter", KeyError("tcp://lost")), ("scatter", OSError("Timed out")), ("run", OSError("Timed out"))],
)
def test_a_worker_that_is_lost_while_it_is_asked_or_sent_something(client, monkeypatch, mapped, name, error):
    expected = learned(make("CBOSVectorizer", n_shards=3).fit(corpus()))
    call, calls = getattr(client, name), []

    def failing(*args, **options):
        calls.append(args)
        if len(calls) == 2:
            raise error
        return call(*args, **options)

    monkeypatch.setattr(client, name, failing)
    monkeypatch.setattr(dask_cluster, "_PAUSE", 0)
    assert learned(make("CBOSVectorizer", n_shards=3).fit(mapped, engine=client)) == expected
    assert len(calls) > 2


def test_workers_that_may_compute_other_bits_are_named_once(cluster, client, monkeypatch):
    import numba

    monkeypatch.setattr(numba, "__version__", "0.0")  # of this process alone
    engine = engines.engine_of(client)
    with pytest.warns(
        UserWarning, match="of the cluster may compute other bits .* this process .*'numba': '0.0'"
    ) as found:
        for _ in range(2):
            engine._compare_workers()
    assert len(found) == 1
    before = set(client.nthreads())
    cluster.scale(len(before) + 1)
    client.wait_for_workers(len(before) + 1)
    (new,) = set(client.nthreads()) - before
    with pytest.warns(UserWarning, match=f"1 workers of the cluster may compute .*{new} has"):
        engine._compare_workers()


def test_workers_that_are_threads_of_this_process():
    """They read the rows of this process, which goes on to change them."""
    from distributed import Client

    expected = learned(make("CBOSVectorizer", n_shards=3, max_iter=4).fit(TEXT, groups=GROUPS))
    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        for _ in range(3):
            fitted = make("CBOSVectorizer", n_shards=3, max_iter=4).fit(TEXT, groups=GROUPS, engine=client)
            assert learned(fitted) == expected


def test_a_client_that_is_closed_during_the_fit(cluster, monkeypatch):
    from distributed import Client

    client, estimator = Client(cluster), make("CBOSVectorizer", n_shards=3)
    advance = rounds.advance

    def close(job, changes):
        client.close()
        return advance(job, changes)

    monkeypatch.setattr(rounds, "advance", close)
    with pytest.raises(RuntimeError, match="or its cluster, was closed during the fit. The estimator is unchanged"):
        estimator.fit(TEXT, groups=GROUPS, engine=client)
    assert not hasattr(estimator, "vocabulary_")


def test_a_cluster_without_workers():
    from distributed import Client

    with Client(n_workers=0, processes=False, dashboard_address=":0") as client:
        with pytest.raises(ValueError, match=r"without workers. .* before fit: client.wait_for_workers\(n\)"):
            make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=client)


@pytest.mark.parametrize(
    "later, fault",
    [
        ({}, "The cluster has no workers any more, .* is unchanged. With a checkpoint, "),
        ({"tcp://two": 1}, "Workers of the cluster were lost 3 times in a row in one round, .* is unchanged"),
    ],
)
def test_a_cluster_that_loses_its_workers(monkeypatch, later, fault):
    monkeypatch.setattr(dask_cluster, "_PAUSE", 0)
    found = iter([{"tcp://one": 1}])

    class Client:
        status = "running"

        def nthreads(self):
            return next(found, later)

        def run(self, question, workers):
            return {worker: question() for worker in workers}

        def scatter(self, items, **options):
            raise TimeoutError("No valid workers found")

    engine = dask_cluster.Dask(Client())
    engine.begin(lambda common, changes: common)
    with pytest.raises(RuntimeError, match=fault):
        engine.reduce(None, None, None, list, 1)


def test_an_asynchronous_client():
    from distributed import Client

    async def fit():
        options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
        async with Client(asynchronous=True, **options) as client:
            make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=client)

    with pytest.raises(ValueError, match="engine is an asynchronous client, and this call waits"):
        asyncio.run(fit())


def test_a_client_that_is_closed(cluster):
    from distributed import Client

    closed = Client(cluster)
    closed.close()
    with pytest.raises(ValueError, match="engine is a client that is closed"):
        make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=closed)
