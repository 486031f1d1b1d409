"""Vectors for Dask tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._saving.shared import SavedModel
from ._validation.values import PathLike

if TYPE_CHECKING:
    import pandas
    from dask.dataframe import DataFrame, Series

    from ._base.text import TextEstimator


__all__ = ["transform"]


def transform(
    model: TextEstimator | PathLike,
    sentences: Series,
    *,
    folder: PathLike | None = None,
    token_pattern: str | None = None,
) -> DataFrame:
    """Embed a series of Dask, partition by partition, when the result is computed.

    The model goes to the workers as the path of its folder, which each process maps into memory once. Each task runs
    in one thread.

    Parameters
    ----------
    model : estimator or path-like
        A fitted estimator with dense rows; or the folder that :func:`skembed.save` wrote, which must stay
        as it is until the result is computed.
    sentences : dask.dataframe.Series of str
        Sentences in any order.
    folder : path-like or None, default=None
        Where an estimator is saved for the workers. None: a temporary folder, for workers on this machine.
    token_pattern : str or None, default=None
        For a path: the special pattern that the model was fitted with, as for :func:`skembed.load`.

    Returns
    -------
    vectors : dask.dataframe.DataFrame
        A column of float32 for each number of a vector, with the index and partitions of `sentences`. Row by row the
        bits are those of ``model.transform``.

    Raises
    ------
    TypeError
        If `model` is neither an estimator nor a path, or `sentences` is no series of Dask; when computed, if a sentence
        is not a string (names index and row).
    ValueError
        If the model has sparse rows; when computed, if a sentence is not UTF-8 (names index and row), or another model
        was saved to the folder meanwhile.
    FileNotFoundError
        If there is no model at the path; when computed, if a worker does not see it.
    ImportError
        If dask is not installed.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, skembed.dask
    >>> text = ["A cat sleeps.", "It dreams."] * 50
    >>> emb = skembed.CBOSVectorizer(n_components=8, random_state=0).fit(text)
    >>> table = pd.DataFrame({"text": ["a cat", "it sleeps", "rain"]})
    >>> table = dd.from_pandas(table, npartitions=2)
    >>> vectors = skembed.dask.transform(emb, table["text"])
    >>> vectors.npartitions, vectors.compute(scheduler="threads").shape
    (2, (3, 8))
    """
    try:
        import pandas as pd
        from dask.base import is_dask_collection
    except ImportError as error:
        raise ImportError(
            "skembed.dask.transform needs the optional libraries dask and pandas: pip install skembed[dask]"
        ) from error
    is_series = is_dask_collection(sentences) and hasattr(sentences, "_meta") and hasattr(sentences, "index")
    if not is_series or sentences.ndim != 1:
        raise TypeError(f'sentences must be a series of Dask, such as table["text"], got {type(sentences).__name__}.')
    saved = SavedModel.of(model, folder, token_pattern)
    saved.check_dense()
    names = saved.load().get_feature_names_out()
    index = sentences._meta.index
    meta = pd.DataFrame(np.empty((0, len(names)), np.float32), index, names)
    # With `meta`, Dask does not call the function with rows of its own to see what it returns.
    return sentences.map_partitions(_vectors, saved, names, meta=meta)


def _vectors(sentences: pandas.Series, saved: SavedModel, names: np.ndarray) -> pandas.DataFrame:
    """Return the vectors of a partition."""
    import pandas as pd

    try:
        vectors = saved.vectors(sentences)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        rows = f"with the index {sentences.index[0]} to {sentences.index[-1]}" if len(sentences) else "without rows"
        raise kind(f"In the partition {rows}: {error}") from error
    return pd.DataFrame(vectors, sentences.index, names)
