"""Words of any script, and warnings where the words of a text are not what a user expects of the options."""

from __future__ import annotations

import re

import numpy as np

from .._validation.messages import brief, warn_at_user
from .tokenizer import Tokenizer
from .vocabulary import Vocabulary

# Thai, Lao, Burmese, Khmer, kana and Chinese characters: scripts that are written without spaces between words.
WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
# A word of any script. Each Chinese or Japanese character is one. The vowel signs of India, and accents and points of
# Latin, Hebrew and Arabic, belong to their letter, though they are no \w. Thai and its neighbours are cut at signs.
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_SIGNS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u096f\u0971-\u0df3"
WORD = rf"(?u)[{_HAN}]|(?:[^\W{_HAN}]|[{_SIGNS}])+"
# The fraction of the words with such characters, and their mean length; those of a segmenter are shorter.
_MANY, _LONG = 1 / 3, 3.0
_SAMPLE, _LEAST = 1000, 10  # words, the most frequent ones; how often they occur together


def warn_of_useless_stop_words(tokenizer: Tokenizer) -> None:
    """Warn of stop words that are not used, or that the words of a text never equal."""
    if callable(tokenizer.analyzer):
        if tokenizer.stop_words is not None:
            warn_at_user("stop_words is not used, since analyzer is a callable, which returns the words that count.")
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
    """Warn of words that are whole phrases, as of text in a script without spaces between words."""
    if callable(tokenizer.analyzer):
        return
    words = vocabulary.prune(max_features=_SAMPLE).words
    counts = vocabulary.counts[: len(words)]
    is_unsplit = np.array([WITHOUT_SPACES.search(word) is not None for word in words], bool)
    n_unsplit = counts[is_unsplit].sum()
    if n_unsplit <= max(_MANY * counts.sum(), _LEAST):
        return
    length = np.dot(counts[is_unsplit], [len(word) for word in np.array(words, object)[is_unsplit]]) / n_unsplit
    if length > _LONG:
        example = next(word for word, found in zip(words, is_unsplit) if found)
        warn_at_user(
            f"Words such as {brief(example, 40)} have {length:.1f} characters in the mean. They are no words: "
            "their script has no spaces between them. Pass token_pattern=r'(?u)\\w' to learn characters, with "
            "ngram_range=(1, 2) pairs too where the method has it; or a segmenter as analyzer."
        )
