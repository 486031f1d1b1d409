"""An adapter for the package mteb."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import cosine_similarity

from .._validation.columns import as_list, columns_of, is_sparse
from .._validation.messages import brief
from ..metrics import paired_cosine_similarity
from ._compare_labels import as_texts
from ._pairs import Model, embed

__all__ = ["MTEBEncoder"]


class MTEBEncoder:
    """Let the package mteb evaluate any fitted estimator with `transform`: what mteb 2 calls an encoder.

    Parameters
    ----------
    model : object with `transform`
        A fitted estimator.
    name : str, default=None
        Name in mteb's results, which must have a slash. None is for ``"skembed/"`` and the name of the class.
    revision : str, default="local"
        Revision in mteb's results. mteb does not run a name and revision again: give each model another one.

    Examples
    --------
    >>> from skembed import BOWPCA
    >>> from skembed.evaluation import MTEBEncoder
    >>> encoder = MTEBEncoder(
    ...     BOWPCA(n_components=None).fit(["a cat", "the dog"]), revision="two sentences"
    ... )
    >>> batches = [{"text": ["a dog", "the cat"]}, {"text": ["?"]}]  # as mteb passes them
    >>> encoder.encode(batches, hf_split="test").shape
    (3, 4)

    With the package installed::

        import mteb

        tasks = mteb.get_tasks(tasks=["STS12", "STSBenchmark"], languages=["eng"])
        mteb.evaluate(encoder, tasks=tasks)
    """

    def __init__(self, model: Model, name: str | None = None, revision: str = "local") -> None:
        self.model = model
        self.name: str = name if name is not None else f"skembed/{type(model).__name__}"
        if "/" not in self.name:
            raise ValueError(f"mteb wants a name with a slash, such as 'me/{self.name}', got {brief(self.name)}.")
        self.revision = revision

    def encode(self, inputs: Iterable[Any], **options: object) -> np.ndarray:
        """Embed the sentences of batches.

        Parameters
        ----------
        inputs : iterable of dict, or of str
            Batches with sentences under "text", or the sentences themselves.
        **options : dict
            What mteb says about the task; not used.

        Returns
        -------
        vectors : ndarray of shape (n_sentences, n_features)
            Sparse rows are made dense.

        Raises
        ------
        TypeError
            If it is one string, a batch has no text, or a sentence is missing.
        """
        sentences: list[str] = []
        for batch in [inputs] if columns_of(inputs) else as_list(inputs, "inputs"):
            fields = columns_of(batch) or {}
            if not isinstance(batch, str) and "text" not in fields:
                raise TypeError("MTEBEncoder embeds text: each batch must be a dict with a list of str under 'text'.")
            sentences += [batch] if isinstance(batch, str) else as_texts(fields["text"], "text")
        vectors = embed(self.model, sentences)
        return vectors.toarray() if is_sparse(vectors) else vectors

    def similarity(self, embeddings1: ArrayLike, embeddings2: ArrayLike) -> np.ndarray:
        """Cosine of each row with each other row; 0 where one is zero.

        Parameters
        ----------
        embeddings1, embeddings2 : array-like of shape (n, n_features) and (m, n_features), or one row
            Vectors.

        Returns
        -------
        similarity : ndarray of shape (n, m)
            Cosines.
        """
        return cosine_similarity(np.atleast_2d(embeddings1), np.atleast_2d(embeddings2))

    def similarity_pairwise(self, embeddings1: ArrayLike, embeddings2: ArrayLike) -> np.ndarray:
        """Cosine of each row with the same row; 0 where one is zero.

        Parameters
        ----------
        embeddings1, embeddings2 : array-like of shape (n, n_features)
            Vectors.

        Returns
        -------
        similarity : ndarray of shape (n,)
            Cosines.
        """
        return paired_cosine_similarity(np.atleast_2d(embeddings1), np.atleast_2d(embeddings2))

    @property
    def mteb_model_meta(self) -> Any:
        """What mteb writes beside the results; None if mteb is not installed."""
        try:
            from mteb.models import ModelMeta
        except ImportError:
            return None
        return ModelMeta.create_empty(overwrites={"name": self.name, "revision": self.revision})
