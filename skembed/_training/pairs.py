"""Training on pairs of sentences: the pairs of a pass, in blocks; encoders of the words that are not dropped at random.

An encoder turns the sentences of a block into vectors, and learns from their gradient; a loss compares the vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .._compiled.sync import random_bits
from .._compiled.threads import Threads
from .dense import SteppingLoop, move_by_adam
from .encoded_text import EncodedText
from .learned_arrays import accumulator_of
from .trainer import HELD_OUT_PASS, BlockLoop, LoopOptions, Objective

KEEP_ALL = 2**31
_STREAM = np.uint64(11)  # of the draws that drop words


@njit(**INLINE_LLVM)
def _list_kept(text, sentence, kept, seed, ids, first):
    """List the words of a sentence that are known and not dropped, from ``first`` on; returns where they end."""
    n = first
    for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
        bits = random_bits(np.uint64(seed), _STREAM, np.uint64(p), np.uint64(0))
        if text.tokens[p] < text.word_weight.shape[0] and np.int64(bits >> np.uint64(33)) < kept:
            ids[n] = text.tokens[p]
            n += 1
    return n


@lean_kernel
def list_words(text, sentences, kept, seed, ids, ptr):
    """List the words of some sentences, ``kept`` of ``KEEP_ALL`` of them; one that would lose all keeps all."""
    for i in range(sentences.shape[0]):
        last = _list_kept(text, sentences[i], kept, seed, ids, ptr[i])
        if last == ptr[i] and kept < KEEP_ALL:
            last = _list_kept(text, sentences[i], np.int64(KEEP_ALL), seed, ids, ptr[i])
        ptr[i + 1] = last


# Pairs of a block, and at least some tens of blocks a pass, however few the pairs.
_LARGEST_BLOCK, _SMALLEST_BLOCK, _BLOCKS_OF_TEXT = 128, 16, 64
_FEW = 20  # clusters, of which one is too large a part to be held out


class Evidence(NamedTuple):
    """Annotations of a text, (n_sentences,) int64 each: what belongs together and what must not be compared."""

    group: np.ndarray  # sentences of one group are paraphrases
    cluster: np.ndarray  # groups of one cluster are never negatives of each other
    text: np.ndarray  # equal for equal sentences, which are never negatives of each other
    set: np.ndarray  # which of the sets of pairs, that are learned one after the other

    @property
    def n_sets(self) -> int:
        """Number of sets of pairs."""
        return int(self.set.max(initial=0)) + 1

    def of(self, which: np.ndarray) -> Evidence:
        """The evidence of some sentences."""
        return Evidence(*(values[which] for values in self))

    @property
    def hangs_together(self) -> bool:
        """Whether no group has another one to be told from: all are of one cluster, or have a text in common."""
        if (self.cluster == self.cluster[0]).all():
            return True
        groups = np.unique(self.group)
        texts = np.unique(self.text[self.group == groups[0]])
        return any(len(np.unique(self.group[self.text == text])) == len(groups) for text in texts)


class PairPlan(NamedTuple):
    """The pairs of a pass in order, in blocks of ``pairs_per_block``."""

    firsts: np.ndarray  # (n_pairs,) int64, first sentence of each pair
    partners: np.ndarray  # (n_pairs,) int64, second sentence of each pair
    pairs_per_block: int
    first_block: int
    last_block: int
    seed: int

    @property
    def n_blocks(self) -> int:
        return -(-len(self.firsts) // self.pairs_per_block)


class PairLoss(NamedTuple):
    """Loss of a block, and the gradient of its vectors."""

    loss: float  # sum over the targets
    n_targets: int
    gradient: np.ndarray  # (2 * n_pairs, n_components) float32; empty where nothing is learned


class Loss(Protocol):
    """Compares the vectors of a block."""

    def __call__(self, vectors: np.ndarray, excluded: np.ndarray, learn: bool) -> PairLoss:
        """Compare ``vectors``, first sentences before second ones; ``excluded`` pairs are no negatives."""


class PairEncoder(Protocol):
    """Turns sentences into vectors, and learns."""

    n_steps: int  # of Adam

    @property
    def n_features(self) -> int:
        """Length of the vectors."""

    def encode(self, text: EncodedText, sentences: np.ndarray, seed: int, learn: bool) -> np.ndarray:
        """The vectors of some sentences, (n_sentences, n_components); with ``learn``, to be learned from."""

    def step(self, gradient: np.ndarray, rate: float) -> None:
        """Take a step along the gradient of the vectors that `encode` returned last."""

    def scratch_bytes(self, n_sentences: int, n_words: int) -> int:
        """Memory for a block of `n_sentences` sentences and their words."""


class PairObjective(Objective):
    """An objective over pairs: an encoder, which learns, and a loss, which compares vectors."""

    def __init__(self, encoder: PairEncoder, loss: Loss) -> None:
        self.encoder, self.loss = encoder, loss

    def make_loop(self, options: LoopOptions) -> BlockLoop:
        state, passes = options.state, options.passes_of_a_set
        first_pass = state.n_iter_ or 0
        return PairTrainer(
            self.encoder, self.loss, options.batch_size, state.seed, first_pass=first_pass, passes=passes
        )


class PairTrainer(SteppingLoop):
    """Runs an encoder and a loss over pairs. A single thread learns."""

    def __init__(
        self, encoder: PairEncoder, loss: Any, batch_size: int | str, seed: int, *, first_pass: int = 0, passes: int = 1
    ) -> None:
        super().__init__(None, "adam", batch_size, seed, 1)
        self.encoder, self.loss, self.first_pass, self.passes = encoder, loss, first_pass, passes

    @property
    def n_steps(self) -> int | None:
        """Steps of Adam, which the encoder counts."""
        return self.encoder.n_steps

    @n_steps.setter
    def n_steps(self, n_steps: int | None) -> None:
        self.encoder.n_steps = n_steps or 0

    def compile(self, text: EncodedText) -> None:
        """Compile the kernels by encoding no sentence, and taking no step."""
        vectors = self.encoder.encode(text, np.zeros(0, np.int64), 0, True)
        self.encoder.step(vectors, 0.0)

    def scratch_bytes(self, text: EncodedText) -> int:
        n_sentences, n_pairs = len(text.document), self._pairs_of_block(len(text.document) // 2)
        words = 2 * n_pairs * (len(text.tokens) // max(1, n_sentences) + 1)
        annotations_and_order = 8 * n_sentences * (len(Evidence._fields) + 4)
        scores = 4 * (4 * n_pairs) ** 2
        return int(annotations_and_order + scores + self.encoder.scratch_bytes(2 * n_pairs, words))

    def plan(self, text: EncodedText, epoch: int) -> Any:
        """The pairs of a pass in random order: each group, in random order, in pairs."""
        evidence = Evidence(*text.annotations)
        random = np.random.default_rng([self.seed, epoch])
        sentences = _with_words(text)
        is_held_out = epoch >= HELD_OUT_PASS
        of_pass = epoch - HELD_OUT_PASS if is_held_out else (epoch - self.first_pass) // self.passes
        sentences = sentences[evidence.set[sentences] == min(of_pass, evidence.n_sets - 1)]
        firsts, partners = _pairs(sentences, evidence.group, random)
        order = random.permutation(len(firsts))
        n_pairs = self._pairs_of_block(len(firsts))
        return PairPlan(firsts[order], partners[order], n_pairs, 0, 0, int(random.integers(2**63)))

    def _pairs_of_block(self, n_pairs: int) -> int:
        if not isinstance(self.batch_size, str):
            return self.batch_size
        return int(np.clip(n_pairs // _BLOCKS_OF_TEXT, _SMALLEST_BLOCK, _LARGEST_BLOCK))

    def _compute(self, text: EncodedText, plan: Any, block: int, learn: bool, threads: Threads) -> PairLoss:
        evidence = Evidence(*text.annotations)
        of_block = slice(block * plan.pairs_per_block, (block + 1) * plan.pairs_per_block)
        firsts, partners = plan.firsts[of_block], plan.partners[of_block]
        excluded = np.empty((len(firsts),) * 2, np.bool_)
        exclude(evidence.cluster[firsts], evidence.text[firsts], evidence.text[partners], excluded)
        vectors = self.encoder.encode(text, np.concatenate([firsts, partners]), plan.seed, learn)
        return self.loss(vectors, excluded, learn)

    def _step(self, of_block: PairLoss, rate: float) -> None:
        self.encoder.step(of_block.gradient / np.float32(of_block.n_targets), rate)


def _with_words(text: EncodedText) -> np.ndarray:
    """The sentences with a word of the vocabulary."""
    sentences = np.flatnonzero(np.diff(text.sent_ptr))
    if not len(sentences):
        return sentences
    is_known = text.tokens < len(text.word_weight)
    found: np.ndarray = sentences[np.logical_or.reduceat(is_known, text.sent_ptr[sentences])]
    return found


def _pairs(sentences: np.ndarray, group: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pair the sentences of each group at random; one is left over where their number is odd."""
    group = group[sentences]
    if np.bincount(group).max(initial=0) > 2:
        order = random.permutation(len(group))
        order = order[np.argsort(group[order], kind="stable")]
    else:  # the groups are pairs
        order = np.argsort(group, kind="stable")
    sentences, group = sentences[order], group[order]
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1])[: len(group)])
    position = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    first = np.flatnonzero((position[:-1] % 2 == 0) & (group[1:] == group[:-1]))
    return sentences[first], sentences[first + 1]


@lean_kernel
def exclude(cluster, first, second, excluded):
    """Write which pairs are not negatives of each other: those of one cluster, or with a common text."""
    for i in range(cluster.shape[0]):
        own, a, b = cluster[i], first[i], second[i]
        for j in range(cluster.shape[0]):
            shares = (a == first[j]) | (a == second[j]) | (b == first[j]) | (b == second[j])
            excluded[i, j] = shares | (own == cluster[j])


def hold_out_of_sets(evidence: Evidence, fraction: float, seed: int) -> np.ndarray:
    """Choose sentences of each set of pairs as `hold_out_clusters` does, (n_sentences,) bool."""
    held = np.zeros(len(evidence.set), bool)
    for index in range(evidence.n_sets):
        which = evidence.set == index
        held[which] = hold_out_clusters(evidence.of(which), fraction, seed)
    return held


def hold_out_clusters(evidence: Evidence, fraction: float, seed: int) -> np.ndarray:
    """Which sentences are held out, (n_sentences,) bool: clusters; of few of them groups, or else pairs of a group."""
    n_sentences = len(evidence.cluster)
    random = np.random.default_rng([seed, 2**31])
    unit = evidence.cluster if len(np.unique(evidence.cluster)) >= _FEW else evidence.group
    if len(np.unique(unit)) < _FEW:
        order = random.permutation(n_sentences)
        order = order[np.argsort(unit[order], kind="stable")]
        unit = np.empty(n_sentences, np.int64)
        unit[order] = np.arange(n_sentences) // 2
    sizes, n_wanted = np.bincount(unit), max(1, round(fraction * n_sentences))
    order = random.permutation(np.flatnonzero(sizes))
    n_chosen = max(1, int(np.searchsorted(np.cumsum(sizes[order]), n_wanted, side="right")))
    held = np.isin(unit, order[:n_chosen])
    if held.all():
        raise ValueError(
            f"early_stopping with validation_fraction={fraction} leaves nothing to learn from: there are "
            f"{n_sentences} sentences."
        )
    return held


@lean_kernel
def list_distinct(ids, index_of, words, distinct):
    """``words[i]``: index of ``ids[i]`` among the distinct ids; ``index_of`` is left as zeros. Returns their number."""
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
    """Base of the encoders of `PairTrainer` that compute with the words of another encoder."""

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
