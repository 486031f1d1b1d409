"""The blocks of columns of TextVectorizer: learned from text without labels."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from .._corpus.pairs import PairCorpus
from .._methods.paraphrase import ParaphraseVectorizer
from .._text.splitting import WITHOUT_SPACES
from .._word_vectors.join import unit_rows
from .block_rows import tfidf_rows
from .projections import fit_projection

# In scripts without spaces, a Chinese or Japanese character is a word; the others are split where Python finds no \w.
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
WORD = rf"(?u)[{_HAN}]|[^\W{_HAN}]+"

NAMES = ("words", "characters", "words_lsa", "characters_lsa", "halves")
_N_COMPONENTS = 100  # of a dense block; for another size, replace the block
_N_SPLITS = 3  # of the words of each text, into two random halves
SOURCES = {"words_lsa": "words", "characters_lsa": "characters"}  # a dense block, and the tf-idf that it projects


class BuiltInBlocks(NamedTuple):
    """Fitted blocks by name, and the tf-idf that they need, which may itself be no block."""

    tfidf: dict[str, TfidfVectorizer]
    blocks: dict[str, Any]
    n_texts: int  # that the blocks have learned from

    def n_columns(self, name: str) -> int:
        block = self.blocks[name]
        if name in SOURCES:
            return len(block.components_)
        return len(block.vocabulary_) if name in self.tfidf else int(block.n_features_out_)

    def rows(self, texts: list[str]) -> dict[str, Any]:
        """Rows of length one, or zero, of each block."""
        rows: dict[str, Any] = {}
        weighted = {name: tfidf_rows(vectorizer, texts) for name, vectorizer in self.tfidf.items()}
        for name, block in self.blocks.items():
            if name in SOURCES:
                rows[name] = unit_rows(weighted[SOURCES[name]] @ block.components_.T)
            else:
                rows[name] = weighted[name] if name in weighted else unit_rows(np.array(block.transform(texts)))
        return rows


def fit_blocks(
    texts: list[str], wanted: Collection[str], n_jobs: int | None, random_state: np.random.RandomState
) -> BuiltInBlocks:
    """The wanted blocks, without those for which the text is too short."""
    blocks: dict[str, Any] = {}
    tfidf: dict[str, TfidfVectorizer] = {}
    rows = {}
    options: dict[str, dict[str, Any]] = {
        "words": {"token_pattern": WORD},
        "characters": {"analyzer": _analyzer(texts), "ngram_range": (2, 5), "min_df": 2},
    }
    for name, option in options.items():
        if name not in wanted and not any(source == name for block, source in SOURCES.items() if block in wanted):
            continue
        vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **option)
        with suppress(ValueError):  # no word, or no characters that two texts have
            rows[name] = vectorizer.fit_transform(texts)
            tfidf[name] = vectorizer
    blocks |= {name: vectorizer for name, vectorizer in tfidf.items() if name in wanted}
    for name, source in SOURCES.items():
        if name in wanted and source in rows and min(rows[source].shape) > 1:
            blocks[name] = fit_projection(rows[source], _N_COMPONENTS, random_state)
    if "halves" in wanted and (pairs := _halves(texts, random_state)):
        learner = ParaphraseVectorizer(
            _N_COMPONENTS,
            batch_size=128,
            learning_rate=0.003,
            token_pattern=WORD,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        with suppress(ValueError):  # if all pairs hang together by common halves, none can be told from another
            blocks["halves"] = learner.fit(PairCorpus.from_pairs(pairs, token_pattern=WORD, n_jobs=n_jobs))
    return BuiltInBlocks(tfidf, blocks, len(texts))


def _analyzer(texts: list[str]) -> str:
    """Characters across spaces where most letters are of scripts without spaces, otherwise within words."""
    sample = " ".join(texts[:10_000])
    return "char" if 2 * len(WITHOUT_SPACES.findall(sample)) > len(re.findall(r"\w", sample)) else "char_wb"


def _halves(texts: list[str], random_state: np.random.RandomState) -> list[tuple[str, str]]:
    """Pairs: every word of a text falls to one side or the other, by chance."""
    split = re.compile(WORD).findall
    words = [np.array(split(text.lower()), dtype=object) for text in texts]
    pairs = []
    for _ in range(_N_SPLITS):
        for row in words:
            is_first = random_state.random_sample(len(row)) < 0.5
            if is_first.any() and not is_first.all():
                pairs.append((" ".join(row[is_first]), " ".join(row[~is_first])))
    return pairs
