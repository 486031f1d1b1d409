"""The shape of the blocks, which follows from the objective and the text, and the order of the runs of a pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .encoded_text import WORDS_PER_SENTENCE, EncodedText, Plan

# Runs are long only in blocks that have many of them; otherwise a block would hold few documents. Measured.
SHORT_RUN, RUNS_OF_BLOCK = 4, 32
# As many ids as a cache line has, and about as many words as a sentence of prose.
USUAL_WORDS = 16
# At least some tens of updates a pass, however small the corpus.
_BLOCKS_OF_TEXT, SMALLEST = 64, 16


class BlockShape(NamedTuple):
    """How many sentences a block has, in runs of how many, and how many sentences around a run it sees."""

    n_sentences: int
    run_length: int
    border: int


class SentenceBlocks(NamedTuple):
    """Blocks of an objective that compares sentences with each other.

    A block has runs of consecutive sentences, which are neighbours, from different documents, which are not.
    """

    border: int
    largest: int = 512
    longest_run: int = 8
    smallest: int = SMALLEST

    def shape(self, text: EncodedText, batch_size: int | str) -> BlockShape:
        border = _border_within_documents(text, self.border)
        n_sentences = _n_sentences(text, batch_size, self.smallest, self.largest)
        longest_run = max(min(self.longest_run, max(SHORT_RUN, n_sentences // RUNS_OF_BLOCK)), 2 * border)
        return _in_equal_runs(n_sentences, longest_run, border, batch_size)


class WordBlocks(NamedTuple):
    """Blocks of an objective that predicts words, of the sentence itself or, with a border, of those around it.

    A run has about as many words as a usual sentence. A block of short sentences has more of them, which makes up
    for half of their lower cost: in a smaller block threads meet too often, a larger one does not fit in their caches.
    """

    usual: int = 64
    border: int = 0

    def shape(self, text: EncodedText, batch_size: int | str) -> BlockShape:
        n_words = max(1.0, (text.sent_ptr[-1] - text.sent_ptr[0]) / len(text.document))
        ratio = (USUAL_WORDS + WORDS_PER_SENTENCE) / (n_words + WORDS_PER_SENTENCE)
        border = _border_within_documents(text, self.border)
        # A multiple of 16, so that runs divide it.
        largest = max(self.usual, int(self.usual * (1 + ratio) / 2) // 16 * 16)
        n_sentences = _n_sentences(text, batch_size, min(SMALLEST, self.usual), largest)
        longest_run = min(int(np.clip(USUAL_WORDS // n_words, 1, SHORT_RUN)), 2 * n_sentences // RUNS_OF_BLOCK)
        return _in_equal_runs(n_sentences, max(1, longest_run), border, batch_size)


def _n_sentences(text: EncodedText, batch_size: int | str, smallest: int, largest: int) -> int:
    if not isinstance(batch_size, str):
        return batch_size
    return int(np.clip(len(text.document) // _BLOCKS_OF_TEXT, smallest, largest))


def _border_within_documents(text: EncodedText, border: int) -> int:
    """A context never leaves its document, so a border is shorter than the longest document."""
    if np.any(text.document[border:] == text.document[: max(0, len(text.document) - border)]):
        return border
    return int(np.bincount(text.document).max()) - 1


def _in_equal_runs(n_sentences: int, longest_run: int, border: int, batch_size: int | str) -> BlockShape:
    if isinstance(batch_size, str):
        # At least two runs: sentences of one run are mostly of one document, so they are not random to each other.
        n_sentences = max(2 * longest_run, n_sentences - n_sentences % longest_run)
    run_length = max(n for n in range(1, longest_run + 1) if n_sentences % n == 0)
    return BlockShape(n_sentences, run_length, border)


def make_plan(text: EncodedText, shape: BlockShape, seed: int, epoch: int) -> Plan:
    """The runs of all the text in random order."""
    starts = np.arange(0, len(text.document), shape.run_length, dtype=np.int64)
    generator = np.random.default_rng([seed, epoch])
    seed_of_draws = int(generator.integers(2**63))
    generator.shuffle(starts)
    # A block has no more runs than the text.
    runs_per_block = min(shape.n_sentences // shape.run_length, len(starts))
    return Plan(starts, shape.run_length, shape.border, runs_per_block, 0, 0, seed_of_draws)
