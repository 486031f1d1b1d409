"""Look inside a model of word vectors: nearest words, similarity of sentences, and where a similarity comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ._norms import near_one
from .metrics import paired_cosine_similarity


class WordVectorInspection:
    """Adds `most_similar`, `similarity` and `explain` to an estimator that sums word vectors."""

    def most_similar(self: Any, words: str | list[str], n_words: int = 10) -> Any:
        """Find the words whose vectors point in the most similar direction.

        Parameters
        ----------
        words : str or list of str
            Words of the vocabulary. They are tokenised as the text was, so "Cats" may find "cat".
        n_words : int, default=10
            How many to return for each word.

        Returns
        -------
        neighbours : list of (str, float), or list of such lists
            Word and cosine, the nearest first; for a list of words one list each.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If a word is not in the vocabulary, or is not one single word.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.1], "dog": [0.9, 0.2], "car": [0.0, 1.0]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors).fit(["cat and dog", "car"])
        >>> emb.most_similar("cat", n_words=1)[0][0]
        'dog'
        """
        check_is_fitted(self)
        if isinstance(words, str):
            return self.most_similar([words], n_words)[0]
        if not isinstance(n_words, (int, np.integer)) or n_words < 1:
            raise ValueError(f"n_words must be a positive integer, got {n_words!r}.")
        sentences = self._encode(words)
        lengths = np.diff(sentences.ptr)
        rows = []
        for i, word in enumerate(words):
            if lengths[i] != 1:
                raise ValueError(f"{word!r} is {lengths[i]} words after tokenising; ask for one word at a time.")
            found = sentences.words[sentences.ids[sentences.ptr[i]]]
            if found not in self.vocabulary_:
                raise ValueError(
                    f"{word!r} is not in the vocabulary of {len(self.vocabulary_)} words; it was never seen, or fewer "
                    "than min_count times."
                )
            rows.append(self.vocabulary_[found])
        vectors = near_one(self._summed_vectors[: len(self.vocabulary_)])
        norms = np.linalg.norm(vectors, axis=1)
        names = list(self.vocabulary_)
        neighbours = []
        for row in rows:
            scale = norms * norms[row]
            cosine = np.divide(vectors @ vectors[row], scale, out=np.zeros_like(norms), where=scale > 0)
            cosine[row] = -np.inf
            n = min(n_words, len(names) - 1)
            best = np.argsort(-cosine, kind="stable")[:n]
            neighbours.append([(names[i], float(cosine[i])) for i in best])
        return neighbours

    def similarity(self: Any, a: Any, b: Any) -> Any:
        """Cosine of two sentences, or of each sentence of `a` with the same one of `b`.

        Parameters
        ----------
        a, b : str, or iterables of str of the same length
            Sentences.

        Returns
        -------
        cosine : float, or ndarray of shape (n_pairs,)
            0 where a sentence has no known word.

        Raises
        ------
        ValueError
            If the lengths differ.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.0], "dog": [0.8, 0.6]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors, unknown="zero").fit(["a cat", "a dog"])
        >>> round(emb.similarity("a cat", "the dog"), 3)
        0.8
        """
        check_is_fitted(self)
        if isinstance(a, str) != isinstance(b, str):
            raise ValueError("a and b must both be sentences, or both be collections of sentences.")
        if isinstance(a, str):
            return float(self.similarity([a], [b])[0])
        first, second = (self._pool(self._encode(sentences)) for sentences in (a, b))
        if len(first) != len(second):
            raise ValueError(f"a has {len(first)} sentences and b has {len(second)}; they are compared one by one.")
        return paired_cosine_similarity(first, second)

    def explain(self: Any, a: str, b: str) -> Bunch:
        r"""Split the cosine of two sentences into what each pair of words contributes, exactly.

        A sentence is a weighted sum of vectors, so its cosine is a sum over pairs:

        .. math::

            \cos(s_a, s_b) = \sum_{i \in a} \sum_{j \in b} \frac{(\omega_i v_i) \cdot (\omega_j v_j)}{|s_a| |s_b|}

        Parameters
        ----------
        a, b : str
            Two sentences.

        Returns
        -------
        explanation : Bunch
            `similarity` (float), `words_a`, `words_b` (lists of str, what is summed in each sentence; n-grams as
            "new york") and `contributions` (ndarray of shape (len(words_a), len(words_b)), dtype float64), whose sum
            is `similarity`.

        Raises
        ------
        ValueError
            If `a` or `b` is not a single string.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.0], "dog": [0.8, 0.6], "car": [0.0, 1.0]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors).fit(["cat dog car"])
        >>> found = emb.explain("cat car", "dog")
        >>> found.words_a, found.words_b
        (['cat', 'car'], ['dog'])
        >>> found.contributions.ravel().round(3), round(found.similarity, 3)
        (array([0.566, 0.424]), 0.99)
        """
        check_is_fitted(self)
        if not (isinstance(a, str) and isinstance(b, str)):
            raise ValueError("a and b must each be one sentence, a string.")
        words_a, vectors_a = self._weighted_vectors(a)
        words_b, vectors_b = self._weighted_vectors(b)
        scale = np.linalg.norm(vectors_a.sum(axis=0)) * np.linalg.norm(vectors_b.sum(axis=0))
        contributions = vectors_a @ vectors_b.T
        contributions = contributions / scale if scale > 0 else np.zeros_like(contributions)
        return Bunch(
            similarity=float(contributions.sum()), words_a=words_a, words_b=words_b, contributions=contributions
        )

    def _weighted_vectors(self: Any, sentence: str) -> tuple[list[str], np.ndarray]:
        """What is summed for one sentence: names, and vectors times weights in float64."""
        encoded = self._counted(self._encode([sentence]))
        rows, weights, is_unknown, _ = self._features(encoded)
        names = self._feature_names(encoded)
        kept = ~is_unknown if self.unknown == "zero" else np.ones(len(rows), bool)
        vectors = np.zeros((len(rows), self._summed_vectors.shape[1]))
        vectors[~is_unknown] = self._summed_vectors[rows[~is_unknown]]
        if kept[is_unknown].any():
            vectors[is_unknown] = self._unknown_vectors([encoded.words[i] for i in rows[is_unknown]])
        vectors *= weights[:, None]
        return [name for name, keep in zip(names, kept) if keep], vectors[kept]

    def _feature_names(self: Any, encoded: Any) -> list[str]:
        return [encoded.words[i] for i in encoded.ids]
