"""Whether own text is about the texts that are fitted on: how many of their words it has."""

from __future__ import annotations

from itertools import islice

from .._text.words import words_of
from .._validation.messages import brief, warn_at_user

_FEW = 1 / 3  # warn if own text has a smaller share of the words; of one language and kind, it has more than half
_MOST_TEXTS, _MOST_OWN = 1_000, 20_000  # rows that are compared
_LEAST_WORDS, _LEAST_OWN = 30, 3_000  # of shorter texts, few words are known by chance


def warn_of_unrelated(corpus: list[str], texts: list[str]) -> None:
    """Warn if few words of the texts are in own text, as if that were in another language."""
    own = [word for text in islice(corpus, _MOST_OWN) for word in words_of(text)]
    words = [word for text in islice(texts, _MOST_TEXTS) for word in words_of(text)]
    if len(own) < _LEAST_OWN or len(words) < _LEAST_WORDS:
        return
    known = set(own)
    unknown = [word for word in words if word not in known]
    share = 1 - len(unknown) / len(words)
    if share < _FEW:
        examples = ", ".join(brief(word, 20) for word in list(dict.fromkeys(unknown))[:4])
        warn_at_user(
            f"corpus has only {share:.0%} of the words of X, and not {examples}. Is it in another language, or of "
            "another kind? Text like X helps; other text hardly does."
        )
