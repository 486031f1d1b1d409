"""Documents for the tests of the search index, and BM25 as a reader of the formula would write it."""

import math
import re
from collections import Counter

import numpy as np

TOPICS = [
    "cat dog mouse purr bark tail whisker kitten puppy paw",
    "rain snow storm wind cloud thunder sunny forecast frost umbrella",
    "bread butter oven flour bake cheese soup recipe spoon kitchen",
    "train station ticket rail track engine driver delay platform journey",
]


FUNCTION_WORDS = ["the", "a", "and", "in"]


def make_documents(n, seed=0):
    """Documents of three to eight sentences, each of one of four topics, with titles."""
    generator, documents = np.random.default_rng(seed), []
    for i in range(n):
        words = TOPICS[i % 4].split()
        chosen = [
            " ".join([*generator.choice(words, 4), *generator.choice(FUNCTION_WORDS, 3)]).capitalize() + "."
            for _ in range(generator.integers(3, 9))
        ]
        documents.append((" ".join(generator.choice(words, 2)), " ".join(chosen)))
    return documents


def bm25_of(documents, query, k1=1.2, b=0.75, weights=None, of_function_words=0.3):
    """Score of each document, a tuple of fields; None was removed. A title counts three times by default."""
    has_titles = max(len(fields or ()) for fields in documents) > 1
    weights = [3.0 if has_titles else 1.0, 1.0, 1.0] if weights is None else weights
    counts, lengths = [], []
    for fields in documents:
        counted = Counter()
        for field, weight in zip(fields or (), weights):
            for word in re.findall(r"\w+", field.lower()):
                counted[word] += weight
        counts.append(counted)
        lengths.append(sum(counted.values()))
    n = sum(fields is not None for fields in documents)
    mean = sum(lengths) / n
    scores = np.zeros(len(documents))
    for word in re.findall(r"\w+", query.lower()):
        df = sum(word in counted for counted in counts)
        idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
        for i, (counted, length) in enumerate(zip(counts, lengths)):
            if word in counted:
                in_query = of_function_words if word in FUNCTION_WORDS else 1
                scores[i] += in_query * idf * counted[word] / (counted[word] + k1 * (1 - b + b * length / mean))
    return scores


def best(scores, k, found=None):
    """Rows of the k best scores, -1 where a document is not found: by default, of score zero."""
    found = scores > 0 if found is None else found
    order = np.lexsort((np.arange(len(scores)), -scores))
    order = order[found[order]][:k]
    return np.append(order, np.full(k - len(order), -1))


def mix(bm25, cosines, *, weight):
    """Standardised BM25 of documents, plus the weight times their standardised cosines."""
    return _standardise(bm25) + weight * _standardise(cosines)


def _standardise(scores):
    """Mean 0 and standard deviation 1 over the documents; zeros where all are equal."""
    scores = np.asarray(scores, np.float64)
    centred = scores - scores.mean(axis=-1, keepdims=True)
    spread = scores.std(axis=-1, keepdims=True)
    varies = spread > 1e-9 * np.abs(scores).max(axis=-1, keepdims=True, initial=0)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
