"""Warnings where the words of a text are not what a user expects of the options."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .._validation.messages import brief, warn_at_user
from .tokenizer import Tokenizer
from .vocabulary import Vocabulary
from .words import UNSPACED_LETTER, marks

# The fraction of the words with such characters, and their mean length; those of a segmenter are shorter.
_MANY, _LONG = 1 / 3, 3.0
_LONGER = 20  # characters of a word in a script with spaces
_WITH_SIGNS = re.compile("[\u0900-\u0eff\u1000-\u109f\u1780-\u17ff]")  # letters of India, Thailand and around
_BLOCK = 128  # code points of a script
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
    """Warn of words that are whole phrases, or that a pattern has cut at the signs of vowels."""
    if callable(tokenizer.analyzer):
        return
    words = vocabulary.prune(max_features=_SAMPLE).words
    fault = fault_of_words(tokenizer, words, vocabulary.counts[: len(words)])
    if fault:
        warn_at_user(fault)


def fault_of_words(tokenizer: Tokenizer, words: Sequence[str], counts: np.ndarray, least: int = _LEAST) -> str:
    """Why these are no words, and the option to set; "" if they seem to be, or no more than `least` are not.

    Without a pattern, a letter of Burmese or Khmer with its signs is long.
    """
    total, lengths = max(1, counts.sum()), np.fromiter(map(len, words), np.int64)
    if tokenizer.token_pattern is not None:
        is_unsplit = np.fromiter((UNSPACED_LETTER.search(word) is not None for word in words), bool)
        n_unsplit = counts[is_unsplit].sum()
        length = np.dot(counts[is_unsplit], lengths[is_unsplit]) / max(1, n_unsplit)
        if n_unsplit > max(_MANY * total, least) and length > _LONG:
            example = next(word for word, found in zip(words, is_unsplit) if found)
            return (
                f"Words such as {brief(example, 40)} have {length:.1f} characters in the mean. They are no words: "
                "their script has no spaces between them. Leave token_pattern=None, which takes characters and pairs "
                "of them, or pass a segmenter as analyzer."
            )
        found_letters = map(_WITH_SIGNS.search, words)
        blocks = [ord(letter[0]) // _BLOCK if letter else -1 for letter in found_letters]
        cut = [block for block in set(blocks) if block >= 0 and _cuts_at_sign(tokenizer, block)]
        is_cut = np.isin(blocks, cut)
        if (n_cut := counts[is_cut].sum()) > max(_MANY * total, least):
            example = next(word for word, found in zip(words, is_cut) if found)
            return (
                f"{n_cut / total:.0%} of the words, such as {brief(example, 40)}, are of a script whose vowels are "
                f"signs, at which token_pattern={brief(tokenizer.token_pattern)} cuts words. Leave token_pattern=None, "
                "which keeps them."
            )
    is_rare = (counts == 1) & (lengths > _LONGER)
    if is_rare.sum() > max(total / 2, least):
        return (
            f"Words such as {brief(words[int(np.argmax(is_rare))], 40)} have {np.dot(counts, lengths) / total:.1f} "
            'characters in the mean, and most occur once, as in text without spaces. Set analyzer="char", which '
            "learns parts of them."
        )
    return ""


def _cuts_at_sign(tokenizer: Tokenizer, block: int) -> bool:
    """Whether a sign cuts a word of the script that has this block of code points."""
    sign = next((mark for mark in marks() if ord(mark) // _BLOCK == block), "")
    letter = next(c for c in map(chr, range(_BLOCK * block, _BLOCK * (block + 1))) if c.isalpha())
    return sign != "" and tokenizer.split(letter + sign + letter) != [letter + sign + letter]
