"""Hybrid search in a vector database: BM25 and learned vectors of a SearchIndex, in Qdrant.

pip install qdrant-client skembed
"""

from qdrant_client import QdrantClient, models

from skembed import SearchIndex


def sparse(row):
    """One row of a sparse matrix, as the database takes it."""
    return models.SparseVector(indices=row.indices.tolist(), values=row.data.tolist())


def fill(
    client: QdrantClient, name: str, index: SearchIndex, documents: list[str]
) -> None:
    """Write documents, with BM25 as sparse vectors and the learned ones as dense vectors."""
    bm25, dense = index.to_sparse(), index.to_dense()
    client.create_collection(
        name,
        vectors_config={
            "dense": models.VectorParams(
                size=dense.shape[1], distance=models.Distance.DOT
            )
        },
        sparse_vectors_config={"bm25": models.SparseVectorParams()},
    )
    points = [
        models.PointStruct(
            id=row,
            vector={"dense": dense[row].tolist(), "bm25": sparse(bm25[[row]])},
            payload={"text": text},
        )
        for row, text in enumerate(documents)
    ]
    client.upsert(name, points)


def search(
    client: QdrantClient, name: str, index: SearchIndex, query: str, k: int = 10
) -> list[models.ScoredPoint]:
    """Find the best documents by the ranks of both."""
    bm25, dense = index.to_sparse([query]), index.to_dense([query])
    both = [
        models.Prefetch(query=sparse(bm25), using="bm25", limit=100),
        models.Prefetch(query=dense[0].tolist(), using="dense", limit=100),
    ]
    return client.query_points(
        name,
        prefetch=both,
        query=models.FusionQuery(fusion=models.Fusion.DBSF),
        limit=k,
    ).points
