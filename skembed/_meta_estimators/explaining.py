"""What a linear model behind TextVectorizer has learned: its decisions and its classes in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._base.pooled import PooledVectorizer
from .._base.queries import weighted_vectors
from .._text.words import compose
from .._validation.columns import Rows, is_sparse
from .._validation.constraints import INT32_MAX
from .._validation.messages import brief
from .given_blocks import names_of
from .text_blocks import SOURCES, count_words

_STEP = 10_000  # terms at a time


class LinearExplanations:
    """Adds `explain` and `top_terms` to a vectorizer of blocks."""

    def explain(self: Any, text: str, classifier: BaseEstimator) -> Bunch:
        """Split the decision of a linear classifier into what each word and each n-gram of characters contributes.

        The row of a text is linear in these, up to its length; a dense direction is split over those that point to it.
        The sum is exact.

        Parameters
        ----------
        text : str
            One text.
        classifier : estimator
            A linear model with `coef_`, fitted to rows of this vectorizer: LinearSVC, LogisticRegression,
            RidgeClassifier, Ridge and the like.

        Returns
        -------
        explanation : Bunch
            `terms` (list of str) and `blocks` (list of str, the block of each), largest contributions first;
            `contributions` (ndarray of shape (n_terms, n_outputs)), whose sum over the terms and `intercept` (ndarray
            of shape (n_outputs,)) is `decision` (the same shape), that of `decision_function`; `classes`, those of the
            outputs: the second alone if there are two, None for a regression. A term of a block in `blocks` that does
            not sum word vectors is a name of its columns.

        Raises
        ------
        TypeError
            If `text` is no string, or `classifier` is not linear.
        ValueError
            If `classifier` has other columns, or weights for pairs of classes.

        Examples
        --------
        >>> from sklearn.svm import LinearSVC
        >>> from skembed import TextVectorizer
        >>> X, y = ["Cats purr.", "Shares fell."] * 20, ["animals", "money"] * 20
        >>> emb = TextVectorizer(random_state=0)
        >>> classifier = LinearSVC(random_state=0).fit(emb.fit_transform(X, y), y)
        >>> found = emb.explain("Cats slept.", classifier)
        >>> found.classes, found.blocks[0], found.terms[0], bool(found.contributions[0, 0] < 0)
        (array(['money'], dtype='<U7'), 'words', 'cats', True)
        """
        check_is_fitted(self)
        if not isinstance(text, str):
            raise TypeError(f"text must be one text, a string, got {brief(text)}.")
        coef, intercept, classes = _linear(classifier, self.n_features_out_)
        if self._projection is not None:
            coef = coef @ self._projection.components_
        blocks, terms, contributions, first = [], [], [], 0
        for name, weight in self.block_weights_.items():
            found, parts = self._parts(name, text)
            n_columns = parts.shape[1]
            blocks += [name] * len(found)
            terms += found
            contributions.append(weight**0.5 * (parts @ coef[:, first : first + n_columns].T))
            first += n_columns
        of_term = np.concatenate(contributions)
        order = np.argsort(-np.abs(of_term).max(axis=1, initial=0), kind="stable")
        return Bunch(
            decision=of_term.sum(axis=0) + intercept,
            intercept=intercept,
            classes=classes,
            terms=[terms[row] for row in order],
            blocks=[blocks[row] for row in order],
            contributions=of_term[order],
        )

    def top_terms(self: Any, of: Any, n_terms: int = 10, *, terms: Iterable[str] | None = None) -> Any:
        """Find the words that speak most for each class of a linear classifier, or are most like a row.

        A word counts as a text of that word alone.

        Parameters
        ----------
        of : estimator, or array-like of shape (n_features_out,) or (n_rows, n_features_out)
            A linear classifier fitted to rows of this vectorizer; or such rows, such as
            ``kmeans.cluster_centers_``.
        n_terms : int, default=10
            How many to return for each.
        terms : iterable of str or None, default=None
            Words or phrases to choose from. None means the words of the block "words" that two texts have, or all.

        Returns
        -------
        found : dict of class to list of (str, float), list of such lists, or one list
            Terms and scores, highest first: by class for a classifier, else a list for each row, or output of a
            regression; one list for one row of shape (n_features_out,).

        Raises
        ------
        TypeError
            If `of` is neither, or `terms` are not strings.
        ValueError
            If `of` has another number of columns, or there are no words to choose from.

        Examples
        --------
        >>> from sklearn.svm import LinearSVC
        >>> from skembed import TextVectorizer
        >>> X, y = ["Cats purr.", "Shares fell."] * 20, ["animals", "money"] * 20
        >>> emb = TextVectorizer(random_state=0)
        >>> rows = emb.fit_transform(X, y)
        >>> found = emb.top_terms(LinearSVC(random_state=0).fit(rows, y), 2)
        >>> {label: sorted(word for word, score in words) for label, words in found.items()}
        {'animals': ['cats', 'purr'], 'money': ['fell', 'shares']}
        """
        check_is_fitted(self)
        if isinstance(n_terms, bool) or not isinstance(n_terms, (int, np.integer)) or not 0 < n_terms <= INT32_MAX:
            raise ValueError(f"n_terms must be a positive integer, got {brief(n_terms)}.")
        classes = None
        if hasattr(of, "fit"):
            directions, _, classes = _linear(of, self.n_features_out_)
            if classes is not None and len(classes) < len(of.classes_):  # the one output is for the second of two
                directions, classes = np.concatenate([-directions, directions]), of.classes_
            is_one = classes is None and len(directions) == 1
        else:
            directions, is_one = _rows_of(of, self.n_features_out_)
        words = self._words() if terms is None else list(dict.fromkeys(terms))
        if isinstance(terms, str) or not all(isinstance(word, str) for word in words):
            raise TypeError(f"terms must be a list of strings, got {brief(terms)}.")
        if not words:
            raise ValueError("There are no words to choose from. Pass terms.")
        scores = [
            self._output(self._own_rows(words[first : first + _STEP])) @ directions.T
            for first in range(0, len(words), _STEP)
        ]
        found = [_best(words, column, n_terms) for column in np.concatenate(scores).T]
        if classes is not None:
            return dict(zip(classes.tolist(), found))
        return found[0] if is_one else found

    def _words(self: Any) -> list[str]:
        """The words that two texts have, or all if there are none; one in a single text is often like it by chance."""
        vectorizer = self._built_in.tfidf.get("words")
        if vectorizer is None:
            return []
        n_words = count_words(vectorizer)
        words, idf = vectorizer.get_feature_names_out()[:n_words], vectorizer.idf_[:n_words]
        is_common = (1 + self._built_in.n_texts) / np.exp(idf - 1) > 2.5  # one more than the texts with it
        return [str(word) for word in (words[is_common] if is_common.any() else words)]

    def _parts(self: Any, name: str, text: str) -> tuple[list[str], np.ndarray]:
        """Terms of a text, and a row for each, whose sum is the row of the text in a block."""
        block, parts = self.blocks_[name], None
        if name not in self._given:
            text = compose(text)
        if isinstance(block, PooledVectorizer):
            terms, parts = weighted_vectors(block, block._fitted_state(), text)
            if name in self._given and self._given[name].stretch is not None:
                parts = parts @ self._given[name].stretch
        elif name in self._given:
            terms, row = names_of(self._given[name]), csr_array(self._given[name].rows([text]))
        else:
            vectorizer = self._built_in.tfidf[SOURCES.get(name, name)]
            terms, row = vectorizer.get_feature_names_out(), vectorizer.transform([text])
            if name in SOURCES:
                row = row[:, : block.components_.shape[1]]  # without pairs of words
        if parts is None:
            entries = np.arange(row.nnz)
            parts = csr_array((row.data.astype(np.float64), (entries, row.indices)), (row.nnz, row.shape[1]))
            terms = [str(terms[column]) for column in row.indices]
        if name in SOURCES and name not in self._given:
            parts = parts @ block.components_.T.astype(np.float64)
        terms, parts = _merged(terms, parts)
        length = np.linalg.norm(parts.sum(axis=0))
        return terms, parts / (length or 1)


def _merged(terms: list[str], parts: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Each term once, with the sum of its rows."""
    place = {term: row for row, term in enumerate(dict.fromkeys(terms))}
    of_term = [place[term] for term in terms]
    sums = csr_array((np.ones(len(terms)), (of_term, np.arange(len(terms)))), (len(place), len(terms)))
    return list(place), sums @ parts


def _linear(model: BaseEstimator, n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Weights (n_outputs, n_columns), intercepts and classes of the outputs of a fitted linear model."""
    if isinstance(model, Pipeline):
        raise TypeError("classifier is a Pipeline. Pass its last step, and call this of the vectorizer in it.")
    if not hasattr(model, "fit"):
        raise TypeError(f"classifier must be a fitted linear model, got {brief(model)}.")
    check_is_fitted(model)
    coef = getattr(model, "coef_", None)
    if coef is None:
        raise TypeError(f"{type(model).__name__} has no coef_: only the decision of a linear model can be split.")
    coef = np.atleast_2d(coef.toarray() if is_sparse(coef) else coef).astype(np.float64)
    if coef.shape[1] != n_columns:
        raise ValueError(
            f"{type(model).__name__} has weights for {coef.shape[1]} columns, but the rows have {n_columns}. Pass a "
            "model that was fitted to rows of this vectorizer, without a step between them."
        )
    classes = getattr(model, "classes_", None)
    if classes is not None:
        classes = np.asarray(classes)
        if len(coef) == 1 and len(classes) == 2:
            classes = classes[1:]
        if len(coef) != len(classes):
            raise ValueError(
                f"{type(model).__name__} has {len(coef)} rows of weights for {len(classes)} classes. Use one that has "
                "a row for each class, such as LinearSVC."
            )
    return coef, np.broadcast_to(np.ravel(model.intercept_).astype(np.float64), len(coef)), classes


def _rows_of(rows: Rows, n_columns: int) -> tuple[np.ndarray, bool]:
    """Rows as an array, and whether it was one."""
    try:
        found = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
    except (ValueError, TypeError):
        raise TypeError(f"of must be a fitted linear model, or rows of numbers, got {brief(rows)}.") from None
    is_one = found.ndim == 1
    found = np.atleast_2d(found)
    if found.ndim != 2 or found.shape[1] != n_columns or not np.isfinite(found).all():
        raise ValueError(f"of must have rows of {n_columns} finite numbers, as transform returns, got {brief(rows)}.")
    return found, is_one


def _best(terms: list[str], scores: np.ndarray, n_terms: int) -> list[tuple[str, float]]:
    return [(terms[row], float(scores[row])) for row in np.argsort(-scores, kind="stable")[:n_terms]]
