"""Vectors for Arrow record batches, in which Spark and other programs hand out a table piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ._saving.shared import SavedModel
from ._validation.constraints import INT32_MAX
from ._validation.messages import brief
from ._validation.values import PathLike

if TYPE_CHECKING:
    from pyarrow import RecordBatch


__all__ = ["embedder"]


def embedder(
    model: PathLike, *, column: str, name: str = "vector", token_pattern: str | None = None
) -> Callable[[Iterable[RecordBatch]], Iterator[RecordBatch]]:
    """Return a function that adds a column of vectors to Arrow record batches, for example for Spark's `mapInArrow`.

    The function is small to pickle. It loads the model once in each process, memory-mapped, and uses one thread.

    Parameters
    ----------
    model : path-like
        The folder that :func:`skembed.save` wrote, which all processes must see under this name.
    column : str
        Name of the column with the sentences.
    name : str, default="vector"
        Name of the new column, of type ``list<float32>``. No column of the batches may have it.
    token_pattern : str or None, default=None
        The special pattern that the model was fitted with, as for :func:`skembed.load`.

    Returns
    -------
    function : callable
        Takes an iterable of ``pyarrow.RecordBatch``, and yields one for each.

    Raises
    ------
    FileNotFoundError
        If there is no model at the path; when called, if a worker does not see it.
    ValueError
        If the model has sparse rows, or `name` is `column`; when called, if a batch lacks the column or has `name`
        already, or is too long for Arrow, if a sentence is not UTF-8, or if another model was saved to the folder.
    TypeError
        If an argument has the wrong type; when called, if there is something else than record batches, or a sentence is
        missing or is not a string (names the row).

    Examples
    --------
    >>> import pyarrow, skembed, skembed.arrow, tempfile
    >>> text = ["A cat sleeps.", "It dreams."] * 50
    >>> emb = skembed.CBOSVectorizer(n_components=8, random_state=0).fit(text)
    >>> batch = pyarrow.RecordBatch.from_pydict({"text": ["a cat", "it sleeps"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sizes = skembed.save(emb, f"{folder}/model", inference_only=True)
    ...     found = list(skembed.arrow.embedder(f"{folder}/model", column="text")([batch]))
    >>> found[0].schema.names, len(found[0]["vector"][0])
    (['text', 'vector'], 8)
    """
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            f"model must be the path of a folder that all processes see, got {brief(model)}. Save the model there "
            "first: skembed.save(model, path, inference_only=True)."
        )
    for parameter, value in (("column", column), ("name", name)):
        if not isinstance(value, str):
            raise TypeError(f"{parameter} must be the name of a column, a string; got {brief(value)}.")
    if name == column:
        raise ValueError(f"column and name are both {brief(name)}. The new column needs a name of its own.")
    saved = SavedModel.of(model, None, token_pattern)
    saved.check_dense()
    return partial(_with_vectors, saved, column, name)


def _with_vectors(saved: SavedModel, column: str, name: str, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
    import pyarrow

    n_rows, width = 0, len(saved.load().get_feature_names_out())
    for batch in batches:
        if not isinstance(batch, pyarrow.RecordBatch):
            raise TypeError(
                f"Pass record batches, of a table table.to_batches(); got {type(batch).__name__} in place of one."
            )
        if len(batch) * width > INT32_MAX:
            raise ValueError(
                f"A batch of {len(batch)} rows is too long: Arrow counts the numbers of a column of lists in int32. "
                f"Pass batches of at most {INT32_MAX // width} rows, table.to_batches(max_chunksize=...)."
            )
        names = batch.schema.names
        if names.count(column) != 1:
            found = "There are several columns" if column in names else "There is no column"
            raise ValueError(f"{found} {brief(column)}. The columns are {', '.join(names):.500}.")
        if name in names:
            raise ValueError(f"There is a column {brief(name)} already. Pass another name for the vectors, name=.")
        try:
            vectors = saved.vectors(batch.column(column))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"In the batch that begins at row {n_rows}: {error}") from error
        offsets = width * np.arange(len(batch) + 1, dtype=np.int32)
        lists = pyarrow.ListArray.from_arrays(offsets, vectors.ravel())
        schema = batch.schema.append(pyarrow.field(name, lists.type))
        yield pyarrow.RecordBatch.from_arrays([*batch.columns, lists], schema=schema)
        n_rows += len(batch)
