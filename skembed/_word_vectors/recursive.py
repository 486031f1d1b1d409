"""Training of the recursive autoencoder, and the trees of its sentences: balanced, greedy or given ones."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._encoders.tree import Folded, Parse, back, balanced_trees, fold, greedy_trees, parse, trees_of, unfold
from .._training.dense import Chunk, DenseObjective, Gradients
from .._training.plan import SentenceBlocks
from .recurrent import list_known

Trees = tuple[int, int] | Literal["greedy"] | None  # rows of both brackets of given trees; None is for balanced ones


class Unfolding(DenseObjective):
    """Loss and gradients of an autoencoder that folds the words of a sentence and unfolds its root."""

    blocks = SentenceBlocks(border=0, largest=128, longest_run=1)

    def __init__(self, fitted: dict[str, Any], trees: Trees) -> None:
        self.fitted, self.trees = fitted, trees

    def activation_bytes(self, n_words: int) -> int:
        """Memory for states, outputs, slopes, gradients and errors of words and as many nodes, and of a level."""
        return 4 * 2 * n_words * 6 * len(self.fitted["encoder_weights_"])

    def gradients(self, chunk: Chunk, learn: bool) -> Gradients:
        words, _ = list_known(chunk.text, chunk.sentences)
        encoder, decoder = self.fitted["encoder_weights_"], self.fitted["decoder_weights_"]
        folded, _ = fold_rows(words.ids, words.ptr, self.trees, self.fitted["word_vectors_"], encoder, decoder)
        unfolded = unfold(folded, decoder)
        if not learn or not unfolded.n_words:
            return Gradients(unfolded.loss, unfolded.n_words, {})
        of = back(unfolded, encoder, decoder)
        return Gradients(
            unfolded.loss, unfolded.n_words, {"encoder_weights_": of.encoder, "decoder_weights_": of.decoder}
        )


def fold_rows(
    rows: np.ndarray,
    ptr: np.ndarray,
    trees: Trees,
    vectors: np.ndarray,
    encoder: np.ndarray,
    decoder: np.ndarray,
) -> tuple[Folded, np.ndarray]:
    """Fold sentences of rows of ``vectors``; also returns which of them have a word beside brackets."""
    if trees == "greedy":
        return fold(vectors[rows], greedy_trees(vectors[rows], ptr, encoder, decoder), encoder), np.arange(len(ptr) - 1)
    if trees is None:
        return fold(vectors[rows], balanced_trees(ptr), encoder), np.arange(len(ptr) - 1)
    parses = [_parsed_tree(part, trees) for part in np.split(rows, ptr[1:-1])]
    has_words = np.array([one.root >= 0 for one in parses], np.bool_)
    of_sentences = trees_of([one for one in parses if one.root >= 0])
    return fold(vectors[rows[~np.isin(rows, trees)]], of_sentences, encoder), np.flatnonzero(has_words)


def _parsed_tree(rows: np.ndarray, brackets: tuple[int, int]) -> Parse:
    found = parse(rows.tolist(), *brackets)
    if found is None:
        n_open, n_closed = (int((rows == bracket).sum()) for bracket in brackets)
        raise ValueError(
            f"A sentence has {n_open} opening and {n_closed} closing brackets that do not fit each other. With "
            'trees="bracketed", each sentence is a tree such as "(S (NP dogs) (VP bark))".'
        )
    return found
