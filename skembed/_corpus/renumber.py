"""Compiled replacement of provisional word ids by those in order of falling count."""

import numpy as np

from .._compiled.compile import lean_kernel


@lean_kernel
def renumber(tokens, remap, first, ends):
    """Replace ids by new ones, and drop those that are below zero; returns the end of the tokens that stay.

    ``tokens`` int32, of which some sentences begin at ``first``
    ``remap`` (n_words,) int32
    ``ends`` (n_sentences,) int64, where these sentences end before and, when this is done, after
    """
    at = start = first
    for i in range(ends.shape[0]):
        for j in range(start, ends[i]):
            tokens[at] = remap[np.uint64(tokens[j])]  # an unsigned index needs no wrap-around check
            at += 1 if tokens[at] >= 0 else 0
        start = ends[i]
        ends[i] = at
    return at


@lean_kernel
def renumber_all(tokens, remap):
    """Replace ids by new ones, where no word is dropped: four times as fast."""
    for i in range(tokens.shape[0]):
        tokens[i] = remap[np.uint64(tokens[i])]
