"""When to stop: the number of passes, held-out sentences, the best weights so far, weights that diverge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .examples import without_classes

# No useful weight, and no useful mean loss of a target, comes near this.
LARGEST_SOUND_VALUE = 1e6


def hold_out(corpus: SentenceCorpus, fraction: float, seed: int, classes: np.ndarray | None = None) -> np.ndarray:
    """Choose whole documents at random, or the end of the text if documents are too few or too long.

    With ``classes`` (n_sentences, n) choose sentences at random, of each class in proportion.

    Returns which sentences are held out, (n_sentences,) bool.
    """
    n_sentences = corpus.n_sentences
    n_wanted = max(1, int(round(fraction * n_sentences)))
    if n_wanted >= n_sentences:
        raise ValueError(
            f"early_stopping with validation_fraction={fraction} leaves nothing to learn from: the corpus has "
            f"{n_sentences} sentences."
        )
    held = np.zeros(n_sentences, bool)
    generator = np.random.default_rng([seed, 2**31])
    if classes is not None:
        order = generator.permutation(n_sentences)
        order = order[np.argsort(classes[order, 0], kind="stable")]
        held[order[((np.arange(n_wanted) + 0.5) * n_sentences / n_wanted).astype(np.int64)]] = True
        return held
    if corpus.n_documents >= 20:
        lengths = np.diff(corpus.doc_ptr)
        order = generator.permutation(corpus.n_documents)
        order = order[lengths[order] <= n_wanted]  # one that is longer would exceed the fraction
        held[np.isin(corpus.doc_of(), order[np.cumsum(lengths[order]) <= n_wanted])] = True
    if not held.any() or held.all():
        held[:] = False
        held[n_sentences - n_wanted :] = True
    return held


class EarlyStopping:
    """Keeps the weights of the best pass, and says to stop after too many worse ones."""

    def __init__(self, weights: list[np.ndarray], options: Any) -> None:
        self.weights, self.tol, self.n_iter_no_change = weights, options.tol, options.n_iter_no_change
        self.best_weights: list[np.ndarray] = []
        self.begin_set()

    def begin_set(self) -> None:
        """Begin with a set of the text, from the best weights of the set before."""
        self.restore_best()
        self.best_loss, self.best_weights, self.n_worse = np.inf, [], 0

    def should_stop(self, loss: float) -> bool:
        if loss < self.best_loss - self.tol:
            self.best_loss, self.n_worse = loss, 0
            self.best_weights = [weights.copy() for weights in self.weights]
        else:
            self.n_worse += 1
        return self.n_worse >= self.n_iter_no_change

    def restore_best(self) -> None:
        for weights, best in zip(self.weights, self.best_weights):
            weights[...] = best


def largest_of(weights: list[np.ndarray]) -> float:
    """Largest absolute value, without a second copy of the weights."""
    return max((float(np.maximum(array.max(), -array.min())) for array in weights if len(array)), default=0.0)


def is_sound(loss: float, largest_weight: float) -> bool:
    """Whether the weights have not diverged."""
    return bool(np.isfinite(loss) and loss < LARGEST_SOUND_VALUE and largest_weight < LARGEST_SOUND_VALUE)


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
