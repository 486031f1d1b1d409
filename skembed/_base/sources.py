"""What the parameter `word_vectors` accepts: vectors, estimators that have or learn them, and lists of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import takes_corpus
from .._training.checkpoint import Checkpoint
from .._word_vectors.read import is_table, learns_none, read_source
from .pooled import PooledVectorizer
from .start import is_unfitted
from .trained import TrainedVectorizer


def is_list(source: Any) -> bool:
    """Whether these are several sources."""
    return isinstance(source, (list, tuple)) and not is_table(source)


def fit_with(
    estimator: Any, corpus: SentenceCorpus, random_state: Any, n_jobs: int | None, kept: Checkpoint | None = None
) -> Any:
    """Fit an estimator to a text; where its seed or number of threads is None, it takes these."""
    if not takes_corpus(estimator):  # not of this package
        raise TypeError(learns_none(estimator))
    if getattr(estimator, "context", None) == "labels":
        raise ValueError(
            f"{type(estimator).__name__}(context='labels') needs labels, but an unfitted model learns from the text "
            "alone here. Fit it first, and pass it fitted."
        )
    defaults = {"random_state": random_state, "n_jobs": n_jobs}
    params = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in defaults.items() if k in params and params[k] is None})
    if kept is None or kept.path is None:
        estimator.fit(corpus, None)  # an unfitted FrozenEstimator needs y to say that it is not fitted
    elif isinstance(estimator, TrainedVectorizer):
        estimator.fit(corpus, None, checkpoint=kept.path, checkpoint_every=kept.every)
    else:
        raise ValueError(f"checkpoint: the fit of {type(estimator).__name__} has none. Fit it first, without one.")
    return estimator


def unwrapped(estimator: Any) -> Any:
    """Return the estimator in a :class:`~sklearn.frozen.FrozenEstimator`, or the estimator itself."""
    return getattr(estimator, "estimator", estimator)


def learned_vectors(estimator: Any) -> tuple[list[str], np.ndarray]:
    """Words and vectors of an estimator that no other code uses: a copy only if it also has rows of n-grams."""
    if isinstance(estimator, PooledVectorizer):
        state = estimator._fitted_state()
        if len(vectors := estimator._summed_vectors(state)) == len(state.vocabulary_):
            return list(state.vocabulary_), vectors
    return read_source(estimator)[:2]


def fitted_clones(sources: Sequence[Any], corpus: SentenceCorpus, random_state: Any, n_jobs: int | None) -> list[Any]:
    """Replace each unfitted estimator of a list by a fitted clone, each with a different seed."""
    random = check_random_state(random_state)
    # Fitted sources get a seed too, so that they do not change the seeds of the others.
    seeds = [int(random.randint(2**31 - 1)) for _ in sources]
    return [
        fit_with(clone(source), corpus, seed, n_jobs) if is_unfitted(source) else source
        for source, seed in zip(sources, seeds)
    ]


def cloned(source: Any) -> Any:
    """Return a source for a clone: estimators are cloned, all other sources are shared."""
    if is_list(source):
        return type(source)(map(cloned, source))
    return clone(source) if hasattr(source, "get_params") and not isinstance(source, type) else source


def needs_order_for(source: Any) -> str | None:
    """Name of the first estimator that `fit` would train on neighbouring sentences, or None."""
    sources = source if is_list(source) else [source]
    unfitted = (one for one in sources if is_unfitted(one) and getattr(one, "corpus", None) is None)
    return next(filter(None, (getattr(one, "_needs_order_for", None) for one in unfitted)), None)
