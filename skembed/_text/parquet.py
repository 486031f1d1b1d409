"""Sentences from a column of Parquet files, row group by row group."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._validation.messages import brief
from .._validation.values import PathLike, describe_unreadable, files_below, listed_paths, user_path
from .sources import BATCH_SIZE, Column, document_starts, iter_batches, string_types
from .tokenizer import Tokenizer, reads_strings

# A column of a row group is read through a buffer of this size: row groups may be larger than memory.
_BUFFER_SIZE = 1 << 22
_WILDCARDS = re.compile(r"[*?\[]")
_HIDDEN = (".", "_")  # beginnings of names
_NO_SENTENCE = 'Set missing="empty" to take such rows as empty sentences, or write the file without them.'


class _File(NamedTuple):
    """A Parquet file on this machine or elsewhere."""

    name: str
    open: Callable[[], Any]


def iter_parquet(
    path: PathLike | Iterable[PathLike],
    column: str,
    groups: str | None,
    tokenizer: Tokenizer,
    missing: str = "error",
    ids: str | None = None,
    ids_found: list[np.ndarray] | None = None,
) -> Iterator[tuple[list[Any] | Column, list[int]]]:
    """Yield batches of sentences, with the indices in them at which a new document begins.

    The values of the column `ids` are appended to `ids_found`. See :meth:`skembed.SentenceCorpus.from_parquet` for what
    is read and what is refused.
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError("Parquet files need the optional library pyarrow: pip install skembed[parquet]") from error
    needs_text = reads_strings(tokenizer.analyzer)
    for name in (column, *(name for name in (groups, ids) if name is not None)):
        if not isinstance(name, str):
            raise TypeError(f"column, groups and return_ids are names of columns, strings; got {brief(name)}.")
    others = {name: what for name, what in ((groups, "a document id"), (ids, "an id")) if name is not None}
    names = list(dict.fromkeys([column, *others]))
    files = [file for each in listed_paths(path) for file in _files_of(each)]
    for file in files:  # all of them before the first one is encoded, which may take hours
        with file.open() as raw, _reading(file.name):
            opened = parquet.ParquetFile(raw)
            schema, has_rows = opened.schema_arrow, opened.metadata.num_rows > 0
        if has_rows:  # pandas writes a column without rows as numbers
            _check_schema(file.name, schema, names, needs_text)
    starts, n_rows = [0], 0
    previous: object = object()  # equal to no document id
    for file in files:
        for columns in _iter_columns(file, names, others, needs_text, may_be_null=missing == "empty"):
            if ids is not None and ids_found is not None:
                ids_found.append(columns[ids].to_numpy(zero_copy_only=False))
            labels = iter([] if groups is None else columns[groups].to_pylist())
            for batch in iter_batches(columns[column], tokenizer, missing=missing):
                if groups is not None:
                    labels_of_batch = list(islice(labels, len(batch)))
                    starts = document_starts(previous, labels_of_batch, n_rows)
                    previous = labels_of_batch[-1]
                yield batch, starts
                starts = []
                n_rows += len(batch)


def _iter_columns(
    file: _File, names: list[str], others: dict[str, str], needs_text: bool, may_be_null: bool
) -> Iterator[dict[str, Any]]:
    """Yield Arrow arrays of some rows by the names of their columns: of the sentences first, then of `others`."""
    import pyarrow.parquet as parquet

    with file.open() as raw:
        opened = parquet.ParquetFile(raw, buffer_size=_BUFFER_SIZE)
        row = 0
        for row_group in range(opened.num_row_groups if opened.metadata.num_rows else 0):
            batches = opened.iter_batches(BATCH_SIZE, row_groups=[row_group], columns=names)
            while True:
                with _reading(f"{file.name}, row group {row_group}"):
                    batch = next(batches, None)
                if batch is None:
                    break
                columns = {name: _plain_column(batch.column(batch.schema.get_field_index(name))) for name in names}
                for name, array in columns.items():
                    where = f"{file.name}, row group {row_group}, row"
                    if name in others:
                        _check_not_null(array, name, where, row, f"Write the file with {others[name]} in each row.")
                    elif needs_text and not may_be_null:
                        _check_not_null(array, name, where, row, _NO_SENTENCE)
                    if name in others or needs_text:
                        _check_utf8(array, name, where, row)
                row += len(batch)
                yield columns


def _plain_column(array: Any) -> Any:
    """Return the values of an array that stores each distinct one once, as a categorical column does."""
    return array.cast(array.type.value_type) if hasattr(array, "dictionary") else array


# -- checks ------------------------------------------------------------------------------------------------------------


@contextmanager
def _reading(where: str) -> Iterator[None]:
    """Say what cannot be read."""
    import pyarrow

    try:
        yield
    except (OSError, pyarrow.ArrowException) as error:
        if getattr(error, "errno", None) is not None:  # of the system, which names the file
            raise
        reason = " ".join(str(error).split())
        raise ValueError(f"{where} cannot be read, it is damaged or not Parquet: {reason:.200}") from error


def _check_schema(file: str, schema: Any, names: list[str], needs_text: bool) -> None:
    import pyarrow

    for name in names:
        n_columns = schema.names.count(name)
        if n_columns > 1:
            raise ValueError(
                f"{file} has {n_columns} columns named {brief(name)}. Write the file with a name for each."
            )
        if not n_columns:
            folders = [folder for folder in re.split(r"[/\\]", file) if folder.startswith(f"{name}=")]
            advice = f"Its columns are {', '.join(schema.names):.500}."
            if folders:
                advice = (
                    f"It is part of the name of a folder, {folders[0]}. Read the folders with pandas or Dask, whose "
                    "read_parquet makes a column of it, and pass the columns to from_sentences or from_dask."
                )
            raise ValueError(f"{file} has no column {brief(name)}. {advice}")
    kind = schema.field(names[0]).type
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    if needs_text and kind not in string_types(pyarrow):
        texts = [field.name for field in schema if field.type in string_types(pyarrow)]
        advice = f"Columns of strings are {', '.join(texts):.500}." if texts else "It has no column of strings."
        raise ValueError(f"{file}: the column {brief(names[0])} is of type {kind}, not of strings. {advice}")


def _check_not_null(array: Any, name: str, where: str, first_row: int, advice: str) -> None:
    """Raise an error that names the first row that is missing."""
    if array.null_count:
        row = first_row + array.is_valid().to_pylist().index(False)
        raise ValueError(f"{where} {row}: the column {brief(name)} is null there. {advice}")


def _check_utf8(array: Any, name: str, where: str, first_row: int) -> None:
    """Raise an error that names the first row that is not UTF-8."""
    import pyarrow

    try:
        array.validate(full=True)
    except pyarrow.ArrowInvalid:
        for row, item in enumerate(array.cast(pyarrow.large_binary()).to_pylist(), first_row):
            try:
                (item or b"").decode()
            except UnicodeDecodeError as error:
                raise ValueError(f"{where} {row}: the column {brief(name)} is not UTF-8 there: {error}") from None
        raise


# -- paths -------------------------------------------------------------------------------------------------------------


def _files_of(path: PathLike) -> list[_File]:
    if "://" in os.fspath(path):
        return _files_at_url(os.fspath(path))
    local = user_path(path)
    if local.is_dir():
        found = _files_in(local, local)
        if not found:
            raise ValueError(f"The folder {local} has no file *.parquet.")
    elif _WILDCARDS.search(str(local)) and not local.exists():
        matches = [Path(name) for name in glob.glob(str(local), recursive=True)]
        if not matches:
            raise FileNotFoundError(f"No file matches {local}.")
        root = Path(*takewhile(lambda part: not _WILDCARDS.search(part), local.parts))
        # A pattern with ** matches folders and the files in them.
        found = list({file for match in matches for file in (_files_in(match, root) if match.is_dir() else [match])})
        if not found:
            raise ValueError(f"The folders that match {local} have no file *.parquet.")
    else:
        found = [local]
        if not local.exists():
            raise FileNotFoundError(f"There is no file or folder {local}.")
    for file in found:
        if kind := describe_unreadable(file):
            raise ValueError(f"{file} is {kind}, not a regular file.")
    found.sort(key=Path.as_posix)
    return [_File(str(file), lambda file=file: file.open("rb")) for file in found]  # type: ignore[misc]


def _files_in(folder: Path, root: Path) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders; names are hidden below `root`."""
    found = (file for file in files_below(folder, _HIDDEN) if file.name.endswith(".parquet"))
    return [file for file in found if _is_shown(file.relative_to(root).as_posix())]


def _files_at_url(url: str) -> list[_File]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ImportError("URLs need the optional library fsspec: pip install skembed[parquet]") from error
    system, path = url_to_fs(url)

    def files_in(folder: str, root: str) -> list[str]:
        return [name for name in system.find(folder) if name.endswith(".parquet") and _is_shown(name[len(root) :])]

    if wildcard := _WILDCARDS.search(path):
        root = path[: path.rfind("/", 0, wildcard.start()) + 1]
        matches = system.glob(path, detail=True)
        if "/." not in path[len(root) - 1 :]:  # as on this machine, a wildcard matches no hidden name
            matches = {name: entry for name, entry in matches.items() if "/." not in name[len(root) - 1 :]}
        folders = [name for name, entry in matches.items() if entry["type"] == "directory"]
        found = [name for name in matches if name not in set(folders)]
        found = list({*found, *(name for folder in folders for name in files_in(folder, root))})
    elif system.isdir(path):
        found = files_in(path, path)
    else:
        found = [path]
    if not found:
        raise FileNotFoundError(f"There is no Parquet file at {url}.")
    found.sort()
    return [_File(system.unstrip_protocol(name), lambda name=name: system.open(name, "rb")) for name in found]  # type: ignore[misc]


def _is_shown(path: str) -> bool:
    """Whether a path below a folder has no hidden name and none of those that Spark gives to files of its own."""
    return not any(name.startswith(_HIDDEN) for name in path.split("/"))
