"""Base of the estimators that learn from pairs, or groups, of sentences that mean the same."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._corpus.corpus import SentenceCorpus
from .._corpus.pairs import PairCorpus, check_not_empty, holds_sets, is_pair, joined, linked
from .._text.sources import iter_sentences
from .._text.tokenizer import reads_strings
from .._training.checkpoint import Checkpoint
from .._training.encoded_text import Annotations
from .._training.pairs import Evidence, Loss, PairEncoder, PairObjective, hold_out_of_sets
from .._training.passes import AutoPasses
from .._training.state import FittedState
from .._validation.columns import Labels, Sentences, length_of
from .._validation.constraints import PredicateConstraint
from .._validation.targets import check_length, split_labels
from .._validation.values import PathLike
from .._word_vectors.bag import content_seeds
from .reading import encoded_with
from .scikit_learn import fit_context
from .text import tokenizer_options
from .trained import TrainedVectorizer

_NO_LABELS_OF_PAIRS = (
    "y and groups must be None where X is pairs, with two sentences a row. To learn from sentences with y, pass one "
    "column of sentences."
)
_NO_ROWS_OF_PAIRS = (
    "fit_transform embeds what it learns from, so it needs sentences with y, where equal values mean that they are "
    "paraphrases. To learn from pairs, call fit(pairs), and then transform(sentences); in a pipeline, pass the pairs "
    "as the parameter corpus."
)


def _is_evidence(corpus: object) -> bool:
    return isinstance(corpus, SentenceCorpus) or bool(_sets_of(corpus))


def _sets_of(pairs: Any) -> list[PairCorpus]:
    """The sets of pairs of one `PairCorpus` or of a list of them; [] for anything else."""
    sets = list(pairs) if isinstance(pairs, (list, tuple)) else [pairs]
    return sets if all(isinstance(one, PairCorpus) for one in sets) else []


EVIDENCE = PredicateConstraint(
    _is_evidence,
    "a PairCorpus (see PairCorpus.from_pairs), a list of them, or a SentenceCorpus (see SentenceCorpus.from_sentences)",
)


class PairedVectorizer(TrainedVectorizer):
    """Base of the estimators that learn from pairs or groups of paraphrases: add `_make_encoder` and `_make_loss`."""

    solver = "adam"
    _learns_from = "pairs"
    _auto_passes = AutoPasses(2_000_000)
    loss: str = "softmax"

    @fit_context
    def fit(
        self,
        X: Sentences,
        y: Labels = None,
        *,
        groups: Labels = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 1,
    ) -> Self:
        """Learn from pairs of sentences, or from sentences with `y`.

        Parameters
        ----------
        X : pairs, PairCorpus, list of PairCorpus, or sentences
            Without `y`, pairs of sentences that mean the same: an iterable of tuples, an array of shape (n_pairs, 2), a
            table of two columns, or a :class:`PairCorpus`. The sets in a list of PairCorpus are learned one after the
            other, for example phrases, then sentences. With `y`, an iterable of str or a SentenceCorpus, whose
            documents are paraphrases. If the parameter `corpus` is given, `fit` learns from that.
        y : array-like of shape (n_sentences,), default=None
            Sentences with equal `y` are paraphrases. Each pass pairs them at random. A sentence of None or NaN
            is in no pair, nor is one of -1, unless another number is negative.
        groups : array-like of shape (n_sentences,), default=None
            Instead of `y`, if that is for another step of a pipeline; but a new group begins wherever the value changes
            from one sentence to the next, as in all estimators.
        checkpoint, checkpoint_every : path-like or None, default=None; int, default=1
            As in :meth:`CBOSVectorizer.fit`.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If a sentence is missing or not a string; names the row.
        ValueError
            If a pair lacks a sentence or has one without words, if `y` has another length than `X`, if a set has no
            pairs or nothing to compare a pair with, or if the weights diverge; then the estimator is as it was before.
        OSError, MemoryError
            As in :meth:`CBOSVectorizer.fit`.
        """
        return self._fit(X, y, groups, Checkpoint(checkpoint, checkpoint_every))

    @fit_context
    def partial_fit(self, X: Sentences, y: Labels = None, *, groups: Labels = None, new_words: str = "append") -> Self:
        """Make one pass over some more pairs.

        The first call learns the vocabulary. The learning rate does not fall.

        Parameters
        ----------
        X : pairs or sentences
            As in `fit`.
        y, groups : array-like of shape (n_sentences,), default=None
            As in `fit`.
        new_words : {"append", "ignore"}, default="append"
            As in :meth:`CBOSVectorizer.partial_fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, groups, partial=True, new_words=new_words)

    def fit_transform(self, X: Sentences, y: Labels = None, **fit_params: Any) -> NDArray[np.float32]:
        """Learn from sentences with `y`, then embed them.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. Pairs are refused: call `fit` with them, then `transform` with sentences.
        y : array-like of shape (n_sentences,), default=None
            As in `fit`.
        **fit_params : dict
            `groups` and others, as in `fit`.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out)
            The same as `fit(X, y).transform(X)`. These rows fit their `y` better than the rows of other sentences do:
            see :ref:`calibrate`.
        """
        if self._holds_pairs(X) or self.corpus is None and self._learns_pairs(X, y, fit_params.get("groups")):
            raise ValueError(_NO_ROWS_OF_PAIRS)
        return super().fit_transform(X, y, **fit_params)

    def estimate_memory(self, X: Sentences, y: Labels = None) -> dict[str, int]:
        """Say how much memory `fit` will need, without learning anything.

        Parameters
        ----------
        X : pairs or sentences
            As in `fit`.
        y : array-like of shape (n_sentences,), default=None
            As in `fit`.

        Returns
        -------
        memory : dict of str to int
            Bytes by purpose, and their sum "total", as in :meth:`CBOSVectorizer.estimate_memory`.
        """
        return super().estimate_memory(X, y)

    def _make_encoder(self, state: FittedState) -> PairEncoder:
        """What turns sentences into vectors and learns."""
        raise TypeError(f"{type(self).__name__} does not say how a sentence becomes a vector.")

    def _make_loss(self) -> Loss:
        """What compares the vectors of a block."""
        raise TypeError(f"{type(self).__name__} does not say which loss it has.")

    def _make_objective(self, state: FittedState) -> PairObjective:
        return PairObjective(self._make_encoder(state), self._make_loss())

    def _training_data(
        self, X: Sentences, y: Labels, groups: Labels, keep: bool = False
    ) -> tuple[SentenceCorpus, Evidence, None]:
        """The sentences to learn from, and which of them belong together."""
        name = "X"
        if self.corpus is not None:
            if not isinstance(X, SentenceCorpus) and not _sets_of(X):
                iter_sentences(X)  # X must be valid even if it is not used
            check_length(y, length_of(X), "X")
            X, y, groups, name = self.corpus, None, None, "corpus"
        if self._learns_pairs(X, y, groups):
            return self._evidence_of_pairs(_sets_of(X) or [self._encoded_pairs(X)], name)
        shape = getattr(X, "shape", ())
        if self._holds_pairs(X) or isinstance(shape, tuple) and shape[1:] == (2,):
            raise ValueError(_NO_LABELS_OF_PAIRS)
        if isinstance(X, SentenceCorpus) and groups is not None:
            raise ValueError("groups must be None when X is a SentenceCorpus, which knows its documents.")
        sentences = X if isinstance(X, SentenceCorpus) else self._encoded(X, groups)
        self._check_agreement(sentences, name)
        if groups is not None or y is None:
            group, name = sentences.doc_of(), "groups" if groups is not None else f"the documents of {name}"
        else:
            (labels, has_label), name = split_labels(y, signs=False), "y"
            check_length(has_label, sentences.n_sentences, "X")
            group = np.arange(len(has_label)) + len(has_label)  # a sentence without a label is in no pair
            group[has_label] = np.unique(labels, return_inverse=True)[1]
            group = np.unique(group, return_inverse=True)[1]
        _check_groups(group, name)
        evidence = Evidence(group, group, texts_of(sentences), np.zeros(len(group), np.int64))
        return sentences, evidence, None

    def _learns_pairs(self, X: Sentences, y: Labels, groups: Labels) -> bool:
        """Whether `fit` takes `X` for pairs; else for sentences, which must not be pairs."""
        return y is None and groups is None and not isinstance(X, SentenceCorpus)

    def _holds_pairs(self, X: Sentences) -> bool:
        """Whether `X` is pairs, or sets of them, whatever is given beside it; a table may be anything."""
        if isinstance(X, (list, tuple)) and len(X) and reads_strings(self.analyzer):
            return isinstance(X[0], tuple) or all(map(is_pair, X)) or holds_sets(X, self.analyzer)
        return bool(_sets_of(X))

    def _encoded_pairs(self, X: Sentences) -> PairCorpus:
        X = list(X) if hasattr(X, "__next__") else X  # to look at the first one
        if isinstance(X, (list, tuple, np.ndarray)) and len(X) and isinstance(X[0], str):
            raise ValueError(
                "X holds sentences, not pairs. Pass pairs, as tuples or in two columns, or pass y, where equal values "
                "mean that sentences are paraphrases."
            )
        return PairCorpus.from_pairs(X, n_jobs=self.n_jobs, **tokenizer_options(self._tokenizer_of_options()))

    def _encoded(self, X: Sentences, groups: Labels = None) -> SentenceCorpus:
        iter_sentences(X)  # checked here, so that errors call it X
        return encoded_with(self, self._tokenizer_of_options(), X, groups)

    def _evidence_of_pairs(self, sets: list[PairCorpus], name: str) -> tuple[SentenceCorpus, Evidence, None]:
        names = [name] if len(sets) == 1 else [f"{name}[{index}]" for index in range(len(sets))]
        for name_of_set, pairs in zip(names, sets):
            check_not_empty(pairs, name_of_set)
            self._check_agreement(pairs.sentences, name_of_set)
            if pairs.sentences.tokenizer != sets[0].sentences.tokenizer:
                raise ValueError(f"{name_of_set} was made with other options than {name}[0]. Build it again.")
        sentences = joined([pairs.sentences for pairs in sets])
        group, texts = sentences.doc_of(), texts_of(sentences)
        which = np.repeat(np.arange(len(sets)), [pairs.sentences.n_sentences for pairs in sets])
        evidence = Evidence(group, linked(group, texts), texts, which)
        for index, (name_of_set, pairs) in enumerate(zip(names, sets)):
            if evidence.of(which == index).hangs_together:
                found = f"All {len(pairs)} pairs of {name_of_set} hang together by common texts"
                found = found if len(pairs) > 1 else f"{name_of_set} is one pair"
                raise ValueError(f"{found}, so no pair can be compared with another. Add pairs of other meanings.")
        return sentences, evidence, None

    def _held_out(self, corpus: SentenceCorpus, state: FittedState, annotations: Annotations) -> np.ndarray:
        """Whole clusters of paraphrases of each set."""
        return hold_out_of_sets(Evidence(*annotations), self.validation_fraction, state.seed)

    def _n_sets(self, annotations: Annotations) -> int:
        return Evidence(*annotations).n_sets

    @property
    def _zero_loss_is_success(self) -> bool:  # type: ignore[override]
        return self.loss != "softmax"


def _check_groups(group: np.ndarray, name: str) -> None:
    """Raise an error unless there are pairs of two groups, which can be compared."""
    sizes = np.bincount(group)
    n_groups, n_with_pairs = int((sizes > 0).sum()), int((sizes > 1).sum())
    if n_groups == 0:
        found = "there are no sentences"
    elif n_groups == 1:
        found = "all sentences are of one group, so there is no other group to compare them with"
    elif n_with_pairs == 0:
        found = "no two sentences are of one group, so there is no pair to learn from. If it has the second sentences, "
        found += "pass pairs alone, fit(list(zip(first, second)))"
    elif n_with_pairs == 1:
        found = "only one group has two sentences, so there is no other pair to compare it with"
    else:
        return
    raise ValueError(f"{name}: {found}. Pass at least two sentences of each of two groups.")


def texts_of(sentences: SentenceCorpus) -> np.ndarray:
    """An index for each distinct text, (n_sentences,) int64; each sentence without words is distinct."""
    hashes = content_seeds(sentences.tokens, sentences.sent_ptr, 0)
    _, first, text = np.unique(hashes, return_index=True, return_inverse=True)
    return np.where(np.diff(sentences.sent_ptr) > 0, first[text], np.arange(len(hashes)))
