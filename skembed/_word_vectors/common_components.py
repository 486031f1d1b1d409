"""What all sentences share, taken out of word vectors; numbers, which get vectors of their own; and spelling."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.pooled import PooledVectorizer
from .._corpus.corpus import SentenceCorpus
from .spelling import add_spelling

_STEP = 10_000  # sentences, or words, at a time, or there would be more copies of all of them


class CommonComponents(PooledVectorizer):
    """Base of an estimator that sums other vectors than it learned.

    Numbers get random ones, then spelling is added, then common components are removed.
    """

    n_removed_components: int
    numbers: str
    subwords: float
    components_: NDArray[np.float32]
    n_features_out_: int
    word_vectors_: np.ndarray
    _moments: np.ndarray | None
    _numbers: str
    _subwords: float

    def _remove_components(self, corpus: SentenceCorpus, *, fresh: bool) -> None:
        """Find the strongest common directions of the sentences, uncentred, and free the word vectors of them.

        Taking them out of every word vector takes them out of every sentence, and leaves a sentence's row
        independent of the other rows. Their second moments are summed over calls of `partial_fit`.
        """
        n_features = self.n_features_out_
        if self.n_removed_components >= n_features:
            raise ValueError(
                f"n_removed_components={self.n_removed_components} would leave nothing of vectors with {n_features} "
                "components."
            )
        if fresh or not hasattr(self, "_moments"):
            self._moments = None
        self._numbers, self._subwords = self.numbers, self.subwords  # new values apply at the next fit
        self.components_ = np.zeros((0, n_features), np.float32)
        self._freed_vectors = self._make_freed_vectors()
        if self.n_removed_components == 0:
            return
        moments = self._moments
        if moments is None:
            moments = no_moments(n_features, f"n_removed_components={self.n_removed_components}")
        for start in range(0, corpus.n_sentences, _STEP):
            rows = np.asarray(self._pool(self._encoded_corpus(corpus[start : start + _STEP])), np.float64)
            moments = moments + rows.T @ rows  # not in place: copies of the estimator share them
        self._moments = moments
        self.components_ = strongest_directions(moments, self.n_removed_components)
        self._freed_vectors = self._free(self._own(self._freed_vectors))

    def _make_freed_vectors(self) -> np.ndarray:
        """Return the vectors to sum; `word_vectors_` itself if no option changes it."""
        self._freed_vectors = self.word_vectors_
        vectors = self._with_hashed_numbers() if self._numbers == "hash" else self.word_vectors_
        if self._subwords:
            vectors = add_spelling(self._own(vectors), list(self.vocabulary_), self._subwords)
        return self._free(self._own(vectors)) if len(self.components_) else vectors

    def __getstate__(self) -> dict[str, Any]:
        """Leave out `_freed_vectors`: they are computed again when loaded, with the same bits."""
        state = dict(super().__getstate__())
        state.pop("_freed_vectors", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "word_vectors_" in vars(self):
            self._freed_vectors = self._make_freed_vectors()

    def _own(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors that may be changed: a copy of those that were learned, others as they are."""
        return vectors.copy() if vectors is self.word_vectors_ else vectors

    def _with_hashed_numbers(self) -> np.ndarray:
        numbers = {word: row for word, row in self.vocabulary_.items() if any(map(str.isdigit, word))}
        vectors = self.word_vectors_.copy()
        vectors[list(numbers.values())] = super()._unknown_vectors(list(numbers))
        return vectors

    def _free(self, vectors: np.ndarray) -> np.ndarray:
        """Take the common components out of some vectors, in place."""
        for start in range(0, len(vectors), _STEP):
            part = vectors[start : start + _STEP]
            for component in self.components_:
                # Row by row, not as a matrix product, whose last bits may depend on the number of rows.
                part -= (part * component).sum(axis=1, keepdims=True) * component
        return vectors

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self._freed_vectors

    def _unknown_vectors(self, words: list[str]) -> np.ndarray:
        vectors = super()._unknown_vectors(words)
        if self._subwords:
            add_spelling(vectors, words, self._subwords)
        return self._free(vectors)


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
