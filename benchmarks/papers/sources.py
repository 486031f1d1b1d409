"""What the methods of a run learn from: a text, or the beginning of it, and pairs of phrases or sentences."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skembed._corpus.corpus import SentenceCorpus
from skembed._corpus.pairs import PairCorpus
from skembed._validation.values import naming

from .methods import METHODS, START, Method, fit_to_corpus


class Preset(NamedTuple):
    """How much a run takes. None is for all words or pairs."""

    n_words: int | None  # that methods learn from
    n_words_if_slow: int | None
    n_pairs: int | None  # of each kind
    n_pairs_if_slow: int | None
    n_folds: int  # of the nested cross-validation
    alphas: tuple[float, ...]  # penalties to choose from for the relatedness of SICK


PRESETS = {
    "quick": Preset(2_000_000, 100_000, 20_000, 5_000, 3, (3e-3,)),
    "full": Preset(None, None, None, None, 10, (1e-2, 3e-3, 1e-3, 3e-4)),
}


class Sources:
    """The text and the pairs of a run, read when they are first needed.

    Parameters
    ----------
    read : callable
        Returns the text.
    pairs : mapping of str to sequence of path, default={}
        Files of each kind of pairs.
    preset : Preset, default=PRESETS["full"]
        How much of them is taken, from the beginning.
    """

    def __init__(
        self,
        read: Callable[[], SentenceCorpus],
        pairs: Mapping[str, Sequence[Path]] | None = None,
        preset: Preset = PRESETS["full"],
    ) -> None:
        self.preset = preset
        self.corpus = cache(lambda: beginning(read(), preset.n_words))
        self._slow_corpus = cache(lambda: beginning(self.corpus(), preset.n_words_if_slow))
        self._files = {kind: list(files) for kind, files in (pairs or {}).items() if files}
        self._pairs_of = cache(lambda kind, n_pairs: read_pairs(self._files[kind], n_pairs))
        self.start = cache(self._learn_start)

    def corpus_for(self, method: Method) -> SentenceCorpus:
        """Return the text that a method learns from."""
        return self._slow_corpus() if method.is_slow else self.corpus()

    def lacking_options(self, name: str) -> list[str]:
        """List the options without which a method has no pairs to learn from."""
        kinds = METHODS[name].pairs if name in METHODS else ()
        return [f"--{kind.removesuffix('s')}-pairs" for kind in kinds if kind not in self._files]

    def pairs_for(self, method: Method) -> list[PairCorpus]:
        """Return the sets of pairs that a method learns from, one after the other."""
        return [self._pairs_of(kind, self._n_pairs(method)) for kind in method.pairs]

    def _n_pairs(self, method: Method) -> int | None:
        return self.preset.n_pairs_if_slow if method.is_slow else self.preset.n_pairs

    def fewer(self, method: Method) -> str:
        """Say what a method learns from, if that is less than others; else nothing."""
        if any(len(pairs) == self._n_pairs(method) for pairs in self.pairs_for(method)):
            return f"learned from the first {self._n_pairs(method):,} pairs of each kind"
        if not method.pairs and method.is_slow and self.corpus_for(method).n_tokens < self.corpus().n_tokens:
            return f"learned from the first {self.corpus_for(method).n_tokens:,} words"
        return ""

    def _learn_start(self, seed: int, n_jobs: int | None) -> Any:
        corpus = self.corpus()
        return fit_to_corpus(METHODS[START].make(corpus, seed, n_jobs), corpus)


def beginning(corpus: SentenceCorpus, n_words: int | None) -> SentenceCorpus:
    """Return the first sentences of a text that have this many words together, or all."""
    if n_words is None or corpus.n_tokens <= n_words:
        return corpus
    return corpus[: max(1, int(np.searchsorted(corpus.sent_ptr, n_words, side="right")) - 1)]


def read_pairs(paths: Sequence[Path], n_pairs: int | None = None) -> PairCorpus:
    """Read pairs, or the first of them, one a line with a tab between; what follows another tab is not read.

    Pairs with a side without words are left out.
    """
    rows: list[tuple[str, str]] = []
    for path in paths:
        with naming(path), (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                sides = line.rstrip("\n").split("\t")[:2]
                if len(sides) < 2:
                    raise ValueError(f"{path}, line {number}: no tab between two sentences.")
                if all(re.search(r"\w", side) for side in sides):
                    rows.append((sides[0], sides[1]))
    return PairCorpus.from_pairs(rows[:n_pairs])
