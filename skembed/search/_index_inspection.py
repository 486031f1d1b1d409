"""What an index says of itself: where a score comes from, and its terms and vectors for other engines."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._pretrained.vectorizer import PretrainedVectorizer
from .._text.sources import decode_words
from .._validation.columns import Labels, Sentences
from .._validation.constraints import Constraints, check_values, integers
from .._validation.messages import brief
from ._bm25 import idf
from ._documents import read_queries
from ._index_state import IndexState, checked_rows
from ._learned_vectors import pretrained_rows
from ._searching import (
    PRETRAINED_WEIGHT,
    WEIGHT,
    WEIGHT_BESIDE_PRETRAINED,
    Asked,
    Weights,
    search_in,
    slopes_of,
    terms_of,
    vectors_of_terms,
)
from ._terms import Query, TermReader, codes_of, read_query, text_of_query

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")


class Fitted(NamedTuple):
    """What `fit` learned: replaced as a whole, so that a search sees one state."""

    state: IndexState
    reader: TermReader
    model: PretrainedVectorizer | None


class IndexInspection:
    """Adds to an index what looks at it."""

    _fitted: Fitted
    vector_weight: float | str
    pretrained_weight: float | str
    _parameter_constraints: Constraints

    @property
    def has_vectors_(self) -> bool:
        """Whether vectors were learned."""
        return len(self._state.word_vectors) > 0

    @property
    def n_features_out_(self) -> int:
        """Number of terms."""
        return self._state.lexicon.n_terms

    @property
    def n_documents_(self) -> int:
        """Number of documents, without those that were removed."""
        return self._state.n_alive

    def explain(self, query: str, row: int, *, operators: bool = False) -> Bunch:
        """Split the score of a document into what each term and each pair of related terms contributes, exactly.

        Parameters
        ----------
        query : str
            A query.
        row : int
            Row of a document.
        operators : bool, default=False
            As in `search`.

        Returns
        -------
        explanation : Bunch
            `score` (float), which is the sum of the values of `bm25`, of `contributions` and of `pretrained`; `bm25`
            (dict of str to float), for each term of the query that the index knows; `query_terms` and `document_terms`
            (lists of str), those that have a vector; `contributions` (ndarray of shape (n_query_terms,
            n_document_terms)), what each pair adds; `related` (list of (str, str, float)), the same pairs, the largest
            first; and `pretrained` (float), what the cosine of a pretrained model adds. Terms are stems.

        Raises
        ------
        ValueError
            If there is no such document, or it was removed.
        """
        fitted = self._checked()
        state, (chosen,) = fitted.state, checked_rows([row], fitted.state)
        read = self._one_query(query, operators, fitted.reader)
        asked = Asked([read], pretrained_rows(fitted.model, [text_of_query(query, operators=operators)]))
        *_, mixed = search_in(state, asked, 1, self._weights(), 1)
        slopes = slopes_of(state, self._learned_rows([read]), asked.pretrained, self._weights())[0]
        if slopes.any():
            slopes = slopes * (float(mixed[0]) / slopes.sum())
        return _explain(state, read, int(chosen), slopes, asked.pretrained[0])

    def snippet(self, query: str, row: int, *, n_words: int = 30, marks: tuple[str, str] = ("**", "**")) -> str:
        """Return the part of a document that has most of a query, with the matching words marked.

        Parameters
        ----------
        query : str
            A query.
        row : int
            Row of a document.
        n_words : int, default=30
            Most words to show.
        marks : tuple of two str, default=("**", "**")
            What to put before and after a word that matches. The text itself is not escaped for HTML.

        Returns
        -------
        text : str
            A part of the document.

        Raises
        ------
        ValueError
            If the index has no text, there is no such document, or it was removed.
        """
        state, reader, _ = self._checked()
        check_values({"n_words": [integers(1)]}, {"n_words": n_words}, "snippet")
        if not isinstance(marks, (tuple, list)) or len(marks) != 2 or not all(isinstance(mark, str) for mark in marks):
            raise ValueError(f"marks must be two strings, to put before and after a word, got {brief(marks)}.")
        if state.text is None:
            raise ValueError("The index has no text. Set keep_text=True before fit.")
        (chosen,) = checked_rows([row], state)
        return _snippet_of(state, self._one_query(query, False, reader), int(chosen), reader, n_words, marks)

    def to_sparse(self, queries: Sentences | None = None) -> csr_array:
        """Return BM25 as a matrix, for other engines: scores are ``to_sparse(queries) @ to_sparse().T``.

        Parameters
        ----------
        queries : iterable of str or None, default=None
            Queries to encode; None for the documents.

        Returns
        -------
        matrix : csr_array of shape (n_rows, n_terms) or (n_queries, n_terms), dtype float32
            What each term of a document counts, or how often a query has it, less for function words. The columns are
            those of `get_feature_names_out`. Rows of removed documents are empty.
        """
        state, reader, _ = self._checked()
        n_terms = state.lexicon.n_terms
        if queries is not None:
            ptr, terms, _, weights = terms_of(state, self._plain(read_queries(queries), reader))
            return csr_array((weights.astype(np.float32), terms, ptr), shape=(len(ptr) - 1, n_terms))
        df = np.diff(state.postings.ptr)
        data = state.postings.weights * np.repeat(idf(df, state.n_alive).astype(np.float32), df)
        return csc_array((data, state.postings.docs, state.postings.ptr), shape=(state.n_rows, n_terms)).tocsr()

    def to_dense(self, queries: Sentences | None = None) -> NDArray[np.float32]:
        """Return the vectors, for other engines. With a pretrained model: both, by their weights, side by side.

        Parameters
        ----------
        queries : iterable of str or None, default=None
            Queries to encode; None for the documents.

        Returns
        -------
        vectors : ndarray of shape (n_rows, n_components) or (n_queries, n_components), dtype float32
            Vectors of length one; zero where no word has a vector, and for removed documents.

        Raises
        ------
        ValueError
            If the index has no vectors.
        """
        state, reader, model = self._checked()
        vectors = state.documents.vectors
        if not vectors.shape[1]:
            raise ValueError("The index has no vectors. Fit it with n_components, on more documents.")
        if queries is not None:
            texts = read_queries(queries)
            vectors = np.hstack([self._learned_rows(self._plain(texts, reader)), pretrained_rows(model, texts)])
        n_learned = state.n_learned
        used = np.append(state.word_vectors.any(axis=0), np.zeros(vectors.shape[1] - n_learned, bool))
        if model is None:
            return vectors[:, used].copy()
        used[n_learned : n_learned + model.n_features_out_] = True
        weights = np.array(self._weights() if n_learned else (0.0, 1.0))
        shares = np.sqrt(weights / weights.sum()) if weights.any() else weights
        scales = np.repeat(shares, [n_learned, vectors.shape[1] - n_learned]).astype(np.float32)
        return np.asarray((vectors * scales)[:, used])

    def get_feature_names_out(self, input_features: Labels = None) -> NDArray[np.object_]:
        """Get the terms, which are the columns of `to_sparse`.

        Parameters
        ----------
        input_features : None
            Not used; here for scikit-learn.

        Returns
        -------
        terms : ndarray of str objects
            The terms.
        """
        return np.array(self._state.lexicon.terms(), dtype=object)

    @property
    def _state(self) -> IndexState:
        return self._checked().state

    def _checked(self) -> Fitted:
        if not hasattr(self, "_fitted"):
            check_is_fitted(self)
        return self._fitted

    def _weights(self) -> Weights:
        usual = WEIGHT if self._checked().model is None else WEIGHT_BESIDE_PRETRAINED
        if not self.vector_weight == self.pretrained_weight == "auto":  # they may have changed since the fit
            given = {"vector_weight": self.vector_weight, "pretrained_weight": self.pretrained_weight}
            check_values(self._parameter_constraints, given, type(self).__name__)
        learned = usual if self.vector_weight == "auto" else float(self.vector_weight)
        pretrained = PRETRAINED_WEIGHT if self.pretrained_weight == "auto" else float(self.pretrained_weight)
        return learned, pretrained

    def _plain(self, queries: list[str], reader: TermReader) -> list[Query]:
        return [read_query(text, reader, operators=False) for text in queries]

    def _learned_rows(self, queries: list[Query]) -> np.ndarray:
        ptr, terms, counts, _ = terms_of(self._state, queries)
        return vectors_of_terms(self._state, ptr, terms, counts)

    def _one_query(self, query: object, operators: bool, reader: TermReader) -> Query:
        if not isinstance(query, str):
            raise TypeError(f"query must be one string, got {brief(query)}.")
        return read_query(query, reader, operators=operators)


def _explain(state: IndexState, query: Query, row: int, slopes: np.ndarray, pretrained: np.ndarray) -> Bunch:
    """Split BM25 plus the slopes times the cosines; `pretrained` is the row of the query by a pretrained model."""
    slope, of_model = slopes.tolist()
    _, terms, counts, weights = terms_of(state, [query])
    weights = weights * idf(state.postings.df(terms), state.n_alive)
    bm25 = {
        state.lexicon.term(term): float(weight * state.postings.weight(term, row))
        for term, weight in zip(terms, weights)
    }
    query_terms, query_vectors = _summed(state, terms, counts)
    row_terms, row_counts = np.unique(state.tokens_of(row), return_counts=True)
    document_terms, document_vectors = _summed(state, row_terms, row_counts)
    lengths = np.linalg.norm(query_vectors.sum(axis=0)) * np.linalg.norm(document_vectors.sum(axis=0))
    products = query_vectors @ document_vectors.T
    contributions = slope * products / lengths if lengths > 0 else np.zeros_like(products)
    added = of_model * float(pretrained @ state.documents.vectors[row, state.n_learned :])
    order = np.argsort(-contributions, axis=None, kind="stable")
    pairs = [divmod(int(at), len(document_terms)) for at in order]
    return Bunch(
        score=sum(bm25.values()) + float(contributions.sum()) + added,
        bm25=bm25,
        query_terms=query_terms,
        document_terms=document_terms,
        contributions=contributions,
        related=[(query_terms[i], document_terms[j], float(contributions[i, j])) for i, j in pairs],
        pretrained=added,
    )


def _summed(state: IndexState, terms: np.ndarray, counts: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The terms that have a vector, and these vectors times the counts, in float64."""
    rows = state.rows_of_terms[terms]
    known = rows >= 0
    vectors = state.word_vectors[rows[known]].astype(np.float64) * counts[known, None]
    return [state.lexicon.term(term) for term in terms[known]], vectors


def _text_of(state: IndexState, row: int) -> list[str]:
    """Return the fields of a document whose text was kept."""
    assert state.text is not None
    text, ptr = state.text
    first, n_fields = row * state.scoring.n_fields, state.scoring.n_fields
    part = ptr[first : first + n_fields + 1]
    return decode_words(text[part[0] : part[-1]], part - part[0])


def _snippet_of(
    state: IndexState, query: Query, row: int, reader: TermReader, n_words: int, marks: tuple[str, str]
) -> str:
    """Return the words of a document around the best of its matches, with the terms of the query marked."""
    _, terms, _, weights = terms_of(state, [query])
    worth = dict(zip(map(state.lexicon.term, terms), weights * idf(state.postings.df(terms), state.n_alive)))
    pieces = [piece for field in _text_of(state, row) for piece in _SPACE.split(field) if piece]
    found: list[set[str]] = [set(reader.terms_of(piece)) & worth.keys() for piece in pieces]
    first = _best_window(found, worth, n_words)
    shown = [
        _marked(piece, matches, reader, marks) if matches else piece
        for piece, matches in zip(pieces[first : first + n_words], found[first : first + n_words])
    ]
    return ("... " if first else "") + " ".join(shown) + (" ..." if first + n_words < len(pieces) else "")


def _best_window(found: list[set[str]], worth: dict[str, float], n_words: int) -> int:
    """Where the words begin that have the most of the query: each term counts once."""
    at = [i for i, matches in enumerate(found) if matches]
    best, first = -1.0, 0
    for begin in at:
        value = float(sum(worth[term] for term in sorted(set().union(*found[begin : begin + n_words]))))
        if value > best:
            best, first = value, begin
    last = max((i for i in at if first <= i < first + n_words), default=first)
    margin = (n_words - (last - first + 1)) // 2  # as much text before the matches as after them
    return max(min(first - margin, len(found) - n_words), 0)


def _marked(piece: str, matches: set[str], reader: TermReader, marks: tuple[str, str]) -> str:
    """A piece of text between spaces with the words that match marked, or all of it where a code does."""
    begin, end = marks
    if matches & set(codes_of(piece)):
        return begin + piece + end
    return _WORD.sub(lambda w: begin + w[0] + end if matches & set(reader.words_of(w[0])) else w[0], piece)
