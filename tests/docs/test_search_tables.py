"""What the benchmarks of small texts and of paraphrase groups compute from their rows, on made-up ones."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

pd = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "benchmarks" / "quality")


def test_small_texts_compare_the_same_seed():
    import small_texts

    scores = {("the defaults", 0): 50.0, ("the defaults", 1): 60.0, ("window=2", 0): 51.0, ("window=2", 1): 63.0}
    # A text that one of the two was not learned from, and seeds in another order, change nothing.
    rows = [["CBOS", name, "a", seed, *[score] * 5] for (name, seed), score in reversed(scores.items())]
    rows = pd.DataFrame([*rows, ["CBOS", "the defaults", "b", 0, *[9.0] * 5]], columns=small_texts.COLUMNS)
    changes = small_texts.changes_of(rows)
    assert changes.index.tolist() == [("CBOS", "window=2", "a")]
    np.testing.assert_allclose(changes, 2.0)


def test_turned_rows_keep_their_distances():
    import msrp_groups

    rows = sparse.random(12, 40, density=0.3, random_state=0, format="csr")
    turned = msrp_groups.turned(rows)
    assert turned.shape == (12, 12)
    np.testing.assert_allclose(euclidean_distances(turned), euclidean_distances(rows), atol=1e-7)
    assert msrp_groups.turned(turned) is turned


def test_squares_within_clusters():
    import msrp_groups

    rows = np.array([[0.0, 0.0], [2.0, 0.0], [5.0, 5.0]])
    assert msrp_groups.squares_within(rows, np.array([7, 7, 3])) == 2.0


def test_a_group_is_found_if_it_is_one_cluster_by_itself():
    import msrp_groups

    groups = np.array([0, 0, 1, 1, 2, 2])
    assert msrp_groups.mistaken_groups(groups, np.array([5, 5, 6, 7, 8, 8])) == {1}
    assert msrp_groups.mistaken_groups(groups, np.array([5, 5, 6, 6, 6, 8])) == {1, 2}
