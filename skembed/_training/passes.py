"""How many passes a fit makes: with `max_iter="auto"` more over a short text, whose words take few steps in a pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .examples import without_classes


class AutoPasses(NamedTuple):
    """The passes of `max_iter="auto"`: as many as read `n_words` words in all, within `least` and `most`.

    The numbers were chosen by benchmarks/quality/passes.py.
    """

    n_words: int = 3_000_000
    least: int = 5
    most: int = 20

    def over(self, n_tokens: int) -> int:
        """The passes over a text of so many words."""
        return min(max(self.least, -(-self.n_words // max(1, n_tokens))), self.most)


def passes_of(vectorizer: Any, n_tokens: int, classes: np.ndarray | None) -> int:
    """The passes of a fit to a text of so many words and, where it learns from them, its classes; 0 to skip it."""
    if without_classes(classes):
        return 0
    if not isinstance(vectorizer.max_iter, str):
        return int(vectorizer.max_iter)
    automatic: AutoPasses = vectorizer._auto_passes
    return automatic.over(n_tokens) if classes is None else automatic.least  # from classes, more gained nothing
