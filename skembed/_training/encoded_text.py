"""Runs of sentences: which ones a block has, in which order, and who works on what.

A block is ``runs_per_block`` runs of ``run_length`` consecutive sentences. Runs are taken in random order, so a block
is a sample of the corpus, and yet each sentence has its neighbours beside it. With a ``border`` the sentences just
before and after a run are there too, as context. Of frequent words only some occurrences are taken, where a method
says so.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, LEAN, lean_kernel
from .._compiled.rows import prefetch_row
from .._compiled.simd import prefetch_item

# What a sentence costs beside its words, in words; for sharing out the work.
WORDS_PER_SENTENCE = 8
# How many runs ahead their words are fetched from memory, longer runs in part, and where these begin.
_RUNS_AHEAD, _MOST_WORDS_AHEAD, _BORDERS_AHEAD = 4, 256, 24
_AT_ONCE = 65_536  # sentences whose parts are found at once


class EncodedText(NamedTuple):
    """The corpus as the kernels see it: word ids, sentence borders, the document of each sentence, word weights."""

    tokens: np.ndarray  # (n_tokens,) int32; ids of n_words and above are unknown words, which are skipped
    sent_ptr: np.ndarray  # (n_sentences + 1,) int64
    document: np.ndarray  # (n_sentences,) int64
    word_weight: np.ndarray  # (n_words,) float32
    annotations: tuple = ()  # arrays with a value for each sentence, such as labels, targets or weights


def first_sentence(text: EncodedText) -> EncodedText:
    """The text cut after its first sentence."""
    annotations = tuple(values[:1] for values in text.annotations)
    return text._replace(sent_ptr=text.sent_ptr[:2], document=text.document[:1], annotations=annotations)


def split_long_sentences(text: EncodedText, longest: int | None) -> EncodedText:
    """The text with each sentence of more than ``longest`` words in parts of about equal length.

    A part has the document and the annotations of its sentence.
    """
    if longest is None:
        return text
    n_sentences = len(text.document)
    # A piece at a time: what is computed of each sentence would take more memory than the result.
    pieces = [slice(start, min(start + _AT_ONCE, n_sentences)) for start in range(0, n_sentences, _AT_ONCE)]

    def count(piece: slice) -> tuple[np.ndarray, np.ndarray]:
        n_words = np.diff(text.sent_ptr[piece.start : piece.stop + 1])
        return n_words, np.maximum(n_words - 1, 0) // longest + 1

    n_parts = sum(int(count(piece)[1].sum()) for piece in pieces)
    if n_parts == n_sentences:
        return text
    sent_ptr = np.empty(n_parts + 1, text.sent_ptr.dtype)
    document = np.empty(n_parts, text.document.dtype)
    annotations = tuple(np.empty((n_parts, *values.shape[1:]), values.dtype) for values in text.annotations)
    first = 0
    for piece in pieces:
        n_words, n_of_each = count(piece)
        which = np.repeat(np.arange(len(n_words)), n_of_each)
        number = np.arange(len(which)) - (np.cumsum(n_of_each) - n_of_each)[which]
        last = first + len(which)
        sent_ptr[first:last] = text.sent_ptr[piece][which] + n_words[which] * number // n_of_each[which]
        document[first:last] = text.document[piece][which]
        for of_parts, values in zip(annotations, text.annotations):
            of_parts[first:last] = values[piece][which]
        first = last
    sent_ptr[-1] = text.sent_ptr[-1]
    sent_ptr.flags.writeable = text.sent_ptr.flags.writeable  # or kernels would be compiled once more
    return text._replace(sent_ptr=sent_ptr, document=document, annotations=annotations)


def longest_sentence(text: EncodedText) -> int:
    """Number of words of the longest sentence, at least 1."""
    starts = range(0, len(text.document), _AT_ONCE)
    return max(int(np.diff(text.sent_ptr[start : start + _AT_ONCE + 1]).max(initial=1)) for start in starts)


class Plan(NamedTuple):
    """What to work through: the runs in order, and the shape of a block."""

    run_starts: np.ndarray  # (n_runs,) int64, first sentence of each run: multiples of run_length
    run_length: int
    border: int
    runs_per_block: int
    first_block: int
    last_block: int
    seed: int


def place_runs(text, plan):
    """How many words all runs before a run have, borders included, (n_runs + 1,) int64; and the most of any block."""
    run_ptr = np.zeros(len(plan.run_starts) + 1, np.int64)
    most = _count_words(text.sent_ptr, plan.run_starts, plan.run_length, plan.border, plan.runs_per_block, run_ptr)
    return run_ptr, max(1, most)


@lean_kernel
def _count_words(sent_ptr, run_starts, run_length, border, runs_per_block, run_ptr):
    """Fill ``run_ptr``; returns the most words of any block."""
    n_sentences, n_runs = sent_ptr.shape[0] - 1, run_starts.shape[0]
    n_words = most = np.int64(0)
    for run in range(n_runs):
        later = run_starts[min(run + _BORDERS_AHEAD, n_runs - 1)]
        prefetch_item(sent_ptr, max(later - border, 0))
        prefetch_item(sent_ptr, min(later + run_length + border, n_sentences))
        start = run_starts[run]
        n_words += sent_ptr[min(start + run_length + border, n_sentences)] - sent_ptr[max(start - border, 0)]
        run_ptr[run + 1] = n_words
        most = max(most, n_words - run_ptr[run - run % runs_per_block])
    return most


@njit(**INLINE)
def block_runs(plan, block):
    """First and last+1 of the runs of a block."""
    first = block * plan.runs_per_block
    return first, min(first + plan.runs_per_block, plan.run_starts.shape[0])


@njit(**LEAN)
def first_run_of(thread, n_threads, run_ptr, first_run, last_run):
    """First run of a thread's share, and so the one after the share before."""
    n_runs = last_run - first_run
    work = run_ptr[last_run] - run_ptr[first_run] + n_runs * WORDS_PER_SENTENCE
    wanted = work * thread // n_threads
    low, high = first_run, last_run
    while low < high:
        middle = (low + high) // 2
        if run_ptr[middle] - run_ptr[first_run] + (middle - first_run) * WORDS_PER_SENTENCE < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**LEAN)
def share_runs(run_ptr, first_run, last_run, thread, n_threads):
    """First and last+1 of a thread's runs: contiguous, with about the same number of words for each thread."""
    return (
        first_run_of(thread, n_threads, run_ptr, first_run, last_run),
        first_run_of(thread + 1, n_threads, run_ptr, first_run, last_run),
    )


@njit(**INLINE)
def prefetch_run(text, plan, run):
    """Ask for the words of a run that comes soon; where they are must have been asked for before that."""
    n_runs, n_sentences = plan.run_starts.shape[0], text.document.shape[0]
    later = plan.run_starts[min(run + 2 * _RUNS_AHEAD, n_runs - 1)]
    soon = plan.run_starts[min(run + _RUNS_AHEAD, n_runs - 1)]
    prefetch_item(text.sent_ptr, later - plan.border)
    prefetch_item(text.sent_ptr, later + plan.run_length)
    prefetch_item(text.document, soon - plan.border)
    prefetch_item(text.document, soon + plan.run_length)
    first = text.sent_ptr[max(soon - plan.border, 0)]
    last = text.sent_ptr[min(soon + plan.run_length + plan.border, n_sentences)]
    for word in range(first, min(last, first + _MOST_WORDS_AHEAD), 16):
        prefetch_item(text.tokens, word)


@njit(**INLINE)
def prefetch_next_words(text, plan, run, position, weights, table):
    """Ask for the rows of the words of the sentence that a block has next, and for their places in a table.

    ``position`` is the place in the run of the sentence at hand, the border before the run included.
    """
    if position == plan.run_length + 2 * plan.border - 1:
        run, position = min(run + 1, plan.run_starts.shape[0] - 1), -1
    following = plan.run_starts[run] - plan.border + position + 1
    following = max(0, min(following, text.document.shape[0] - 1))
    for p in range(text.sent_ptr[following], text.sent_ptr[following + 1]):
        word = min(np.int64(text.tokens[p]), table.shape[0] - 1)
        prefetch_row(weights, word)
        prefetch_item(table, word)


@njit(**INLINE)
def sentence_of_block(text, plan, run_ptr, block_start, i, weights, table):
    """Sentence number i of a block whose first run is ``block_start``, and how many words stand before it there.

    The last run may go past the end of the text; there the number is -1. For blocks without a border. What the next
    sentence will need of the weights and of a table of words is asked for.
    """
    run, position = block_start + i // plan.run_length, i % plan.run_length
    if position == 0:
        prefetch_run(text, plan, run)
    start = plan.run_starts[run]
    sentence = start + position
    if sentence >= text.document.shape[0]:
        return np.int64(-1), np.int64(0)
    prefetch_next_words(text, plan, run, position, weights, table)
    return sentence, run_ptr[run] - run_ptr[block_start] + text.sent_ptr[sentence] - text.sent_ptr[start]


def keep_probability(counts: np.ndarray, n_tokens: int, subsample: float) -> np.ndarray:
    """``q_p(w) = min(1, sqrt(t / f_w) + t / f_w)``, the probability that an occurrence of a word is taken."""
    ratio = subsample * n_tokens / np.maximum(counts, 1)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)
