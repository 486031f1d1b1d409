"""Five blocks of columns side by side, each weighted by how well it predicts the labels: in place of tf-idf."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, hstack, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from .._base.parameters import validate_parameters
from .._base.scikit_learn import fit_context, sparse_rows
from .._compiled.threads import check_n_jobs
from .._corpus.corpus import SentenceCorpus
from .._text.sources import advising, iter_sentences, wrong_row
from .._validation.columns import as_matrix, is_missing, one_column
from .._validation.limits import integers
from .._validation.targets import check_length, split_labels
from .block_weights import find_weights, tell_apart
from .text_blocks import fit_blocks, n_columns, rows_of

_MOST_LABELLED = 1_000  # rows that the weights are found on


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Tf-idf of words and characters beside vectors learned from the same text, weighted by the labels.

    Use it in place of :class:`~sklearn.feature_extraction.text.TfidfVectorizer` before a linear classifier, above all
    with few labels: ``make_pipeline(TextVectorizer(), LinearSVC())``. Text without labels helps: pass it as `corpus`.

    Parameters
    ----------
    n_components : int, default=100
        Most columns of each of the three dense blocks.
    corpus : collection of str, SentenceCorpus or None, default=None
        Own text without labels, in any order. The blocks learn from it and from all rows of `X`.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing text (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    n_jobs : int or None, default=None
        Number of threads of the block "halves"; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the dense blocks.

    Attributes
    ----------
    blocks_ : dict of str to estimator
        The fitted blocks by name. The first two are sparse, the others dense:

        - "words": tf-idf of words, with ``1 + log(count)``;
        - "characters": the same of two to five characters that two texts have, within words; across words where most
          letters are of a script without spaces;
        - "words_lsa", "characters_lsa": latent semantic analysis of these two;
        - "halves": a :class:`ParaphraseVectorizer` to which random halves of the words of a text are a pair.

        A block for which the text is too short is left out.
    block_weights_ : dict of str to float
        The weight of each block: what it adds to the squared length of a row. They sum to one.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    HybridVectorizer : Compares, searches and clusters sentences with own text of any size.
    CBOSVectorizer : Dense vectors learned from labels.

    Notes
    -----
    *Weights.* Each block has rows of length one. Six weights of the dense blocks, from 1 to 1/32 of that of a sparse
    one, are compared by ridge regression on at most 1,000 labelled rows, each predicted from the others: by accuracy,
    or by squared error where `y` has numbers or several columns. Of the weights that are worse than the best by less
    than a standard error, the nearest to a rule is taken: 1 up to ten labels a class, from there on in inverse
    proportion to their number. No block learns from `y`.

    *Without labels,* or with one class, the weights are fixed: 4 for "characters" to 1 for "characters_lsa" and for
    "halves", which serve clusters and similarity. The blocks of words weigh nothing, and their columns are zero: most
    of what they share are words that all texts have, such as the stop words of any language. For the same reason, idf
    counts twice in latent semantic analysis.

    *Labels.* In `y`, None, NaN and -1 mean no label, as in :mod:`sklearn.semi_supervised`; -1 only where it is the one
    negative number and the labels are not -1 and 1 alone. A classifier behind it in a pipeline would see these rows
    too: pass them as `corpus` there.

    *Saving.* Use joblib or pickle: :func:`skembed.save` does not take it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> from skembed import TextVectorizer
    >>> own = ["Cats and kittens purr.", "Shares and stocks fell."] * 20
    >>> X, y = ["Cats purr.", "Shares fell."], ["animals", "money"]
    >>> pipeline = make_pipeline(TextVectorizer(corpus=own, random_state=0), LinearSVC())
    >>> pipeline.fit(X, y).predict(["Kittens!", "The stocks"])
    array(['animals', 'money'], dtype='<U7')
    """

    blocks_: dict[str, Any]
    block_weights_: dict[str, float]
    n_features_out_: int

    _parameter_constraints: dict[str, Any] = {
        "n_components": [integers(1)],
        "corpus": "no_validation",  # `fit` reads it, and says what is wrong with it
        "missing": [StrOptions({"error", "empty"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        corpus: Any = None,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.corpus = corpus
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _validate_params(self) -> None:
        validate_parameters(self)

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the blocks from all text, and their weights from the labels.

        Parameters
        ----------
        X : iterable of str, SentenceCorpus, or table of one column
            Texts.
        y : array-like or None, default=None
            A label or a number for each text; -1, None or NaN for none. Or a row of numbers or of labels in
            indicator form for each text.

        Returns
        -------
        self : TextVectorizer
            The fitted estimator.
        """
        self._learn(self._texts(X, "X"), y)
        return self

    @fit_context
    def fit_transform(self, X: Any, y: Any = None) -> csr_matrix | csr_array:
        """Learn from `X`, then transform it.

        Parameters
        ----------
        X : iterable of str, SentenceCorpus, or table of one column
            Texts.
        y : array-like or None, default=None
            As in `fit`.

        Returns
        -------
        X_new : sparse matrix of shape (n_texts, n_features_out)
            The same as ``fit(X, y).transform(X)``.
        """
        texts = self._texts(X, "X")  # an iterator can be read only once
        return self._side_by_side(self._learn(texts, y))

    def transform(self, X: Any) -> csr_matrix | csr_array:
        """Return the blocks side by side, each with the square root of its weight.

        Parameters
        ----------
        X : iterable of str, SentenceCorpus, or table of one column
            Texts.

        Returns
        -------
        X_new : sparse matrix of shape (n_texts, n_features_out), dtype float32
            Columns as in `get_feature_names_out`.
        """
        check_is_fitted(self)
        return self._side_by_side(rows_of(self.blocks_, self._texts(X, "X")))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Get the names of the columns: block and word, characters or number.

        Parameters
        ----------
        input_features : None
            Not used; here for scikit-learn.

        Returns
        -------
        names : ndarray of str objects
            For example "words__cat", "characters__ca", "halves__0".
        """
        check_is_fitted(self)
        names: list[str] = []
        for name, block in self.blocks_.items():
            is_sparse = isinstance(block, TfidfVectorizer)
            own: Iterable[Any] = block.get_feature_names_out() if is_sparse else range(n_columns(block))
            names += [f"{name}__{column}" for column in own]
        return np.array(names, dtype=object)

    def _learn(self, texts: list[str], y: Any) -> dict[str, Any]:
        """Set the fitted attributes, and return the rows of the texts by block."""
        if not texts:
            raise ValueError("X has no text. Pass at least one.")
        check_n_jobs(self.n_jobs)
        targets, has_target = _targets(y, len(texts))
        random_state = check_random_state(self.random_state)
        own = texts if self.corpus is None else [*self._texts(self.corpus, "corpus"), *texts]
        blocks = fit_blocks(own, self.n_components, self.n_jobs, random_state, square_idf=not tell_apart(targets))
        if not blocks:
            raise ValueError("No text of X or corpus has a word or characters that another one has. Pass more text.")
        rows = rows_of(blocks, texts)
        labelled = np.flatnonzero(has_target)
        if len(labelled) > _MOST_LABELLED:
            chosen = np.sort(random_state.choice(len(labelled), _MOST_LABELLED, replace=False))
            labelled, targets = labelled[chosen], targets[chosen]
        self.blocks_ = blocks
        self.block_weights_ = find_weights({name: block[labelled] for name, block in rows.items()}, targets)
        self.n_features_out_ = sum(block.shape[1] for block in rows.values())
        return rows

    def _side_by_side(self, rows: dict[str, Any]) -> csr_matrix | csr_array:
        weighted = [np.float32(self.block_weights_[name] ** 0.5) * csr_array(block) for name, block in rows.items()]
        found = hstack(weighted, format="csr")
        found.eliminate_zeros()  # a block may weigh nothing
        return sparse_rows(found)

    def _texts(self, X: Any, name: str) -> list[str]:
        if isinstance(X, SentenceCorpus):
            return [" ".join(words) for words in X]
        texts = []
        with advising(X):
            for row, item in enumerate(iter_sentences(X, name=name)):
                if self.missing == "empty" and not isinstance(item, str) and is_missing(item):
                    item = ""
                if isinstance(item, (list, tuple)):
                    raise TypeError(f"Row {row} of {name} is a {type(item).__name__}. Join its words to one string.")
                if not isinstance(item, str):
                    raise wrong_row(row, item)
                texts.append(item)
        return texts


def _targets(y: Any, n_texts: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets of the rows that have one, a class each or numbers in columns, and which rows these are."""
    if y is None:
        return np.empty(0), np.zeros(n_texts, bool)
    check_length(y, n_texts, "X")
    y = one_column(y)
    if issparse(y) or len(getattr(y, "shape", ())) > 1:
        table = as_matrix(y, "y")
        numbers = check_array(table.toarray() if issparse(table) else table, dtype=np.float64, input_name="y")
        return numbers, np.ones(n_texts, bool)
    labels, has_label = split_labels(y)
    check_length(has_label, n_texts, "X")
    if len(labels) and type_of_target(labels) == "continuous":
        labels = labels[:, None].astype(np.float64)
    return labels, has_label
