"""Rows of texts that were embedded before: in memory for one process, or in a file that processes share."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import TypeAlias, TypeVar

import numpy as np

from .._validation.messages import warn_at_user
from .._validation.values import PathLike, user_path
from .identity import CACHE_TOLERANCE, Identity

FILE = "skembed-vectors.sqlite"
_MOST_BYTES = 1 << 28  # that rows in memory take, of all models
_WAIT = 60.0  # seconds for another process that writes
_AT_ONCE = 500  # texts of a query of the file
_TABLES = (
    "CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT, width INTEGER, probes BLOB)",
    "CREATE TABLE IF NOT EXISTS vectors (model INTEGER, text BLOB, vector BLOB, UNIQUE (model, text))",
)
_Result = TypeVar("_Result")


def key_of(text: str) -> bytes:
    """Digest of a text. The text itself is not stored."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class MemoryStore:
    """Keeps rows for this process; of all models together those that came last."""

    _lock = threading.Lock()
    _models: list[Identity] = []  # noqa: RUF012
    _rows: dict[tuple[int, bytes], np.ndarray] = {}  # noqa: RUF012
    _n_bytes = 0

    def __init__(self, identity: Identity) -> None:
        assert identity.probes is not None
        kept = type(self)._models
        with self._lock:
            same = (i for i, other in enumerate(kept) if other.is_same(identity.probes, CACHE_TOLERANCE))
            self._model = next(same, len(kept))
            if self._model == len(kept):
                kept.append(identity)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        with self._lock:
            found = ((key, self._rows.get((self._model, key))) for key in keys)
            return {key: row for key, row in found if row is not None}

    def put(self, rows: dict[bytes, np.ndarray]) -> None:
        kept = type(self)
        with self._lock:
            for key, row in rows.items():
                if (self._model, key) not in kept._rows:
                    kept._rows[self._model, key] = row.copy()  # not a view, which would keep a whole batch
                    kept._n_bytes += row.nbytes
            while kept._n_bytes > _MOST_BYTES:
                kept._n_bytes -= kept._rows.pop(next(iter(kept._rows))).nbytes


class FileStore:
    """Keeps rows in one file of a folder. Where the file fails, work goes on without it, after a warning."""

    def __init__(self, folder: PathLike, identity: Identity) -> None:
        self._file = user_path(folder) / FILE
        self._identity = identity
        self._model: int | None = None
        self._model = self._tried(self._number_of_model, None)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        def read(database: sqlite3.Connection) -> dict[bytes, np.ndarray]:
            found: dict[bytes, np.ndarray] = {}
            for first in range(0, len(keys), _AT_ONCE):
                part = keys[first : first + _AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"
                found |= dict(database.execute(query, (self._model, *part)).fetchall())
            rows = {text: np.frombuffer(vector, np.float32) for text, vector in found.items()}
            if any(row.shape != (self._identity.width,) or not np.isfinite(row).all() for row in rows.values()):
                raise ValueError("it has rows that are none of the model")
            return rows

        return {} if self._model is None else self._tried(read, {})

    def put(self, rows: dict[bytes, np.ndarray]) -> None:
        values = [(self._model, key, row.tobytes()) for key, row in rows.items()]
        if self._model is not None:
            self._tried(
                lambda database: database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", values), None
            )

    def _number_of_model(self, database: sqlite3.Connection) -> int:
        name, width, probes = self._identity
        assert probes is not None
        for table in _TABLES:
            database.execute(table)
        database.execute("BEGIN IMMEDIATE")  # of two processes that bring a new model, one waits
        for number, kept in database.execute("SELECT id, probes FROM models WHERE width = ?", (width,)):
            if self._identity.is_same(np.frombuffer(kept, np.float32).reshape(-1, width), CACHE_TOLERANCE):
                return int(number)
        values = name, width, probes.tobytes()
        added = database.execute("INSERT INTO models (name, width, probes) VALUES (?, ?, ?)", values)
        return int(added.lastrowid or 0)

    def _tried(self, work: Callable[[sqlite3.Connection], _Result], otherwise: _Result) -> _Result:
        """What some work on the file returns, in one transaction."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._file, timeout=_WAIT)) as database, database:
                return work(database)
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self._model = None
            warn_at_user(
                f"The cache {self._file} cannot be used: {error}. Texts are embedded anew. If it is damaged, delete it."
            )
            return otherwise


Store: TypeAlias = MemoryStore | FileStore  # rows of one model by the keys of texts


def store_of(cache: PathLike | None, identity: Identity, *, is_fast: bool) -> Store | None:
    """Return where the rows of a model are kept, if they are; `is_fast` models need no memory of what they said."""
    if cache is None or identity.probes is None or not identity.probes.any() or (cache == "memory" and is_fast):
        return None
    return MemoryStore(identity) if cache == "memory" else FileStore(cache, identity)
