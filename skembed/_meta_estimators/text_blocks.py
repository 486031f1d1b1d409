"""The blocks of columns of TextVectorizer: learned from text without labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from .._base.embedding import embed
from .._text.words import compose, words_and_bigrams_of, words_of
from .._validation.columns import Matrix
from .._word_vectors.join import unit_rows
from .block_rows import tfidf_rows, weighted_rows
from .character_tfidf import CharacterTfidf
from .halves import fit_halves, multiply_vectors, unspaced_letters
from .projections import fit_projection, product, rounded

if TYPE_CHECKING:
    from .._methods.paraphrase import ParaphraseVectorizer


NAMES = ("words", "characters", "words_lsa", "characters_lsa", "halves")
_N_COMPONENTS = 100  # of a dense block; for another size, replace the block
MOST_PROJECTED = 20_000  # texts that directions are found on
SOURCES = {"words_lsa": "words", "characters_lsa": "characters"}  # a dense block, and the tf-idf that it projects


class BuiltInBlocks(NamedTuple):
    """Fitted blocks by name, and the tf-idf that they need, which may itself be no block."""

    tfidf: dict[str, TfidfVectorizer | CharacterTfidf]  # a TfidfVectorizer of words, a CharacterTfidf
    blocks: dict[str, TfidfVectorizer | CharacterTfidf | TruncatedSVD | ParaphraseVectorizer]
    n_texts: int  # that the blocks have learned from

    def n_columns(self, name: str) -> int:
        """Return the number of columns of a block."""
        block = self.blocks[name]
        if name in SOURCES:
            return len(block.components_)
        return len(block.vocabulary_) if name in self.tfidf else int(block.n_features_out_)

    def rows(self, texts: list[str], weighted: dict[str, Matrix] | None = None) -> dict[str, Matrix]:
        """Return rows of length one, or zero, of each block; `weighted` are those of tf-idf, if they are at hand."""
        texts = list(map(compose, texts))
        rows: dict[str, Matrix] = {}
        if weighted is None:
            weighted = {
                name: tfidf_rows(vectorizer, texts) if name == "words" else vectorizer.rows(texts)
                for name, vectorizer in self.tfidf.items()
            }
        for name, block in self.blocks.items():
            if name in SOURCES:
                rows[name] = unit_rows(product(weighted[SOURCES[name]], block.components_.T))
            elif name in weighted:
                rows[name] = weighted[name]
            else:  # `transform` checks more, which takes longer than one row does
                rows[name] = unit_rows(embed(block, block._fitted_state(), texts, "X"))
        return rows

    def stretch(self, matrices: dict[str, np.ndarray]) -> None:
        """Multiply the rows of some dense blocks by symmetric matrices, before they are scaled to length one."""
        for name in self.blocks.keys() & matrices.keys():
            block, matrix = self.blocks[name], matrices[name]
            if name in SOURCES:
                block.components_ = rounded(matrix @ block.components_)
            else:
                multiply_vectors(block, matrix)


def fit_blocks(
    texts: list[str],
    wanted: Collection[str],
    n_jobs: int | None,
    random_state: np.random.RandomState,
    *,
    neighbours: np.ndarray,
    squares_idf: bool,
) -> tuple[BuiltInBlocks, dict[str, Matrix]]:
    """The wanted blocks, without those for which the text is too short, and the rows of tf-idf of all texts.

    `neighbours` (n, 2), indices of texts, are more pairs for the block "halves". With `squares_idf`, idf counts twice
    in latent semantic analysis: what all texts have, such as stop words, fades.
    """
    texts = list(map(compose, texts))
    tfidf: dict[str, TfidfVectorizer | CharacterTfidf] = {}
    rows = {}
    vectorizers: dict[str, TfidfVectorizer | CharacterTfidf] = {
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
    if "halves" in wanted:
        with naming("halves", 'a ParaphraseVectorizer. blocks={"halves": "drop"} leaves it out'):
            halves = fit_halves(texts, neighbours, _N_COMPONENTS, MOST_PROJECTED, n_jobs, random_state)
        if halves is not None:
            blocks["halves"] = halves
    return BuiltInBlocks(tfidf, blocks, len(texts)), rows


@contextmanager
def naming(name: str, what: str) -> Iterator[None]:
    """Add the name of the block to an error."""
    try:
        yield
    except Exception as error:
        error.add_note(f"In the block {name!r} of TextVectorizer, {what}.")
        raise


def tfidf_of_words() -> TfidfVectorizer:
    """Tf-idf of words and of pairs of neighbouring words, not fitted."""
    # The analyzer lowers; with `lowercase` scikit-learn would warn of capitals that have no small letter.
    return TfidfVectorizer(analyzer=words_and_bigrams_of, sublinear_tf=True, lowercase=False, dtype=np.float32)


def _fit_words(vectorizer: TfidfVectorizer, texts: list[str]) -> csr_array:
    """Fit it to texts that are split once, and return their rows.

    All words have columns, then the pairs that two texts have: those of one text are many, and say little of others.
    """
    known: dict[str, int] = {}
    found = [[known.setdefault(word, len(known)) for word in words_of(text)] for text in texts]
    if not known:
        raise ValueError("The texts have no words.")
    words = sorted(known)
    text_of = np.repeat(np.arange(len(texts), dtype=np.int32), [len(row) for row in found])
    ids = np.fromiter(chain.from_iterable(found), np.int64, len(text_of))
    columns = np.argsort([known[word] for word in words])[ids]
    is_inside = text_of[1:] == text_of[:-1]
    # Sorted as strings, since a space is less than what words are made of.
    pairs, pair_of = np.unique((columns[:-1] * len(words) + columns[1:])[is_inside], return_inverse=True)
    places = np.append(text_of, text_of[1:][is_inside]), np.append(columns, len(words) + pair_of).astype(np.int32)
    counts = csr_array((np.ones(len(places[0])), places), shape=(len(texts), len(words) + len(pairs)))
    n_texts = np.bincount(counts.indices, minlength=counts.shape[1])
    is_kept = (n_texts > 1) | (np.arange(len(n_texts)) < len(words))
    counts, n_texts = counts[:, is_kept], n_texts[is_kept].astype(np.float32)
    kept = (divmod(pair, len(words)) for pair in pairs[is_kept[len(words) :]].tolist())
    terms = words + [f"{words[first]} {words[second]}" for first, second in kept]
    vectorizer.vocabulary_ = {term: column for column, term in enumerate(terms)}
    vectorizer.idf_ = np.log(np.float32(1 + len(texts)) / (1 + n_texts)) + 1
    return weighted_rows(counts, vectorizer.idf_)


def count_words(vectorizer: TfidfVectorizer) -> int:
    """Number of the columns of words, behind which those of pairs are."""
    return sum(" " not in term for term in vectorizer.vocabulary_)


def _fit_directions(rows: csr_array, idf: np.ndarray | None, random_state: np.random.RandomState) -> TruncatedSVD:
    """The strongest directions of some rows of tf-idf; with `idf`, of these rows times idf."""
    if rows.shape[0] > MOST_PROJECTED:
        rows = rows[np.sort(random_state.choice(rows.shape[0], MOST_PROJECTED, replace=False))]
    if idf is not None:  # the length of a row, divided out, does not count: rows of blocks have length one
        idf = idf.astype(np.float32)
        rows = normalize(rows.multiply(idf).tocsr())
    return fit_projection(rows, _N_COMPONENTS, random_state, scale=idf, by_strength=True)


def _analyzer(texts: list[str]) -> str:
    """Characters across spaces where most letters are of scripts without spaces, otherwise within words."""
    n_unspaced = len(unspaced_letters(texts))
    counts = (len(re.findall(r"\w", text)) for text in texts[:10_000])
    has_others = any(n_letters >= 2 * n_unspaced for n_letters in accumulate(counts))  # at once in most text
    return "char_wb" if has_others else "char"
