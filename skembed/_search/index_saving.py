"""An index as a folder: written and opened."""

from __future__ import annotations

from typing import Any, Self

from .._pretrained.saved import MissingModelError, reopened
from .._validation.paths import PathLike
from .index_folder import load_state, save_state
from .index_inspection import Fitted
from .terms import TermReader


class IndexSaving:
    """Adds to an index how it is saved and loaded."""

    _fitted: Fitted

    def save(self: Any, path: PathLike) -> dict[str, int]:
        """Save the index as a folder that holds no code.

        The folder is written beside `path` and takes its place in one step. An index that is saved there is replaced:
        whoever reads finds the old one or the new one, also if the computer stops meanwhile.

        Parameters
        ----------
        path : str or path-like
            Name of the folder.

        Returns
        -------
        sizes : dict of str to int
            Bytes: "written".

        Raises
        ------
        TypeError
            If a parameter is code, such as a callable `stemmer`. Pickle such an index.
        FileExistsError
            If `path` exists and is no saved index.
        OSError
            If the folder cannot be written; then what was at `path` is still there.
        ValueError
            If `path` is a URL.
        """
        state, _, tokenizer, model = self._checked()
        return save_state(path, state, tokenizer, self.get_params(deep=False), model)

    @classmethod
    def load(cls, path: PathLike, *, mmap: bool = False, pretrained: Any = None) -> Self:
        """Load an index that `save` wrote. No code of the folder runs, and all of it is checked first.

        Parameters
        ----------
        path : str or path-like
            Name of the folder.
        mmap : bool, default=False
            Whether to map the arrays into memory, so that several processes share them. The folder must then stay as
            it is while the index is in use; `save` under the same name replaces it and does no harm.
        pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
            The pretrained model of the index, if it was given as an object, or its path has changed.

        Returns
        -------
        index : SearchIndex
            The index. It gives the same bits as the saved one.

        Raises
        ------
        FileNotFoundError
            If there is nothing at `path`.
        ValueError
            If it is no saved index, is damaged or was written in a newer format; `path` is a URL; or the pretrained
            model is missing or another one.
        """
        state, tokenizer, parameters, saved_model = load_state(path, mmap=mmap)
        try:
            index: Any = cls(**parameters)
            index._validate_params()
            reader = TermReader(**tokenizer)
            model = None if saved_model is None else reopened(pretrained, index.pretrained, *saved_model)
        except MissingModelError:
            raise
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged or was not written by skembed: {error}") from None
        if saved_model is None and pretrained is not None:
            raise ValueError(f"The index at {path} was fitted without a pretrained model. Fit it with one.")
        index.pretrained = index.pretrained if pretrained is None else pretrained
        index._fitted = Fitted(state, reader, tokenizer, model)
        return index
