"""Fixtures that several test modules use."""

import pytest


@pytest.fixture
def two_halves(monkeypatch):
    """Groups of one row: the words of a tiny vocabulary would be in one group, and so in one half."""
    monkeypatch.setattr("skembed._training.updates.ROWS_PER_GROUP", 1)


@pytest.fixture
def close_figures():
    """Close the figures of a test when it ends."""
    from matplotlib import pyplot

    yield
    pyplot.close("all")
