"""Where the score of a document comes from, and which part of its text shows it best."""

from __future__ import annotations

import re

import numpy as np
from sklearn.utils import Bunch

from .._text.sources import decode_words
from ._bm25 import idf
from ._index_state import IndexState
from ._query import Query
from ._searching import terms_of
from ._terms import TermReader, codes_of

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")


def explain_score(state: IndexState, query: Query, row: int, slopes: np.ndarray, pretrained: np.ndarray) -> Bunch:
    """Split the score of a document, BM25 plus the slopes times the cosines, into what its terms contribute.

    `slopes` are those of the cosine of learned vectors and of a pretrained model, `pretrained` is its row of the query.
    """
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
        cosine=float(products.sum() / lengths) if lengths > 0 else 0.0,
        cosine_weight=float(slope),
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


def text_of(state: IndexState, row: int) -> list[str]:
    """Return the fields of a document whose text was kept."""
    assert state.text is not None
    text, ptr = state.text
    first, n_fields = row * state.scoring.n_fields, state.scoring.n_fields
    part = ptr[first : first + n_fields + 1]
    return decode_words(text[part[0] : part[-1]], part - part[0])


def snippet_of(
    state: IndexState, query: Query, row: int, reader: TermReader, n_words: int, marks: tuple[str, str]
) -> str:
    """Return the words of a document around the best of its matches, with the terms of the query marked."""
    _, terms, _, weights = terms_of(state, [query])
    worth = dict(zip(map(state.lexicon.term, terms), weights * idf(state.postings.df(terms), state.n_alive)))
    pieces = [piece for field in text_of(state, row) for piece in _SPACE.split(field) if piece]
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
