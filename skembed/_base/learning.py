"""What a fit does: the state before the first pass (new, from `init`, or kept), its text in word ids, the passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._compiled.arrays import row_norms
from .._compiled.rows import renumber
from .._corpus.corpus import SentenceCorpus
from .._shards.plan import EngineLike
from .._text.tokenizer import Tokenizer
from .._text.vocabulary import begins_with
from .._training.checkpoint import Checkpoint
from .._training.encoded_text import Annotations, EncodedText, most_words_whole, split_long_sentences
from .._training.estimators import Learner
from .._training.learned_arrays import LearnedArray, Start, copies_of, moving, start_arrays
from .._training.passes import NO_CHECKPOINT, LearningState, PassTasks, make_passes
from .._training.state import FittedState
from .._validation.columns import Sentences
from .._validation.messages import warn_at_user
from .._word_vectors.bag import hash_vectors
from .._word_vectors.matches import WordVectors, check_given, counts_of, known_fraction
from .pooled import PooledVectorizer
from .scikit_learn import check_layout, layout_of_options, length_without_source, warn_of_another_length
from .text import TextEstimator


class InitVectors(NamedTuple):
    """Words and vectors to start from."""

    words: list[str]
    vectors: np.ndarray  # (n_words, n_components) float32
    length_of_unknown: float  # of a hashed vector
    ngrams: np.ndarray | None = None  # (n_buckets, n_components) float32, the rows that n-grams share, if it has such
    ngram_range: tuple[int, ...] = (1, 1)
    model: type | None = None  # the class of a fitted model
    network: Any = None  # what a model with a network has learned beside its words

    def is_of(self, cls: type) -> bool:
        """Whether the vectors were learned by this class, whose rate their lengths serve already."""
        return self.model is not None and issubclass(cls, self.model)


def tokenizer_with_init(init: WordVectors | None, mine: Tokenizer) -> Tokenizer:
    """How words are made: as in `init`, unless an option differs from its default."""
    theirs = tokenizer_of(init)
    if theirs is None or mine == theirs:
        return mine
    if mine != Tokenizer():
        raise ValueError(
            f"init was made with {theirs.difference(mine)}, not with {mine.difference(theirs)}. Leave these "
            "options at their defaults to use those of init."
        )
    return theirs


def check_agrees_with_init(init: WordVectors | None, corpus: SentenceCorpus, name: str) -> None:
    """Raise a ValueError if a corpus was made with another tokenizer than the model to start from."""
    theirs = tokenizer_of(init)
    if theirs is not None and corpus.tokenizer != theirs:
        raise ValueError(
            f"{name} was made with {corpus.tokenizer.difference(theirs)}, init with "
            f"{theirs.difference(corpus.tokenizer)}. Build {name} with the same options."
        )


def vocabulary_with_init(estimator: Learner, corpus: SentenceCorpus, state: FittedState) -> FittedState:
    """The state with the words of `init` before those of the text that it lacks."""
    start = read_start(estimator.init)
    start = start._replace(words=corpus.tokenizer.forms_of(start.words))
    check_given(corpus, start.words, "init")
    warn_of_another_length(estimator, estimator._option_of_length, start.vectors.shape[1], "init")
    # What stands for a piece of text that the tokenizer of another program does not know is no word to learn.
    known = {*start.words, getattr(corpus.tokenizer.analyzer, "unknown", None)}
    words = start.words + [word for word in state.vocabulary_ if word not in known]
    return replace(
        state,
        vocabulary_={word: row for row, word in enumerate(words)},
        word_counts_=counts_of(words, corpus),
        coverage_=known_fraction(corpus, words),
        n_features_out_=start.vectors.shape[1],
        start=start,
        n_frozen=len(start.words) if estimator.freeze_init else 0,
    )


def _warn_if_all_frozen(records: list[LearnedArray], n_frozen: int) -> None:
    """Warn where all that could be learned is frozen."""
    if n_frozen and all(record.update == "rows" and record.shape[0] == n_frozen for record in moving(records)):
        warn_at_user("Nothing is learned: freeze_init=True keeps the words of init, and the text has no others.")


def check_same_start(estimator: Learner, state: FittedState) -> None:
    """Raise a ValueError if a fit would go on from another `init` than the one that it began with."""
    name, width, learned = type(estimator).__name__, _width_of(estimator.init), estimator._width_of_words(state)
    if width not in (None, learned):
        raise ValueError(
            f"init has vectors of length {width}, but this {name} has learned vectors of length {learned}. Leave init "
            "as it was to learn on, or fit a new estimator."
        )
    if bool(estimator.freeze_init) != bool(state.n_frozen):
        raise ValueError(
            f"freeze_init={estimator.freeze_init} differs from {not estimator.freeze_init}, with which {name} was "
            "fitted. Fit a new estimator, or set warm_start=False."
        )


def start_of_words(estimator: Learner, state: FittedState) -> Start:
    """Start of an array that has the words in its first rows, from `init`."""
    start: InitVectors = state.start

    def fill(array: np.ndarray, seed: int) -> None:
        n_given, words = len(start.words), list(state.vocabulary_)
        scale, wanted = np.float32(1), estimator._median_length_at_start
        if wanted is not None and not start.is_of(type(estimator)):
            scale = np.float32(wanted / median_length(start.vectors))
        np.multiply(start.vectors, scale, out=array[:n_given])
        if len(words) > n_given:
            new = hash_vectors(words[n_given:], start.vectors.shape[1])
            np.multiply(new, scale * np.float32(start.length_of_unknown), out=array[n_given : len(words)])
        rows = array[len(words) :]
        if (
            start.ngrams is not None
            and start.ngrams.shape == rows.shape
            and start.ngram_range == tuple(estimator.ngram_range)
        ):
            np.multiply(start.ngrams, scale, out=rows)  # words keep their rows, so n-grams of them do too

    return fill


def is_unfitted(source: object) -> bool:
    """Whether this is an estimator that has yet to learn."""
    if not hasattr(source, "fit") or isinstance(source, type):
        return False
    try:
        check_is_fitted(source)
    except NotFittedError:
        return True
    return False


def tokenizer_of(init: WordVectors | None) -> Tokenizer | None:
    """How the words of a model were made, where it is a fitted one of this package."""
    model = _unfrozen(init)
    return model._state.tokenizer if _has_words(model) else None


def read_start(init: WordVectors | None) -> InitVectors:
    """Read the vectors of a model as it sums them, word weights included, or given vectors.

    Raises
    ------
    NotFittedError
        If it is a model that has not learned.
    TypeError, ValueError, FileNotFoundError
        If it is nothing that has word vectors, or something is wrong with them; names `init`.
    """
    if is_unfitted(init):
        raise NotFittedError(
            f"init is a {type(init).__name__} that is not fitted. Fit it first. Where scikit-learn clones it, as a "
            "grid of parameters does, wrap it in FrozenEstimator, of sklearn.frozen, so that it does not forget."
        )
    model = _unfrozen(init)
    start = _sums_of(model) if _has_words(model) else _given(model)
    if not start.vectors.any():
        raise ValueError("init: all vectors are zero, so there is nothing to start from.")
    return start


def _sums_of(model: Any) -> InitVectors:
    state = model._fitted_state()
    n_words = len(state.vocabulary_)
    rows = model._summed_vectors(state)
    vectors = rows[:n_words]
    if state.word_weights_ is not None:
        vectors = vectors * state.word_weights_[:n_words, None]
        length = float(state.unknown_length * (1.0 if state.unknown_weight is None else state.unknown_weight))
    else:  # it leaves unknown words out
        length = median_length(vectors)
    start = InitVectors(list(state.vocabulary_), np.ascontiguousarray(vectors, np.float32), length, model=type(model))
    if hasattr(model, "_learned_network"):
        start = start._replace(network=model._learned_network(state))
    if "_source_vectors" in state.arrays and len(rows) > n_words:
        return start._replace(ngrams=rows[n_words:], ngram_range=tuple(model.ngram_range))
    return start


def _given(source: WordVectors) -> InitVectors:
    from .._word_vectors.read import read_parameter  # most fits begin at random

    words, vectors, _ = read_parameter(source, "init", " init=None starts at random.")
    return InitVectors(words, vectors, median_length(vectors))


def median_length(vectors: np.ndarray) -> float:
    """Median length of the rows that are not zero; 0 where all are."""
    lengths = row_norms(vectors)
    return float(np.median(lengths[lengths > 0])) if lengths.any() else 0.0


def _width_of(init: WordVectors | None) -> int | None:
    """Length of the vectors, where it can be told without reading all of them."""
    model = _unfrozen(init)
    if _has_words(model):
        return int(model._summed_vectors(model._state).shape[1]) if model.__sklearn_is_fitted__() else None
    if isinstance(model, Mapping):
        return len(next(iter(model.values()), ()))
    from .._word_vectors.read import is_table

    table = model[1] if is_table(model) else model
    return table.shape[1] if getattr(table, "ndim", None) == 2 else None


def _has_words(model: object) -> bool:
    """Whether it is an estimator of this package that makes a sentence of word vectors."""
    of_words = isinstance(model, TextEstimator) and "init" in model.get_params(deep=False)
    return of_words or isinstance(model, PooledVectorizer)


def _unfrozen(init: WordVectors | None) -> Any:
    return init.estimator if isinstance(init, FrozenEstimator) else init


def new_state(
    estimator: Learner,
    corpus: SentenceCorpus,
    annotations: Annotations,
    classes: np.ndarray | None,
    seed: int | None = None,
) -> FittedState:
    """Words, weights and counters of a new fit. Without a `random_state`, `seed` is that of a fit that goes on."""
    if estimator.freeze_init and estimator.init is None:
        raise ValueError("freeze_init=True keeps the vectors of init, but init is None.")
    empty = type(estimator)._state
    state = replace(empty, n_features_out_=length_without_source(estimator.n_components))
    state = estimator._learn_vocabulary(corpus, estimator._settings(state, annotations, classes))
    state = estimator._text_statistics(corpus, state)
    drawn = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    state = replace(
        state,
        seed=drawn if seed is None or estimator.random_state is not None else seed,
        n_tokens=corpus.n_tokens,
        n_iter_=0,
        loss_curve_=[],
        validation_loss_curve_=[],
    )
    arrays = estimator._learned_arrays(state)
    _warn_if_all_frozen(arrays, state.n_frozen)
    layout = layout_of_options(estimator, arrays, state)
    started = start_arrays(arrays, estimator.solver, state.seed)
    return replace(state, layout=layout, records=arrays, arrays={**state.arrays, **started}, start=None)


def kept_state(estimator: Learner, corpus: SentenceCorpus) -> FittedState:
    """The state of an earlier fit, with copies of the arrays that training changes."""
    state = estimator._state
    check_same_start(estimator, state)
    if corpus.tokenizer != state.tokenizer:
        raise ValueError(
            f"X was tokenized with {corpus.tokenizer.difference(state.tokenizer)}, the vocabulary with "
            f"{state.tokenizer.difference(corpus.tokenizer)}. Use the same options."
        )
    if state.layout is None:
        raise ValueError(f"This {type(estimator).__name__} holds vectors that it did not learn. Call fit first.")
    check_layout(estimator, state)
    records = estimator._learned_arrays(state)
    return replace(state.with_arrays(copies_of(records, state.arrays)), records=records)


def encode_text(
    estimator: Learner, corpus: SentenceCorpus, state: FittedState, annotations: Annotations = ()
) -> EncodedText:
    """The corpus in word ids of the vocabulary; unknown words have the id after them."""
    weights = estimator._weights_in_training(state)
    tokens, words, vocabulary = np.asarray(corpus.tokens), corpus.vocabulary.words, state.vocabulary_
    if not begins_with(words, vocabulary):  # not the corpus that the vocabulary comes from
        ids = state.rows_of(words, len(words))
        tokens = tokens.copy()
        renumber(tokens, np.where(ids < 0, len(vocabulary), ids).astype(np.int32), tokens)
        tokens.flags.writeable = False
    text = EncodedText(tokens, np.asarray(corpus.sent_ptr), corpus.doc_of(), weights, annotations)
    return split_long_sentences(text, most_words_whole(estimator, corpus.tokenizer))


def encode_texts(
    estimator: Learner, corpus: SentenceCorpus, state: FittedState, annotations: Annotations, *, partial: bool
) -> tuple[EncodedText, EncodedText | None]:
    """The text to learn from and, with early stopping, the held-out text."""
    if not estimator.early_stopping or partial:
        return encode_text(estimator, corpus, state, annotations), None
    held = estimator._held_out(corpus, state, annotations)
    # One after the other: the copy of the first is freed once it is encoded.
    held_out, text = (
        encode_text(estimator, corpus[which], state, tuple(values[which] for values in annotations))
        for which in (held, ~held)
    )
    return text, held_out


def learn(
    estimator: Learner,
    corpus: SentenceCorpus,
    state: FittedState,
    *,
    X: Sentences,
    n_passes: int,
    annotations: Annotations = (),
    partial: bool = False,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    engine: EngineLike = None,
) -> None:
    """Run the passes; the estimator changes only if all of them succeed.

    Each set of the text has `n_passes` passes. A set that stops early leaves out its other passes.
    """
    text, held_out = encode_texts(estimator, corpus, state, annotations, partial=partial)
    of_text = estimator._arrays_of_text(state, text)
    records = [*state.records, *of_text]
    if of_text:
        state = state.with_arrays(start_arrays(of_text, estimator.solver, state.seed + len(state.records)))
    weights = [state.arrays[record.name] for record in moving(records)]
    of_a_set, n_passes = n_passes, n_passes * estimator._n_sets(annotations)
    tasks = PassTasks(estimator, X, 0 if partial else n_passes)
    trainer = estimator._make_loop(state, text, engine, partial=partial, passes_of_a_set=of_a_set)
    trainer.compile(text)
    learned = make_passes(
        estimator,
        LearningState(state, records, weights, trainer, estimator),
        text,
        held_out,
        n_passes=n_passes,
        of_a_set=of_a_set,
        rate=estimator.learning_rate,
        falls=estimator.solver != "adagrad" and not partial,  # the papers' linear decay to zero
        tasks=tasks,
        finish=lambda state: {"_state": estimator._finish_fit(state, corpus).frozen()},
        warn=estimator._warn_of_nothing,
        checkpoint=checkpoint,
    )
    estimator._publish(estimator._finish_fit(learned, corpus))
    tasks.end(lambda: {"_state": estimator._state})
