"""Base of the estimators that take the parses of a user's own parser, as brackets in the text."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.text import TextEstimator, tokenizer_options
from .._corpus.corpus import SentenceCorpus
from .._text.sources import offsets
from .._text.tokenizer import BRACKETED, Tokenizer

OPENING, CLOSING = "(", ")"
_CHUNK = 65_536  # sentences that are checked at once


def brackets_of(vocabulary: dict[str, int]) -> tuple[int, int]:
    """Rows of both brackets; -1 for those that the text does not have."""
    return vocabulary.get(OPENING, -1), vocabulary.get(CLOSING, -1)


def check_parses(corpus: SentenceCorpus) -> None:
    """Raise an error for a sentence whose brackets are not those of a tree."""
    words = corpus.vocabulary.words
    steps = np.array([(word == OPENING) - (word == CLOSING) for word in words], np.int64)
    for first in range(0, corpus.n_sentences, _CHUNK):
        ptr = corpus.sent_ptr[first : first + _CHUNK + 1]
        depth = offsets(steps[corpus.tokens[ptr[0] : ptr[-1]]])
        ptr = ptr - ptr[0]
        least = np.minimum.reduceat(depth, ptr[:-1])  # an empty sentence has the depth where it stands
        is_bad = (depth[ptr[1:]] != depth[ptr[:-1]]) | (least < depth[ptr[:-1]])
        if is_bad.any():
            raise ValueError(
                f"Row {first + int(is_bad.argmax())} has opening and closing brackets that do not fit each other. With "
                'trees="bracketed", each sentence is a tree such as "(S (NP dogs) (VP bark))".'
            )


class ParsesMixin(TextEstimator):
    """Base of the estimators with the parameter `trees`, whose value "bracketed" reads trees from the text."""

    trees: str = "balanced"

    @staticmethod
    def words_of_tree(tree: Any) -> list[Any]:
        """List the words of a nested list, a nested tuple or a tree of nltk, with brackets: an `analyzer`.

        Parameters
        ----------
        tree : list, tuple or str
            A node is a list or tuple of its children, as the trees of nltk are; a word is a string.

        Returns
        -------
        words : list of str
            As ``trees="bracketed"`` takes them, not lowered.

        Examples
        --------
        >>> from skembed.research import RecursiveAutoencoderVectorizer
        >>> parses = [[["the", "dog"], ["bites", ["the", "man"]]]] * 20
        >>> emb = RecursiveAutoencoderVectorizer(
        ...     8, trees="bracketed", analyzer=RecursiveAutoencoderVectorizer.words_of_tree
        ... )
        >>> emb.fit(parses).transform(parses).shape
        (20, 8)
        """
        words, rest = [], [tree]
        while rest:  # a stack, as a tree may be deeper than Python's own
            top = rest.pop()
            if isinstance(top, (list, tuple)):
                words.append(OPENING)
                rest += [CLOSING, *reversed(top)]
            else:
                words.append(top)
        return words

    def _tokenizer_of_options(self, automatic: Any = "word") -> Tokenizer:
        tokenizer = super()._tokenizer_of_options(automatic)
        if self.trees != "bracketed" or callable(tokenizer.analyzer):
            return tokenizer
        options: dict[str, Any] = {**tokenizer_options(tokenizer), "token_pattern": BRACKETED}
        return Tokenizer(**options)
