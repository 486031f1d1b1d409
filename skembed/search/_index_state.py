"""All that an index knows, as arrays; `add` and `remove` return another one and leave the old one as it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._compiled.arrays import read_only_view
from .._text.sources import encode_words, offsets
from .._validation.messages import brief
from ._bm25 import Postings, Scoring, list_postings
from ._learned_vectors import DocumentVectors, Moments, moments_of, vectors_of
from ._terms import EncodedTexts, Lexicon


class IndexState(NamedTuple):
    """What an index knows of its documents. A document is a row; the row of a removed one stays, without terms."""

    scoring: Scoring
    lexicon: Lexicon
    tokens: np.ndarray  # (n_tokens,) int32: terms of all fields of all rows, one after the other
    token_ptr: np.ndarray  # (n_rows * n_fields + 1,) int64
    is_alive: np.ndarray  # (n_rows,) bool
    postings: Postings
    rows_of_terms: np.ndarray  # (n_terms,) int32: row in `word_vectors`, -1 for a term without a vector
    word_vectors: np.ndarray  # (n_learned, width) float32
    documents: DocumentVectors
    n_alive: int  # documents that were not removed
    n_fitted: int  # rows from `fit`; the others came later
    text: tuple[np.ndarray, np.ndarray] | None  # of all fields as `encode_words` packs it; None if it is not kept

    @property
    def n_rows(self) -> int:
        return len(self.is_alive)

    @property
    def n_learned(self) -> int:
        """Columns of the vectors that were learned; those of a pretrained model follow."""
        return int(self.word_vectors.shape[1])

    def documents_of(self, vectors: np.ndarray, moments: Moments, alive: np.ndarray) -> DocumentVectors:
        """Return other vectors of documents."""
        return DocumentVectors.of(vectors, moments, int(np.count_nonzero(alive)), self.n_learned)

    def tokens_of(self, row: int) -> NDArray[np.int32]:
        """Return the terms of all fields of a row."""
        n_fields = self.scoring.n_fields
        return self.tokens[self.token_ptr[row * n_fields] : self.token_ptr[(row + 1) * n_fields]]


def make_state(
    scoring: Scoring,
    encoded: EncodedTexts,
    texts: list[str] | None,
    words: tuple[list[str], np.ndarray],
    pretrained: np.ndarray,
) -> IndexState:
    """Return the state of an index of these documents, these vectors of terms, and these of documents."""
    lexicon = Lexicon.of(encoded.terms)
    learned, word_vectors = words
    row_of = {term: row for row, term in enumerate(learned)}  # also of terms that queries alone have
    rows_of_terms = np.array([row_of.get(term, -1) for term in encoded.terms], np.int32)
    n_rows = (len(encoded.ptr) - 1) // scoring.n_fields
    word_vectors = read_only_view(word_vectors)
    vectors = vectors_of(encoded.tokens, encoded.ptr[:: scoring.n_fields], rows_of_terms, word_vectors)
    vectors = np.hstack([vectors, pretrained]) if pretrained.shape[1] else vectors
    tokens, ptr, alive = map(read_only_view, (encoded.tokens, encoded.ptr, np.ones(n_rows, bool)))
    return IndexState(
        scoring,
        lexicon,
        tokens,
        ptr,
        alive,
        list_postings(tokens, ptr, lexicon.n_terms, alive, scoring),
        read_only_view(rows_of_terms),
        word_vectors,
        DocumentVectors.of(vectors, moments_of(vectors), n_rows, word_vectors.shape[1]),
        n_rows,
        n_rows,
        None if texts is None else encode_words(texts),
    )


def with_documents(state: IndexState, encoded: EncodedTexts, texts: list[str], pretrained: np.ndarray) -> IndexState:
    """Return the state with further documents and vectors of them; terms that are new get no vector."""
    lexicon = state.lexicon
    ids = lexicon.find(encoded.terms)
    is_new = ids < 0
    ids[is_new] = np.arange(lexicon.n_terms, lexicon.n_terms + np.count_nonzero(is_new))
    new = [encoded.terms[i] for i in np.flatnonzero(is_new)]
    if new:
        lexicon = Lexicon.of(lexicon.terms() + new)
    rows_of_terms = np.append(state.rows_of_terms, np.full(len(new), -1, np.int32))
    tokens = ids[encoded.tokens]
    vectors = vectors_of(tokens, encoded.ptr[:: state.scoring.n_fields], rows_of_terms, state.word_vectors)
    vectors = np.hstack([vectors, pretrained]) if pretrained.shape[1] else vectors
    alive = np.append(state.is_alive, np.ones(len(vectors), bool))
    moments = state.documents.moments.plus(1, moments_of(vectors))
    vectors = np.concatenate([state.documents.vectors, vectors])
    text = state.text
    if text is not None:
        more, ptr = encode_words(texts)
        text = np.append(text[0], more), np.append(text[1], text[1][-1] + ptr[1:])
    return _counted(
        state._replace(
            lexicon=lexicon,
            tokens=np.append(state.tokens, tokens),
            token_ptr=np.append(state.token_ptr, state.token_ptr[-1] + encoded.ptr[1:]),
            is_alive=alive,
            rows_of_terms=rows_of_terms,
            documents=state.documents_of(vectors, moments, alive),
            text=text,
        )
    )


def without_rows(state: IndexState, rows: np.ndarray) -> IndexState:
    """Return the state without some documents; the others keep their numbers."""
    n_fields = state.scoring.n_fields
    alive = state.is_alive.copy()
    alive[rows] = False
    lengths = np.diff(state.token_ptr)
    kept = np.repeat(alive, n_fields)
    vectors = state.documents.vectors.copy()
    moments = state.documents.moments.plus(-1, moments_of(vectors[rows]))
    vectors[rows] = 0
    text = state.text
    if text is not None:
        n_bytes = np.diff(text[1])
        text = text[0][np.repeat(kept, n_bytes)], offsets(n_bytes * kept)
    return _counted(
        state._replace(
            tokens=state.tokens[np.repeat(kept, lengths)],
            token_ptr=offsets(lengths * kept),
            is_alive=alive,
            documents=state.documents_of(vectors, moments, alive),
            text=text,
        )
    )


def _counted(state: IndexState) -> IndexState:
    """The state with new postings, and all arrays read-only."""
    tokens, ptr, alive = map(read_only_view, (state.tokens, state.token_ptr, state.is_alive))
    return state._replace(
        tokens=tokens,
        token_ptr=ptr,
        is_alive=alive,
        n_alive=int(np.count_nonzero(alive)),
        rows_of_terms=read_only_view(state.rows_of_terms),
        postings=list_postings(tokens, ptr, state.lexicon.n_terms, alive, state.scoring),
    )


def checked_rows(rows: ArrayLike, state: IndexState) -> NDArray[np.int64]:
    """Return the numbers of documents that are there, each once."""
    found = np.atleast_1d(np.asarray(rows))
    if found.dtype.kind not in "iu" and found.size:
        raise TypeError(f"rows must be integers, got {brief(rows)}.")
    if found.ndim > 1:
        raise ValueError(f"rows must be one-dimensional, got shape {found.shape}.")
    seen: set[int] = set()
    for row in found.tolist():
        if not 0 <= row < state.n_rows:
            raise ValueError(f"There is no document {row}: the rows go from 0 to {state.n_rows - 1}.")
        if not state.is_alive[row]:
            raise ValueError(f"Document {row} was removed before.")
        if row in seen:
            raise ValueError(f"Document {row} stands twice in rows.")
        seen.add(row)
    return found.astype(np.int64)
