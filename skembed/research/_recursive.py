"""Training of the recursive autoencoder, and the trees of its sentences: balanced or given ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._training.dense import Chunk, DenseObjective, Gradients, RowGradients
from .._training.encoded_text import SentenceBlocks
from ._recurrent import list_known
from ._tree import Folded, Parse, back, balanced_trees, fold, parse, trees_of, unfold

TreeSource = tuple[int, int] | None  # rows of both brackets of given trees; None is for balanced ones


class Unfolding(DenseObjective):
    """Loss and gradients of an autoencoder that folds the words of a sentence and unfolds its root."""

    blocks = SentenceBlocks(border=0, largest=128, longest_run=1)

    def __init__(self, arrays: Mapping[str, np.ndarray], trees: TreeSource, alpha: float | None) -> None:
        """``alpha`` is the strength with which learned words are pulled to their start; None is for given words."""
        self.arrays, self.trees, self.alpha = arrays, trees, alpha

    def activation_bytes(self, n_words: int) -> int:
        """Memory for states, outputs, slopes, gradients and errors of words and as many nodes, and of a level.

        If words are learned, also for how far they are from their start, and their gradients.
        """
        return 4 * n_words * (2 * 6 + 2 * (self.alpha is not None)) * len(self.arrays["encoder_weights_"])

    def gradients(self, chunk: Chunk, learn: bool) -> Gradients:
        words, _ = list_known(chunk.text, chunk.sentences)
        encoder, decoder = self.arrays["encoder_weights_"], self.arrays["decoder_weights_"]
        vectors = self.arrays["word_vectors_"]
        folded, rows, _ = fold_rows(words.ids, words.ptr, self.trees, vectors, encoder)
        unfolded = unfold(folded, decoder)
        loss, moved = unfolded.loss, np.zeros((0, vectors.shape[1]), np.float32)
        if self.alpha is not None:
            moved = vectors[rows] - self.arrays["_start_vectors"][rows]
            moved[folded.trees.roots[folded.trees.roots < len(rows)]] = 0  # sentences of one word have no loss
            loss += self.alpha / 2 * float(np.vdot(moved, moved))
        if not learn or not unfolded.n_words:
            return Gradients(loss, unfolded.n_words, {})
        of = back(unfolded, encoder, decoder)
        found: dict[str, Any] = {"encoder_weights_": of.encoder, "decoder_weights_": of.decoder}
        if self.alpha is not None:
            found["word_vectors_"] = RowGradients(rows, of.words + np.float32(self.alpha) * moved)
        return Gradients(loss, unfolded.n_words, found)


def fold_rows(
    rows: np.ndarray, ptr: np.ndarray, trees: TreeSource, vectors: np.ndarray, encoder: np.ndarray
) -> tuple[Folded, np.ndarray, np.ndarray]:
    """Fold sentences of rows of ``vectors``; also returns the rows without brackets, and which sentences have any."""
    if trees is None:
        return fold(vectors[rows], balanced_trees(ptr), encoder), rows, np.arange(len(ptr) - 1)
    parses = [_parsed_tree(part, trees) for part in np.split(rows, ptr[1:-1])]
    has_words = np.array([one.root >= 0 for one in parses], np.bool_)
    of_sentences = trees_of([one for one in parses if one.root >= 0])
    rows = rows[~np.isin(rows, trees)]
    return fold(vectors[rows], of_sentences, encoder), rows, np.flatnonzero(has_words)


def _parsed_tree(rows: np.ndarray, brackets: tuple[int, int]) -> Parse:
    found = parse(rows.tolist(), *brackets)
    if found is None:
        n_open, n_closed = (int((rows == bracket).sum()) for bracket in brackets)
        raise ValueError(
            f"A sentence has {n_open} opening and {n_closed} closing brackets that do not fit each other. With "
            'trees="bracketed", each sentence is a tree such as "(S (NP dogs) (VP bark))".'
        )
    return found
