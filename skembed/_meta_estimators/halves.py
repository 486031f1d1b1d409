"""The block "halves" of TextVectorizer: vectors that tell the other half of a text from those of other texts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from .._base.embedding import embed
from .._base.reading import has_order
from .._corpus.corpus import SentenceCorpus
from .._corpus.pairs import PairCorpus
from .._methods.paraphrase import ParaphraseVectorizer
from .._text.sources import offsets
from .._text.vocabulary import Vocabulary
from .._text.words import HAN_LETTER, UNSPACED_LETTER, WORD, words_of
from .._word_vectors.join import unit_rows
from .projections import weights_of_directions

_N_SPLITS = 3  # of the words of each text, into two random halves


def fit_halves(
    texts: list[str],
    neighbours: np.ndarray,
    n_components: int,
    n_weighed: int,
    n_jobs: int | None,
    random_state: np.random.RandomState,
) -> ParaphraseVectorizer | None:
    """Learn from random halves of the texts, and from `neighbours`; None if there are too few.

    `neighbours` (n, 2) are more pairs, as indices of texts. The directions are weighed in at most `n_weighed` texts.
    """
    pattern = _pattern(texts)
    read: list[str] | SentenceCorpus = texts
    if pattern is None:
        strings = [(texts[first], texts[second]) for first, second in neighbours] + _halves(texts, random_state)
        pairs = PairCorpus.from_pairs(strings, n_jobs=n_jobs) if strings else None
    else:
        with suppress(ValueError):  # no text has a word
            read = SentenceCorpus.from_sentences(texts, token_pattern=pattern, n_jobs=n_jobs)
        pairs = None if isinstance(read, list) else _encoded_halves(read, neighbours, random_state)
    if pairs is None:
        return None
    learner = ParaphraseVectorizer(
        n_components,
        batch_size=128,
        learning_rate=0.003,
        token_pattern=pattern,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    try:
        learner.fit(pairs)
    except ValueError:  # if all pairs hang together by common halves, none can be told from another
        return None
    some = read[:: 1 + (len(texts) - 1) // n_weighed]
    rows = unit_rows(embed(learner, learner._fitted_state(), some, "X"))
    multiply_vectors(learner, weights_of_directions(rows))  # as in latent semantic analysis
    return learner


def neighbours_of(corpus: SentenceCorpus | None, texts: list[str]) -> np.ndarray:
    """Indices (n, 2) of the texts of a corpus that follow each other in a document; none without order."""
    if corpus is None or not has_order(corpus):
        return np.empty((0, 2), np.int64)
    is_first = np.zeros(len(texts) + 1, bool)
    is_first[corpus.doc_ptr] = True
    pairs = [
        (row - 1, row)
        for row in range(1, len(texts))
        if not is_first[row] and texts[row - 1] and texts[row] and texts[row - 1] != texts[row]
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _pattern(texts: list[str]) -> str | None:
    """Of the words of the halves. `WORD` cuts Thai and its neighbours at signs, and they are read without a pattern.

    Chinese and Japanese are worse so: a pair of characters is rarer than each of them, and most pairs of a new text
    have no vector.
    """
    letters = unspaced_letters(texts)
    n_han = len(HAN_LETTER.findall(letters))
    return None if len(letters) > 2 * n_han else WORD


def unspaced_letters(texts: list[str]) -> str:
    """Letters of scripts without spaces between words in the first 10,000 texts."""
    return "".join(UNSPACED_LETTER.findall(" ".join(text for text in texts[:10_000] if not text.isascii())))


def _encoded_halves(
    corpus: SentenceCorpus, neighbours: np.ndarray, random_state: np.random.RandomState
) -> PairCorpus | None:
    """Neighbours, and pairs of halves: every word of a text falls to one side or the other, by chance."""
    tokens, ptr = corpus.tokens, corpus.sent_ptr
    lengths = np.diff(ptr)
    neighbours = neighbours[(lengths[neighbours] > 0).all(axis=1)]
    found = [tokens[ptr[row] : ptr[row + 1]] for row in neighbours.ravel()]
    sizes = [lengths[neighbours.ravel()]]
    text_of = np.repeat(np.arange(len(lengths)), lengths)
    for _ in range(_N_SPLITS):
        half_of = 2 * text_of + (random_state.random_sample(len(tokens)) >= 0.5)
        of_half = np.bincount(half_of, minlength=2 * len(lengths)).reshape(-1, 2)
        is_pair = of_half.min(axis=1) > 0
        order = np.argsort(half_of, kind="stable")
        found.append(tokens[order[is_pair[text_of]]])  # both halves of a text stay where its words were
        sizes.append(of_half[is_pair].ravel())
    kept = np.concatenate(found)
    if not len(kept):
        return None
    text, word_ptr = corpus.vocabulary.packed
    counts = np.bincount(kept, minlength=len(word_ptr) - 1)
    vocabulary, id_of = Vocabulary.from_bytes(text, word_ptr[:-1], word_ptr[1:], counts)
    sent_ptr = offsets(np.concatenate(sizes))
    doc_ptr = np.arange(0, len(sent_ptr), 2)
    return PairCorpus(SentenceCorpus(id_of[kept], sent_ptr, doc_ptr, vocabulary, tokenizer=corpus.tokenizer))


def _halves(texts: list[str], random_state: np.random.RandomState) -> list[tuple[str, str]]:
    """The same of scripts without spaces: letters of a half become neighbours only if they were."""
    words = [_spaced_words(text.lower()) for text in texts]
    n_words = sum(map(len, words))
    pairs = []
    for _ in range(_N_SPLITS):
        is_first = iter((random_state.random_sample(n_words) < 0.5).tolist())
        for row in words:
            sides: tuple[list[str], list[str]] = [], []
            for word, first in zip(row, is_first):
                sides[not first].append(word)
                sides[first].append(" ")
            left, right = ("".join(side).strip() for side in sides)
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


def multiply_vectors(learner: ParaphraseVectorizer, matrix: np.ndarray) -> None:
    """Multiply the vectors of all words by a square matrix."""
    vectors = learner.word_vectors_ @ matrix
    state = learner._state.with_arrays({"word_vectors_": vectors})
    learner._publish(replace(state, unknown_length=np.float32(np.median(np.linalg.norm(vectors, axis=1)))))
