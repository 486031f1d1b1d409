"""Base of the estimators that learn on from word vectors learned elsewhere: the parameter `init`."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from .._base.coverage import check_given
from .._base.pooled import PooledVectorizer
from .._base.trained import TrainedVectorizer
from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._training.learned_arrays import Start, start_uniform
from .join import counts_of
from .read import read_source

_STEP = 10_000  # rows at a time, or their norms would make a copy of all


class InitialVectors(PooledVectorizer, TrainedVectorizer):
    """Base of the estimators with the parameter `init`.

    The words of `init` are in the vocabulary, also those that the text does not have: they keep their vectors. The
    vectors are scaled so that their median length is 1, which `learning_rate` is made for.
    """

    _parameter_constraints: dict[str, Any] = {
        "init": "no_validation",  # checked when it is read
    }
    init: Any

    def __sklearn_clone__(self) -> Any:
        """Copy the parameters but share `init`: a clone of a fitted estimator would have nothing to begin with."""
        bare = copy(self)
        bare.init = None
        clone = super(InitialVectors, bare).__sklearn_clone__()
        clone.init = self.init
        return clone

    def _learn_vocabulary(self, corpus: SentenceCorpus, fitted: dict[str, Any] | None = None) -> dict[str, Any]:
        fitted = super()._learn_vocabulary(corpus, fitted)
        if self.init is None:
            return fitted | {"_given": None}
        words, vectors, _ = read_source(self.init)
        check_given(corpus, words, "init")
        all_words = [*fitted["vocabulary_"], *(word for word in words if word not in fitted["vocabulary_"])]
        counts = counts_of(all_words, corpus)
        order = np.argsort(-counts, kind="stable")
        vocabulary = {all_words[row]: new for new, row in enumerate(order)}
        return fitted | {
            "vocabulary_": vocabulary,
            "word_counts_": counts[order],
            "coverage_": float(counts.sum() / max(1, corpus.n_tokens)),
            "n_features_out_": vectors.shape[1],
            "_given": (np.array([vocabulary[word] for word in words]), vectors),
        }

    def _start(self, corpus: SentenceCorpus, annotations: Any, classes: Any) -> dict[str, Any]:
        fitted = super()._start(corpus, annotations, classes)
        del fitted["_given"]  # serves the start alone
        return fitted

    def _start_of_words(self, fitted: dict[str, Any]) -> Start:
        """Random rows of length 1, and over them those of `init`."""
        at_random = start_uniform(np.sqrt(3 / fitted["n_features_out_"]))

        def fill(array: np.ndarray, seed: int) -> None:
            at_random(array, seed)
            if fitted["_given"] is not None:
                rows, vectors = fitted["_given"]
                array[rows] = vectors / np.float32(_median_length(vectors))

        return fill


def _median_length(vectors: np.ndarray) -> float:
    """Median length of the rows that are not zero."""
    lengths = np.concatenate([row_norms(vectors[start : start + _STEP]) for start in range(0, len(vectors), _STEP)])
    return float(np.median(lengths[lengths > 0])) if lengths.any() else 1.0
