"""Look inside a model of word vectors: nearest words, similarity of sentences, and where a similarity comes from."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._compiled.norms import cosines_of_rows
from .._corpus.corpus import SentenceCorpus
from .._text.known_words import EncodedSentences
from .._text.sources import iter_sentences
from .._validation.containers import one_column
from .._validation.messages import brief
from ..metrics import paired_cosine_similarity
from .character_tokens import are_ngrams, has_words_and_ngrams
from .sharing import on_snapshot

_STEP = 10_000  # words at a time
_MOST_COMPARED = 2_000  # words compared with an unknown one by spelling


class _Direction(NamedTuple):
    """Direction to find similar words for."""

    vector: np.ndarray  # (n_features_out,) float64, normalised, summed or zero
    rows: list[int]  # of the words of the query, which are left out


class SimilarityMixin:
    """Adds `similarity` to an estimator with a dense row for each sentence."""

    @overload
    def similarity(self, a: str, b: str) -> float: ...
    @overload
    def similarity(self, a: Any, b: Any) -> NDArray[np.float64]: ...
    @on_snapshot
    def similarity(self: Any, a: Any, b: Any) -> Any:
        """Cosine of two sentences, or of each sentence of `a` with the sentence of `b` at the same position.

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
            If the lengths differ, or one is a single sentence and the other is not.
        TypeError
            If an item is not a string; names the row.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.0], "dog": [0.8, 0.6]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors, unknown="zero").fit(
        ...     ["a cat", "a dog"]
        ... )
        >>> round(emb.similarity("a cat", "the dog"), 3)
        0.8
        """
        self._check_is_fitted()
        if isinstance(a, str) != isinstance(b, str):
            one, other = ("a", "b") if isinstance(a, str) else ("b", "a")
            raise ValueError(
                f"{one} is one sentence and {other} is not. Give two sentences, or two collections of them."
            )
        if isinstance(a, str):
            rows = self._embed([a, b], "a").astype(np.float64)
            return float(cosines_of_rows(rows[:1], rows[1:])[0])
        first, second = self._embed_named(a, "a"), self._embed_named(b, "b")
        n_first, n_second = first.shape[0], second.shape[0]
        if n_first != n_second:
            raise ValueError(f"a has {n_first} sentences and b has {n_second}; they are compared one by one.")
        return paired_cosine_similarity(first, second)

    def _embed_named(self: Any, sentences: Any, name: str) -> Any:
        """Return the rows of sentences; errors begin with `name`, the parameter."""
        if isinstance(sentences, SentenceCorpus):
            return self._embed(sentences, name)
        iter_sentences(sentences, name=name)
        self._check_transform_parameters()
        try:
            return self._embed(sentences, name)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None


class WordQueriesMixin(SimilarityMixin):
    """Adds `most_similar`, `similarity` and `explain` to an estimator that sums word vectors."""

    @overload
    def most_similar(self, words: str, n_words: int = 10) -> list[tuple[str, float]]: ...
    @overload
    def most_similar(
        self, words: None = None, n_words: int = 10, *, positive: Any = None, negative: Any = None
    ) -> list[tuple[str, float]]: ...
    @overload
    def most_similar(self, words: Any, n_words: int = 10) -> list[list[tuple[str, float]]]: ...
    @on_snapshot
    def most_similar(
        self: Any, words: Any = None, n_words: int = 10, *, positive: Any = None, negative: Any = None
    ) -> Any:
        """Find the words whose vectors point in the most similar direction.

        Parameters
        ----------
        words : str, array-like of shape (n_features_out,), or iterable of these
            A word, a sentence, or a vector such as a row of `transform`. Words are tokenized like the text of `fit`, so
            "Cats" may match "cat". An array of shape (n_vectors, n_features_out), dense or sparse, is a collection of
            vectors.
        n_words : int, default=10
            How many to return for each.
        positive, negative : str, array-like of shape (n_features_out,), or iterable of these, default=None
            Instead of `words`: words, sentences or vectors to add and to subtract. Each is first scaled to length one.

        Returns
        -------
        neighbours : list of (str, float), or list of such lists
            Words and cosines, nearest first; one list per item if `words` is a collection. Words of the query are left
            out. The list of a zero vector is empty.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If a word, or every word of a sentence, is not in the vocabulary, or a vector has the wrong length or is not
            finite. If `n_words` is not a positive integer, or both or neither of `words` and `positive`/`negative` are
            given.
        TypeError
            If an item is neither a string nor a vector.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.1], "dog": [0.9, 0.2], "car": [0.0, 1.0]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors).fit(["cat and dog", "car"])
        >>> emb.most_similar("cat", n_words=1)[0][0]
        'dog'
        >>> [
        ...     [word for word, cosine in found]
        ...     for found in emb.most_similar(["cat dog", [0.1, 0.9]])
        ... ]
        [['car'], ['car', 'dog', 'cat']]
        >>> [word for word, cosine in emb.most_similar(positive=["car"], negative=["cat"])]
        ['dog']
        """
        check_is_fitted(self)
        if not isinstance(n_words, Integral) or isinstance(n_words, bool) or n_words < 1:
            raise ValueError(f"n_words must be a positive integer, got {brief(n_words)}.")
        if (words is None) == (positive is None and negative is None):
            raise ValueError("Give words, or else positive and negative, not both.")
        if words is not None:
            found = [self._nearest(direction, n_words) for direction in self._directions_of(words, "words")]
            return found[0] if _is_single(words) else found
        likes, dislikes = self._directions_of(positive, "positive"), self._directions_of(negative, "negative")
        total = np.zeros(self.n_features_out_)
        for sign, directions in ((1, likes), (-1, dislikes)):
            for direction in directions:
                total += sign * direction.vector
        rows = [row for direction in likes + dislikes for row in direction.rows]
        return self._nearest(_Direction(total, rows), n_words)

    def _directions_of(self: Any, items: Any, name: str) -> list[_Direction]:
        """Return the directions of words, sentences and vectors; `name` is the parameter in errors."""
        if items is None:
            return []
        if _is_single(items):
            return [self._direction(items, name)]
        items = one_column(items) if self.n_features_out_ > 1 else items  # of text: no vector has one number
        is_table = len(getattr(items, "shape", ())) == 2  # its rows are vectors
        if is_table:
            items = items.toarray() if issparse(items) else np.asarray(items)
        else:
            items = iter_sentences(items, name=name)
        return [self._direction(item, f"{name}[{i}]") for i, item in enumerate(items)]

    def _direction(self: Any, item: Any, name: str) -> _Direction:
        n_features = self.n_features_out_
        if not isinstance(item, str):
            vector = _as_vector(item.toarray()[0] if issparse(item) and item.shape[:-1] == (1,) else item)
            if vector is None:
                kind = type(item).__name__
                raise TypeError(f"{name} must be a word, a sentence or a vector, got {brief(item)} of type {kind}.")
            if len(vector) != n_features or not np.isfinite(vector).all():
                raise ValueError(
                    f"{name} must be {n_features} finite numbers, as a row of transform, got {brief(item)}."
                )
            return _Direction(_unit(vector), [])
        sentence = self._known_tokens().encode([item])
        rows = sentence.rows[sentence.ids]
        if not len(rows):
            raise ValueError(f"{name} has no word: {brief(item)}.")
        known = rows[rows >= 0].tolist()
        if not known:
            what = f"{brief(item)} is not" if len(rows) == 1 else f"no word of {brief(item)} is"
            raise ValueError(
                f"{name}: {what} in the vocabulary of {len(self.vocabulary_)} words; it was never seen, or fewer than "
                f"min_count times.{_spelling_hint(item, self.vocabulary_)}"
            )
        return _Direction(_unit(self._vector_of_query(sentence)), known)

    def _vector_of_query(self: Any, sentence: EncodedSentences) -> np.ndarray:
        """Vector of one sentence; a single word is its learned vector, without weight and n-grams."""
        rows = sentence.rows[sentence.ids]
        return np.asarray(self._summed_vectors[rows[0]] if len(rows) == 1 else self._pool(sentence)[0])

    def _nearest(self: Any, direction: _Direction, n_words: int) -> list[tuple[str, float]]:
        names = list(self.vocabulary_)
        cosines = self._cosines_of_words(direction.vector)
        if has_words_and_ngrams(self._tokenizer):
            cosines[are_ngrams(names)] = -np.inf
        cosines[direction.rows] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:n_words]
        return [(names[i], float(np.clip(cosines[i], -1, 1))) for i in best if cosines[i] > -np.inf]

    def _cosines_of_words(self: Any, vector: np.ndarray) -> np.ndarray:
        """Cosine of each word with a vector, (n_words,) float64; -inf where one of them is zero."""
        n_words = len(self.vocabulary_)
        cosines = np.full(n_words, -np.inf)
        for start in range(0, n_words, _STEP):
            # In float64, where squares of float32 neither overflow nor underflow.
            chunk = self._summed_vectors[start : min(start + _STEP, n_words)].astype(np.float64)
            scale = np.sqrt(np.einsum("ij,ij->i", chunk, chunk)) * np.linalg.norm(vector)
            np.divide(chunk @ vector, scale, out=cosines[start : start + _STEP], where=scale > 0)
        return cosines

    @on_snapshot
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
        for name, sentence in (("a", a), ("b", b)):
            if not isinstance(sentence, str):
                raise ValueError(f"{name} must be one sentence, a string, got {sentence!r:.60}.")
        words_a, vectors_a = self._weighted_vectors(a)
        words_b, vectors_b = self._weighted_vectors(b)
        scale = np.linalg.norm(vectors_a.sum(axis=0)) * np.linalg.norm(vectors_b.sum(axis=0))
        contributions = vectors_a @ vectors_b.T
        contributions = contributions / scale if scale > 0 else np.zeros_like(contributions)
        return Bunch(
            similarity=float(contributions.sum()), words_a=words_a, words_b=words_b, contributions=contributions
        )

    def _weighted_vectors(self: Any, sentence: str) -> tuple[list[str], Any]:
        """What is summed for one sentence: names, and vectors times weights in float64."""
        encoded = self._counted(self._known_tokens().encode([sentence]))
        rows, weights, is_unknown, _ = self._features(encoded)
        names = self._feature_names(encoded)
        kept = ~is_unknown if self._option("unknown") == "zero" else np.ones(len(rows), bool)
        vectors = np.zeros((len(rows), self._summed_vectors.shape[1]))
        vectors[~is_unknown] = self._summed_vectors[rows[~is_unknown]]
        if kept[is_unknown].any():
            vectors[is_unknown] = self._unknown_vectors(encoded.words_of(rows[is_unknown]))
        vectors *= weights[:, None]
        return [name for name, keep in zip(names, kept) if keep], vectors[kept]

    def _feature_names(self: Any, encoded: Any) -> list[str]:
        return encoded.words_of(encoded.ids)


def _is_single(items: Any) -> bool:
    """Whether this is one word, sentence or vector, not a collection."""
    return isinstance(items, str) or _as_vector(items) is not None


def _as_vector(item: Any) -> np.ndarray | None:
    """Return a non-empty vector of numbers as float64; None for anything else."""
    if issparse(item) and item.ndim == 1:  # one row of a sparse array
        item = item.toarray()
    if not hasattr(item, "__len__") or (isinstance(item, (list, tuple)) and any(isinstance(x, str) for x in item[:1])):
        return None
    try:
        numbers = np.asarray(item)
    except (TypeError, ValueError):  # lists of several lengths
        return None
    is_vector = numbers.ndim == 1 and len(numbers) > 0 and numbers.dtype.kind in "fiu"
    return numbers.astype(np.float64) if is_vector else None


def _unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector scaled to length one, without overflow or underflow."""
    vector = np.asarray(vector, np.float64)
    largest = np.abs(vector).max(initial=0.0)
    if largest == 0:
        return vector
    vector = vector / largest
    return np.asarray(vector / np.linalg.norm(vector))


def _spelling_hint(word: str, vocabulary: Iterable[str]) -> str:
    """Suggest words of similar spelling, from the most frequent ones of similar length."""
    if len(word) > 40:
        return ""
    about_as_long = (other for other in vocabulary if abs(len(other) - len(word)) <= 2)
    found = get_close_matches(word.lower(), islice(about_as_long, _MOST_COMPARED))
    return f" Close to it: {', '.join(map(repr, found))}." if found else ""
