"""A search index as a web service, whose processes share one copy of the index.

pip install fastapi uvicorn skembed
INDEX=index uvicorn service:app --workers 4
"""

import os

from fastapi import FastAPI, Query

from skembed import SearchIndex

index = SearchIndex.load(os.environ.get("INDEX", "index"), mmap=True)
index.search(["warm up"])  # compiles before the first user comes
app = FastAPI()


@app.get("/search")
def search(q: str = Query(max_length=1000), k: int = Query(10, ge=1, le=100)):
    rows, scores = index.search([q], k=k)
    found = zip(rows[0].tolist(), scores[0].tolist())
    return [{"row": row, "score": score} for row, score in found if row >= 0]
