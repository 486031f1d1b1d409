"""Learning in shards on a Dask cluster of processes: the same bits, also if a worker is killed."""

import os

import pytest
from estimators import GROUPS, TEXT, learned, make

from skembed._shards import rounds

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
