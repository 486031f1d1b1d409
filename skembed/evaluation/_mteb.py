"""An adapter for the package mteb, which is not needed to make one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import cosine_similarity

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import as_sentences, iter_texts
from .._validation.columns import Matrix, Rows, as_list, as_matrix, columns_of
from .._validation.messages import brief
from ..metrics import paired_cosine_similarity
from ._pairs import Model, embed

__all__ = ["MTEBEncoder"]


class MTEBEncoder:
    """Let the package mteb evaluate any fitted estimator with `transform`.

    It has what mteb 2 calls an encoder: `encode`, `similarity`, `similarity_pairwise` and `mteb_model_meta`. The
    package is not imported before the last one is read.

    Parameters
    ----------
    model : object with `transform`
        A fitted estimator.
    name : str, default=None
        Name in mteb's results, which must have a slash. None is for ``"skembed/"`` and the name of the class.
    revision : str, default="local"
        Revision in mteb's results. mteb stores results by name and revision, and does not run again what it has: give
        each model of a class a different revision.

    Examples
    --------
    >>> from skembed import BOWPCA
    >>> from skembed.evaluation import MTEBEncoder
    >>> encoder = MTEBEncoder(
    ...     BOWPCA(n_components=None).fit(["a cat", "the dog"]), revision="two sentences"
    ... )
    >>> batches = [{"text": ["a dog", "the cat"]}, {"text": ["?"]}]  # as mteb passes them
    >>> task = {"task_metadata": None, "hf_split": "test", "hf_subset": "default"}
    >>> encoder.encode(batches, **task).shape
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

    def encode(
        self,
        inputs: Iterable[object],
        *,
        task_metadata: object = None,
        hf_split: str | None = None,
        hf_subset: str | None = None,
        prompt_type: object = None,
        **kwargs: object,
    ) -> np.ndarray:
        """Embed the sentences of batches.

        Parameters
        ----------
        inputs : iterable of dict, or of str
            Batches with sentences under "text", in any form that :func:`semantic_classification` accepts; or the
            sentences themselves, also as a corpus.
        task_metadata, hf_split, hf_subset, prompt_type
            What mteb says about the task; not used.
        **kwargs : dict
            Other options of mteb, such as the size of a batch; not used.

        Returns
        -------
        vectors : ndarray of shape (n_sentences, n_features)
            Sparse rows are made dense.

        Raises
        ------
        TypeError
            If a batch has no text, or a sentence is missing.
        """
        vectors = embed(self.model, inputs if isinstance(inputs, SentenceCorpus) else self._sentences(inputs))
        return vectors.toarray() if hasattr(vectors, "toarray") else vectors

    def _sentences(self, inputs: Iterable[object]) -> list[Any]:
        sentences: list[Any] = []
        for batch in [inputs] if columns_of(inputs) else as_list(inputs, "inputs"):
            fields = columns_of(batch) or {}
            if isinstance(batch, str):
                sentences.append(batch)
            elif "text" in fields:
                text = as_sentences(fields["text"], "text")
                sentences += iter_texts(text) if isinstance(text, SentenceCorpus) else text
            else:
                raise TypeError("MTEBEncoder embeds text: each batch must be a dict with a list of str under 'text'.")
        return sentences

    def similarity(self, embeddings1: Rows, embeddings2: Rows) -> np.ndarray:
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
        first, second = _rows(embeddings1, "embeddings1"), _rows(embeddings2, "embeddings2")
        return cosine_similarity(first, second)

    def similarity_pairwise(self, embeddings1: Rows, embeddings2: Rows) -> np.ndarray:
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
        return paired_cosine_similarity(_rows(embeddings1, "embeddings1"), _rows(embeddings2, "embeddings2"))

    @property
    def mteb_model_meta(self) -> Any:
        """What mteb writes beside the results; None if mteb is not installed."""
        try:
            from mteb.models import ModelMeta
        except ImportError:
            return None
        return ModelMeta.create_empty(overwrites={"name": self.name, "revision": self.revision})


def _rows(embeddings: Rows, name: str) -> Matrix:
    """Return one row or several rows as a matrix."""
    is_one = len(getattr(embeddings, "shape", (0, 0))) == 1 and columns_of(embeddings) is None
    return np.reshape(np.asarray(embeddings), (1, -1)) if is_one else as_matrix(embeddings, name)
