"""Few dense columns in place of many: the strongest directions of sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD

_N_ITER = 2  # power iterations: with 5, scikit-learn's default, classifiers were no better


def fit_projection(
    rows: Any, n_components: int, random_state: np.random.RandomState, scale: np.ndarray | None = None
) -> TruncatedSVD:
    """The strongest directions of some rows, at most as many as their rank; each column times `scale` afterwards."""
    # With LU between the iterations, scikit-learn's choice, rows of a smaller rank may end in NaN.
    size = min(n_components, *rows.shape)
    svd = TruncatedSVD(size, n_iter=_N_ITER, power_iteration_normalizer="QR", random_state=random_state)
    with np.errstate(divide="ignore", invalid="ignore"):  # parts of the variance, which is 0 of equal rows
        svd.fit(rows)
    strengths = svd.singular_values_
    rank = np.count_nonzero(strengths > strengths[0] * max(rows.shape) * np.finfo(np.float32).eps)
    if scale is not None:
        svd.components_ *= scale
    # Rounded to 16 bits, in which saved models hold them; in the order of memory that scipy multiplies without a copy.
    svd.components_ = svd.components_[:rank].astype(np.float16).astype(np.float32, order="F")
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        setattr(svd, name, getattr(svd, name)[:rank])
    return svd
