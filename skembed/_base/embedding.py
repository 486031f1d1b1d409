"""Base of the estimators that give a dense row for each sentence: `transform`, in batches and with threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._corpus.corpus import SentenceCorpus
from .._text.batches import Batch
from .._text.known_words import EncodedSentences
from .._text.sources import advising, iter_sentences
from .._validation.constraints import check_values
from .._validation.containers import length_of
from .coverage import LEAST_SENTENCES, CoverageCounter
from .sharing import transforming
from .text import TextEstimator


class EmbeddingVectorizer(TextEstimator):
    """Base of the estimators with a dense row for each sentence. A subclass adds `_vectors_of`."""

    if TYPE_CHECKING:

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32]: ...

    @transforming
    def transform(self, X: Any) -> NDArray[np.float32]:
        """Embed sentences.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences, in any order: the row of a sentence depends on that sentence and the model alone.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out), dtype float32
            A sentence without a word is a row of zeros; also one of unknown words alone, unless the estimator has
            ``unknown="hash"``.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        TypeError
            If an item is not a string; names the row.
        ValueError
            If `X` is one string or a table.

        Warns
        -----
        UserWarning
            If the fraction of known words is far lower than in the text of `fit`, or more than half of the sentences
            have no known word. Not for fewer than 5 sentences or 30 words.
        """
        self._check_is_fitted()
        return self._embed(X, "X")

    def _check_transform_parameters(self) -> None:
        """Check those that each `transform` reads, because they may have been set after the fit."""
        values = {name: getattr(self, name) for name in self._read_at_transform}
        check_values(self._parameter_constraints, values, type(self).__name__)

    def _embed(self, X: Any, name: str) -> np.ndarray:
        if not isinstance(X, SentenceCorpus):
            iter_sentences(X, name=name)  # checks X before its length is read
        try:
            out = np.empty((length_of(X) or 0, self.n_features_out_), np.float32)
        except (TypeError, ValueError, MemoryError):
            self._check_state()  # n_features_out_ may have been changed
            raise
        tally = CoverageCounter()

        def embed(batch: tuple[EncodedSentences | Batch, int]) -> np.ndarray:
            sentences, first_row = self._encode_batch(*batch), batch[1]
            n_rows = len(sentences.ptr) - 1
            if first_row or n_rows >= LEAST_SENTENCES:
                tally.add(sentences)
            # If the number of sentences is known, each thread writes its rows in place.
            own_rows = out[first_row : first_row + n_rows]
            return self._vectors_of(sentences, own_rows if len(own_rows) == n_rows else None)

        with advising(X):
            embedded = list(self._in_order(embed, self._batches(X, name)))
        tally.warn(self)
        # len(X) may be wrong: the sentences yielded count.
        return out if sum(map(len, embedded)) == len(out) else np.concatenate([out[:0], *embedded])

    def _vectors_of(self, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        """The rows of some sentences, written to `out` if that is given.

        A row depends on its sentence and the model alone, and is zero where the sentence has no known word.
        """
        raise TypeError(f"{type(self).__name__} does not say how a sentence becomes a vector.")
