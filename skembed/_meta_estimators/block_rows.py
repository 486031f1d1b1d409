"""Rows of the blocks of TextVectorizer, without the checks of scikit-learn, which take longer than one row does."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from sklearn.feature_extraction.text import TfidfVectorizer

from .._validation.limits import INT32_MAX


def tfidf_rows(vectorizer: TfidfVectorizer, texts: list[str]) -> csr_array:
    """What `transform` of a vectorizer with ``sublinear_tf=True`` returns, up to rounding."""
    analyze, find = vectorizer.build_analyzer(), vectorizer.vocabulary_.get
    columns: list[int] = []
    counts: list[int] = []
    ends = [0]
    for text in texts:
        of_text: dict[int, int] = {}
        for term in analyze(text):
            column = find(term)
            if column is not None:
                of_text[column] = of_text.get(column, 0) + 1
        columns.extend(of_text)
        counts.extend(of_text.values())
        ends.append(len(columns))
    dtype = np.int32 if len(columns) <= INT32_MAX else np.int64
    entries = np.array(counts, np.float64), np.array(columns, dtype), np.array(ends, dtype)
    rows = csr_array(entries, shape=(len(texts), len(vectorizer.vocabulary_)))
    rows.sort_indices()
    values = (1 + np.log(rows.data)) * vectorizer.idf_[rows.indices]
    row = np.repeat(np.arange(len(texts)), np.diff(rows.indptr))
    lengths = np.sqrt(np.bincount(row, values**2, len(texts)))
    rows.data = (values / lengths[row]).astype(np.float32)
    return rows


def side_by_side(rows: dict[str, Any], weights: dict[str, float]) -> csr_array:
    """The rows of all blocks, each times the square root of its weight."""
    weighted: list[Any] = []
    for name, weight in weights.items():
        block, scale = rows[name], np.float32(weight**0.5)
        if not weight:
            weighted.append(csr_array(block.shape, dtype=np.float32))
        elif issparse(block):
            weighted.append(csr_array((block.data * scale, block.indices, block.indptr), block.shape))
        elif weighted and not issparse(weighted[-1]):
            weighted[-1] = np.hstack([weighted[-1], block * scale])
        else:
            weighted.append(block * scale)
    return hstack([csr_array(block) for block in weighted], format="csr")
