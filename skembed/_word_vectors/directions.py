"""The strongest directions of many rows, from the sum of their squares: principal components without a mean."""

from __future__ import annotations

import os

import numpy as np


def no_moments(n_components: int, purpose: str) -> np.ndarray:
    """Return a zero matrix for second moments, (n_components, n_components) float64.

    Raises
    ------
    MemoryError
        If the moments and their eigenvectors need more memory than the machine has; names the purpose.
    """
    n_bytes = 4 * 8 * n_components**2  # the moments, a sum of two of them, their eigenvectors, and LAPACK's work space
    try:
        if n_bytes > _memory_of_machine():
            raise MemoryError
        return np.zeros((n_components, n_components))
    except MemoryError:
        raise MemoryError(
            f"{purpose} needs {n_bytes} bytes for the second moments of vectors with {n_components} components. Use "
            "shorter vectors or drop this option."
        ) from None


def _memory_of_machine() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # unknown on this system
        return float("inf")


def strongest_directions(moments: np.ndarray, n_directions: int) -> np.ndarray:
    """First eigenvectors of a symmetric matrix, the strongest first: (n_directions, n_components) float32."""
    _, directions = np.linalg.eigh(moments)
    components = directions[:, ::-1][:, :n_directions].T
    # The sign of an eigenvector is arbitrary; fix it, so that results repeat.
    components *= np.sign(components[np.arange(len(components)), np.abs(components).argmax(axis=1)])[:, None]
    return np.ascontiguousarray(components, np.float32)
