"""What belongs together with a sentence: its neighbours in the text, or sentences of its class."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target

from .._compiled.buffers import between
from .._corpus.corpus import SentenceCorpus
from .._text.character_ngrams import BOTH, are_ngrams
from .._training.examples import NO_CLASS, Examples, by_class, in_order
from .._training.learned_arrays import ArrayRecord, LearnedArray, Start, start_uniform
from .._training.spare_arrays import derived_rows
from .._training.state import FittedState
from .._validation.containers import is_missing, length_of
from .._validation.limits import INT64_MAX, integers
from .._validation.messages import warn_at_user
from .._validation.targets import check_length, split_labels
from .character_tokens import Balance, has_characters, has_words_and_ngrams
from .fitted import Fitted
from .pooled import NGRAMS, PooledVectorizer, ngram_vectors_of
from .sharded import ShardedVectorizer

# More whole numbers than this, each in fewer rows in the mean, may be the target of a regression.
_MOST_PLAIN_CLASSES, _FEW_ROWS = 20, 50
_ALONE = "every class of y has one sentence"


class ContextVectorizer(PooledVectorizer, ShardedVectorizer):
    """Base of the estimators that learn from what belongs together with a sentence: its order or its labels.

    Options may be "auto": `_automatic` holds what that means when learning from the order and from labels, and
    `_automatic_for_characters` what else it means where tokens are n-grams of characters.
    """

    _parameter_constraints: dict[str, Any] = {
        **ShardedVectorizer._parameter_constraints,
        **PooledVectorizer._parameter_constraints,
        **NGRAMS,
        "context": [StrOptions({"auto", "order", "labels"})],
        "interpolation": [Interval(Real, 0.0, 1.0, closed="both")],
        "freeze_init": ["boolean"],
        "word_dropout": [Interval(Real, 0.0, 1.0, closed="left")],
        "unknown": [StrOptions({"zero", "hash", "auto"})],
        "min_count": [integers(1, INT64_MAX), StrOptions({"auto"})],
        "weighting": [StrOptions({"idf", "sif", "auto"}), None],
        "analyzer": [StrOptions({"auto", "word", "char", "char_wb", "word+char_wb"}), callable],
    }
    _needs_order = True
    _automatic: dict[str, tuple[Any, Any]] = {
        "min_count": (5, 1),
        "unknown": ("hash", "zero"),
        "weighting": (None, None),
    }
    _automatic_for_characters: dict[str, tuple[Any, Any]] = {"unknown": ("zero", "zero"), "weighting": (None, "idf")}
    context: str = "auto"
    _joins_words_beside_characters = True
    window: int = 1
    interpolation: float = 1.0
    ngram_vectors_ = Fitted[NDArray[np.float32]](ngram_vectors_of)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.context == "labels"
        return tags

    def _meaning_of_auto(self, name: str, state: FittedState) -> Any:
        """From the first fit: a later fit that continues it does not change what "auto" means."""
        automatic = self._automatic.get(name)
        if name in self._automatic_for_characters and has_characters(state):
            automatic = self._automatic_for_characters[name]
        return super()._meaning_of_auto(name, state) if automatic is None else automatic[bool(state.first_from_labels)]

    def _automatic_analyzer(self, classes: np.ndarray | None, keep: bool) -> Any:
        """Words and n-grams of characters from labels, unless an option is for words alone; words from the order.

        A fit that goes on from an earlier one keeps its analyzer.
        """
        if keep:
            return self._state.tokenizer.analyzer
        of_words = self.token_pattern, self.stop_words, self.stemmer, getattr(self, "init", None)
        if classes is None or self.ngram_range[1] > 1 or any(option is not None for option in of_words):
            return "word"
        return BOTH

    def _check_parameters(self) -> None:
        """Check also that a block can hold more than a sentence and its neighbours."""
        super()._check_parameters()
        if not isinstance(self.batch_size, str):
            smallest = 2 * int(self.window) + 2
            if self.batch_size < smallest:
                raise ValueError(
                    f"batch_size={self.batch_size} is too small for window={self.window}: the random "
                    f"sentences come from the same block. Use at least {smallest}."
                )

    def _training_data(
        self, X: Any, y: Any, groups: Any, keep: bool = False
    ) -> tuple[SentenceCorpus, tuple[np.ndarray, ...], np.ndarray | None]:
        """Check also the length of a `y` that is not learned from, and leave out sentences without a class.

        Beside the parameter `corpus`, `y` belongs to X.
        """
        corpus, annotations, classes = super()._training_data(X, y, groups, keep)
        if self.corpus is not None:
            check_length(y, length_of(X), "X")
        else:
            check_length(y, corpus.n_sentences, "the text")
        if classes is not None and not (has_class := (classes != NO_CLASS).any(axis=1)).all() and has_class.any():
            # Words that no labelled sentence has would stay at their random start, which is noise for a classifier.
            corpus, classes = corpus[has_class], classes[has_class]
            annotations = (classes,)
        return corpus, annotations, classes

    def _classes_of(self, y: Any, groups: Any, keep: bool) -> np.ndarray | None:
        """The classes of each sentence, (n_sentences, n_most) int64, or None if it does not learn from labels."""
        who = self._learner_of_labels(keep)
        if who:
            if y is None:
                raise ValueError(f"{who} learns from classes y, but y is None. Pass y, or context='order'.")
            if self.corpus is not None:
                raise ValueError(f"{who} learns from X and y. Leave corpus=None, or use context='order'.")
        elif self.context == "order" or y is None or groups is not None or self.corpus is not None:
            return None
        classes = _classes_in(y, who, keep)
        if classes is not None:
            classes = self._checked_classes(classes, keep)
        if classes is not None and keep and not who:
            raise ValueError(
                f"y holds classes, but this {type(self).__name__} was first fitted to the order of sentences. Pass "
                "context='labels' to go on from classes, or context='order' to go on from the order."
            )
        return classes

    def _learner_of_labels(self, keep: bool) -> str:
        """What asks for labels, as an error calls it: `context`, or the first fit if "auto" goes on; else ""."""
        if self.context == "auto" and keep and self._state.first_from_labels:
            return f"This {type(self).__name__}, first fitted to labels,"
        return "context='labels'" if self.context == "labels" else ""

    def _checked_classes(self, classes: np.ndarray, keep: bool) -> np.ndarray | None:
        """Check that there are two classes, and two sentences in one of them; None means to learn from the order.

        A later text without them is skipped: then no sentence has a class.
        """
        fault = _fault_of(classes)
        if not fault:
            return np.ascontiguousarray(classes, np.int64)
        if keep and self._learner_of_labels(keep):
            warn_at_user(
                f"{type(self).__name__} skips this text and learns nothing from it, since {fault}. Pass larger parts, "
                "with two sentences of some class and other classes beside it."
            )
            return np.full((len(classes), 1), NO_CLASS)
        if fault != _ALONE:
            raise ValueError(
                f"{fault}, so there is nothing to tell apart. Pass sentences of two classes or more, or "
                "context='order' to learn from the order of the sentences."
            )
        if self.context == "labels":
            raise ValueError(f"context='labels' compares a sentence with others of its class, but {_ALONE}.")
        warn_at_user(  # targets of a regression: each value occurs once
            f"{_ALONE.capitalize()}, so context='auto' learns from the order of the sentences, as for the target of a "
            "regression. To learn from classes, pass several sentences of one class."
        )
        return None

    def _settings(
        self, state: FittedState, annotations: tuple[np.ndarray, ...], classes: np.ndarray | None
    ) -> FittedState:
        return replace(state, first_from_labels=classes is not None)

    def _keep_vocabulary(self, corpus: SentenceCorpus, annotations: tuple[np.ndarray, ...]) -> FittedState:
        state = super()._keep_vocabulary(corpus, annotations)
        if self.interpolation < 1 and "_start_vectors" not in state.arrays:
            raise ValueError(
                f"interpolation={self.interpolation} needs the start, which a fit with interpolation=1 does not keep. "
                "Fit a new estimator, or set warm_start=False and call fit."
            )
        return state

    def _balance(
        self, corpus: SentenceCorpus, state: FittedState, weights: np.ndarray, frequencies: np.ndarray | None
    ) -> Balance:
        """From labels, the weight is shared out between words and n-grams of characters; the first text decides.

        A sentence has many times as many n-grams as words, which would hide the words. The mean weight becomes one, so
        that rows are about as long as those of words alone.
        """
        is_weighted = self._option("weighting", state) is not None and state.first_from_labels
        if not is_weighted or not has_words_and_ngrams(corpus.tokenizer):
            return Balance.even()
        if state.ngram_weight is not None:
            return Balance.of(state)
        counts = corpus.vocabulary.look_up(corpus.vocabulary.counts, state.vocabulary_)
        if frequencies is None:
            frequencies = corpus.vocabulary.look_up(corpus.sentence_frequencies(), state.vocabulary_)
        return Balance.between(are_ngrams(state.vocabulary_), weights, counts, frequencies)

    def _arrays_from(self, state: FittedState, start: Start) -> list[LearnedArray]:
        """The learned rows and, if `interpolation` is below 1, the rows that they started from."""
        source = self._source_array(state, lambda array, _: start(array, state.seed))
        keeps_start = "_start_vectors" in state.arrays if state.arrays else self.interpolation < 1
        return [source, source._replace(name="_start_vectors", frozen=True, kept=False)] if keeps_start else [source]

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        records, name = super()._derived_arrays(state), "_interpolated_vectors"
        if name in state.arrays:
            records.append(ArrayRecord(name, self._learned_arrays(state)[0].shape, axis_of_words=0))
        return records

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        return arrays[:1] if self.interpolation < 1 else []

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        share, name = float(self.interpolation), "_interpolated_vectors"
        if share < 1:
            start, source, before = state.arrays["_start_vectors"], state.arrays["_source_vectors"], self._state.arrays
            vectors = derived_rows(
                self._spares,
                before.get(name),
                f"{name} of {share}",
                source,
                lambda rows: between(start[rows], source[rows], share),
            )
            state = state.with_arrays({name: vectors})
        elif name in state.arrays:  # of an earlier fit
            state = replace(state, arrays={key: array for key, array in state.arrays.items() if key != name})
        return super()._finish_fit(state, corpus)

    def _random_start(self, state: FittedState, limit: float) -> Start:
        if state.first_from_labels:
            # Length about one: few labels or many classes leave most words near their start, where they must differ.
            limit = (3 / state.n_features_out_) ** 0.5
        return start_uniform(limit, len(state.word_counts_))

    def _examples(self, state: FittedState) -> Examples:
        return by_class if state.from_labels else in_order


def _classes_in(y: Any, who: str, keep: bool) -> np.ndarray | None:
    """The classes of each sentence; None if `y` holds none, unless `who`, as an error calls it, asks for them.

    With ``keep`` it is a later text, which may lack classes of an earlier one.
    """
    is_table = _has_rows(y)
    if is_table:
        _check_table(y)
        labels = y
    else:
        labels, has_label = split_labels(y)
        if len(has_label) and not has_label.any():
            return np.full((len(has_label), 1), NO_CLASS)
    with np.errstate(invalid="ignore"):  # it checks for NaN after a cast
        kind = type_of_target(labels, input_name="y")
    if kind == "unknown":
        raise ValueError(
            "y holds no classes: they are neither numbers nor strings. Pass a class for each sentence, or "
            "context='order' to learn from the order of the sentences."
        )
    if kind in ("binary", "multiclass"):
        if is_table:
            labels, has_label = split_labels(np.asarray(y).ravel())
        if not who:
            _warn_of_quantities(labels)
        elif keep and np.array_equal(np.unique(labels), (-1, 1)):
            warn_at_user("y holds -1 and 1 alone, so -1 is a class. Where it means that there is no label, pass None.")
        classes = np.full((len(has_label), 1), NO_CLASS)
        classes[has_label, 0] = np.unique(labels, return_inverse=True)[1]
        return classes
    if not who and kind.startswith("continuous"):
        return None
    if kind == "multilabel-indicator" or kind.endswith("-multioutput") and _holds_numbers(y):
        return _listed(sparse.csr_matrix(y))
    if not who:
        return None
    raise ValueError(
        f"{who} learns from classes, but y is {kind}. Pass a class for each sentence, or a matrix of 0 and 1 with a "
        "column for each class, or context='order'."
    )


def _warn_of_quantities(labels: np.ndarray) -> None:
    """Warn of whole numbers that look like the target of a regression (prices, ages), not like numbered classes."""
    if labels.dtype.kind not in "iuf":
        return
    values, sizes = np.unique(labels, return_counts=True)
    are_numbered = values[0] in (0, 1) and values[-1] - values[0] == len(values) - 1
    are_few = len(values) <= _MOST_PLAIN_CLASSES or len(labels) >= _FEW_ROWS * len(values)
    if sizes.max() > 1 and not are_numbered and not are_few:
        warn_at_user(
            f"y holds {len(values)} different whole numbers from {values[0]:g} to {values[-1]:g} in {len(labels)} "
            "rows, and context='auto' learns each of them as a class. If they are the target of a regression, pass "
            "context='order' and text in reading order, or Sent2VecVectorizer, which needs neither. If they are "
            "classes, pass context='labels'."
        )


def _check_table(y: Any) -> None:
    """Raise an error that names the first row of a table that lacks a number."""
    table = y.tocoo() if sparse.issparse(y) else None
    try:
        values = np.asarray(y if table is None else table.data)
    except ValueError:  # rows of several lengths, which `type_of_target` explains
        return
    if values.dtype.kind == "f":
        missing = np.argwhere(np.isnan(values))
    elif values.dtype == object:
        missing = np.argwhere(np.vectorize(is_missing, otypes=[bool])(values))
    else:
        return
    if len(missing):
        row, column = missing[0] if table is None else (table.row[missing[0, 0]], table.col[missing[0, 0]])
        raise ValueError(f"Row {row} of y has no number in column {column}. Leave such rows out.")


def _fault_of(classes: np.ndarray) -> str:
    """Why nothing can be learned from classes; "" if something can."""
    sizes = np.bincount(classes[classes != NO_CLASS])
    if len(classes) and not len(sizes):
        return "y holds no class: every sentence is without a label"
    if len(classes) and _all_share(classes):
        several = np.count_nonzero(sizes) > 1
        beside = " beside rows without a label (None, NaN or -1)" if (classes == NO_CLASS).all(axis=1).any() else ""
        return "y gives every two sentences a common class" if several else f"y holds one class only{beside}"
    return _ALONE if sizes.max(initial=0) < 2 else ""


def _has_rows(y: Any) -> bool:
    """Whether `y` is a table: a matrix of indicators, in an array, a data frame, a sparse matrix or lists."""
    shape = getattr(y, "shape", None)
    if shape is None:
        return isinstance(y, (list, tuple)) and len(y) > 0 and isinstance(y[0], (list, tuple, np.ndarray))
    return len(shape) == 2 and shape[1] != 1


def _holds_numbers(y: Any) -> bool:
    return sparse.issparse(y) or np.asarray(y).dtype.kind in "biuf"


def _all_share(classes: np.ndarray) -> bool:
    """Whether every two sentences have a class in common, so that none is a negative of another."""
    rows = classes[(classes != NO_CLASS).any(axis=1)]
    if np.bincount(rows[rows != NO_CLASS]).max(initial=0) == len(rows):
        return True  # one class is that of all: the loop would take as long as there are pairs of sentences
    while len(rows):
        first = rows[0]
        if not np.isin(rows, first[first != NO_CLASS]).any(axis=1).all():
            return False
        rows = rows[(rows != first).any(axis=1)]
    return True


def _listed(indicators: sparse.csr_matrix) -> np.ndarray:
    """The columns that are 1 in each row, padded with NO_CLASS; a ValueError if some are neither 0 nor 1."""
    found = indicators.tocoo()
    wrong = np.flatnonzero((found.data != 0) & (found.data != 1))
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"Row {found.row[first]} of y has {found.data[first]:g} in column {found.col[first]}, but a matrix of "
            "classes holds 0 and 1 only. Pass y > 0 if larger numbers mark a class, one column of classes, or "
            "context='order' if y holds no classes."
        )
    row, column = indicators.nonzero()
    n_of_each = np.bincount(row, minlength=indicators.shape[0])
    classes = np.full((indicators.shape[0], max(1, int(n_of_each.max(initial=0)))), NO_CLASS)
    order = np.lexsort((column, row))
    position = np.arange(len(row)) - np.repeat(np.cumsum(n_of_each) - n_of_each, n_of_each)
    classes[row[order], position] = column[order]
    return classes
