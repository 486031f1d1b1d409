"""The state before the first pass: of a new fit, and of one that goes on from an earlier one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.utils import check_random_state

from .._corpus.corpus import SentenceCorpus
from .._training.learned_arrays import copies_of, start_arrays
from .._training.state import FittedState
from .layout import check_layout, layout_of_options
from .start import check_same_start, warn_if_all_frozen
from .waiting import waiting_after


def new_state(
    estimator: Any, corpus: SentenceCorpus, annotations: Any, classes: Any, seed: int | None = None
) -> FittedState:
    """Words, weights and counters of a new fit. Without a `random_state`, `seed` is that of a fit that goes on."""
    if estimator.freeze_init and estimator.init is None:
        raise ValueError("freeze_init=True keeps the vectors of init, but init is None.")
    vars(estimator).pop("_spares", None)
    empty = type(estimator)._state
    state = replace(empty, n_features_out_=estimator._option("n_components", empty))
    state = estimator._learn_vocabulary(corpus, estimator._settings(state, annotations, classes))
    state = estimator._text_statistics(corpus, state)
    drawn = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    n_learned = len(corpus.vocabulary.prune(estimator._option("min_count", state), estimator.max_features))
    state = replace(
        state,
        seed=drawn if seed is None or estimator.random_state is not None else seed,
        n_tokens=corpus.n_tokens,
        waiting=waiting_after(corpus, n_learned, state.vocabulary_),
        n_iter_=0,
        loss_curve_=[],
        validation_loss_curve_=[],
    )
    arrays = estimator._learned_arrays(state)
    state = replace(state, layout=layout_of_options(estimator, arrays, state))
    state = state.with_arrays(start_arrays(arrays, estimator.solver, state.seed))
    warn_if_all_frozen(estimator, state)
    return replace(state, start=None)


def kept_state(estimator: Any, corpus: SentenceCorpus) -> FittedState:
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
    spares = estimator._spares
    makers = () if spares is None else (spares.copy, spares.share)
    return state.with_arrays(copies_of(estimator._learned_arrays(state), state.arrays, *makers))
