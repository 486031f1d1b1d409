"""Blocks of TextVectorizer that are switched off, replaced or added: a dict of names and transformers."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import normalize
from sklearn.utils import check_array, get_tags

from .._pretrained.parameter import PRETRAINED
from .._validation.columns import Matrix
from .._validation.messages import brief, warn_at_user
from .._word_vectors.join import unit_rows as unit_lengths
from .cross_fitting import fit_and_hold_out
from .projections import weights_of_directions
from .text_blocks import MOST_PROJECTED, NAMES, naming

if TYPE_CHECKING:
    from .._pretrained.vectorizer import PretrainedVectorizer


_DEFAULT, _DROP = "default", "drop"
_PREFIX = "blocks__"
# Texts on which the directions of a pretrained model are weighed, or as many as it has columns: from fewer, those that
# are weak by chance would be lost.
_LEAST_SAMPLED = 500
_MOST_EMBEDDED = 2_000  # texts for that and for self-training, in a `fit` with less


Block: TypeAlias = str | BaseEstimator  # of the parameter: "default", "drop" or a transformer


class GivenBlock(NamedTuple):
    """A fitted transformer of the user; its rows are multiplied by `weights`, then by `stretch`, if there are any."""

    name: str
    transformer: Any
    n_columns: int
    weights: np.ndarray | None = None
    stretch: np.ndarray | None = None

    def rows(self, texts: list[str]) -> Matrix:
        """Rows of length one, or zero."""
        return self.stretched(self.plain_rows(texts))

    def stretched(self, rows: Matrix) -> Matrix:
        """Rows of length one, or zero, of those before the stretch."""
        return rows if self.stretch is None else unit_lengths(rows @ self.stretch)

    def plain_rows(self, texts: list[str]) -> Matrix:
        """Rows before the stretch, of length one, or zero."""
        if not texts:  # which many refuse
            return csr_array((0, self.n_columns), dtype=np.float32)
        with naming(self.name, f"a {type(self.transformer).__name__}"):
            rows = self.transformer.transform(texts)
        rows = unit_rows(self.name, rows, len(texts), self.n_columns)
        return rows if self.weights is None else normalize(rows @ self.weights, copy=False)


class BlocksParameter(BaseEstimator):
    """Adds the parameter `blocks` to an estimator, and the nested ``blocks__name`` and ``blocks__name__param``."""

    blocks: dict[str, Block] | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add each block, as ``blocks__name``, and its parameters, as ``blocks__name__param``.

        Returns
        -------
        params : dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        blocks = params.get("blocks")
        if deep and (blocks is None or isinstance(blocks, dict)):
            for name, block in {**dict.fromkeys(NAMES, _DEFAULT), **(blocks or {})}.items():
                params[f"{_PREFIX}{name}"] = block
                if hasattr(block, "get_params") and not isinstance(block, type):
                    params |= {f"{_PREFIX}{name}__{key}": value for key, value in block.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Values by name, such as ``blocks__halves="drop"`` and ``blocks__mine__min_df=2``.

        Returns
        -------
        self : estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        nested = {key: params.pop(key) for key in sorted(params) if key.startswith(_PREFIX)}  # blocks before their own
        super().set_params(**params)
        blocks = dict(self.blocks or {}) if nested else {}
        for key, value in nested.items():
            name, _, inner = key.removeprefix(_PREFIX).partition("__")
            if not inner:
                blocks[name] = value
                continue
            block = blocks.get(name, _DEFAULT)
            if isinstance(block, str) or not hasattr(block, "set_params"):
                raise ValueError(
                    f"Invalid parameter {key!r}: the block {name!r} is {brief(block)}, which has "
                    "no parameters. Pass a transformer first."
                )
            block.set_params(**{inner: value})
        if nested:
            self.blocks = blocks
        return self


def check_blocks(blocks: dict[str, Block] | None) -> tuple[list[str], dict[str, BaseEstimator]]:
    """Return the names of the built-in blocks that are wanted, and the given transformers."""
    blocks = blocks or {}
    given = {}
    for name, block in blocks.items():
        if not isinstance(name, str) or not name or "__" in name:
            raise ValueError(f"blocks has the name {brief(name)}. A name is a string without '__'.")
        if isinstance(block, str) and block == _DROP:
            if name not in NAMES and (near := get_close_matches(name, set(NAMES) - set(blocks), 1)):
                warn_at_user(f"blocks drops {name!r}, but there is no such block. Did you mean {near[0]!r}?")
        elif isinstance(block, str) and block == _DEFAULT and name in NAMES:
            continue
        elif isinstance(block, type) or not all(hasattr(block, method) for method in ("fit", "transform")):
            built_in = "'default', " if name in NAMES else ""
            raise TypeError(
                f"blocks[{name!r}] must be {built_in}'drop' or a transformer, an instance with fit and transform, got "
                f"{brief(block)}. The built-in blocks are {', '.join(NAMES)}."
            )
        else:
            given[name] = block
    wanted = [name for name in NAMES if blocks.get(name, _DEFAULT) == _DEFAULT]
    if not wanted and not given:
        raise ValueError("blocks drops every block. Keep one, or pass a transformer.")
    return wanted, given


def sampled(
    pretrained: PretrainedVectorizer | None, own: list[str], n_texts: int, unlabelled: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of texts that a pretrained model embeds beside the last `n_texts`, and which of `unlabelled` it embeds.

    They are distinct, evenly spaced among all others, and with the last there are 2,000. Without a model there is none.
    """
    if pretrained is None:
        return unlabelled[:0], unlabelled
    model = pretrained.model
    known = {text for text in own[len(own) - n_texts :] if text.strip()}
    others: dict[str, int] = {}
    for row, text in enumerate(own[: len(own) - n_texts]):
        if text.strip() and text not in known and (not isinstance(model, Mapping) or text in model):
            others.setdefault(text, row)
    sample = evenly(np.array(list(others.values()), dtype=np.int64), _MOST_EMBEDDED - len(known))
    return sample, np.append(sample, unlabelled[unlabelled >= len(own) - n_texts])


def evenly(rows: np.ndarray, n: int) -> np.ndarray:
    """At most `n` of some rows, evenly spaced."""
    return rows if n >= len(rows) else rows[np.arange(max(n, 0)) * len(rows) // max(n, 1)]


def fit_given(
    given: dict[str, BaseEstimator],
    own: list[str],
    n_texts: int,
    targets: tuple[np.ndarray, np.ndarray],
    seed: int,
    sample: np.ndarray,
    reads_all: bool,
) -> tuple[dict[str, GivenBlock], dict[str, Matrix]]:
    """Fitted clones by name, and their rows of the last `n_texts` texts.

    `targets`, and which texts have one, are for the transformers that require `y`. A pretrained model may embed the
    `sample` of other texts too, as many as it needs, or with `reads_all` all.
    """
    blocks, rows = {}, {}
    texts = own[len(own) - n_texts :]
    for name, transformer in given.items():
        with naming(name, f"a {type(transformer).__name__}"):
            fitted = clone(transformer)
            params = fitted.get_params(deep=False) if hasattr(fitted, "get_params") else {}
            if "random_state" in params and params["random_state"] is None:
                fitted.set_params(random_state=seed)
            if _learns_from_labels(fitted):
                fitted, found = fit_and_hold_out(fitted, texts, *targets, seed)
            else:
                fitted.fit(own, None)  # FrozenEstimator asks for `y`
                found = fitted.transform(texts)
        rows[name] = unit_rows(name, found, len(texts))
        blocks[name] = GivenBlock(name, fitted, rows[name].shape[1])
        if name == PRETRAINED:
            weights = _weights_of(blocks[name], own, texts, rows[name], sample, reads_all)
            if weights is not None:
                blocks[name] = blocks[name]._replace(weights=weights)
                rows[name] = normalize(rows[name] @ weights, copy=False)
    return blocks, rows


def _weights_of(
    block: GivenBlock, own: list[str], texts: list[str], rows: np.ndarray, others: np.ndarray, reads_all: bool
) -> np.ndarray | None:
    """The weights of the directions of a pretrained model, from its rows of some texts; None if there are few."""
    n_needed = max(_LEAST_SAMPLED, block.n_columns)
    known = {text: row for row, text in enumerate(texts) if text.strip()}
    if len(known) + len(others) < n_needed:
        return None
    chosen = others if reads_all else evenly(others, n_needed - len(known))
    more = block.rows([own[row] for row in chosen])
    sample = rows[list(known.values())[:MOST_PROJECTED]]
    return weights_of_directions(np.vstack([sample, more]) if len(chosen) else sample)


def _learns_from_labels(transformer: BaseEstimator) -> bool:
    """Whether it, or a part of it, requires `y`."""
    if isinstance(transformer, FrozenEstimator) or not hasattr(transformer, "get_params"):
        return False
    parts = [transformer, *transformer.get_params().values()]
    return any(get_tags(part).target_tags.required for part in parts if isinstance(part, BaseEstimator))


def names_of(block: GivenBlock) -> list[str]:
    """Names of the columns: those that the transformer says, else numbers."""
    try:
        names = [str(name) for name in block.transformer.get_feature_names_out()]
    except (AttributeError, ValueError, TypeError):
        names = []
    return names if len(names) == block.n_columns else [str(column) for column in range(block.n_columns)]


def unit_rows(name: str, rows: Matrix, n_texts: int, n_columns: int | None = None) -> Matrix:
    """Check what a transformer returned for some texts, and scale it to rows of length one, or zero."""
    try:
        checked = check_array(rows, accept_sparse="csr", dtype=np.float64, input_name="rows")
    except (ValueError, TypeError) as error:
        raise ValueError(f"The block {name!r} must turn texts into finite rows of numbers: {error}") from None
    expected = f"({n_texts}, {'n_columns' if n_columns is None else n_columns})"
    if checked.shape[0] != n_texts or n_columns not in (None, checked.shape[1]):
        raise ValueError(
            f"The block {name!r} has turned {n_texts} texts into shape {checked.shape}, expected {expected}."
        )
    largest = abs(checked).max(axis=1)
    largest = largest.toarray() if issparse(largest) else largest[:, None]
    scales = 1 / np.where(largest > 1e-300, largest, 1)  # the squares of large numbers overflow
    scaled = checked.multiply(scales).tocsr() if issparse(checked) else checked * scales
    return normalize(scaled).astype(np.float32)
