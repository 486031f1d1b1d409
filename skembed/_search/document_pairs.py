"""Pairs of texts that belong together, cut from documents: what vectors for search are learned from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sklearn.utils import check_random_state

from .._text.sentences import halves_of, sentences_of

_SENTENCES = 4  # of a document, each a pair with the rest
_TITLES = 2  # times that the pair of title and body counts
_WORD = re.compile(r"\w\w|[^\W\d_a-zA-Z]")


def cut_pairs(
    documents: Sequence[Sequence[str]], random_state: Any = None, *, n_pairs: int = 40_000
) -> list[tuple[str, str]]:
    """Cut pairs from documents: title and body, a sentence and the rest, the halves of a sentence that is alone.

    Parameters
    ----------
    documents : sequence of tuple of str
        Fields of each document: (text,), (title, body) or more. The first of several is the title, the others are the
        body; empty fields are left out.
    random_state : int, RandomState instance or None, default=None
        Seed of the sentences that are chosen, and of the pairs where there are too many.
    n_pairs : int, default=40_000
        Pairs at most. Of more documents than that, some are drawn.

    Returns
    -------
    pairs : list of (str, str)
        Pairs in the order of the documents. Both texts of each have a word.
    """
    random = check_random_state(random_state)
    chosen: Sequence[int] = range(len(documents))
    if len(documents) > n_pairs:
        chosen = sorted(random.choice(len(documents), n_pairs, replace=False).tolist())
    pairs = [pair for row in chosen for pair in _pairs_of(documents[row], random)]
    if len(pairs) > n_pairs:
        pairs = [pairs[row] for row in sorted(random.choice(len(pairs), n_pairs, replace=False).tolist())]
    return pairs


def _pairs_of(fields: Sequence[str], random: Any) -> list[tuple[str, str]]:
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
