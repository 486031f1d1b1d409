"""Pairs of texts that belong together, cut from documents: what vectors for search are learned from."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils import check_random_state

from .._text.words import UNSPACED_LETTER, halves_of, sentences_of
from .._validation.values import RandomState

_SENTENCES = 4  # of a document, each a pair with the rest
_TITLES = 2  # times that the pair of title and body counts
_WORD = re.compile(r"\w\w|[^\W\d_a-zA-Z]")
# How many times as similar neighbours must be as any two documents, for their order to mean something; how many
# documents are looked at, at least and at most, and how much of each.
_IN_ORDER, _LEAST, _MOST, _CHARACTERS = 2.5, 100, 500, 1000
_TERM = re.compile(f"{UNSPACED_LETTER.pattern}|\\w\\w+")  # of a script without spaces each character


def cut_pairs(
    documents: Sequence[Sequence[str]], random_state: RandomState = None, *, n_pairs: int = 40_000
) -> list[tuple[str, str]]:
    """Cut pairs from documents: title and body, a sentence and the rest, the halves of a sentence that is alone.

    Where neighbours are much more similar than other documents, as the sentences of a text are, each document and the
    next one are a pair too.
    """
    random = check_random_state(random_state)
    chosen: Sequence[int] = range(len(documents))
    if len(documents) > n_pairs:
        chosen = sorted(random.choice(len(documents), n_pairs, replace=False).tolist())
    pairs = [pair for row in chosen for pair in _pairs_of(documents[row], random)]
    if _are_in_order(documents, random):
        neighbours = ((documents[row], documents[row + 1]) for row in chosen if row + 1 < len(documents))
        pairs += [pair for pair in ((" ".join(a), " ".join(b)) for a, b in neighbours) if all(map(_WORD.search, pair))]
    if len(pairs) > n_pairs:
        pairs = [pairs[row] for row in sorted(random.choice(len(pairs), n_pairs, replace=False).tolist())]
    return pairs


def _are_in_order(documents: Sequence[Sequence[str]], random: np.random.RandomState) -> bool:
    """Whether a document is much more similar to the next one than to any other, by the cosine of tf-idf."""
    if len(documents) < _LEAST:
        return False
    rows = random.permutation(len(documents) - 1)[:_MOST]
    texts = [" ".join(documents[row])[:_CHARACTERS] for row in (*rows, *(rows + 1))]
    if not any(map(_TERM.search, texts)):
        return False
    tfidf = TfidfVectorizer(analyzer=lambda text: _TERM.findall(text.lower()), sublinear_tf=True).fit_transform(texts)
    first, second = tfidf[: len(rows)], tfidf[len(rows) :]
    any_other = second[np.roll(np.arange(len(rows)), 1)]
    neighbours, others = (float(first.multiply(rows_of).sum()) for rows_of in (second, any_other))
    return neighbours > _IN_ORDER * others


def _pairs_of(fields: Sequence[str], random: np.random.RandomState) -> list[tuple[str, str]]:
    """All pairs of one document."""
    fields = [field for field in fields if _WORD.search(field)]
    pairs = []
    if len(fields) > 1:
        pairs = [(fields[0], " ".join(fields[1:]))] * _TITLES
        fields = fields[1:]
    sentences = [sentence for field in fields for sentence in sentences_of(field) if _WORD.search(sentence)]
    if len(sentences) > 1:
        of_sentences = random.permutation(len(sentences))[:_SENTENCES]
        pairs += [(sentences[i], " ".join(sentences[:i] + sentences[i + 1 :])) for i in of_sentences]
    elif sentences and not pairs:
        pairs += [halves_of(sentences[0])]
    return [pair for pair in pairs if all(map(_WORD.search, pair))]
