"""Files that are written whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import NamedTemporaryFile
from typing import IO

from .._validation.values import PathLike, naming, user_path


@contextmanager
def replacing(path: PathLike) -> Iterator[IO[bytes]]:
    """Give a file to write to, beside the path, and put it there in one step if all goes well."""
    target = user_path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder. Give the name of a file.")
    with naming(target):
        file = NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", suffix=".new", delete=False)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.chmod(file.name, _mode_of_new_files())
            os.replace(file.name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise


def _mode_of_new_files() -> int:
    """Permissions that `open` would give; those of a temporary file are for its owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
