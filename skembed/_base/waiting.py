"""Words that a model has met too seldom to learn them: their counts go on in the next text.

A dict from word to count, in the order in which the words were met last. It is bounded: where there would be more than
`MOST_WAITING` words, the rarer half is forgotten, of words of equal count those that were met longest ago. A word that
was forgotten begins again at 0; what it lost is rarely more than one or two.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from .._corpus.corpus import SentenceCorpus

MOST_WAITING = 100_000


def waiting_after(corpus: SentenceCorpus, n_learned: int, vocabulary: Collection[str]) -> dict[str, int]:
    """Count the words of a first text that its model leaves out; the first `n_learned` of the text are learned."""
    # Most words of a large text are rare: no more of them are made strings than may be needed.
    last = MOST_WAITING + max(n_learned, len(vocabulary))
    words, counts = corpus.vocabulary.words_of(slice(n_learned, last)), corpus.vocabulary.counts[n_learned:last]
    found = {word: count for word, count in zip(words, counts.tolist()) if word not in vocabulary}
    return _bounded(found)


def waiting_on(earlier: Mapping[str, int], met: Mapping[str, int], learned: Iterable[str]) -> dict[str, int]:
    """Go on counting, with the sums of the words `met` in another text; the `learned` ones wait no longer."""
    waiting = dict(earlier)
    for word in learned:
        waiting.pop(word, None)
    for word, count in met.items():
        waiting.pop(word, None)  # it moves to the end
        waiting[word] = count
    return _bounded(waiting)


def _bounded(waiting: dict[str, int]) -> dict[str, int]:
    if len(waiting) <= MOST_WAITING:
        return waiting
    counts = np.fromiter(waiting.values(), np.int64, len(waiting))
    kept = np.zeros(len(waiting), bool)
    kept[np.argsort(counts, kind="stable")[-(MOST_WAITING // 2) :]] = True
    return {word: count for (word, count), stays in zip(waiting.items(), kept.tolist()) if stays}
