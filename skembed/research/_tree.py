r"""Unfolding recursive autoencoders over binary trees (Socher et al., 2011), forward and backward.

A node joins its two children, and is unfolded into two again:

.. math::

    p = \tanh(W [c_1; c_2] + b), \qquad [c_1'; c_2'] = f(V p' + a)

The root is unfolded down to the words, where :math:`f` is the identity; at other nodes it is tanh. Nodes whose children
are all computed make a level, so that products are those of matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._compiled.products import product_by_row
from .._training.dense import ONE_BLAS_THREAD, Chunk, DenseObjective, Gradients, RowGradients
from .._training.encoded_text import SentenceBlocks
from ._recurrent import list_known


class Trees(NamedTuple):
    """Binary trees over the words of sentences, each of which has a word."""

    children: np.ndarray  # (n_nodes, 2) int64, words or nodes: node i has the index n_words + i
    levels: np.ndarray  # (n_levels + 1,) int64, where the nodes of a level begin; their children are in levels before
    roots: np.ndarray  # (n_sentences,) int64


def balanced_trees(ptr: np.ndarray) -> Trees:
    """Trees that join neighbours, then the neighbours of these; an odd one at the end waits."""
    tops, lengths = np.arange(ptr[-1]), np.diff(ptr)
    n, children, levels = int(ptr[-1]), [np.zeros((0, 2), np.int64)], [0]
    while lengths.max(initial=1) > 1:
        position = np.arange(len(tops)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        left = np.flatnonzero((position % 2 == 0) & (position + 1 < np.repeat(lengths, lengths)))
        children.append(np.column_stack([tops[left], tops[left + 1]]))
        levels.append(levels[-1] + len(left))
        tops[left] = np.arange(n, n + len(left))
        n += len(left)
        tops, lengths = tops[position % 2 == 0], (lengths + 1) // 2
    return Trees(np.concatenate(children), np.array(levels), tops)


class Parse(NamedTuple):
    """A tree of a sentence; -1 is the root of a sentence without a word."""

    words: list[int]  # which of the tokens are words
    children: list[tuple[int, int]]  # words or nodes: node i has the index n_words + i
    heights: list[int]
    root: int


def parse(tokens: Sequence[int], opening: int, closing: int) -> Parse:
    """The tree of tokens with brackets; more than two children are joined from the left."""
    depths = np.cumsum([(token == opening) - (token == closing) for token in tokens])
    if len(depths) and (depths.min() < 0 or depths[-1]):
        raise ValueError(
            f"A sentence has {tokens.count(opening)} opening and {tokens.count(closing)} closing brackets that do not "
            'fit each other. With trees="bracketed", each sentence is a tree such as "(S (NP dogs) (VP bark))".'
        )
    words = [position for position, token in enumerate(tokens) if token not in (opening, closing)]
    children: list[tuple[int, int]] = []
    heights: list[int] = []
    open_nodes: list[list[int]] = [[]]

    def join(nodes: list[int]) -> list[int]:
        """The node of all of these, in a list, which is empty where there are none."""
        while len(nodes) > 1:
            pair = nodes[0], nodes[1]
            heights.append(1 + max(heights[node - len(words)] if node >= len(words) else 0 for node in pair))
            children.append(pair)
            nodes = [len(words) + len(children) - 1, *nodes[2:]]
        return nodes

    n_words = 0
    for token in tokens:
        if token == opening:
            open_nodes.append([])
        elif token == closing:
            nodes = open_nodes.pop()
            open_nodes[-1] += join(nodes)
        else:
            open_nodes[-1].append(n_words)
            n_words += 1
    return Parse(words, children, heights, next(iter(join(open_nodes[0])), -1))


def trees_of(parses: list[Parse]) -> Trees:
    """The trees of sentences that have words, all together."""
    n_words = np.array([len(one.words) for one in parses], np.int64)
    n_nodes = np.array([len(one.children) for one in parses], np.int64)
    heights = np.array([height for one in parses for height in one.heights], np.int64)
    order = np.argsort(heights, kind="stable")
    new = np.empty(len(order), np.int64)  # a node's index among those of all levels
    new[order] = np.arange(len(order))
    first_word, first_node = np.cumsum(n_words) - n_words, np.cumsum(n_nodes) - n_nodes

    def renumbered(index: np.ndarray, sentence: np.ndarray) -> np.ndarray:
        is_word, nodes = index < n_words[sentence], index - n_words[sentence] + first_node[sentence]
        of_nodes = new[np.where(is_word, 0, nodes)] if len(new) else nodes
        return np.where(is_word, index + first_word[sentence], n_words.sum() + of_nodes)

    children = np.array([pair for one in parses for pair in one.children], np.int64).reshape(-1, 2)
    sentence = np.repeat(np.arange(len(parses)), n_nodes)
    children = np.column_stack([renumbered(children[:, side], sentence) for side in (0, 1)])[order]
    levels = np.searchsorted(heights[order], np.arange(1, heights.max(initial=0) + 2))
    roots = renumbered(np.array([one.root for one in parses], np.int64), np.arange(len(parses)))
    return Trees(children, levels, roots)


class Folded(NamedTuple):
    """Sentences as their trees fold them."""

    trees: Trees
    states: np.ndarray  # (n_words + n_nodes, n_components) float32: the words, then the nodes


class Unfolded(NamedTuple):
    """What the roots unfold to, and the loss."""

    folded: Folded
    outputs: np.ndarray  # (n_words + n_nodes, n_components) float32
    loss: float  # half of the squared distances of the words
    n_words: int  # of sentences with more than one word


def fold(vectors: np.ndarray, trees: Trees, encoder: np.ndarray) -> Folded:
    """Fold sentences, from the vectors of their words; a root depends on the words and tree of its sentence alone."""
    (n, d), matrix = vectors.shape, np.ascontiguousarray(encoder[:, :-1])
    states = np.empty((n + len(trees.children), d), np.float32)
    states[:n] = vectors
    for first, last in zip(trees.levels, trees.levels[1:]):
        pairs = states[trees.children[first:last]].reshape(last - first, 2 * d)
        states[n + first : n + last] = np.tanh(product_by_row(pairs, matrix)[:, :d] + encoder[:, -1])
    return Folded(trees, states)


def unfold(folded: Folded, decoder: np.ndarray) -> Unfolded:
    """Unfold the roots down to the words, and compare these with the words that they were."""
    (children, levels, roots), states = folded
    n, d = len(states) - len(children), states.shape[1]
    outputs = states.copy()  # a sentence of one word is what it was
    for first, last in reversed(list(zip(levels, levels[1:]))):
        found = outputs[n + first : n + last] @ decoder[:, :-1].T + decoder[:, -1]
        below = children[first:last].ravel()
        found = found.reshape(-1, d)
        outputs[below] = np.where((below < n)[:, None], found, np.tanh(found))
    distances = outputs[:n] - states[:n]
    return Unfolded(folded, outputs, float(np.vdot(distances, distances)) / 2, n - int((roots < n).sum()))


def back(unfolded: Unfolded, encoder: np.ndarray, decoder: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of the loss by the weights, and by each word, which is read and compared."""
    (trees, states), outputs = unfolded[:2]
    children, levels, roots = trees
    n, d = len(states) - len(children), states.shape[1]
    steps = list(zip(levels, levels[1:]))
    given = np.zeros_like(states)
    given[:n] = distances = outputs[:n] - states[:n]
    slopes = 1 - np.square(outputs)
    slopes[:n] = 1
    errors = np.empty((len(children), 2 * d), np.float32)  # of all nodes, for one product in the end
    for first, last in steps:
        below = children[first:last].ravel()
        errors[first:last] = (given[below] * slopes[below]).reshape(-1, 2 * d)
        given[n + first : n + last] = errors[first:last] @ decoder[:, :-1]
    of_decoder = _of_pairs(errors, outputs[n:])
    of_roots = given[roots]
    given[:] = 0
    given[roots] = of_roots
    slopes, of_nodes = 1 - np.square(states[n:]), errors[:, :d]
    for first, last in reversed(steps):
        of_nodes[first:last] = given[n + first : n + last] * slopes[first:last]
        given[children[first:last].ravel()] = (of_nodes[first:last] @ encoder[:, :-1]).reshape(-1, d)
    of_encoder = _of_pairs(of_nodes, states[children].reshape(-1, 2 * d))
    return of_encoder, of_decoder, np.subtract(given[:n], distances, out=distances)


def _of_pairs(errors: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """The gradient of weights and intercepts, from the errors of all nodes."""
    return np.column_stack([errors.T @ inputs, errors.sum(axis=0)])


def start_pairs(array: np.ndarray, seed: list[int], *, is_decoder: bool) -> None:
    """Start as a scaled sum of both children, or as their mean for both, with some noise; intercepts are zero."""
    d, random = array.shape[1] - 1 if is_decoder else array.shape[0], np.random.default_rng(seed)
    pairs = np.concatenate([np.eye(d), np.eye(d)]) / 2**0.5
    pairs += random.normal(0, 0.1 / d**0.5, pairs.shape)
    with ONE_BLAS_THREAD:
        array[:, :-1] = pairs if is_decoder else pairs.T


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
        of_encoder, of_decoder, of_words = back(unfolded, encoder, decoder)
        found: dict[str, Any] = {"encoder_weights_": of_encoder, "decoder_weights_": of_decoder}
        if self.alpha is not None:
            found["word_vectors_"] = RowGradients(rows, of_words + np.float32(self.alpha) * moved)
        return Gradients(loss, unfolded.n_words, found)


def fold_rows(
    rows: np.ndarray, ptr: np.ndarray, trees: TreeSource, vectors: np.ndarray, encoder: np.ndarray
) -> tuple[Folded, np.ndarray, np.ndarray]:
    """Fold sentences of rows of ``vectors``; also returns the rows without brackets, and which sentences have any."""
    if trees is None:
        return fold(vectors[rows], balanced_trees(ptr), encoder), rows, np.arange(len(ptr) - 1)
    parses = [parse(part.tolist(), *trees) for part in np.split(rows, ptr[1:-1])]
    has_words = np.array([one.root >= 0 for one in parses], np.bool_)
    of_sentences = trees_of([one for one in parses if one.root >= 0])
    rows = rows[~np.isin(rows, trees)]
    return fold(vectors[rows], of_sentences, encoder), rows, np.flatnonzero(has_words)
