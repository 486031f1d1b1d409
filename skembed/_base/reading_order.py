"""Warnings for text that has no reading order, where a method learns from neighbouring sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

from .._corpus.corpus import SentenceCorpus
from .._text.batches import offsets
from .._training.encoded_text import most_words_whole
from .._validation.messages import warn_at_user

# Of 100 samples of 500 consecutive sentences, two are below it from books and none from an encyclopedia; of 100 samples
# of shuffled sentences, 99 are. Shorter text says too little.
_LEAST_SCORE, _LEAST_SENTENCES = 2.5, 500
_MOST_PAIRS = 2000  # that are compared


def warn_if_unordered(estimator: Any, corpus: SentenceCorpus, classes: np.ndarray | None) -> None:
    """Warn if a method that learns from order gets sentences alone in their documents, or a text in no order.

    A sentence of more than `max_sentence_length` words is split, and what it is split into are neighbours.
    """
    if classes is not None or not estimator._needs_order:
        return
    name, longest = type(estimator).__name__, most_words_whole(estimator, corpus.tokenizer)
    first = np.asarray(corpus.doc_ptr[:-1])[np.diff(corpus.doc_ptr) == 1]
    lengths = corpus.sent_ptr[first + 1] - corpus.sent_ptr[first]
    alone = len(lengths) if longest is None else int((lengths <= longest).sum())
    if 2 * alone > corpus.n_sentences > 1:
        warn_at_user(
            f"{alone} of {corpus.n_sentences} sentences are alone in their document, so {name} has no context to "
            "learn them from. Shuffled or sampled sentences (as cross-validation makes them) have lost their "
            "neighbours: learn from the ordered text with corpus=SentenceCorpus.from_sentences(...), and let X be "
            "only what the next step of the pipeline learns from."
        )
    elif not has_order(corpus):
        warn_at_user(
            f"Without groups all {corpus.n_sentences} sentences are one document in reading order, but consecutive "
            f"ones have no more words in common than random ones. {name} would learn from unrelated sentences, as in "
            "a column of titles, or in shuffled rows. Use Sent2VecVectorizer, which needs no order (where another "
            "estimator learns with it: word_vectors=Sent2VecVectorizer(...)). Or pass text in reading order, and its "
            "documents as groups."
        )


def has_order(corpus: SentenceCorpus) -> bool:
    """Whether consecutive sentences of a text without documents are more alike than random ones, or it is short."""
    is_tested = corpus.n_documents == 1 and corpus.n_sentences >= _LEAST_SENTENCES
    return not is_tested or order_score(corpus) >= _LEAST_SCORE


def order_score(corpus: SentenceCorpus) -> float:
    """How many standard errors consecutive sentences are more alike than random ones, by the cosines of a sample.

    Infinite where no two of them have a word in common.
    """
    generator = np.random.default_rng(0)
    n_pairs = corpus.n_sentences - 1
    first = generator.choice(n_pairs, min(n_pairs, _MOST_PAIRS), replace=False)
    second, other = first + 1, generator.permutation(first) + 1
    rows = _weighted_words(corpus, first)
    # A random sentence may be the first one itself, which says nothing.
    near, far = (_cosines(rows, _weighted_words(corpus, pair))[other != first] for pair in (second, other))
    differences = near - far
    if not near.any() and not far.any():
        return np.inf
    return float(differences.mean() / max(differences.std() / len(differences) ** 0.5, 1e-12))


def _weighted_words(corpus: SentenceCorpus, sentences: np.ndarray) -> csr_matrix:
    """Rows of length one of some sentences, with a column for each word."""
    starts, n_words = corpus.sent_ptr[sentences], corpus.sent_ptr[sentences + 1] - corpus.sent_ptr[sentences]
    ptr = offsets(n_words)
    ids = corpus.tokens[np.arange(ptr[-1]) + np.repeat(starts - ptr[:-1], n_words)]
    weights = np.log(1 + corpus.n_tokens / corpus.vocabulary.counts[ids])
    rows = csr_matrix((weights, ids, ptr), shape=(len(sentences), len(corpus.vocabulary)))
    rows.sum_duplicates()
    return normalize(rows, copy=False)


def _cosines(a: csr_matrix, b: csr_matrix) -> np.ndarray:
    return np.asarray(a.multiply(b).sum(axis=1)).ravel()
