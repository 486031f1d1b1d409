"""The search index of a user's own documents: `SearchIndex`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral, Real
from threading import RLock
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.scikit_learn import WORDS, ReadsText, fit_context
from .._compiled.threads import check_n_jobs
from .._pretrained.models import PretrainedModel
from .._pretrained.parameter import PretrainedParameter
from .._text.tokenizer import Stemmer, StopWords
from .._validation.columns import Labels, Sentences
from .._validation.constraints import INT32_MAX, Constraints, check_values, integers
from .._validation.messages import warn_at_user
from .._validation.values import RandomState
from ._bm25 import Scoring
from ._document_pairs import cut_pairs
from ._documents import Documents, FieldWeights, pairs_of_queries, read_documents, read_field_weights, read_queries
from ._index_folder import IndexSaving
from ._index_inspection import Fitted, IndexInspection
from ._index_state import checked_rows, make_state, with_documents, without_rows
from ._learned_vectors import learn_vectors, pretrained_rows
from ._searching import Asked, search_in
from ._terms import TermReader, read_query, text_of_query

_OF_SEARCH: Constraints = {"k": [integers(1)], "operators": ["boolean"]}
_MANY_NEW = 0.5  # of the documents, from which on the vectors should be learned anew
_LARGEST = 1e12  # of a weight: float32 holds the scores
_CHANGING = RLock()  # of any index: two changes at once would lose one


class SearchIndex(IndexInspection, IndexSaving, PretrainedParameter, ReadsText):
    """Full-text search in your own documents: BM25, and vectors that are learned from the same documents.

    A document is found by the words of the query, as in a search engine, and by related words. Nothing is downloaded:
    the vectors are learned in `fit` from pairs that are cut from the documents, such as a title and its text.

    Parameters
    ----------
    n_components : int or None, default=300
        Length of the vectors. None learns none: the score is then that of BM25.
    k1 : float, default=1.2
        How soon a word that is repeated in a document counts no more, at least 0.
    b : float, default=0.75
        How much long documents are put back, from 0 to 1.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer ("english", "german", ...; needs the library snowballstemmer), or a function
        from a word to its stem.
    stop_words : {"auto", "english"}, collection of str or None, default="auto"
        Words to leave out. "auto" leaves none out, but function words of English, such as "the" and "how", count three
        tenths in a query. None lets all words count.
    columns : list or None, default=None
        The columns of a table of documents that are searched, each a field. The first one of several is the title.
    field_weights : array-like of shape (n_fields,), dict or None, default=None
        By what the words of each field are counted; a dict has the names of `columns`. None counts the words of the
        first of several fields, the title, three times.
    vector_weight : float or "auto", default="auto"
        How much the vectors count beside BM25, when both are standardised; 0 for not at all.
    pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
        A model that somebody else has trained, in any form that :class:`PretrainedVectorizer` takes: its cosine is a
        third part of the score. `clone` does not copy it, and a saved index holds its path or name alone.
    pretrained_weight : float or "auto", default="auto"
        How much that cosine counts beside BM25, when both are standardised; 0 for not at all.
    keep_text : bool, default=False
        Whether the index keeps the text of the documents, for `snippet`.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing text (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    n_jobs : int or None, default=None
        Number of threads that read text and search; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the vectors.

    Attributes
    ----------
    n_documents_ : int
        Number of documents, without those that were removed.
    n_features_out_ : int
        Number of terms.
    has_vectors_ : bool
        Whether vectors were learned. Very few or very short documents give none.

    See Also
    --------
    skembed.search.nearest : Finds the nearest rows of a matrix.
    ParaphraseVectorizer : Learns the vectors.

    Notes
    -----
    The score is BM25 plus the cosine of query and document, times `vector_weight` and the standard deviation of BM25
    over that of the cosines; and the same of a pretrained model. A query without a word of the documents finds nothing.
    Among equal scores the lower row comes first. The equations, and what a term is, are in the
    :ref:`User Guide <search_index>`.

    Examples
    --------
    >>> from skembed import SearchIndex
    >>> documents = [
    ...     "Put two tildes around text to strike it through.",
    ...     "Error ERR_4012: the disk is full.",
    ...     "Indent code by four spaces.",
    ... ]
    >>> index = SearchIndex(n_components=None).fit(documents)
    >>> rows, scores = index.search(["strike through text", "err_4012", "unheard"], k=2)
    >>> rows
    array([[ 0, -1],
           [ 1, -1],
           [-1, -1]])
    """

    _parameter_constraints: Constraints = {
        "n_components": [integers(1), None],
        "k1": [Interval(Real, 0, _LARGEST, closed="both")],
        "b": [Interval(Real, 0, 1, closed="both")],
        "stemmer": [str, callable, None],
        "stop_words": [StrOptions({"auto", "english"}), WORDS, None],
        "columns": ["array-like", None],
        "field_weights": ["array-like", dict, None],
        "vector_weight": [Interval(Real, 0, _LARGEST, closed="both"), StrOptions({"auto"})],
        "pretrained": "no_validation",  # `fit` says what it may be
        "pretrained_weight": [Interval(Real, 0, _LARGEST, closed="both"), StrOptions({"auto"})],
        "keep_text": ["boolean"],
        "missing": [StrOptions({"error", "empty"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = 300,
        *,
        k1: float = 1.2,
        b: float = 0.75,
        stemmer: Stemmer = None,
        stop_words: StopWords = "auto",
        columns: Sequence[Hashable] | None = None,
        field_weights: FieldWeights = None,
        vector_weight: float | str = "auto",
        pretrained: PretrainedModel | None = None,
        pretrained_weight: float | str = "auto",
        keep_text: bool = False,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.k1 = k1
        self.b = b
        self.stemmer = stemmer
        self.stop_words = stop_words
        self.columns = columns
        self.field_weights = field_weights
        self.vector_weight = vector_weight
        self.pretrained = pretrained
        self.pretrained_weight = pretrained_weight
        self.keep_text = keep_text
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @fit_context
    def fit(
        self,
        documents: Documents,
        y: Labels = None,
        *,
        queries: Sentences | None = None,
        relevant: Iterable[object] | None = None,
    ) -> Self:
        """Index documents, and learn vectors from them.

        Parameters
        ----------
        documents : iterable of str or of tuple of str, table with `columns`, or SentenceCorpus
            Strings; tuples of fields, of which the first is the title; a table or mapping, with `columns`; or a
            SentenceCorpus, of which each document is one. A document is known by its row, from 0 on.
        y : None
            Not used; here for scikit-learn.
        queries : iterable of str or None, default=None
            Queries whose relevant documents are known, for example by clicks: the vectors learn from them too.
        relevant : iterable of int or of list of int, or None, default=None
            The rows of the documents that are relevant to each of `queries`.

        Returns
        -------
        self : SearchIndex
            The fitted index.

        Raises
        ------
        TypeError
            If a document is no string; names the row.
        ValueError
            If there are no documents or no words, documents differ in their fields, a parameter is invalid, or an entry
            of `relevant` is no row of `documents`.
        """
        check_n_jobs(self.n_jobs)
        random_state = check_random_state(self.random_state)
        columns = None if self.columns is None else list(self.columns)
        texts = read_documents(documents, columns, self.missing, None if columns is None else len(columns))
        if not texts.n_documents:
            raise ValueError("There are no documents. If they came from an iterator, it may have been consumed before.")
        reader = TermReader(self.stemmer, self.stop_words)
        scoring = Scoring(self.k1, self.b, read_field_weights(self.field_weights, columns, texts.n_fields))
        known_pairs = pairs_of_queries(queries, relevant, texts)
        encoded = reader.encode(texts.texts, self.n_jobs)
        if not len(encoded.tokens):
            raise ValueError("No document has a word: all are empty, or stop_words left nothing of them.")
        pairs = [] if self.n_components is None else cut_pairs(texts.rows(), random_state) + known_pairs
        words = learn_vectors(pairs, reader, self.n_components, self.n_jobs, random_state)
        model = self._supplier()
        vectors = pretrained_rows(model, texts.joined())
        state = make_state(scoring, encoded, texts.texts if self.keep_text else None, words, vectors)
        self._fitted = Fitted(state, reader, model)
        return self

    def search(
        self, queries: Sentences, k: int = 10, *, operators: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the best documents for each query.

        Parameters
        ----------
        queries : iterable of str
            What to search for.
        k : int, default=10
            How many documents to find for each query.
        operators : bool, default=False
            Whether signs mean something: ``"strike through"`` in quotes must stand so in the document, ``+word`` must
            be in it, ``-word`` must not.

        Returns
        -------
        rows : ndarray of shape (n_queries, k), dtype int64
            Rows of the documents, by falling score; -1 where fewer were found. An index of fewer rows
            than `k` returns that many columns.
        scores : ndarray of shape (n_queries, k), dtype float32
            Their scores; NaN where the row is -1. They compare documents of one query, not of two.

        Raises
        ------
        TypeError
            If a query is no string; names the row.
        ValueError
            If `queries` is one string, or a parameter is invalid.
        """
        state, reader, model = self._checked()
        if type(k) is not int or not 0 < k <= INT32_MAX or type(operators) is not bool:
            check_values(_OF_SEARCH, {"k": k, "operators": operators}, "search")  # which takes as long as a query
        texts = read_queries(queries)
        read = [read_query(text, reader, operators=operators) for text in texts]
        plain = texts if model is None else [text_of_query(text, operators=operators) for text in texts]
        rows, scores, _ = search_in(state, Asked(read, pretrained_rows(model, plain)), k, self._weights(), self.n_jobs)
        return rows, scores

    def add(self, documents: Documents) -> Self:
        """Add documents: they get the next rows. Nothing is learned: a word that is new has no vector.

        The index is as if it had been fitted on all documents, but for the vectors. Add many documents at once: each
        call counts the words of all.

        Parameters
        ----------
        documents : iterable of str or of tuple of str, table with `columns`, or SentenceCorpus
            As in `fit`, with the same fields.

        Returns
        -------
        self : SearchIndex
            The index.

        Raises
        ------
        TypeError
            If a document is no string; names the row.
        ValueError
            If the fields are others than in `fit`.
        RuntimeError
            If another thread has fitted the index again meanwhile; then none is added.

        Warns
        -----
        UserWarning
            If more than half of the documents came after `fit`.
        """
        before = self._checked()
        columns = None if self.columns is None else list(self.columns)
        texts = read_documents(documents, columns, self.missing, before.state.scoring.n_fields)
        if not texts.n_documents:
            return self
        vectors = pretrained_rows(before.model, texts.joined())
        encoded = before.reader.encode(texts.texts, self.n_jobs)
        with _CHANGING:
            fitted = self._checked()
            if fitted.reader is not before.reader:
                raise RuntimeError("The index was fitted again while documents were added. Add them to the new one.")
            state = with_documents(fitted.state, encoded, texts.texts, vectors)
            self._fitted = fitted._replace(state=state)
        n_new = np.count_nonzero(state.is_alive[state.n_fitted :])
        if len(state.word_vectors) and n_new > _MANY_NEW * state.n_alive:
            warn_at_user(
                f"{n_new} of {state.n_alive} documents came after the fit, and the vectors do not know their words. "
                "Fit the index again on all documents."
            )
        return self

    def remove(self, rows: ArrayLike) -> Self:
        """Remove documents. The others keep their rows, and all statistics of BM25 follow.

        Parameters
        ----------
        rows : int or array-like of int
            Rows of the documents.

        Returns
        -------
        self : SearchIndex
            The index.

        Raises
        ------
        TypeError
            If a row is no integer.
        ValueError
            If there is no such document, it was removed before, or stands twice in `rows`; then none is removed.
        """
        with _CHANGING:
            fitted = self._checked()
            chosen = checked_rows(rows, fitted.state)
            if len(chosen):
                self._fitted = fitted._replace(state=without_rows(fitted.state, chosen))
        return self
