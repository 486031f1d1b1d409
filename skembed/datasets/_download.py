"""Download published files into scikit-learn's data home, each checked against its sha256."""

from __future__ import annotations

import csv
import hashlib
import logging
import os
import time
import warnings
from collections.abc import Sequence
from functools import lru_cache
from http.client import HTTPException
from importlib import resources
from numbers import Real
from pathlib import Path
from typing import NamedTuple, TypedDict
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from sklearn.datasets import get_data_home
from sklearn.utils import check_scalar

from skembed._storage.array_files import replacing
from skembed._validation.values import PathLike, user_path

# A commit pins every file below this address; tests put the address of their server here.
BASE_URL = "https://raw.githubusercontent.com"
# A server that accepts a connection and then says nothing must not hang the program.
SILENCE_SECONDS = 30.0
_CHUNK = 1 << 16  # bytes that are read at a time

_logger = logging.getLogger("skembed.datasets")


class Source(NamedTuple):
    """A published file: its name below the data folder, its address below `BASE_URL`, its size and its sha256."""

    file: str
    address: str
    n_bytes: int
    sha256: str

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{BASE_URL}/{self.address}"


@lru_cache(maxsize=1)
def sources() -> dict[str, Source]:
    """Return the table of all files, by name."""
    text = (resources.files("skembed.datasets") / "data" / "sources.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row["file"]: Source(row["file"], row["address"], int(row["bytes"]), row["sha256"]) for row in rows}


def _state(path: Path, source: Source) -> str:
    """Say how the file at `path` differs from the published one; nothing if it does not."""
    try:
        n_bytes = path.stat().st_size
    except FileNotFoundError:
        return "missing"
    if n_bytes != source.n_bytes:
        return f"{n_bytes} bytes instead of {source.n_bytes}"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return "" if digest == source.sha256 else "other content (sha256) than published"


def _content(source: Source) -> bytes:
    """Download a file into memory, and stop as soon as it cannot be the published one."""
    expected = f"expected {source.n_bytes:,} bytes"
    content = bytearray()
    with urlopen(source.url, timeout=SILENCE_SECONDS) as answer:
        while chunk := answer.read1(_CHUNK):
            content += chunk
            if len(content) > source.n_bytes:
                raise OSError(f"{expected}, received more: stopped after {len(content):,}")
    if len(content) < source.n_bytes:
        raise ConnectionError(f"retrieval incomplete: {expected}, received {len(content):,}")
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        raise OSError(f"the SHA256 checksum is {digest}, that of the published file {source.sha256}")
    return bytes(content)


def _download(source: Source, path: Path, n_retries: int, delay: float) -> None:
    """Download the published file to `path`; write it completely or not at all."""
    for n_left in range(n_retries, -1, -1):
        try:
            content = _content(source)
            break
        except (URLError, HTTPException, TimeoutError, ConnectionError):  # a retry may succeed
            if not n_left:
                raise
            warnings.warn(f"Retry downloading from url: {source.url}", stacklevel=4)
            time.sleep(delay)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def _by_hand(folder: Path, wanted: dict[Source, str]) -> str:
    """Say which files belong where."""
    lines = [f"  {source.file} ({state}): {source.url}" for source, state in wanted.items()]
    return f"To go on without a download, put these files below {folder}, under these names:\n" + "\n".join(lines)


class Download(TypedDict, total=False):
    """The options of all functions that download."""

    data_home: PathLike | None
    download_if_missing: bool
    n_retries: int
    delay: float


def fetch_files(
    files: Sequence[str], data_home: PathLike | None, download_if_missing: bool, n_retries: int, delay: float
) -> Path:
    """Download those of the `files` that are not there yet, and return the folder that they lie below.

    Each file appears under its name when it is whole, so what a stopped call has finished is kept.
    """
    check_scalar(n_retries, "n_retries", int, min_val=0)
    check_scalar(delay, "delay", Real, min_val=0)
    if data_home is None and (chosen := os.environ.get("SCIKIT_LEARN_DATA")):
        data_home = chosen
    folder = Path(get_data_home(None if data_home is None else user_path(data_home))) / "skembed"
    states = {source: _state(folder / source.file, source) for source in (sources()[file] for file in files)}
    wanted = {source: state for source, state in states.items() if state}
    if wanted and not download_if_missing:
        raise OSError(f"Data not found and download_if_missing is False. {_by_hand(folder, wanted)}")
    n_wanted = len(wanted)
    for number, source in enumerate(list(wanted), 1):
        size = f"{source.n_bytes / 1000:.0f} kB"
        _logger.info("Downloading %s (%d of %d, %s) to %s", source.url, number, n_wanted, size, folder)
        path = folder / source.file
        if states[source] != "missing":
            warnings.warn(f"{path} differs from expected ({states[source]}): it is downloaded again.", stacklevel=3)
        try:
            _download(source, path, n_retries, delay)
        except (OSError, HTTPException) as error:  # no network, no such page, another file, a full disk
            reason = f"Could not download {source.file} from {source.url}: {error}"
            if isinstance(error, HTTPError):
                error.close()  # it keeps the connection open
            raise OSError(f"{reason}\n{_by_hand(folder, wanted)}") from error
        del wanted[source]
    return folder
