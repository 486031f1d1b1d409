"""Methods that learn from pairs or from targets, where a test gives text alone."""

import numpy as np

from skembed import SentenceCorpus


class TwoByTwo:
    """A method that learns from pairs: where a test gives text alone, every two sentences are paraphrases."""

    def _training_data(self, X, y, groups, keep=False):
        self._check_parameters()
        if self.corpus is None and y is None and groups is None:
            X = X if isinstance(X, SentenceCorpus) else self._encoded(X)
            y = np.arange(X.n_sentences) // 2 if X.n_documents == 1 else None
        return super()._training_data(X, y, groups, keep)

    def _learns_pairs(self, X, y, groups):
        return self.corpus is not None and super()._learns_pairs(X, y, groups)


class LettersAsTargets:
    """A method that learns from targets: where a test gives none, or labels, a sentence's first letters are its."""

    def _sentence_targets(self, corpus, y):
        return super()._sentence_targets(corpus, targets_of(corpus) if np.ndim(np.asarray(y)) < 2 else y)


def targets_of(sentences):
    """A vector for each sentence, which says how often each letter begins a word."""
    vectors = np.full((len(sentences), 5), 0.1)
    for vector, words in zip(vectors, sentences):
        np.add.at(vector, [ord(word[0]) % 5 for word in words if word], 1)
    return vectors
