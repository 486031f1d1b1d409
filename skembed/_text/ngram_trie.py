"""Compiled trie of character n-grams: from the characters of a text to a node for each n-gram.

Node 0, the root, is the empty n-gram. The edge to an n-gram from the one without its last character is the integer
``(parent << 21 | character) + 1``, in a hash table with open addressing: two n-grams never share a node.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .character_spans import reach_at
from .utf8 import fold_product, utf8

STRIDE = 2  # integers of a slot: an edge, 0 if it is free, and the node to which it leads
_BITS_OF_CHARACTER = np.uint64(21)
_CHARACTER = np.uint64((1 << 21) - 1)
_U0, _U1, _STRIDE = np.uint64(0), np.uint64(1), np.uint64(STRIDE)
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Trie(NamedTuple):
    """Nodes in the order in which they are added, so a parent comes before its children."""

    slots: np.ndarray  # (n_slots * STRIDE,) uint64; n_slots is a power of two
    edges: np.ndarray  # (capacity,) uint64: the edge that leads to each node
    state: np.ndarray  # (1,) int64: number of nodes, the root too


@njit(**INLINE_LLVM)
def edge_to(node, character):
    return ((np.uint64(node) << _BITS_OF_CHARACTER) | np.uint64(character)) + _U1


@njit(**INLINE_LLVM)
def parent_and_character(edge):
    """The node that an edge leaves, uint64, and the character that it adds."""
    bits = edge - _U1
    return bits >> _BITS_OF_CHARACTER, bits & _CHARACTER


@njit(**INLINE_LLVM)
def _slot_of(slots, edge):
    """The slot of an edge, or the free one where it belongs."""
    mask = np.uint64(slots.shape[0] - 1)
    slot = (fold_product(edge ^ _MIX, _MIX) << _U1) & mask
    while slots[slot] != edge and slots[slot] != _U0:
        slot = (slot + _STRIDE) & mask
    return slot


@njit(**INLINE_LLVM)
def _child(trie, node, character):
    """The node of an n-gram and one more character, which is added if it is new."""
    edge = edge_to(node, character)
    slot = _slot_of(trie.slots, edge)
    if trie.slots[slot] == _U0:
        new = trie.state[0]
        trie.slots[slot], trie.slots[slot + _U1] = edge, np.uint64(new)
        trie.edges[new] = edge
        trie.state[0] = new + 1
    return np.int64(trie.slots[slot + _U1])


@lean_kernel
def has_room(n_nodes, trie):
    """Whether a trie can have this many nodes: some slots stay free, so that a search ends soon."""
    return n_nodes <= trie.edges.shape[0] and 8 * n_nodes <= 5 * (trie.slots.shape[0] // STRIDE)


@lean_kernel
def learn_tokens(spans, lengths, trie, tokens, progress):
    """Write the nodes of all n-grams in the order of the text, and add new ones; False if it needs a larger trie.

    Then call again. ``progress`` (2,), zeros at first, is the next character and the number of nodes written.
    """
    characters, reach, _, _ = spans
    n_tokens = progress[1]
    for i in range(progress[0], characters.shape[0]):
        n, least = reach_at(reach, i, lengths.shortest)
        if not has_room(trie.state[0] + n, trie):
            progress[0], progress[1] = i, n_tokens
            return False
        node = np.int64(lengths.root)
        for k in range(n):
            node = _child(trie, node, characters[i + k])
            if k + 1 >= least:
                tokens[n_tokens] = node
                n_tokens += 1
    progress[0], progress[1] = characters.shape[0], n_tokens
    return True


@lean_kernel
def find_tokens(spans, lengths, trie, tokens):
    """Write the same for known n-grams, all of whose beginnings are nodes; 0 for others."""
    characters, reach, _, _ = spans
    n_tokens = np.int64(0)
    for i in range(characters.shape[0]):
        n, least = reach_at(reach, i, lengths.shortest)
        node = np.int64(lengths.root)
        is_known = True
        for k in range(n):
            if is_known:
                edge = edge_to(node, characters[i + k])
                slot = _slot_of(trie.slots, edge)
                is_known = trie.slots[slot] != _U0
                node = np.int64(trie.slots[slot + _U1])  # 0 in a free slot
            if k + 1 >= least:
                tokens[n_tokens] = node
                n_tokens += 1


@lean_kernel
def add_edges(edges, trie, nodes):
    """Add the nodes of another trie with enough room; ``nodes`` (n_nodes,) int64 receives what becomes of each."""
    nodes[0] = 0
    for other in range(1, edges.shape[0]):
        parent, character = parent_and_character(edges[other])
        nodes[other] = _child(trie, nodes[parent], character)


@lean_kernel
def add_words(characters, ptr, trie, nodes):
    """Add words with all their beginnings to a trie with enough room; ``nodes`` (n_words,) int64 receives theirs."""
    for word in range(nodes.shape[0]):
        node = np.int64(0)
        for i in range(ptr[word], ptr[word + 1]):
            node = _child(trie, node, characters[i])
        nodes[word] = node


@lean_kernel
def count_bytes(edges, n_bytes):
    """Write how many bytes of UTF-8 each node has."""
    n_bytes[0] = 0
    for node in range(1, edges.shape[0]):
        parent, character = parent_and_character(edges[node])
        _, n = utf8(np.int64(character))
        n_bytes[node] = n_bytes[parent] + n


@lean_kernel
def spell(edges, nodes, ends, text):
    """Write some nodes in UTF-8, each before its end in the text."""
    for i in range(nodes.shape[0]):
        node, at = np.uint64(nodes[i]), np.int64(ends[i])
        while node != _U0:
            node, character = parent_and_character(edges[node])
            encoded, n = utf8(np.int64(character))
            at -= n
            for j in range(n):
                text[at + j] = np.uint8((encoded >> np.uint64(8 * j)) & np.uint64(0xFF))


@lean_kernel
def fill_slots(edges, slots):
    """Fill an empty table with the edges of all nodes but the root."""
    for node in range(1, edges.shape[0]):
        slot = _slot_of(slots, edges[node])
        slots[slot], slots[slot + _U1] = edges[node], np.uint64(node)


def new_trie(n_nodes: int = 1 << 10) -> Trie:
    """Return a trie that has only the root, with room for this many nodes."""
    n_slots = 1 << (8 * n_nodes // 5).bit_length()
    return Trie(np.zeros(n_slots * STRIDE, np.uint64), np.zeros(n_nodes, np.uint64), np.ones(1, np.int64))


def trie_of(edges: np.ndarray, n_nodes: int) -> Trie:
    """Return the trie that has these edges and room for this many nodes."""
    trie = new_trie(n_nodes)
    trie.edges[: len(edges)] = edges
    fill_slots(edges, trie.slots)
    trie.state[0] = len(edges)
    return trie
