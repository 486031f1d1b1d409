"""Warnings where the words of a text are not what a user expects of the options."""

from __future__ import annotations

import numpy as np

from .._validation.messages import brief, warn_at_user
from .tokenizer import Tokenizer
from .vocabulary import Vocabulary
from .words import UNSPACED_LETTER

# The fraction of the words with such characters, and their mean length; those of a segmenter are shorter.
_MANY, _LONG = 1 / 3, 3.0
_SAMPLE, _LEAST = 1000, 10  # words, the most frequent ones; how often they occur together


def warn_of_useless_stop_words(tokenizer: Tokenizer) -> None:
    """Warn of stop words that are not used, or that the words of a text never equal."""
    if callable(tokenizer.analyzer):
        if tokenizer.stop_words is not None:
            callable_ = "is a callable, which returns the words that count"
            why = callable_ if tokenizer.characters is None else "cuts the text into n-grams of characters"
            warn_at_user(f"stop_words is not used, since analyzer {why}.")
        return
    stop_words = tokenizer.stop_word_set
    for stop_word in sorted(stop_words):
        found = tokenizer.split(stop_word)
        if not set(found) <= stop_words:
            warn_at_user(
                f"stop_words has {brief(stop_word)}, which a text never gives: it is lowered and split to "
                f"{brief(found)}, and these words stay. Put them into stop_words."
            )
            return


def warn_of_unsplit_text(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    """Warn of words that are whole phrases, as of text in a script without spaces between words.

    Without a pattern there are none, though a letter of Burmese or Khmer with its signs is long.
    """
    if callable(tokenizer.analyzer) or tokenizer.token_pattern is None:
        return
    words = vocabulary.prune(max_features=_SAMPLE).words
    counts = vocabulary.counts[: len(words)]
    is_unsplit = np.array([UNSPACED_LETTER.search(word) is not None for word in words], bool)
    n_unsplit = counts[is_unsplit].sum()
    if n_unsplit <= max(_MANY * counts.sum(), _LEAST):
        return
    length = np.dot(counts[is_unsplit], [len(word) for word in np.array(words, object)[is_unsplit]]) / n_unsplit
    if length > _LONG:
        example = next(word for word, found in zip(words, is_unsplit) if found)
        warn_at_user(
            f"Words such as {brief(example, 40)} have {length:.1f} characters in the mean. They are no words: "
            "their script has no spaces between them. Leave token_pattern=None, which takes characters and pairs of "
            "them, or pass a segmenter as analyzer."
        )
