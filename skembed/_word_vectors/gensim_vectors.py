"""Word vectors of gensim: read from its objects, and made for it."""

from __future__ import annotations

from typing import Any

import numpy as np


def keyed_vectors_of(source: Any) -> Any:
    """Return the KeyedVectors that something is or has; None if it has none."""
    keyed = source if hasattr(source, "index_to_key") else getattr(source, "wv", None)
    return keyed if hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors") else None


def counts_of(keyed: Any) -> list[Any] | None:
    """Return the counts of gensim's KeyedVectors, or None where it has none or made them up."""
    try:
        if "count" in getattr(keyed, "expandos", ()):
            counts = list(keyed.expandos["count"])
        else:
            counts = [keyed.get_vecattr(word, "count") for word in keyed.index_to_key]
    except (AttributeError, KeyError, TypeError):
        return None
    if any(count is None for count in counts) or not any(counts):  # None: not in the vocabulary file; 0: never set
        return None
    made_up = len(counts) > 10 and all(a - b == 1 for a, b in zip(counts, counts[1:]))
    return None if made_up else counts


def make_keyed_vectors(words: list[str], vectors: np.ndarray, counts: np.ndarray | None) -> Any:
    """Return KeyedVectors with a copy of the vectors, and with the counts, where they are known."""
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise ImportError("to_gensim needs gensim: pip install gensim.") from None
    keyed = KeyedVectors(vectors.shape[1], count=0)
    keyed.add_vectors(words, vectors.copy())
    if counts is not None:
        for word, count in zip(words, counts.tolist()):
            keyed.set_vecattr(word, "count", count)
    return keyed
