"""The recipes of the pages: a search service, and hybrid search in a vector database; where their packages are."""

import importlib
import sys
from pathlib import Path

import pytest

from skembed import SearchIndex

RECIPES = Path(__file__).parents[2] / "examples" / "search"
DOCUMENTS = [
    "the cat drinks milk in the house",
    "a dog eats meat near the river",
    "the bank lends money to the company",
    "money flows like a river",
    "cats and dogs sleep at home",
] * 4


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.syspath_prepend(RECIPES)
    loaded = []

    def load(name):
        loaded.append(name)
        return importlib.import_module(name)

    yield load
    for name in loaded:
        sys.modules.pop(name, None)


@pytest.fixture
def index():
    return SearchIndex(8, random_state=0).fit(DOCUMENTS)


def test_service(recipe, index, monkeypatch, tmp_path):
    pytest.importorskip("fastapi", reason="fastapi is not installed")
    testing = pytest.importorskip("fastapi.testclient", reason="httpx is not installed", exc_type=Exception)
    index.save(tmp_path / "index")
    monkeypatch.setenv("INDEX", str(tmp_path / "index"))
    client = testing.TestClient(recipe("service").app)
    rows, scores = index.search(["bank money"], k=3)
    found = client.get("/search", params={"q": "bank money", "k": 3}).json()
    assert [each["row"] for each in found] == rows[0].tolist()
    assert [each["score"] for each in found] == pytest.approx(scores[0].tolist())
    assert client.get("/search", params={"q": "unheard"}).json() == []
    for wrong in ({}, {"q": "bank", "k": 0}, {"q": "bank", "k": 10**9}):
        assert client.get("/search", params=wrong).status_code == 422


def test_vector_database(recipe, index):
    qdrant = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    database = recipe("vector_database")
    client = qdrant.QdrantClient(":memory:")
    database.fill(client, "documents", index, DOCUMENTS)
    found = database.search(client, "documents", index, "bank money", k=4)
    assert {point.payload["text"] for point in found} == {DOCUMENTS[2]}
    # its BM25 alone ranks as ours does
    models = qdrant.models
    bm25 = index.to_sparse(["cat milk river"])
    asked = models.SparseVector(indices=bm25.indices.tolist(), values=bm25.data.tolist())
    points = client.query_points("documents", query=asked, using="bm25", limit=20).points
    rows, scores = index.set_params(vector_weight=0).search(["cat milk river"], k=20)
    ours = dict(zip(rows[0].tolist(), scores[0].tolist()))
    assert [point.score for point in points] == pytest.approx([ours[point.id] for point in points], rel=1e-5)
    assert {point.id for point in points} == set(ours) - {-1}
