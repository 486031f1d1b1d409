"""The memory that a fit will need."""

from __future__ import annotations

from typing import Any

from .._training.memory import estimate
from .._validation.limits import is_set
from .sharing import on_snapshot, plain_parameters


class MemoryEstimateMixin:
    """Adds `estimate_memory` to the estimators that learn by gradient descent."""

    @on_snapshot
    def estimate_memory(self: Any, X: Any, y: Any = None) -> dict[str, int]:
        """Say how much memory `fit` will need, without learning anything.

        Parameters
        ----------
        X : SentenceCorpus, or iterable of str
            The input of `fit`. Sentences are encoded for the estimate; a corpus is used as it is. If the parameter
            `corpus` is given, that counts instead of `X`.
        y : array-like of shape (n_sentences,) or (n_sentences, n_targets), default=None
            Labels or targets, if `fit` will learn from them.

        Returns
        -------
        memory : dict of str to int
            Bytes by purpose, and their sum "total":

            - "weights": the vectors that are learned;
            - "accumulators": AdaGrad's sums of squares, and a counter for each;
            - "corpus": the encoded text; 0 where it is memory-mapped;
            - "copies": what `early_stopping` sets apart (text, and the best weights so far), the weights with which
              `warm_start` begins, and what `n_shards` copies and merges;
            - "scratch": vocabulary, order of the sentences, scratch space of a block.

            Python, its libraries and the strings of `X` are not included: they are in memory before the fit.

        Examples
        --------
        >>> from skembed import CBOSVectorizer, SentenceCorpus
        >>> corpus = SentenceCorpus.from_sentences(["A cat.", "The cat slept."] * 50)
        >>> memory = CBOSVectorizer(100).estimate_memory(corpus)
        >>> memory["weights"]  # 4 words of 100 float32
        1600
        >>> memory["corpus"] >= 4 * corpus.n_tokens
        True
        """
        with plain_parameters(self):
            keep = is_set(self, "warm_start") and hasattr(self, "_layout")
            corpus, annotations, classes = self._training_data(X, y, None, keep)
            if keep:
                self._check_layout()
            return estimate(self, corpus, keep=keep, annotations=annotations, classes=classes)
