"""A text for the kernels: which sentences belong together, which runs of them a block has, which thread works on which.

A block is ``runs_per_block`` runs of ``run_length`` consecutive sentences in random order: a sample of the corpus, in
which each sentence has its neighbours beside it. A ``border`` adds the sentences around a run, as context.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT, lean_kernel
from .._compiled.rows import prefetch_row, renumber
from .._compiled.simd import prefetch_item
from .._corpus.corpus import SentenceCorpus
from .._text.character_ngrams import CharacterNgrams
from .._text.sources import offsets
from .._text.tokenizer import Tokenizer
from .._text.vocabulary import begins_with
from .._validation.targets import NO_CLASS
from .state import FittedState

# What a sentence costs besides its words, in words; balances the threads.
WORDS_PER_SENTENCE = 8
# How many runs ahead words are prefetched, and the most words of a run; how far ahead the offsets of sentences are.
_RUNS_AHEAD, _MOST_WORDS_AHEAD, _OFFSETS_AHEAD = 4, 256, 24
_CHUNK = 65_536  # sentences that are split at once
Annotations: TypeAlias = tuple[np.ndarray, ...]  # arrays with a value for each sentence


class EncodedText(NamedTuple):
    """The corpus as the kernels see it: word ids, offsets of sentences, the document of each sentence, word weights."""

    tokens: np.ndarray  # (n_tokens,) int32; ids of n_words and above are unknown words, which are skipped
    sent_ptr: np.ndarray  # (n_sentences + 1,) int64
    document: np.ndarray  # (n_sentences,) int64
    word_weight: np.ndarray  # (n_words,) float32
    annotations: Annotations = ()  # such as labels, targets or weights


def most_words_whole(estimator: Any, tokenizer: Tokenizer) -> int | None:
    """Words of a sentence that is not split; "auto" splits no n-grams of characters, of which it has hundreds."""
    longest: int | str | None = estimator.max_sentence_length
    if not isinstance(longest, str):
        return longest
    return None if isinstance(tokenizer.analyzer, CharacterNgrams) else int(estimator._words_of_sentence)


def split_long_sentences(text: EncodedText, longest: int | None) -> EncodedText:
    """The text with each sentence of more than ``longest`` words in pieces of about equal length."""
    if longest is None:
        return text
    n_sentences = len(text.document)
    # A chunk at a time: what is computed of each sentence would take more memory than the result.
    chunks = [slice(start, min(start + _CHUNK, n_sentences)) for start in range(0, n_sentences, _CHUNK)]

    def count(chunk: slice) -> tuple[np.ndarray, np.ndarray]:
        n_words = np.diff(text.sent_ptr[chunk.start : chunk.stop + 1])
        return n_words, np.maximum(n_words - 1, 0) // longest + 1

    n_pieces = sum(int(count(chunk)[1].sum()) for chunk in chunks)
    if n_pieces == n_sentences:
        return text
    sent_ptr = np.empty(n_pieces + 1, text.sent_ptr.dtype)
    document = np.empty(n_pieces, text.document.dtype)
    annotations = tuple(np.empty((n_pieces, *values.shape[1:]), values.dtype) for values in text.annotations)
    first = 0
    for chunk in chunks:
        n_words, n_of_each = count(chunk)
        sentence = np.repeat(np.arange(len(n_words)), n_of_each)
        piece = np.arange(len(sentence)) - (np.cumsum(n_of_each) - n_of_each)[sentence]
        last = first + len(sentence)
        sent_ptr[first:last] = text.sent_ptr[chunk][sentence] + n_words[sentence] * piece // n_of_each[sentence]
        document[first:last] = text.document[chunk][sentence]
        for of_pieces, values in zip(annotations, text.annotations):
            of_pieces[first:last] = values[chunk][sentence]
        first = last
    sent_ptr[-1] = text.sent_ptr[-1]
    sent_ptr.flags.writeable = text.sent_ptr.flags.writeable  # or kernels would be compiled once more
    return text._replace(sent_ptr=sent_ptr, document=document, annotations=annotations)


def encode_text(
    estimator: Any, corpus: SentenceCorpus, state: FittedState, annotations: Annotations = ()
) -> EncodedText:
    """The corpus in word ids of the vocabulary, long sentences split; unknown words have the id after them."""
    tokens, words, vocabulary = np.asarray(corpus.tokens), corpus.vocabulary.words, state.vocabulary_
    if not begins_with(words, vocabulary):  # not the corpus that the vocabulary comes from
        ids = state.rows_of(words, len(words))
        tokens = tokens.copy()
        renumber(tokens, np.where(ids < 0, len(vocabulary), ids).astype(np.int32), tokens)
        tokens.flags.writeable = False
    weights = estimator._weights_in_training(state)
    text = EncodedText(tokens, np.asarray(corpus.sent_ptr), corpus.doc_of(), weights, annotations)
    return split_long_sentences(text, most_words_whole(estimator, corpus.tokenizer))


def longest_sentence(text: EncodedText) -> int:
    """Number of words of the longest sentence, at least 1."""
    starts = range(0, len(text.document), _CHUNK)
    return max(int(np.diff(text.sent_ptr[start : start + _CHUNK + 1]).max(initial=1)) for start in starts)


class Plan(NamedTuple):
    """What to work through: the runs in order, and the shape of a block."""

    run_starts: np.ndarray  # (n_runs,) int64, first sentence of each run: multiples of run_length
    run_length: int
    border: int
    runs_per_block: int
    first_block: int
    last_block: int
    seed: int

    @property
    def n_blocks(self) -> int:
        return -(-len(self.run_starts) // self.runs_per_block)


def count_words_of_runs(text, plan):
    """Number of words before each run, borders included, (n_runs + 1,) int64; and the most words of any block."""
    run_ptr = np.zeros(len(plan.run_starts) + 1, np.int64)
    return run_ptr, max(1, _count_words(text.sent_ptr, plan, run_ptr))


@lean_kernel
def _count_words(sent_ptr, plan, run_ptr):
    """Fill ``run_ptr``; returns the most words of any block."""
    n_sentences, n_runs = sent_ptr.shape[0] - 1, plan.run_starts.shape[0]
    n_words = most = np.int64(0)
    for run in range(n_runs):
        later = plan.run_starts[min(run + _OFFSETS_AHEAD, n_runs - 1)]
        prefetch_item(sent_ptr, max(later - plan.border, 0))
        prefetch_item(sent_ptr, min(later + plan.run_length + plan.border, n_sentences))
        first, last = plan.run_starts[run] - plan.border, plan.run_starts[run] + plan.run_length + plan.border
        n_words += sent_ptr[min(last, n_sentences)] - sent_ptr[max(first, 0)]
        run_ptr[run + 1] = n_words
        most = max(most, n_words - run_ptr[run - run % plan.runs_per_block])
    return most


class Block(NamedTuple):
    """One block of a plan."""

    position: int  # in the plan
    first_run: int
    last_run: int  # the run after the last
    n_targets: int  # its sentences
    n_members: int  # its sentences, borders included


@njit(**INLINE_LLVM)
def block_of(plan, index):
    """The block with this index."""
    first = index * plan.runs_per_block
    last = min(first + plan.runs_per_block, plan.run_starts.shape[0])
    n_runs = last - first
    return Block(index, first, last, n_runs * plan.run_length, n_runs * (plan.run_length + 2 * plan.border))


@njit(**NO_REFCOUNT)
def _first_run_of(run_ptr, block, thread, n_threads):
    """First run of a thread's range, which is also the end of the range before."""
    n_runs = block.last_run - block.first_run
    cost = run_ptr[block.last_run] - run_ptr[block.first_run] + n_runs * WORDS_PER_SENTENCE
    wanted = cost * thread // n_threads
    low, high = block.first_run, block.last_run
    while low < high:
        middle = (low + high) // 2
        before = run_ptr[middle] - run_ptr[block.first_run] + (middle - block.first_run) * WORDS_PER_SENTENCE
        if before < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**NO_REFCOUNT)
def runs_of_thread(run_ptr, block, team):
    """First and last+1 of a thread's runs: contiguous, with about the same number of words for each thread."""
    return (
        _first_run_of(run_ptr, block, team.thread, team.n_threads),
        _first_run_of(run_ptr, block, team.thread + 1, team.n_threads),
    )


@njit(**INLINE_LLVM)
def prefetch_run(text, plan, run):
    """Prefetch the tokens of the run four ahead, and the offsets of the run eight ahead."""
    n_runs, n_sentences = plan.run_starts.shape[0], text.document.shape[0]
    later = plan.run_starts[min(run + 2 * _RUNS_AHEAD, n_runs - 1)]
    soon = plan.run_starts[min(run + _RUNS_AHEAD, n_runs - 1)]
    prefetch_item(text.sent_ptr, later - plan.border)
    prefetch_item(text.sent_ptr, later + plan.run_length)
    prefetch_item(text.document, soon - plan.border)
    prefetch_item(text.document, soon + plan.run_length)
    first = text.sent_ptr[max(soon - plan.border, 0)]
    last = text.sent_ptr[min(soon + plan.run_length + plan.border, n_sentences)]
    for token in range(first, min(last, first + _MOST_WORDS_AHEAD), 16):
        prefetch_item(text.tokens, token)


@njit(**INLINE_LLVM)
def prefetch_next_words(text, plan, run, position, weights, table):
    """Prefetch what the sentence after this one, at ``position`` in its run, needs of the weights and of a table."""
    if position == plan.run_length - 1:
        run, position = min(run + 1, plan.run_starts.shape[0] - 1), -1
    following = min(plan.run_starts[run] + position + 1, text.document.shape[0] - 1)
    for p in range(text.sent_ptr[following], text.sent_ptr[following + 1]):
        word = min(np.int64(text.tokens[p]), table.shape[0] - 1)
        prefetch_row(weights, word)
        prefetch_item(table, word)


@njit(**INLINE_LLVM)
def sentence_of_block(text, plan, run_ptr, block, i, weights, table):
    """Sentence i of a block, borders left out, -1 past the end of the text; and the number of words before it."""
    run, position = block.first_run + i // plan.run_length, i % plan.run_length
    if position == 0:
        prefetch_run(text, plan, run)
    start = plan.run_starts[run]
    sentence = start + position
    if sentence >= text.document.shape[0]:
        return np.int64(-1), np.int64(0)
    prefetch_next_words(text, plan, run, position, weights, table)
    return sentence, run_ptr[run] - run_ptr[block.first_run] + text.sent_ptr[sentence] - text.sent_ptr[start]


def keep_probability(counts: np.ndarray, n_tokens: int, subsample: float) -> np.ndarray:
    """``q_p(w) = min(1, sqrt(t / f_w) + t / f_w)``, the probability that an occurrence of a word is taken."""
    ratio = subsample * n_tokens / np.maximum(counts, 1)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)


# From text, seed and pass to the text of the pass, whose neighbours belong together; None leaves the text as it is.
Examples: TypeAlias = Callable[[EncodedText, int, int], EncodedText] | None


def by_class(text: EncodedText, seed: int, epoch: int) -> EncodedText:
    """The sentences of each class, as the first annotation has them, as one document in a random order of the pass."""
    (classes,) = text.annotations
    sentence, column = np.nonzero(classes != NO_CLASS)
    document = classes[sentence, column]
    generator = np.random.default_rng([seed, epoch, 1])
    order = generator.permutation(len(sentence))
    order = order[np.argsort(document[order], kind="stable")]
    return _taken(text, sentence[order], document[order])


def _taken(text: EncodedText, sentences: np.ndarray, document: np.ndarray) -> EncodedText:
    """A copy of some sentences, with the documents they belong to."""
    sent_ptr = offsets(np.diff(text.sent_ptr)[sentences])
    tokens = np.empty(sent_ptr[-1], text.tokens.dtype)
    _copy_tokens(text.tokens, text.sent_ptr, sentences, tokens, sent_ptr)
    for array in (tokens, sent_ptr):
        array.flags.writeable = False  # as those of a corpus are, or kernels would be compiled once more
    annotations = tuple(values[sentences] for values in text.annotations)
    return text._replace(tokens=tokens, sent_ptr=sent_ptr, document=document.astype(np.int64), annotations=annotations)


@lean_kernel
def _copy_tokens(tokens, sent_ptr, sentences, to, to_ptr):
    """Copy the tokens of some sentences, one after the other."""
    for i in range(sentences.shape[0]):
        first, n = sent_ptr[sentences[i]], to_ptr[i + 1] - to_ptr[i]
        for k in range(n):
            to[to_ptr[i] + k] = tokens[first + k]


# Runs are long only in blocks that have many of them; otherwise a block would hold few documents. Measured.
SHORT_RUN, RUNS_OF_BLOCK = 4, 32
# As many ids as a cache line has, and about as many words as a sentence of prose.
USUAL_WORDS = 16
# At least some tens of updates a pass, however small the corpus.
_BLOCKS_OF_TEXT, _SMALLEST = 64, 16


class BlockShape(NamedTuple):
    """How many sentences a block has, in runs of how many, and how many sentences around a run it sees."""

    n_sentences: int
    run_length: int
    border: int


class SentenceBlocks(NamedTuple):
    """Blocks of an objective that compares sentences: those of a run are neighbours, those of other runs are not."""

    border: int
    largest: int = 512
    longest_run: int = 8

    def shape(self, text: EncodedText, batch_size: int | str) -> BlockShape:
        border = _border_within_documents(text, self.border)
        n_sentences = _n_sentences(text, batch_size, self.largest, self.largest)
        longest_run = max(min(self.longest_run, max(SHORT_RUN, n_sentences // RUNS_OF_BLOCK)), 2 * border)
        return _in_equal_runs(n_sentences, longest_run, border, batch_size)


class WordBlocks(NamedTuple):
    """Blocks of an objective that predicts words: a run has about as many as a usual sentence, a block fits a cache."""

    usual: int = 64
    border: int = 0

    def shape(self, text: EncodedText, batch_size: int | str) -> BlockShape:
        n_words = max(1.0, (text.sent_ptr[-1] - text.sent_ptr[0]) / len(text.document))
        ratio = (USUAL_WORDS + WORDS_PER_SENTENCE) / (n_words + WORDS_PER_SENTENCE)
        border = _border_within_documents(text, self.border)
        # A multiple of 16, so that runs divide it.
        largest = max(self.usual, int(self.usual * (1 + ratio) / 2) // 16 * 16)
        n_sentences = _n_sentences(text, batch_size, self.usual, largest)
        longest_run = min(int(np.clip(USUAL_WORDS // n_words, 1, SHORT_RUN)), 2 * n_sentences // RUNS_OF_BLOCK)
        return _in_equal_runs(n_sentences, max(1, longest_run), border, batch_size)


def _n_sentences(text: EncodedText, batch_size: int | str, usual: int, largest: int) -> int:
    if not isinstance(batch_size, str):
        return batch_size
    return int(np.clip(len(text.document) // _BLOCKS_OF_TEXT, min(_SMALLEST, usual), largest))


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


def make_plan(
    text: EncodedText, blocks: SentenceBlocks | WordBlocks, batch_size: int | str, seed: int, epoch: int
) -> Plan:
    """The runs of all the text in random order."""
    shape = blocks.shape(text, batch_size)
    starts = np.arange(0, len(text.document), shape.run_length, dtype=np.int64)
    generator = np.random.default_rng([seed, epoch])
    seed_of_draws = int(generator.integers(2**63))
    generator.shuffle(starts)
    # A block has no more runs than the text.
    runs_per_block = min(shape.n_sentences // shape.run_length, len(starts))
    return Plan(starts, shape.run_length, shape.border, runs_per_block, 0, 0, seed_of_draws)
