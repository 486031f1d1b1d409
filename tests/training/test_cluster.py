"""Learning in shards on a Dask cluster of processes: the same bits, also if a worker is killed."""

import asyncio
import os

import pytest
from estimators import GROUPS, TEXT, learned, make

from skembed._shards import engines, rounds

pytest.importorskip("distributed")
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", ["CBOSVectorizer", "ParagraphVectorizer"])
def test_a_cluster_changes_no_bit(client, name):
    expected = learned(make(name, n_shards=3).fit(TEXT, groups=GROUPS))
    assert learned(make(name, n_shards=3).fit(TEXT, groups=GROUPS, engine=client)) == expected


def test_a_killed_worker_costs_no_bit(client, tmp_path, monkeypatch):
    expected = learned(make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS))
    flag, learn = str(tmp_path / "killed"), rounds.learn

    def killed_once(job, tasks):
        if not os.path.exists(flag):
            open(flag, "w").close()
            os._exit(1)
        return learn(job, tasks)

    monkeypatch.setattr(rounds, "learn", killed_once)
    assert learned(make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=client)) == expected
    assert os.path.exists(flag)


def test_workers_that_may_compute_other_bits_are_named_once(cluster, client, monkeypatch):
    import numba

    monkeypatch.setattr(numba, "__version__", "0.0")  # of this process alone
    engine = engines.engine_of(client, None)
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


def test_a_cluster_without_workers():
    from distributed import Client

    with Client(n_workers=0, processes=False, dashboard_address=":0") as client:
        with pytest.raises(ValueError, match=r"without workers. .* before fit: client.wait_for_workers\(n\)"):
            make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=client)


def test_an_asynchronous_client():
    from distributed import Client

    async def fit():
        options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
        async with Client(asynchronous=True, **options) as client:
            make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=client)

    with pytest.raises(ValueError, match="engine is an asynchronous client, and fit waits for"):
        asyncio.run(fit())


def test_a_client_that_is_closed(cluster):
    from distributed import Client

    closed = Client(cluster)
    closed.close()
    with pytest.raises(ValueError, match="engine is a client that is closed"):
        make("CBOSVectorizer", n_shards=3).fit(TEXT, groups=GROUPS, engine=closed)
