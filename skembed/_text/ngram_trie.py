"""Compiled trie of character n-grams: from the characters of a text to a node for each n-gram.

A *node* is an n-gram; node 0, the root, is the empty one. An *edge* leads from an n-gram to the one that is a character
longer. It is the integer ``(parent << 21 | character) + 1``, so it names its n-gram exactly, and n-grams are compared
without their characters. The edges are in a hash table with open addressing: two n-grams never share a node.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, lean_kernel
from .utf8 import fold_product

STRIDE = 2  # integers of a slot: an edge, 0 if it is free, and the node to which it leads
_SPACE = np.uint32(ord(" "))
_BITS_OF_CHARACTER = np.uint64(21)
_CHARACTER = np.uint64((1 << 21) - 1)
_U0, _U1, _STRIDE = np.uint64(0), np.uint64(1), np.uint64(STRIDE)
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Trie(NamedTuple):
    """Nodes in the order in which they are added, so a parent comes before its children."""

    slots: np.ndarray  # (n_slots * STRIDE,) uint64; n_slots is a power of two
    edges: np.ndarray  # (capacity,) uint64: the edge that leads to each node
    state: np.ndarray  # (1,) int64: number of nodes, the root too


class Lengths(NamedTuple):
    """Least and most characters of an n-gram."""

    shortest: int
    longest: int


class Spans(NamedTuple):
    """Texts cut into spans, which no n-gram crosses: padded words, or whole texts."""

    characters: np.ndarray  # (n,) uint32, code points
    # (n,) int32: length of the longest n-gram that begins at each, 0 if none. Below 0, the span is shorter than the
    # shortest n-gram, and its characters are one of that length.
    reach: np.ndarray
    ptr: np.ndarray  # (n_texts + 1,) int64: offset of each text in the characters
    token_ptr: np.ndarray  # (n_texts + 1,) int64: offset of each text in its n-grams


@njit(**INLINE)
def _edge(node, character):
    return ((np.uint64(node) << _BITS_OF_CHARACTER) | np.uint64(character)) + _U1


@njit(**INLINE)
def _slot_of(slots, edge):
    """The slot of an edge, or the free one where it belongs."""
    mask = np.uint64(slots.shape[0] - 1)
    slot = (fold_product(edge ^ _MIX, _MIX) * _STRIDE) & mask
    while slots[slot] != edge and slots[slot] != _U0:
        slot = (slot + _STRIDE) & mask
    return slot


@njit(**INLINE)
def _add_edge(trie, slot, edge):
    """Add the node to which a new edge leads; returns it."""
    node = trie.state[0]
    trie.slots[slot], trie.slots[slot + _U1] = edge, np.uint64(node)
    trie.edges[node] = edge
    trie.state[0] = node + 1
    return node


@njit(**INLINE)
def _mark_span(reach, start, end, shortest, longest, keeps_short):
    """Write how far the n-grams of a span reach; returns the number of n-grams."""
    n = end - start
    is_whole = keeps_short and n < shortest
    n_tokens = np.int64(is_whole)
    for i in range(start, end):
        longest_here = min(longest, end - i)
        reach[i] = 0
        if longest_here >= shortest:
            reach[i] = longest_here
            n_tokens += longest_here - shortest + 1
    if is_whole:
        reach[start] = -n
    return n_tokens


@lean_kernel
def cut_texts(text, text_ptr, is_space, lengths, spans):
    """Fill `spans` with texts whose runs of white space are one space each; returns the number of characters.

    A single white space stays as it is, as in scikit-learn.
    """
    characters, reach, ptr, token_ptr = spans
    n = n_tokens = np.int64(0)
    ptr[0] = token_ptr[0] = 0
    for row in range(text_ptr.shape[0] - 1):
        start, at, end = n, text_ptr[row], text_ptr[row + 1]
        while at < end:
            characters[n] = text[at]
            at += 1
            if is_space[min(text[at - 1], is_space.shape[0] - 1)]:
                first = at
                while at < end and is_space[min(text[at], is_space.shape[0] - 1)]:
                    at += 1
                if at > first:
                    characters[n] = _SPACE
            n += 1
        n_tokens += _mark_span(reach, start, n, lengths.shortest, lengths.longest, False)
        ptr[row + 1], token_ptr[row + 1] = n, n_tokens
    return n


@lean_kernel
def cut_words(text, text_ptr, is_space, lengths, spans):
    """Fill `spans` with the words between white space, each with a space on both sides; returns how many characters."""
    characters, reach, ptr, token_ptr = spans
    n = n_tokens = np.int64(0)
    ptr[0] = token_ptr[0] = 0
    for row in range(text_ptr.shape[0] - 1):
        at, end = text_ptr[row], text_ptr[row + 1]
        while at < end:
            if is_space[min(text[at], is_space.shape[0] - 1)]:
                at += 1
                continue
            start = n
            characters[n] = _SPACE
            n += 1
            while at < end and not is_space[min(text[at], is_space.shape[0] - 1)]:
                characters[n] = text[at]
                n += 1
                at += 1
            characters[n] = _SPACE
            n += 1
            n_tokens += _mark_span(reach, start, n, lengths.shortest, lengths.longest, True)
        ptr[row + 1], token_ptr[row + 1] = n, n_tokens
    return n


@lean_kernel
def has_room(n_nodes, trie):
    """Whether a trie can have this many nodes: some slots stay free, so that a search ends soon."""
    return n_nodes <= trie.edges.shape[0] and 8 * n_nodes <= 5 * (trie.slots.shape[0] // STRIDE)


@lean_kernel
def learn_tokens(spans, lengths, trie, tokens, progress):
    """Write the nodes of all n-grams in the order of the text, and add new ones; False if it needs a larger trie.

    Then call again. ``progress`` (2,) int64, zeros at first, is the next character and the number of nodes written.
    """
    characters, reach, _, _ = spans
    n_tokens = progress[1]
    for i in range(progress[0], characters.shape[0]):
        n = np.int64(reach[i])
        least = lengths.shortest
        if n < 0:
            least = n = -n
        if not has_room(trie.state[0] + n, trie):
            progress[0], progress[1] = i, n_tokens
            return False
        node = np.int64(0)
        for k in range(n):
            edge = _edge(node, characters[i + k])
            slot = _slot_of(trie.slots, edge)
            if trie.slots[slot] == _U0:
                node = _add_edge(trie, slot, edge)
            else:
                node = np.int64(trie.slots[slot + _U1])
            if k + 1 >= least:
                tokens[n_tokens] = node
                n_tokens += 1
    progress[0], progress[1] = characters.shape[0], n_tokens
    return True


@lean_kernel
def find_columns(spans, lengths, trie, column_of, columns, ptr):
    """Write the column of each n-gram of the texts that has one, and where each text begins in them.

    ``column_of`` (n_nodes,) int32, -1 for a node that has none. All beginnings of a known n-gram are nodes.
    """
    characters, reach, text_ptr, _ = spans
    n_found = np.int64(0)
    ptr[0] = 0
    for row in range(text_ptr.shape[0] - 1):
        for i in range(text_ptr[row], text_ptr[row + 1]):
            n = np.int64(reach[i])
            least = lengths.shortest
            if n < 0:
                least = n = -n
            node = np.int64(0)
            for k in range(n):
                edge = _edge(node, characters[i + k])
                slot = _slot_of(trie.slots, edge)
                if trie.slots[slot] == _U0:
                    break
                node = np.int64(trie.slots[slot + _U1])
                if k + 1 >= least and column_of[node] >= 0:
                    columns[n_found] = column_of[node]
                    n_found += 1
        ptr[row + 1] = n_found


@lean_kernel
def keep_columns(tokens, token_ptr, column_of, columns, ptr):
    """Write the same from nodes that `learn_tokens` wrote."""
    n_found = np.int64(0)
    ptr[0] = 0
    for row in range(token_ptr.shape[0] - 1):
        for i in range(token_ptr[row], token_ptr[row + 1]):
            column = column_of[tokens[i]]
            if column >= 0:
                columns[n_found] = column
                n_found += 1
        ptr[row + 1] = n_found


@lean_kernel
def count_columns(columns, ptr, n_bits, spare, starts, counts):
    """Sort the columns of each row and write each once, with how often it was there; returns how many are left.

    ``columns`` int32, of at most `n_bits` bits, and ``ptr`` (n_rows + 1,) int64 are changed in place; ``counts``
    float32, as long, is written; ``spare`` int32, as long as the longest row, and ``starts`` (256,) int64 hold anything
    """
    n = first = np.int64(0)
    for row in range(ptr.shape[0] - 1):
        size = ptr[row + 1] - first
        source, source_start, target, target_start = columns, first, spare, np.int64(0)
        for shift in range(0, n_bits, 8):  # by digits of eight bits, the lowest one first
            for digit in range(256):
                starts[digit] = 0
            for i in range(source_start, source_start + size):
                starts[(source[i] >> shift) & 255] += 1
            end = target_start
            for digit in range(256):
                end, starts[digit] = end + starts[digit], end
            for i in range(source_start, source_start + size):
                digit = (source[i] >> shift) & 255
                target[starts[digit]] = source[i]
                starts[digit] += 1
            source, source_start, target, target_start = target, target_start, source, source_start
        begins = n
        for i in range(source_start, source_start + size):
            if n > begins and source[i] == columns[n - 1]:
                counts[n - 1] += np.float32(1.0)
            else:
                columns[n], counts[n] = source[i], np.float32(1.0)
                n += 1
        first = ptr[row + 1]
        ptr[row + 1] = n
    return n


@lean_kernel
def count_texts(tokens, token_ptr, nodes, first_row, last_row, n_texts):
    """Add to the number of texts that have each n-gram.

    ``nodes`` are those of the tokens in the arrays of the last two arguments, (n_nodes,) int64; ``last_row`` is the
    last row in which each was found, counted from 1, and zeros at first.
    """
    for row in range(token_ptr.shape[0] - 1):
        stamp = first_row + row + 1
        for i in range(token_ptr[row], token_ptr[row + 1]):
            node = nodes[tokens[i]]
            if last_row[node] != stamp:
                last_row[node] = stamp
                n_texts[node] += 1


@lean_kernel
def add_edges(edges, trie, nodes):
    """Add the nodes of another trie with enough room; ``nodes`` (n_nodes,) int64 receives what becomes of each."""
    nodes[0] = 0
    for other in range(1, edges.shape[0]):
        bits = edges[other] - _U1
        edge = _edge(nodes[bits >> _BITS_OF_CHARACTER], bits & _CHARACTER)
        slot = _slot_of(trie.slots, edge)
        if trie.slots[slot] == _U0:
            nodes[other] = _add_edge(trie, slot, edge)
        else:
            nodes[other] = np.int64(trie.slots[slot + _U1])


@lean_kernel
def fill_slots(edges, slots):
    """Fill an empty table with the edges of all nodes but the root."""
    for node in range(1, edges.shape[0]):
        slot = _slot_of(slots, edges[node])
        slots[slot], slots[slot + _U1] = edges[node], np.uint64(node)


@lean_kernel
def keep_beginnings(edges, kept, sizes):
    """Keep also all beginnings of the n-grams that are kept; ``sizes`` becomes the number of nodes below and at each.

    ``kept`` (n_nodes,) bool; ``sizes`` (n_nodes,) int64, zeros at first
    """
    for node in range(edges.shape[0] - 1, 0, -1):
        if kept[node]:
            parent = (edges[node] - _U1) >> _BITS_OF_CHARACTER
            sizes[node] += 1
            sizes[parent] += sizes[node]
            kept[parent] = True


@lean_kernel
def sort_ngrams(edges, order, sizes, places, depths, characters):
    """Write the length and the last character of the kept nodes, in the order of their n-grams as strings.

    ``order`` are the kept nodes but the root by their edges, so siblings follow each other and a parent comes before
    its children; ``places`` (n_nodes,) int64, zeros at first, receives the place of each; ``sizes`` is used up
    """
    depths[0] = characters[0] = 0
    sizes[0] = 1  # from here on: where the next child of each node goes
    for i in range(order.shape[0]):
        node = order[i]
        bits = edges[node] - _U1
        parent = bits >> _BITS_OF_CHARACTER
        place = sizes[parent]
        sizes[parent] += sizes[node]
        sizes[node] = place + 1
        places[node] = place
        depths[place] = depths[places[parent]] + 1
        characters[place] = bits & _CHARACTER


@lean_kernel
def edges_of_sorted(depths, characters, path, edges):
    """Undo `sort_ngrams`; ``path`` (longest + 1,) int64, zeros, and ``edges`` (n_nodes,) uint64 are written."""
    edges[0] = 0
    for node in range(1, edges.shape[0]):
        depth = np.int64(depths[node])
        edges[node] = _edge(path[depth - 1], characters[node])
        path[depth] = node


def new_trie(n_nodes: int = 1 << 10) -> Trie:
    """Return a trie that has only the root, with room for this many nodes."""
    n_slots = 1 << (8 * n_nodes // 5).bit_length()
    return Trie(np.zeros(n_slots * STRIDE, np.uint64), np.zeros(n_nodes, np.uint64), np.ones(1, np.int64))


def larger_trie(trie: Trie, n_nodes: int) -> Trie:
    """Return a trie with the same nodes and room for this many in all."""
    n_used = int(trie.state[0])
    larger = new_trie(n_nodes)
    larger.edges[:n_used] = trie.edges[:n_used]
    fill_slots(larger.edges[:n_used], larger.slots)
    return Trie(larger.slots, larger.edges, trie.state)


def trie_of(edges: np.ndarray) -> Trie:
    """Return the trie that has these edges; nothing can be added to it."""
    trie = new_trie(len(edges))
    trie.edges[:] = edges
    fill_slots(trie.edges, trie.slots)
    trie.state[0] = len(edges)
    return trie
