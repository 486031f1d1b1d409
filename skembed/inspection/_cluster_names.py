"""Names of clusters: the words and pairs of words that set the texts of one apart from all others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from skembed._text.sources import advising, filled, iter_sentences, wrong_row
from skembed._text.words import lower, word_pattern
from skembed._validation.messages import brief
from skembed._validation.targets import split_labels

from .._validation.columns import Labels, Sentences

_SPACE = re.compile(r"\s*")


def cluster_names(
    texts: Sentences, labels: Labels, *, n_terms: int = 3, missing: str = "error"
) -> dict[Any, list[str]]:
    r"""Names of clusters: the terms that many texts of a cluster have and few others, class-based tf-idf.

    A term is a word, or two neighbouring words that two texts have. No list of stop words is needed: words that all
    clusters have in common get no weight.

    Parameters
    ----------
    texts : iterable of str, SentenceCorpus, or table of one column
        Texts of the clusters.
    labels : array-like of shape (n_texts,)
        The cluster of each text, such as `labels_` of a clusterer. -1, None and NaN mark noise, which gets no name.
    n_terms : int, default=3
        Most terms of a name, at least 1.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing text, or take it as an empty one.

    Returns
    -------
    names : dict of label to list of str
        For each cluster, in the order of the labels, its terms in lower case, the best first, no two with a word in
        common; fewer than `n_terms` where no others are more frequent in the cluster than in all texts.

    Raises
    ------
    TypeError
        If a text is not a string, or labels are of several types.
    ValueError
        If there are not as many labels as texts, no text has a label, or an option has another value.

    Notes
    -----
    The weight of term :math:`t` in cluster :math:`c` is

    .. math::

        n_{tc} \log\frac{n_{tc} / n_c}{n_t / n} \log\frac{n}{n_t}

    with the number :math:`n_{tc}` of the cluster's :math:`n_c` texts that have the term, and :math:`n_t` of all
    :math:`n` texts. The last factor is idf; for a pair, that of its more frequent word. The middle one takes the place
    of the idf over classes in [1]_, which leaves stop words in where clusters are few. Words are those of
    :class:`~skembed.SentenceCorpus`.

    References
    ----------
    .. [1] Maarten Grootendorst, "BERTopic: Neural topic modeling with a class-based TF-IDF procedure", 2022.

    Examples
    --------
    >>> from skembed.inspection import cluster_names
    >>> texts = ["The battery lasts.", "A good battery!"]
    >>> texts += ["The screen is bright.", "A bright, good screen."]
    >>> cluster_names(texts, [0, 0, 1, 1], n_terms=2)
    {0: ['battery', 'lasts'], 1: ['bright', 'screen']}
    """
    if not isinstance(n_terms, Integral) or n_terms < 1:
        raise ValueError(f"n_terms must be a whole number of at least 1, got {brief(n_terms)}.")
    if missing not in ("error", "empty"):
        raise ValueError(f'missing must be "error" or "empty", got {brief(missing)}.')
    texts = _strings(texts, missing)
    found, has_label = split_labels(labels, "labels", signs=False)
    if len(has_label) != len(texts):
        raise ValueError(f"labels has {len(has_label)} values, but there are {len(texts)} texts. Pass one for each.")
    if not len(found):
        raise ValueError("No text has a label: -1, None and NaN mark noise. Pass a label for some texts.")
    clusters, cluster_of_text = np.unique(found, return_inverse=True)
    counter = CountVectorizer(analyzer=_terms, binary=True, dtype=np.int32)
    try:
        has_term = csr_array(counter.fit_transform(texts))
    except ValueError:  # no text has a word
        return {cluster: [] for cluster in clusters.tolist()}
    terms = counter.get_feature_names_out()
    n_with_term = has_term.sum(axis=0)
    n_with = dict(zip(terms, n_with_term))
    idf = np.log(len(texts) / np.array([max(n_with[word] for word in _words(term)) for term in terms]))
    lengths = np.array([len(term) for term in terms])
    names = {}
    for row, cluster in enumerate(clusters.tolist()):
        members = has_term[np.flatnonzero(has_label)[cluster_of_text == row]]
        n_of_cluster = members.sum(axis=0)
        columns = np.flatnonzero(n_of_cluster)
        counts = n_of_cluster[columns]
        excess = counts / members.shape[0] * len(texts) / n_with_term[columns]
        weights = counts * np.log(excess) * idf[columns]
        keys = columns, -lengths[columns], -counts, -weights.round(9)  # the last is the first to sort by
        order = columns[np.lexsort(keys)[: np.count_nonzero(weights > 1e-9)]]
        names[cluster] = _without_repeats(((terms[column], n_with_term[column]) for column in order), n_terms)
    return names


def _strings(texts: Sentences, missing: str) -> list[str]:
    with advising(texts):
        items = [" ".join(item) if isinstance(item, list) else item for item in iter_sentences(texts, name="texts")]
        items = filled(items) if missing == "empty" else items
        for row, item in enumerate(items):
            if not isinstance(item, str):
                raise wrong_row(row, item)
    return items


def _terms(text: str) -> Iterator[str]:
    """Words, and pairs of words with nothing but space between them, as they are written."""
    last = None
    for word in word_pattern().finditer(lower(text)):
        yield word[0]
        if last and (space := _SPACE.fullmatch(word.string, last.end(), word.start())):
            yield f"{last[0]} {word[0]}" if space[0] else last[0] + word[0]
        last = word


def _words(term: str) -> list[str]:
    return [word[0] for word in word_pattern().finditer(term)]


def _without_repeats(terms: Iterable[tuple[str, int]], n_terms: int) -> list[str]:
    """The first terms of which no two have a word in common; a pair of words counts if two texts have it."""
    chosen: list[str] = []
    words: set[str] = set()
    for term, n_texts in terms:
        own = set(_words(term))
        if words.isdisjoint(own) and (len(own) == 1 or n_texts > 1):
            chosen.append(term)
            words |= own
        if len(chosen) == n_terms:
            break
    return chosen
