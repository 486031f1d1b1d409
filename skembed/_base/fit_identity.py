"""What decides the result of a fit: settings, text, what belongs to its sentences, and where the fit starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import __version__
from .._corpus.corpus import SentenceCorpus
from .._training.state import FittedState

# Parameters that do not change the result, or that the text, the seed or the start say more of.
_LEFT_OUT = {"corpus", "init", "n_jobs", "random_state", "verbose"}


def identity_of(
    estimator: Any, corpus: SentenceCorpus, annotations: tuple[np.ndarray, ...], state: FittedState
) -> dict[str, Any]:
    """Describe a fit by name, as JSON can hold it; `state` is that before the first pass."""
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _LEFT_OUT}
    return {
        "the version of skembed": __version__,
        "the class": type(estimator).__name__,
        **{name: _as_plain(value) for name, value in sorted(params.items())},
        "the text": f"{corpus.n_documents} documents, {corpus.n_sentences} sentences, {corpus.n_tokens} words, "
        f"digest {corpus.digest}",
        "what y, groups or pairs say": _digest_of(annotations),
        "the start (vocabulary, init, or the model that warm_start goes on from)": _digest_of(
            item for name, value in sorted(state.values().items()) for item in (name, value)
        ),
    }


def _as_plain(value: Any) -> Any:
    """A value as JSON has it; of what is no number and no string the type alone, since it decides text or start."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_as_plain(item) for item in value]
    return type(value).__name__


def _digest_of(items: Iterable[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for item in items:
        if isinstance(item, np.ndarray):
            digest.update(f"{item.dtype.str} {item.shape};".encode())
            digest.update(np.ascontiguousarray(item).reshape(-1).view(np.uint8).data)
        elif isinstance(item, dict):
            for key in item:
                digest.update(f"{key} ".encode("utf-8", "surrogatepass"))
        elif item is None or isinstance(item, (bool, int, float, str, list, tuple, np.generic)):
            plain = item.item() if isinstance(item, np.generic) else item
            digest.update(f"{plain!r};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
