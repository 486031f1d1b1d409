"""Pooled models whose sentence may be its words and its word n-grams, hashed to rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._corpus.corpus import SentenceCorpus
from .._text.character_ngrams import CharacterNgrams
from .._text.known_words import EncodedSentences
from .._text.ngrams import add_ngrams
from .._training.learned_arrays import LearnedArray, Start
from .._validation.limits import INT32_MAX, integers
from .._validation.messages import brief
from .pooled import PooledVectorizer
from .trained import TrainedVectorizer


class NgramVectorizer(PooledVectorizer, TrainedVectorizer):
    """Base of the estimators that learn a row for each word and, with `ngram_range`, rows that its n-grams share."""

    _parameter_constraints: dict[str, Any] = {"ngram_range": [tuple, list], "n_buckets": [integers(1)]}

    ngram_range: tuple[int, int] = (1, 1)
    n_buckets: int = 1

    @property
    def word_vectors_(self) -> NDArray[np.float32]:  # type: ignore[override]
        """Vectors of the words, (n_words, n_components)."""
        return self._summed_vectors[: len(self.vocabulary_)]

    @property
    def ngram_vectors_(self) -> NDArray[np.float32]:
        """Vectors of the hashed word n-grams, (n_buckets, n_components); empty for words alone."""
        return self._summed_vectors[len(self.vocabulary_) :]

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self._source_vectors

    def _check_parameters(self) -> None:
        super()._check_parameters()
        orders = tuple(self.ngram_range)
        whole = len(orders) == 2 and all(isinstance(n, Integral) for n in orders)
        if not whole or orders[0] != 1 or not 1 <= orders[1] <= INT32_MAX:
            raise ValueError(
                f"ngram_range must be (1, n) with n >= 1: words are always learned, and n-grams up to length n with "
                f"them. Got {brief(self.ngram_range)}."
            )

    def _learn_vocabulary(self, corpus: SentenceCorpus, fitted: dict[str, Any] | None = None) -> dict[str, Any]:
        if self.ngram_range[1] > 1 and isinstance(corpus.tokenizer.analyzer, CharacterNgrams):
            raise ValueError(
                f"ngram_range={brief(self.ngram_range)} makes n-grams of words, but the text is cut into n-grams of "
                'characters. Leave ngram_range=(1, 1), or use analyzer="word". The lengths of n-grams of characters '
                "are those of CharacterNgrams, as in analyzer=CharacterNgrams('char_wb', (2, 5))."
            )
        return super()._learn_vocabulary(corpus, fitted)

    def _source_array(self, fitted: dict[str, Any], start: Start) -> LearnedArray:
        """Words, then n-grams, which start at zero unless `start` says otherwise."""
        n_rows = len(fitted["word_counts_"]) + (int(self.n_buckets) if self.ngram_range[1] > 1 else 0)
        options = "n_components", "ngram_range", "n_buckets"
        return LearnedArray(
            "_source_vectors", (n_rows, fitted["n_features_out_"]), start, options=options, is_source=True
        )

    def _n_rows_of_state(self, n_words: int) -> int:
        self._check_layout(but="n_components")
        return n_words + (int(self.n_buckets) if self.ngram_range[1] > 1 else 0)

    def _features(self, sentences: EncodedSentences) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rows, weights, is_unknown, ptr = super()._features(sentences)
        if self.ngram_range[1] == 1:
            return rows, weights, is_unknown, ptr
        return add_ngrams(rows, weights, is_unknown, ptr, self.ngram_range[1], len(self.vocabulary_), self.n_buckets)

    def _feature_names(self, encoded: EncodedSentences) -> list[str]:
        names = super()._feature_names(encoded)
        known = [name for name in names if name in self.vocabulary_]
        for order in range(2, min(self.ngram_range[1], len(known)) + 1):
            names = names + [" ".join(known[i : i + order]) for i in range(len(known) - order + 1)]
        return names
