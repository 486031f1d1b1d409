"""Fixtures that several test modules use."""

from contextlib import suppress

import pytest


@pytest.fixture
def two_halves(monkeypatch):
    """Groups of one row: the words of a tiny vocabulary would be in one group, and so in one half."""
    monkeypatch.setattr("skembed._training.learned_arrays.ROWS_PER_GROUP", 1)


@pytest.fixture
def close_figures():
    """Close the figures of a test when it ends."""
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture(scope="session")
def cluster():
    """A Dask cluster of processes on this machine; a test scales it, and makes its client."""
    from distributed import LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    yield cluster
    with suppress(KeyError):  # it may have forgotten the workers that tests have killed
        cluster.close()


@pytest.fixture
def client(cluster):
    """A client of the cluster, for one test."""
    with cluster.get_client() as client:
        yield client
