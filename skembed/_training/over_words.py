"""Base of the encoders of pairs that compute with the word vectors of another encoder, in the order of the words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._compiled.compile import lean_kernel
from .dense import move_by_adam
from .encoded_text import EncodedText
from .learned_arrays import accumulator_of
from .pairs import PairEncoder
from .word_dropout import KEEP_ALL, list_words


@lean_kernel
def list_distinct(ids, index_of, words, distinct):
    """``words[i]``: index of ``ids[i]`` among the distinct ids, which are listed; returns how many there are.

    ``index_of`` int32, zeros for each id, is left as zeros.
    """
    n = np.int64(0)
    for i in range(ids.shape[0]):
        if index_of[ids[i]] == 0:
            distinct[n] = ids[i]
            n += 1
            index_of[ids[i]] = n
        words[i] = index_of[ids[i]] - 1
    for i in range(n):
        index_of[distinct[i]] = 0
    return n


class IndexedSentences(NamedTuple):
    """Sentences as indices of their distinct words."""

    words: np.ndarray  # (n_tokens,) int64
    ptr: np.ndarray  # (n_sentences + 1,) int64, where the sentences begin
    distinct: np.ndarray  # (n_distinct,) ids of the words

    @classmethod
    def of(cls, ids: np.ndarray, ptr: np.ndarray, index_of: np.ndarray) -> IndexedSentences:
        """From ids; ``index_of`` has a zero for each id."""
        words, distinct = np.empty(len(ids), np.int64), np.empty(len(ids), ids.dtype)
        return cls(words, ptr, distinct[: list_distinct(ids, index_of, words, distinct)])


class OverWords(ABC):
    """Base of the encoders of `PairTrainer` that compute with the words of another encoder.

    The arrays are changed in place.
    """

    def __init__(self, words: PairEncoder, arrays: Mapping[str, np.ndarray], dropout: float) -> None:
        self.words, self.arrays = words, arrays
        self.kept = int((1 - dropout) * KEEP_ALL)

    @property
    def n_features(self) -> int:
        """Length of the vectors; by default that of the words."""
        return self.words.n_features

    @property
    def n_steps(self) -> int:
        """Steps of Adam, which the encoder of the words counts."""
        return self.words.n_steps

    @n_steps.setter
    def n_steps(self, n_steps: int) -> None:
        self.words.n_steps = n_steps

    @property
    def moved(self) -> dict[str, np.ndarray]:
        """Which rows of the words have moved."""
        return self.words.moved

    @abstractmethod
    def encode(self, text: EncodedText, sentences: np.ndarray, seed: int, learn: bool) -> np.ndarray:
        """The vectors of some sentences."""

    @abstractmethod
    def step(self, gradient: np.ndarray, rate: float) -> None:
        """Take one step along the gradient of the vectors that `encode` returned last."""

    @abstractmethod
    def scratch_bytes(self, n_sentences: int, n_words: int) -> int:
        """Memory for a block."""

    def _listed(self, text: EncodedText, sentences: np.ndarray, seed: int, learn: bool) -> EncodedText:
        """The known words of some sentences; with `learn`, some are dropped at random."""
        ids = np.empty(int((text.sent_ptr[sentences + 1] - text.sent_ptr[sentences]).sum()), np.int32)
        ptr = np.zeros(len(sentences) + 1, np.int64)
        text = text._replace(annotations=())  # whose types differ between methods
        list_words(text, sentences, self.kept if learn else KEEP_ALL, seed, ids, ptr)
        return text._replace(tokens=ids[: ptr[-1]], sent_ptr=ptr)

    def _indexed(self, listed: EncodedText, seed: int, learn: bool) -> tuple[IndexedSentences, np.ndarray]:
        """Listed sentences as indices of their distinct words, and the vectors of these."""
        sentences = IndexedSentences.of(listed.tokens, listed.sent_ptr, np.zeros(len(listed.word_weight), np.int32))
        n = len(sentences.distinct)
        words = listed._replace(tokens=sentences.distinct, sent_ptr=np.arange(n + 1))
        return sentences, self.words.encode(words, np.arange(n), seed, learn)

    def _move(self, name: str, gradient: np.ndarray, unit: Any, rate: float, alpha: float) -> None:
        """Take one step of Adam of an array, which ``alpha`` pulls to zero; ``unit`` of the rate."""
        weights, moments = self.arrays[name], self.arrays[accumulator_of(name)]
        if alpha:
            gradient = gradient + np.float32(alpha) * weights
        move_by_adam(weights, moments, ..., gradient, 1.0, rate, self.n_steps, unit)
