"""Compiled sums of word vectors."""

import numpy as np

from ._bytes import fetch
from ._compile import kernel

_AHEAD = 4  # words
_LINE = 16  # numbers of a cache line


@kernel
def sum_rows(rows, weights, ptr, vectors, others, mean, out):
    """Weighted sum, or mean, of the vectors of each sentence's words, added up in the order of the text.

    ``rows`` (n_tokens,) int64: row of ``vectors``, or -1 - i for row i of ``others``, or too low and left out
    ``weights`` (n_tokens,) float32 and ``ptr`` (n_sentences + 1,) int64, where the sentences begin
    ``vectors`` and ``others`` (n, n_components) float32, read-only; ``out`` (n_sentences, n_components) float32
    """
    n_components = vectors.shape[1]
    numbers = vectors.reshape(vectors.size)
    for sentence in range(out.shape[0]):
        total = out[sentence]
        total[:] = 0.0
        n_summed = 0
        for token in range(ptr[sentence], ptr[sentence + 1]):
            if token + _AHEAD < rows.shape[0] and rows[token + _AHEAD] >= 0:
                # The rows lie anywhere in memory: ask for the next ones while this one is added.
                for j in range(0, n_components, _LINE):
                    fetch(numbers, rows[token + _AHEAD] * n_components + j)
            row, weight = rows[token], weights[token]
            if row >= 0:
                n_summed += 1
                for j in range(n_components):
                    total[j] += weight * vectors[row, j]
            elif -1 - row < others.shape[0]:
                n_summed += 1
                for j in range(n_components):
                    total[j] += weight * others[-1 - row, j]
        if mean and n_summed > 1:
            for j in range(n_components):
                total[j] /= np.float32(n_summed)
