"""A corpus from the partitions of a Dask collection: encoded where they are, merged, and put together by this process.

The processes exchange paths, sizes and vocabularies, never text or arrays of ids.
"""

from __future__ import annotations

import errno
import shutil
import uuid
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._storage.array_files import GrowingArrays, map_arrays, write_arrays
from .._storage.folders import NewFolder
from .._text.sources import advising, document_starts, iter_grouped_batches
from .._text.tokenizer import Tokenizer
from .._text.vocabulary import Vocabulary
from .._validation.columns import Labels, Sentences
from .._validation.messages import brief
from .._validation.values import PathLike, advice_on, check_client
from .build import NO_SENTENCES, Built, build_in_folder, encode_batches, write_final_ids
from .content import GROWING, STEP, Content, make_settings

if TYPE_CHECKING:
    import pyarrow
    from dask.bag import Bag
    from dask.dataframe import Series
    from dask.delayed import Delayed
    from distributed import Client


_ARITY = 8  # vocabularies that a task merges
_ONE_TABLE = (
    'Write the ids to the table of the sentences first, and pass two of its columns: table["text"], table["id"].'
)


class _Partition(NamedTuple):
    """The corpus of a partition."""

    file: str
    n_sentences: int
    first: Hashable  # document id of the first sentence
    last: Hashable


class _Words(NamedTuple):
    """Distinct words in no particular order: word i is ``text[ptr[i]:ptr[i + 1]]``."""

    text: np.ndarray
    word_ptr: np.ndarray
    counts: np.ndarray


def build_from_dask(
    texts: Series | Bag,
    groups: Series | Bag | None,
    tokenizer: Tokenizer,
    to: PathLike,
    min_count: int,
    max_features: int | None,
    missing: str,
    client: Client | None,
) -> Built:
    """Encode the partitions of a Dask series or bag to the folder `to`."""
    try:
        import pyarrow  # noqa: F401
        from dask.base import compute
        from dask.delayed import delayed
    except ImportError as error:
        raise ImportError(
            "from_dask needs the optional libraries dask and pyarrow: pip install skembed[dask]"
        ) from error
    partitions = _partitions(texts, groups)
    settings = make_settings(tokenizer, min_count, max_features)
    if client is not None and not hasattr(client, "get"):
        raise TypeError(f"client must be None or a client of dask.distributed. Got {brief(client)}.{advice_on(client)}")
    check_client(client, "client")
    options = {} if client is None else {"scheduler": client}

    def encode(new: NewFolder) -> Content:
        shared = new.path("partitions")
        shared.mkdir()
        shared_tokenizer = delayed(tokenizer, traverse=False)
        encode_partition, merge, order, map_ids = map(delayed, (_encode_partition, _merge, _order, _map_ids))
        encoded = compute(
            *(
                encode_partition(i, partition, groups is not None, shared_tokenizer, missing, str(shared))
                for i, partition in enumerate(partitions)
            ),
            **options,
        )
        if not any(partition.n_sentences for partition in encoded):
            raise ValueError(NO_SENTENCES)
        level: list[Delayed] = [partition.file for partition in encoded]
        while len(level) > 1:
            level = [merge(level[i : i + _ARITY]) for i in range(0, len(level), _ARITY)]
        vocabulary = order(level[0], str(shared), min_count, max_features)
        (vocabulary, *remaps) = compute(
            vocabulary, *(map_ids(partition.file, vocabulary, str(shared)) for partition in encoded), **options
        )
        content = _concatenated(encoded, remaps, vocabulary, new, one_document=groups is None)
        shutil.rmtree(shared)
        return content

    return build_in_folder(encode, tokenizer, settings, to)


def _partitions(texts: Any, groups: Any) -> list[Delayed]:
    """Return one delayed object for each partition: sentences, or pairs of sentences and document ids."""
    from dask.bag import Bag
    from dask.delayed import delayed

    if isinstance(texts, Bag):
        if groups is None:
            return list(texts.to_delayed())
        if not isinstance(groups, Bag) or groups.npartitions != texts.npartitions:
            raise ValueError(
                f"For a bag of {texts.npartitions} partitions, groups must be a bag of as many, got {brief(groups)}."
            )
        pairs = zip(texts.to_delayed(), groups.to_delayed())
        return [delayed(_pair)(sentences, ids) for sentences, ids in pairs]
    _check_series(texts, "sentences")
    if groups is None:
        return list(texts.to_delayed())
    _check_series(groups, "groups")
    are_known = texts.known_divisions, groups.known_divisions
    if not _of_one_table(texts, groups) or len(set(are_known)) == 2:  # as after `reset_index` of one of them
        if not all(are_known):
            return _pairs_of_partitions(texts, groups)
        if groups.divisions != texts.divisions:
            raise ValueError(f"The indices of sentences and groups are divided at other values. {_ONE_TABLE}")
    # As one table, because Dask may merge partitions of one column and not those of another. Where all sentences were
    # filtered out, pandas makes a row for each id; such rows are not in the text.
    return list(texts.to_frame("text").assign(is_sentence=True, group=groups).to_delayed())


def _of_one_table(texts: Series, groups: Series) -> bool:
    """Whether the rows of two series lie in the same partitions; False if this version of Dask does not say."""
    try:
        from dask.dataframe.dask_expr._expr import are_co_aligned

        return bool(are_co_aligned(texts.expr, groups.expr))
    except (ImportError, AttributeError):
        return False


def _pairs_of_partitions(texts: Series, groups: Series) -> list[Delayed]:
    """Pair partitions of two tables by their position: to assign one to the other, Dask would shuffle the rows."""
    from dask.delayed import delayed

    sentences, ids = texts.to_delayed(), groups.to_delayed()
    if len(sentences) != len(ids):
        raise ValueError(
            f"sentences and groups come from two tables, which Dask reads in {len(sentences)} and {len(ids)} "
            f"partitions, so nothing says which id belongs to which sentence. {_ONE_TABLE}"
        )
    return [delayed(_pair)(*pair) for pair in zip(sentences, ids)]


def _check_series(value: Any, name: str) -> None:
    from dask.base import is_dask_collection

    is_table = is_dask_collection(value) and hasattr(value, "_meta")  # a delayed object has any public attribute
    if not (is_table and hasattr(value, "to_frame") and value.ndim == 1):
        raise TypeError(
            f'{name} must be a series or bag of Dask, such as table["text"]. Got {type(value).__name__}. '
            "from_sentences and from_parquet take other text."
        )


def _pair(sentences: Sentences, ids: Labels) -> dict[str, Sentences | Labels]:
    return {"text": sentences, "group": ids}


# -- tasks -------------------------------------------------------------------------------------------------------------
# A task may run twice, also at once. So each writes a new file, and returns its name.


def _encode_partition(
    index: int, partition: Any, has_groups: bool, tokenizer: Tokenizer, missing: str, shared: str
) -> _Partition:
    """Encode a partition with a vocabulary of its own."""
    if has_groups and "is_sentence" in partition:
        partition = partition[partition["is_sentence"].notna()]
    texts, ids = (partition["text"], list(partition["group"])) if has_groups else (partition, None)
    try:
        batches = iter_grouped_batches(texts, ids, tokenizer, missing)
        with advising(texts):
            content = encode_batches(batches, tokenizer, None, 1, None, 1, may_be_empty=True)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"Partition {index}{_partition_rows(texts)}: {error}") from error
    file = _write(shared, content.arrays()._asdict())
    return _Partition(file, len(content.sent_ptr) - 1, ids[0] if ids else None, ids[-1] if ids else None)


def _partition_rows(texts: Sentences) -> str:
    """Say which rows of a table a partition has: Dask numbers partitions after it has merged some."""
    rows = getattr(texts, "index", None)
    return "" if isinstance(texts, list) or rows is None or not len(rows) else f" (index {rows[0]!s} to {rows[-1]!s})"


def _write(shared: str, arrays: dict[str, np.ndarray]) -> str:
    """Write arrays to a new file, and return its name."""
    file = Path(shared, f"{uuid.uuid4().hex}.safetensors")
    try:
        write_arrays(file, arrays)
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT,
            "a worker does not find it. Choose a folder that this process and all workers see under one name",
            shared,
        ) from None
    return str(file)


def _merge(tables: list[str | _Words]) -> _Words:
    """Add up the counts of words."""
    import pyarrow

    words = [_read_words(table) if isinstance(table, str) else table for table in tables]
    merged = pyarrow.concat_arrays([_binary(text, ptr) for text, ptr, _ in words]).dictionary_encode()
    counts = np.zeros(len(merged.dictionary), np.int64)
    np.add.at(counts, merged.indices.to_numpy(), np.concatenate([table.counts for table in words]))
    _, ptr, text = merged.dictionary.buffers()
    return _Words(
        np.frombuffer(b"" if text is None else text, np.uint8), np.frombuffer(ptr, np.int64, len(counts) + 1), counts
    )


def _order(table: str | _Words, shared: str, min_count: int, max_features: int | None) -> str:
    """Write the final vocabulary."""
    text, ptr, counts = _read_words(table) if isinstance(table, str) else table
    vocabulary, _ = Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], counts, min_count, max_features)
    text, ptr = vocabulary.packed
    return _write(shared, _Words(text, ptr, vocabulary.counts)._asdict())


def _map_ids(partition: str, vocabulary: str, shared: str) -> str:
    """Write the final id of each word of a partition; -1 where the word was not kept."""
    import pyarrow.compute

    own_text, own_ptr, _ = _read_words(partition)
    text, ptr, _ = _read_words(vocabulary)
    own = _binary(own_text, own_ptr)
    remap = np.full(len(own), -1, np.int32)
    for start in range(0, len(ptr) - 1, STEP):  # all words at once would take more memory than the partition
        some = ptr[start : start + STEP + 1]
        words = _binary(text[some[0] : some[-1]], some - some[0])
        own_ids = pyarrow.compute.index_in(words, value_set=own).fill_null(-1).to_numpy()
        found = np.flatnonzero(own_ids >= 0)
        remap[own_ids[found]] = start + found
    return _write(shared, {"remap": remap})


def _read_words(file: str) -> _Words:
    arrays = map_arrays(Path(file))
    return _Words(*(arrays[name] for name in _Words._fields))


def _binary(text: np.ndarray, ptr: np.ndarray) -> pyarrow.Array:
    """Return words as an Arrow array of bytes: a word may have half of a surrogate pair, which is not UTF-8."""
    import pyarrow

    buffers = [None, pyarrow.py_buffer(np.ascontiguousarray(ptr)), pyarrow.py_buffer(np.ascontiguousarray(text))]
    return pyarrow.Array.from_buffers(pyarrow.large_binary(), len(ptr) - 1, buffers)


# -- putting together --------------------------------------------------------------------------------------------------


def _concatenated(
    encoded: list[_Partition], remaps: list[str], vocabulary: str, new: NewFolder, *, one_document: bool
) -> Content:
    """Write the partitions one after the other to the files of a folder, with final ids."""
    with GrowingArrays(GROWING, new.file_of) as arrays:
        arrays.append(sent_ptr=np.zeros(1, np.int64))
        first_token = first_row = 0
        previous: object = object()  # equal to no document id
        for partition, remap in zip(encoded, remaps):
            if not partition.n_sentences:
                continue
            own = map_arrays(Path(partition.file))
            ids, ends = np.array(own["tokens"]), np.array(own["sent_ptr"])
            n_tokens = write_final_ids(ids, ends, map_arrays(Path(remap))["remap"])
            continues = first_row > 0 if one_document else not document_starts(previous, [partition.first], first_row)
            starts = own["doc_ptr"][int(continues) : -1] + first_row
            arrays.append(tokens=ids[:n_tokens], sent_ptr=ends[1:] + first_token, doc_ptr=starts)
            first_token, first_row, previous = first_token + n_tokens, first_row + len(ends) - 1, partition.last
            del own  # Windows removes no file that is mapped
            Path(partition.file).unlink()
        arrays.append(doc_ptr=np.array([first_row], np.int64))
        text, word_ptr, counts = map(np.array, _read_words(vocabulary))  # copies: the files are removed
        return Content(**arrays.finish(), vocabulary=Vocabulary.from_packed(text, word_ptr, counts))
