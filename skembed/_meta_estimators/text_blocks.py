"""The blocks of columns of TextVectorizer: learned from text without labels."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from .._base.reading_order import has_order
from .._corpus.corpus import SentenceCorpus
from .._corpus.pairs import PairCorpus
from .._methods.paraphrase import ParaphraseVectorizer
from .._text.words import HAN_LETTER, UNSPACED_LETTER, WORD, bigrams_of, words_and_bigrams_of, words_of
from .._word_vectors.join import unit_rows
from .block_rows import count_rows, tfidf_rows, weighted_rows
from .character_tfidf import CharacterTfidf
from .projections import fit_projection, weights_of_directions

NAMES = ("words", "characters", "words_lsa", "characters_lsa", "halves")
_N_COMPONENTS = 100  # of a dense block; for another size, replace the block
MOST_PROJECTED = 20_000  # texts that directions are found on
_N_SPLITS = 3  # of the words of each text, into two random halves
SOURCES = {"words_lsa": "words", "characters_lsa": "characters"}  # a dense block, and the tf-idf that it projects


class BuiltInBlocks(NamedTuple):
    """Fitted blocks by name, and the tf-idf that they need, which may itself be no block."""

    tfidf: dict[str, Any]  # a TfidfVectorizer of words, a CharacterTfidf
    blocks: dict[str, Any]
    n_texts: int  # that the blocks have learned from

    def n_columns(self, name: str) -> int:
        """Return the number of columns of a block."""
        block = self.blocks[name]
        if name in SOURCES:
            return len(block.components_)
        return len(block.vocabulary_) if name in self.tfidf else int(block.n_features_out_)

    def rows(self, texts: list[str], weighted: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return rows of length one, or zero, of each block; `weighted` are those of tf-idf, if they are at hand."""
        rows: dict[str, Any] = {}
        if weighted is None:
            weighted = {name: _rows_of(vectorizer, texts) for name, vectorizer in self.tfidf.items()}
        for name, block in self.blocks.items():
            if name in SOURCES:
                rows[name] = unit_rows(projected_columns(weighted[SOURCES[name]], block) @ block.components_.T)
            else:
                rows[name] = weighted[name] if name in weighted else unit_rows(np.array(block.transform(texts)))
        return rows


def fit_blocks(
    texts: list[str],
    wanted: Collection[str],
    n_jobs: int | None,
    random_state: np.random.RandomState,
    *,
    neighbours: list[tuple[str, str]],
    squares_idf: bool,
) -> tuple[BuiltInBlocks, dict[str, Any]]:
    """The wanted blocks, without those for which the text is too short, and the rows of tf-idf of all texts.

    `neighbours` are more pairs for the block "halves". With `squares_idf`, idf counts twice in latent semantic
    analysis: what all texts have, such as stop words, fades.
    """
    tfidf: dict[str, Any] = {}
    rows = {}
    vectorizers: dict[str, Any] = {
        "words": tfidf_of_words(),
        "characters": CharacterTfidf(analyzer=_analyzer(texts), min_df=2, n_jobs=n_jobs),
    }
    for name, vectorizer in vectorizers.items():
        if name not in wanted and not any(source == name for block, source in SOURCES.items() if block in wanted):
            continue
        with suppress(ValueError):  # no word, or no characters that two texts have
            rows[name] = _fit_words(vectorizer, texts) if name == "words" else vectorizer.fit_transform(texts)
            tfidf[name] = vectorizer
    blocks = {name: vectorizer for name, vectorizer in tfidf.items() if name in wanted}
    for name, source in SOURCES.items():
        if name not in wanted or source not in rows:
            continue
        projected = rows[source]
        if source == "words":  # with the pairs, which follow the words, the directions would be worse
            projected = normalize(projected[:, : count_words(tfidf[source])])
        if min(projected.shape) > 1:
            idf = tfidf[source].idf_[: projected.shape[1]] if squares_idf else None
            blocks[name] = _fit_directions(projected, idf, random_state)
    pattern = _pattern(texts)
    if "halves" in wanted and (pairs := neighbours + _halves(texts, pattern, random_state)):
        learner = ParaphraseVectorizer(
            _N_COMPONENTS,
            batch_size=128,
            learning_rate=0.003,
            token_pattern=pattern,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        with suppress(ValueError):  # if all pairs hang together by common halves, none can be told from another
            blocks["halves"] = learner.fit(PairCorpus.from_pairs(pairs, token_pattern=pattern, n_jobs=n_jobs))
            _weigh_directions(learner, texts[:: 1 + (len(texts) - 1) // MOST_PROJECTED])
    return BuiltInBlocks(tfidf, blocks, len(texts)), rows


def tfidf_of_words() -> TfidfVectorizer:
    """Tf-idf of words and of pairs of neighbouring words, not fitted."""
    # The analyzer lowers; with `lowercase` scikit-learn would warn of capitals that have no small letter.
    return TfidfVectorizer(analyzer=words_and_bigrams_of, sublinear_tf=True, lowercase=False, dtype=np.float32)


def _fit_words(vectorizer: TfidfVectorizer, texts: list[str]) -> csr_array:
    """Fit it to texts that are split once, and return their rows.

    All words have columns, then the pairs that two texts have: those of one text are many, and say little of others.
    """
    known: dict[str, str] = {}
    words = [[known.setdefault(word, word) for word in words_of(text)] for text in texts]  # one object for each word
    if not known:
        raise ValueError("The texts have no words.")
    seen: set[str] = set()
    kept: set[str] = set()
    for row in words:
        pairs = set(bigrams_of(row))
        kept.update(pairs & seen)
        seen |= pairs
    del seen
    vectorizer.vocabulary_ = {term: column for column, term in enumerate(sorted(known) + sorted(kept))}
    counts = count_rows((row + bigrams_of(row) for row in words), vectorizer.vocabulary_)
    n_texts = np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.float32)
    vectorizer.idf_ = np.log(np.float32(1 + len(texts)) / (1 + n_texts)) + 1
    return weighted_rows(counts, vectorizer.idf_)


def count_words(vectorizer: TfidfVectorizer) -> int:
    """Number of the columns of words, behind which those of pairs are."""
    return sum(" " not in term for term in vectorizer.vocabulary_)


def projected_columns(rows: Any, projection: TruncatedSVD) -> Any:
    """The columns of some rows of tf-idf that have directions."""
    n_columns = projection.components_.shape[1]
    return rows if rows.shape[1] == n_columns else rows[:, :n_columns]


def neighbours_of(corpus: SentenceCorpus, texts: list[str]) -> list[tuple[str, str]]:
    """Sentences that follow each other in a document, from the texts of a corpus; none of one in no order."""
    if not has_order(corpus):
        return []
    is_first = np.zeros(len(texts) + 1, bool)
    is_first[corpus.doc_ptr] = True
    pairs = ((texts[row - 1], texts[row]) for row in range(1, len(texts)) if not is_first[row])
    return [pair for pair in pairs if all(pair) and pair[0] != pair[1]]


def _rows_of(vectorizer: Any, texts: list[str]) -> Any:
    return vectorizer.transform(texts) if isinstance(vectorizer, CharacterTfidf) else tfidf_rows(vectorizer, texts)


def _fit_directions(rows: Any, idf: np.ndarray | None, random_state: np.random.RandomState) -> TruncatedSVD:
    """The strongest directions of some rows of tf-idf; with `idf`, of these rows times idf."""
    if rows.shape[0] > MOST_PROJECTED:
        rows = rows[np.sort(random_state.choice(rows.shape[0], MOST_PROJECTED, replace=False))]
    if idf is None:
        return fit_projection(rows, _N_COMPONENTS, random_state, by_strength=True)
    # The length of a row, divided out here, does not count: rows of blocks have length one.
    idf = idf.astype(np.float32)
    return fit_projection(
        normalize(rows.multiply(idf).tocsr()), _N_COMPONENTS, random_state, scale=idf, by_strength=True
    )


def _weigh_directions(learner: ParaphraseVectorizer, texts: list[str]) -> None:
    """Multiply the directions of the vectors by the root of their strength in the rows of some texts, as in LSA."""
    weights = weights_of_directions(unit_rows(np.array(learner.transform(texts))))
    vectors = learner.word_vectors_ @ weights
    state = learner._state.with_arrays({"word_vectors_": vectors})
    learner._publish(replace(state, unknown_length=np.float32(np.median(np.linalg.norm(vectors, axis=1)))))


def _analyzer(texts: list[str]) -> str:
    """Characters across spaces where most letters are of scripts without spaces, otherwise within words."""
    sample = " ".join(texts[:10_000])
    return "char" if 2 * len(UNSPACED_LETTER.findall(sample)) > len(re.findall(r"\w", sample)) else "char_wb"


def _pattern(texts: list[str]) -> str | None:
    """Of the words of the halves. `WORD` cuts Thai and its neighbours at signs, and they are read without a pattern.

    Chinese and Japanese are worse so: a pair of characters is rarer than each of them, and most pairs of a new text
    have no vector.
    """
    letters = "".join(UNSPACED_LETTER.findall(" ".join(texts[:10_000])))
    n_han = len(HAN_LETTER.findall(letters))
    return None if len(letters) > 2 * n_han else WORD


def _halves(texts: list[str], pattern: str | None, random_state: np.random.RandomState) -> list[tuple[str, str]]:
    """Pairs: every word of a text falls to one side or the other, by chance."""
    split = _spaced_words if pattern is None else re.compile(pattern).findall
    between = "" if pattern is None else " "
    words = [split(text.lower()) for text in texts]
    n_words = sum(map(len, words))
    pairs = []
    for _ in range(_N_SPLITS):
        is_first = iter((random_state.random_sample(n_words) < 0.5).tolist())
        for row in words:
            sides: tuple[list[str], list[str]] = [], []
            for word, first in zip(row, is_first):
                sides[not first].append(word)
                if pattern is None:  # letters become neighbours only if they were
                    sides[first].append(" ")
            left, right = (between.join(side).strip() for side in sides)
            if left and right:
                pairs.append((left, right))
    return pairs


def _spaced_words(text: str) -> list[str]:
    """Words of a text, with a space before each but a letter that stands right behind one without spaces."""
    words, is_behind = [], False
    for word in words_of(text):
        if len(UNSPACED_LETTER.findall(word)) > 1:  # the pair of the letter before and of the next one
            is_behind = True
        else:
            words.append(word if is_behind else f" {word}")
            is_behind = False
    return words
