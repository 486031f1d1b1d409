"""Vectors of sentence pairs, from anything that has `transform`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.sparse import hstack
from sklearn.utils import Bunch

from .._corpus.input import as_labelled, sentences_for
from .._validation.columns import Labelled, Matrix, Rows, Sentences, as_matrix, as_scores, check_same_length, is_sparse
from .._validation.messages import brief
from ..metrics import paired_cosine_similarity

__all__ = ["pair_features"]


class Model(Protocol):
    """Makes rows of sentences: a fitted estimator, or any other object with `transform`."""

    def transform(self, X: Any, /) -> Any: ...


def embed(model: Model, X: Sentences) -> Matrix:
    """Rows of `model.transform(sentences)`, dense or sparse, checked."""
    if not callable(getattr(model, "transform", None)):
        raise TypeError(f"A model must have transform(sentences), {type(model).__name__} has not.")
    sentences = sentences_for(model, X)
    vectors = model.transform(sentences)
    vectors = vectors.tocsr() if is_sparse(vectors) else np.asarray(vectors)
    if vectors.ndim != 2 or vectors.shape[0] != len(sentences):
        raise ValueError(
            f"{type(model).__name__}.transform gave shape {vectors.shape} for {len(sentences)} sentences; expected one "
            "row a sentence."
        )
    bad = np.flatnonzero(~np.isfinite(np.asarray(vectors.sum(axis=1, dtype=np.float64))))
    if len(bad):
        found = f"{brief(sentences[int(bad[0])])} (row {bad[0]})"
        raise ValueError(f"{type(model).__name__}.transform gave NaN or infinity for {found}.")
    return vectors


def scored_pairs(part: Labelled, name: str, optional: Sequence[str] = ()) -> Bunch:
    """Return a Bunch of `data`, a list of pairs, and `target`, their scores."""
    pairs = as_labelled(part, name, pairs=True, optional=optional)
    pairs.target = as_scores(pairs.target, f"target of {name}")
    check_same_length({"data": pairs.data, "target": pairs.target}, of=name)
    if len(pairs.data) < 2:
        raise ValueError(f"{name} must have two pairs or more, got {len(pairs.data)}.")
    return pairs


def embed_pairs(model: Model, pairs: Sequence[tuple[str, str]]) -> tuple[Matrix, Matrix]:
    """Vectors of the first and of the second sentences, as two matrices."""
    vectors = embed(model, [first for first, _ in pairs] + [second for _, second in pairs])
    return vectors[: len(pairs)], vectors[len(pairs) :]


def cosines_of_pairs(model: Model, pairs: Sequence[tuple[str, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Cosine of each pair, and which have a sentence without any known word, that is a zero row."""
    A, B = embed_pairs(model, pairs)
    first, second = (np.asarray(abs(M).sum(axis=1)).ravel() == 0 for M in (A, B))
    return paired_cosine_similarity(A, B), first | second


def pair_features(A: Rows, B: Rows) -> Matrix:
    r"""Describe pairs of vectors by their products and absolute differences, :math:`[u \odot v, |u - v|]`.

    This is what the relatedness head of Tai et al. [1]_ and the paraphrase classifier of Kiros et al. [2]_ see. Both
    parts are the same for (u, v) and (v, u).

    Parameters
    ----------
    A, B : array-like, data frame or sparse matrix of shape (n_pairs, n_features)
        Sentence vectors. Rows and columns of data frames are taken by position.

    Returns
    -------
    features : ndarray or CSR matrix of shape (n_pairs, 2 * n_features)
        The products, then the absolute differences. Sparse if both are sparse.

    Raises
    ------
    ValueError
        If the shapes differ, or `A` or `B` is not two-dimensional.

    References
    ----------
    .. [1] K. S. Tai, R. Socher and C. D. Manning, "Improved Semantic Representations From Tree-Structured Long
       Short-Term Memory Networks", ACL 2015.
    .. [2] R. Kiros et al., "Skip-Thought Vectors", NIPS 2015.

    Examples
    --------
    >>> from skembed.evaluation import pair_features
    >>> pair_features([[1.0, 2.0]], [[3.0, -1.0]])
    array([[ 3., -2.,  2.,  3.]])
    """
    A, B = as_matrix(A, "A"), as_matrix(B, "B")
    if not (is_sparse(A) and is_sparse(B)):
        A, B = (M.toarray() if is_sparse(M) else M for M in (A, B))
    if A.shape != B.shape:
        raise ValueError(f"A and B must have the same shape (n_pairs, n_features), got {A.shape} and {B.shape}.")
    if is_sparse(A):
        return hstack([A.multiply(B), abs(A - B)], format="csr")
    return np.hstack([A * B, np.abs(A - B)])
