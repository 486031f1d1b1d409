"""Compiled replacement of ids."""

from .compile import lean_kernel


@lean_kernel
def renumber(ids, remap, new_ids):
    """Write the entry of ``remap`` (n_words,) int32 for each id; returns whether one is below zero.

    ``ids`` and ``new_ids`` (n,) int32 may be the same array
    """
    dropped = False
    for i in range(ids.shape[0]):
        new_ids[i] = remap[ids[i]]
        dropped |= new_ids[i] < 0
    return dropped
