"""Which sentences belong together in a pass: neighbours in the text, or sentences of one class in random order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._text.batches import offsets
from .encoded_text import EncodedText

Examples = Callable[[EncodedText, int, int], EncodedText]  # text, seed and pass to the text of the pass
NO_CLASS = -1  # fills up the row of a sentence with fewer classes than the others


def in_order(text: EncodedText, seed: int, epoch: int) -> EncodedText:
    """The text as it is: the neighbours of a sentence belong together with it."""
    return text


def by_class(text: EncodedText, seed: int, epoch: int) -> EncodedText:
    """The sentences of each class as one document, in a random order of the pass.

    So the neighbours of a sentence are other sentences of its class, drawn anew each pass. The first annotation holds
    the classes of each sentence, (n_sentences, n_most) int64; a sentence of several is in several documents.
    """
    (classes,) = text.annotations
    sentence, column = np.nonzero(classes != NO_CLASS)
    document = classes[sentence, column]
    generator = np.random.default_rng([seed, epoch, 1])
    order = generator.permutation(len(sentence))
    order = order[np.argsort(document[order], kind="stable")]
    return _taken(text, sentence[order], document[order])


def _taken(text: EncodedText, sentences: np.ndarray, document: np.ndarray) -> EncodedText:
    """A copy of some sentences, with the documents they belong to."""
    n_words = np.diff(text.sent_ptr)[sentences]
    sent_ptr = offsets(n_words)
    tokens = text.tokens[np.arange(sent_ptr[-1]) + np.repeat(text.sent_ptr[sentences] - sent_ptr[:-1], n_words)]
    for array in (tokens, sent_ptr):
        array.flags.writeable = False  # as those of a corpus are, or kernels would be compiled once more
    annotations = tuple(values[sentences] for values in text.annotations)
    return text._replace(tokens=tokens, sent_ptr=sent_ptr, document=document.astype(np.int64), annotations=annotations)


def without_classes(classes: np.ndarray | None) -> bool:
    """Whether a fit learns from classes, but no sentence has one that could be compared."""
    return classes is not None and bool((classes == NO_CLASS).all())
