"""The blocks of columns of TextVectorizer: learned from text without labels."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from .._corpus.pairs import PairCorpus
from .._methods.paraphrase import ParaphraseVectorizer
from .._text.splitting import WITHOUT_SPACES, WORD

_N_SPLITS = 3  # of the words of each text, into two random halves
_SOURCES = {"words_lsa": "words", "characters_lsa": "characters"}  # a dense block, and the block that it projects


def fit_blocks(
    texts: list[str],
    n_components: int,
    n_jobs: int | None,
    random_state: np.random.RandomState,
    *,
    square_idf: bool = False,
) -> dict[str, Any]:
    """Fitted blocks by name, without those for which the text is too short; each comes after those that it needs.

    With `square_idf`, idf counts twice in latent semantic analysis: what all texts have, such as stop words, fades.
    """
    blocks: dict[str, Any] = {}
    rows = {}
    options: dict[str, dict[str, Any]] = {
        "words": {"token_pattern": WORD},
        "characters": {"analyzer": _analyzer(texts), "ngram_range": (2, 5), "min_df": 2},
    }
    for name, option in options.items():
        block = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **option)
        with suppress(ValueError):  # no word, or no characters that two texts have
            rows[name] = block.fit_transform(texts)
            blocks[name] = block
    for name, source in _SOURCES.items():
        if source in rows and min(rows[source].shape) > 1:
            svd = TruncatedSVD(min(n_components, *(size - 1 for size in rows[source].shape)), random_state=random_state)
            with np.errstate(divide="ignore", invalid="ignore"):  # parts of the variance, which is 0 of equal texts
                blocks[name] = (
                    _fit_squared(svd, rows[source], blocks[source].idf_) if square_idf else svd.fit(rows[source])
                )
    if pairs := _halves(texts, random_state):
        learner = ParaphraseVectorizer(
            n_components,
            batch_size=128,
            learning_rate=0.003,
            token_pattern=WORD,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        with suppress(ValueError):  # if all pairs hang together by common halves, none can be told from another
            blocks["halves"] = learner.fit(PairCorpus.from_pairs(pairs, token_pattern=WORD, n_jobs=n_jobs))
    return blocks


def rows_of(blocks: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    """Rows of length one, or zero, of each block."""
    rows: dict[str, Any] = {}
    if not texts:  # which scikit-learn refuses
        return {name: csr_array((0, n_columns(block)), dtype=np.float32) for name, block in blocks.items()}
    for name, block in blocks.items():
        found = block.transform(rows[_SOURCES[name]] if name in _SOURCES else texts)
        rows[name] = normalize(found)
    return rows


def n_columns(block: Any) -> int:
    return len(block.get_feature_names_out())


def _fit_squared(svd: TruncatedSVD, rows: Any, idf: np.ndarray) -> TruncatedSVD:
    """Directions of rows of tf-idf times idf, which take rows of tf-idf."""
    idf = idf.astype(np.float32)
    svd.fit(normalize(rows.multiply(idf).tocsr()))
    svd.components_ *= idf  # the length of a row, divided out above, does not count: rows of blocks have length one
    return svd


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
