"""The tasks of a round: which sentences each shard learns from, extents of whole documents, dealt at random.

The text is cut by sentence index alone. Workers read a saved text in its file, other text is sent to them.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._compiled.arrays import read_only_view
from .._corpus.content import CORPUS
from .._text.sources import offsets
from .._training.encoded_text import EncodedText
from .._validation.messages import warn_at_user

if TYPE_CHECKING:
    from distributed import Client


LARGE = 1 << 20  # bytes of token ids, from which on workers read them in their file
_DTYPE = np.dtype("<i4")  # on all machines, as a corpus is saved
_N_SAMPLES, _SAMPLE = 16, 1024  # number of samples that are compared, and tokens in each


class TokensNotFoundError(OSError):
    """A worker has no such file, or one with other token ids."""


class TokenFile(NamedTuple):
    """Token ids in a file, as they travel to a worker that can read it."""

    path: str
    offset: int  # bytes
    n_tokens: int
    digest: bytes  # of samples, and of the header of the corpus: a worker may have another file of this name

    def is_here(self) -> bool:
        """Whether this process can read them."""
        try:
            self.open()
        except TokensNotFoundError:
            return False
        return True

    def open(self) -> np.ndarray:
        """Map them into memory."""
        try:
            if not os.path.isfile(self.path):
                raise FileNotFoundError("there is no such file")
            tokens = np.memmap(self.path, _DTYPE, "r", self.offset, (self.n_tokens,))
            digest = _digest(tokens, self.path)
        except (OSError, ValueError) as error:  # a shorter file is a ValueError
            raise TokensNotFoundError(f"{self.path} cannot be read: {error}") from error
        if digest != self.digest:
            raise TokensNotFoundError(f"{self.path} or {CORPUS.header} beside it differs from that of the fit")
        return tokens


class TokenSpans(NamedTuple):
    """Spans of the token ids in a file."""

    file: TokenFile
    starts: np.ndarray  # (n_spans,) int64
    ends: np.ndarray  # (n_spans,) int64

    def read(self) -> np.ndarray:
        """Their token ids, one span after the other."""
        return cut_spans(self.file.open(), self.starts, self.ends)


def cut_spans(tokens: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """A copy of spans, one after the other, (n_tokens,) int32."""
    return np.concatenate([tokens[a:b] for a, b in zip(starts.tolist(), ends.tolist())], dtype=np.int32)


def file_of(tokens: np.ndarray) -> TokenFile | None:
    """The file that token ids are mapped from; None if there is none, or if there are few of them."""
    mapped = memory_map_of(tokens)
    if mapped is None or mapped.filename is None or mapped.mode == "c":  # a map of this mode may differ from its file
        return None
    if tokens.dtype != _DTYPE or not tokens.flags.c_contiguous or tokens.nbytes < LARGE:
        return None
    path, offset = os.fspath(mapped.filename), mapped.offset + tokens.ctypes.data - mapped.ctypes.data
    try:
        return TokenFile(path, offset, len(tokens), _digest(tokens, path))
    except OSError:  # of a header that cannot be read
        return None


def memory_map_of(array: np.ndarray) -> np.memmap | None:
    """The memory map that an array is a view of; None if there is none, or if its file has no name."""
    found: np.memmap | None = None
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.filename is not None:
            found = base
        base = base.base
    return found


def _digest(tokens: np.ndarray, path: str) -> bytes:
    starts = np.linspace(0, max(0, len(tokens) - _SAMPLE), _N_SAMPLES).astype(np.int64)
    samples = [tokens[start : start + _SAMPLE].tobytes() for start in starts.tolist()]
    header = Path(path).with_name(CORPUS.header)  # which has a digest of all tokens
    samples += [header.read_bytes()] if header.is_file() else []
    return hashlib.blake2b(b"".join(samples), digest_size=16).digest()


# Extents of a shard, so that each shard is a sample of the text, and the most sentences of one.
_EXTENTS_OF_SHARD, _LONGEST_EXTENT = 64, 1024
# The most tokens that a shard learns from in one round; and the fewest if there are more than four rounds, half as many
# of a long text.
_TOKENS_OF_ROUND, _LEAST_OF_ROUND = 20_000_000, 15_625
# With fewer tokens than that in all, `partial_fit` learns by one trainer: the rounds of shards copy all rows.
SHORT_TEXT = _LEAST_OF_ROUND
# From this many tokens on, some methods need a merge for so many words, not only so many merges in a pass.
_LONG_TEXT = 20_000_000
# Numbers of shards were measured on a text of so many tokens, and up to 16 on a long one.
_MEASURED_TEXT, _MOST_OF_LONG_TEXT = 16_000_000, 16
# One trainer begins a model with this fraction of the tokens, at most as many as in a round.
_WARM_UP = 0.02


class Shard(NamedTuple):
    """What one task of a round learns from, as it travels to a worker."""

    starts: np.ndarray  # (n_extents,) int64, first sentence of each extent in the whole text, ascending
    ends: np.ndarray  # (n_extents,) int64
    tokens: np.ndarray | TokenSpans  # (n_tokens,) int32, or where a worker reads them
    lengths: np.ndarray  # (n_sentences,) int32, tokens of each sentence
    begins: np.ndarray  # (n_sentences,) bool, whether a document begins with it
    annotations: tuple
    seed: int  # of all draws

    @property
    def sentences(self) -> np.ndarray:
        """Their indices in the whole text, (n_sentences,) int64."""
        return _sentences(self.starts, self.ends)

    def as_text(self, word_weight: np.ndarray) -> EncodedText:
        """The text, in the form that kernels are compiled for."""
        tokens = self.tokens.read() if isinstance(self.tokens, TokenSpans) else self.tokens
        document = np.cumsum(self.begins, dtype=np.int64) - 1
        return EncodedText(
            read_only_view(tokens),  # as those of a corpus are
            read_only_view(offsets(self.lengths)),
            document,
            np.array(word_weight),
            self.annotations,
        )


class ShardLocation(NamedTuple):
    """Where the text of a shard lies, for a worker that can read it there."""

    text: EncodedText
    starts: np.ndarray  # as those of the shard
    ends: np.ndarray
    seed: int

    @property
    def sentences(self) -> np.ndarray:
        """As those of the shard."""
        return _sentences(self.starts, self.ends)

    def cut_out(self, file: TokenFile | None = None) -> Shard:
        """A copy of the extents, with documents numbered anew; with `file`, workers read the tokens there."""
        text, sentences = self.text, self.sentences
        spans = text.sent_ptr[self.starts], text.sent_ptr[self.ends]
        tokens = TokenSpans(file, *spans) if file else cut_spans(text.tokens, *spans)
        lengths = (text.sent_ptr[sentences + 1] - text.sent_ptr[sentences]).astype(np.int32)
        begins = np.ones(len(sentences), bool)
        begins[1:] = (np.diff(text.document[sentences]) != 0) | (np.diff(sentences) != 1)
        annotations = tuple(values[sentences] for values in text.annotations)
        return Shard(self.starts, self.ends, tokens, lengths, begins, annotations, self.seed)


def _sentences(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return np.concatenate([np.arange(*extent) for extent in zip(starts.tolist(), ends.tolist())])


class MergeSchedule(NamedTuple):
    """How often the shards of a method are merged; measured, see doc/research/shards.rst."""

    fewest_rounds: int = 16  # of a pass
    most_tokens: int = sys.maxsize  # of a long text that all shards together learn from in one round
    least_of_shard: int = 1_000_000  # tokens in a pass; with fewer, some methods lose more than 0.7 points of STS
    farthest_of_long: float = 1.0  # of a long text, how many times as far as one of them equal changes go

    def farthest(self, n_tokens: int) -> float:
        """How many times as far as one of them equal changes of all shards go."""
        return self.farthest_of_long if n_tokens >= _LONG_TEXT else 1.0

    def shards_of(self, n_tokens: int) -> int:
        """The most shards with which a method is known to learn: enough tokens in each, no more than were tried."""
        most = max(1, min(n_tokens, _MEASURED_TEXT) // self.least_of_shard)
        return most if n_tokens < _LONG_TEXT else min(most, _MOST_OF_LONG_TEXT)

    def warn_of(self, name: str, n_tokens: int, n_shards: int) -> None:
        """Warn if shards are smaller than was measured to be enough, or more than were tried."""
        most = self.shards_of(n_tokens)
        if n_shards <= most:
            return
        if n_tokens // n_shards < self.least_of_shard:
            problem = f"leaves each shard {n_tokens // n_shards:,} words of this text. With fewer than"
            problem += f" {self.least_of_shard:,},"
        else:
            problem = f"is more than was tried on texts as long as this: {most}, of {self.least_of_shard:,} words or"
            problem += " more. With more,"
        warn_at_user(
            f"n_shards={n_shards} {problem} {name} may learn clearly less than one trainer does: use at most "
            f"n_shards={most}."
        )


class Round(NamedTuple):
    """A step of the pass that ends with a merge."""

    n_shards: int
    first: float  # where it begins and ends, as fractions of the pass
    last: float


def rounds_of_pass(n_tokens: int, n_shards: int, pace: MergeSchedule, *, warm_up: bool) -> list[Round]:
    """The rounds of a pass, whatever the number of workers: one trainer if there is a warm-up, then all shards."""
    first = min(_WARM_UP, _TOKENS_OF_ROUND / max(1, n_tokens)) if warm_up else 0.0
    fewest, least = pace.fewest_rounds, _LEAST_OF_ROUND
    if n_tokens >= _LONG_TEXT:
        fewest, least = max(fewest, n_tokens // pace.most_tokens), least // 2
    fewest = min(fewest, max(4, n_tokens // n_shards // least))  # or each would have a sentence or two
    n_rounds = max(fewest, math.ceil((1 - first) * n_tokens / n_shards / _TOKENS_OF_ROUND))
    ends = [first + (1 - first) * (index / n_rounds) for index in range(n_rounds + 1)]
    rounds = [Round(n_shards, a, b) for a, b in pairwise(ends)]
    return [Round(1, 0.0, first), *rounds] if warm_up else rounds


def cut(text: EncodedText, n_shards: int) -> np.ndarray:
    """Where the extents of a text begin, and its end, (n + 1,) int64; most end with a document."""
    n_sentences = len(text.document)
    length = int(np.clip(n_sentences // (_EXTENTS_OF_SHARD * n_shards), 1, _LONGEST_EXTENT))
    borders = np.arange(length, n_sentences, length)
    ends = np.searchsorted(text.document, text.document[borders - 1], side="right")  # of the documents that they cut
    borders = np.where(ends < borders + length, ends, borders)
    return np.unique(np.concatenate([[0], borders, [n_sentences]]))


def deal(
    text: EncodedText, extents: np.ndarray, order: np.ndarray, plan: Round, seed: list[int]
) -> Iterator[ShardLocation]:
    """The shards of a round; `order` has the extents in the order of the pass."""
    first, last = (round(fraction * len(order)) for fraction in (plan.first, plan.last))
    chosen = order[first:last]
    for index in range(plan.n_shards):
        mine = np.sort(chosen[index :: plan.n_shards])
        if len(mine):
            key = np.random.SeedSequence([*seed, index]).generate_state(1, np.uint64)[0]
            yield ShardLocation(text, extents[mine], extents[mine + 1], int(key))


# Takes what the tasks have in common, and some tasks; gives their results, merged in the tree of `reduce_in_tree`.
EngineLike: TypeAlias = "Client | None"  # where shards are learned
Work = Callable[[Any, Iterable[Any]], Any]
Merge = Callable[[Any, Any], Any]
MakeTasks = Callable[[], Iterable[Any]]  # anew each time, so that no engine holds them all
# Takes what the tasks had in common, and their merged results; gives what the tasks of the next call have in common;
# with None for the results, a copy.
Advance = Callable[[Any, Any], Any]


def in_groups(tasks: Iterable[Any], n_tasks: int, n_workers: int) -> Iterator[list[Any]]:
    """Groups of tasks for workers, as large as possible, each a subtree of the tree of `reduce_in_tree`."""

    def tasks_of_the_last(size: int) -> int:
        return -(-n_tasks // (size * n_workers)) * size

    size = min((1 << n for n in range(n_tasks.bit_length())), key=lambda size: (tasks_of_the_last(size), -size))
    tasks = iter(tasks)
    while group := list(islice(tasks, size)):
        yield group


def reduce_in_tree(merge: Merge, results: Iterable[Any]) -> Any:
    """Merge results in a binary tree that only their number determines, as soon as both are there; None for none."""
    waiting: list[tuple[int, Any]] = []  # (height, result), the highest first
    for result in results:
        height = 0
        while waiting and waiting[-1][0] == height:
            result, height = merge(waiting.pop()[1], result), height + 1
        waiting.append((height, result))
    merged = waiting.pop()[1] if waiting else None
    while waiting:
        merged = merge(waiting.pop()[1], merged)
    return merged
