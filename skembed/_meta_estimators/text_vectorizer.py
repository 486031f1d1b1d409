"""Blocks of columns side by side, each weighted by how well it predicts the labels: in place of tf-idf."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._base.scikit_learn import ReadsText, fit_context, refuse_frames, sparse_rows
from .._compiled.threads import check_n_jobs
from .._corpus.corpus import SentenceCorpus
from .._corpus.input import list_of_texts
from .._pretrained.models import PretrainedModel
from .._pretrained.parameter import PRETRAINED, PretrainedParameter
from .._validation.columns import Labels, Matrix, Sentences
from .._validation.constraints import Constraints, integers
from .._validation.targets import targets_of_rows
from .._validation.values import RandomState
from .block_rows import side_by_side
from .block_weights import SPARSE, BlockWeights, find_weights, tell_apart, with_models
from .explaining import LinearExplanations
from .given_blocks import Block, BlocksParameter, GivenBlock, check_blocks, fit_given, names_of, sampled
from .halves import neighbours_of
from .projections import fit_output
from .related_text import warn_of_unrelated
from .self_training import are_enough, self_train
from .student_block import STUDENT, as_of_new, fit_student, rows_of
from .text_blocks import NAMES, BuiltInBlocks, fit_blocks

_MOST_LABELLED = 1_000  # rows that the weights are found on


class TextVectorizer(LinearExplanations, TransformerMixin, BlocksParameter, PretrainedParameter, ReadsText):
    """Tf-idf of words and characters beside vectors learned from the same text, weighted by the labels.

    Use it in place of :class:`~sklearn.feature_extraction.text.TfidfVectorizer` before a linear classifier, above all
    with few labels: ``make_pipeline(TextVectorizer(), LinearSVC())``. Text without labels helps: pass it as `corpus`.

    Parameters
    ----------
    n_components : int or None, default=None
        None returns the blocks side by side, sparse as the rows of tf-idf. A number returns so many dense columns, the
        strongest directions of the weighted blocks: for trees, clusters, maps and `set_output`.
    corpus : collection of str, SentenceCorpus or None, default=None
        Own text without labels, in any order; the blocks learn from it too, and more from a SentenceCorpus in reading
        order, which must have been made without `stemmer`, `stop_words` and `analyzer`.
    blocks : dict of str to {"default", "drop"} or transformer, default=None
        Changes to the blocks, which `blocks_` lists, by name: "drop" leaves one out, a transformer from texts to rows
        takes its place, a new name adds one. In a grid: ``blocks__halves``, ``blocks__mine__min_df``.
    pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
        A model that somebody else has trained, in any form that :class:`PretrainedVectorizer` takes: its rows are one
        more block, "pretrained". `clone` does not copy it.
    teacher : path, object, callable, mapping, PretrainedVectorizer or None, default=None
        A large model, in any of these forms, that embeds own texts once, during `fit`; a mapping may have the rows of
        some only. A :class:`StudentVectorizer` learns these rows, and gives the block "student".
    n_teacher : int or None, default=5000
        The most texts that the teacher embeds, drawn at random from `X` and `corpus`. None means all.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing text (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    n_jobs : int or None, default=None
        Number of threads of the blocks "characters" and "halves"; -1 means all cores. It does not change one bit of the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the dense blocks, and of those in `blocks` whose own is None.

    Attributes
    ----------
    blocks_ : dict of str to estimator
        The fitted blocks by name: "words" and "characters", sparse tf-idf; "words_lsa" and "characters_lsa", latent
        semantic analysis of these; "halves", a :class:`ParaphraseVectorizer`; and those that were given. A block for
        which the text is too short is left out.
    block_weights_ : dict of str to float
        The weight of each block: what it adds to the squared length of a row. They sum to one. ``print`` says it in
        words.
    n_features_out_ : int
        Number of columns of the output. Less than `n_components` if the texts have fewer directions.

    See Also
    --------
    SearchIndex : Searches documents.
    CBOSVectorizer : Dense vectors learned from labels.

    Notes
    -----
    Each block has rows of length one. Labels, or numbers, set the weights by ridge regression that predicts each row
    from the others; text without labels may also say which directions tell the classes apart. Without labels the
    weights are fixed, and those of the blocks of words are zero. The :ref:`User Guide <text_vectorizer>` says how, and
    what a pretrained model and a student do.

    In `y`, None, NaN and -1 mean no label, as in :mod:`sklearn.semi_supervised`; -1 only where it is the one negative
    number and the labels are not -1 and 1 alone. A classifier behind it in a pipeline would see these rows too: pass
    them as `corpus` there.

    :func:`skembed.save` saves it, unless `blocks` has a transformer: use joblib then.

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

    _built_in: BuiltInBlocks
    _given: dict[str, GivenBlock]
    _projection: TruncatedSVD | None
    blocks_: dict[str, BaseEstimator]
    block_weights_: BlockWeights
    n_features_out_: int

    _parameter_constraints: Constraints = {
        "n_components": [integers(1), None],
        "corpus": "no_validation",  # `fit` reads it, and says what is wrong with it
        "blocks": [dict, None],
        "pretrained": "no_validation",  # `fit` says what it may be
        "teacher": "no_validation",  # as the one before
        "n_teacher": [integers(10), None],
        "missing": [StrOptions({"error", "empty"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        corpus: Sentences | None = None,
        blocks: dict[str, Block] | None = None,
        pretrained: PretrainedModel | None = None,
        teacher: PretrainedModel | None = None,
        n_teacher: int | None = 5000,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.corpus = corpus
        self.blocks = blocks
        self.pretrained = pretrained
        self.teacher = teacher
        self.n_teacher = n_teacher
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context
    def fit(self, X: Sentences, y: Labels = None) -> Self:
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

        Warns
        -----
        UserWarning
            If `corpus` has few of the words of `X`: it may be in another language. If the texts have fewer directions
            than `n_components`.
        """
        self._learn(self._texts(X, "X"), y, returns_rows=False)
        return self

    @fit_context
    def fit_transform(self, X: Sentences, y: Labels = None) -> csr_matrix | csr_array | NDArray[np.float32]:
        """Learn from `X`, then transform it.

        Parameters
        ----------
        X : iterable of str, SentenceCorpus, or table of one column
            Texts.
        y : array-like or None, default=None
            As in `fit`.

        Returns
        -------
        X_new : sparse matrix or ndarray of shape (n_texts, n_features_out), dtype float32
            The same as ``fit(X, y).transform(X)``, but for a block that learns from `y`.
        """
        self._check_output()
        texts = self._texts(X, "X")  # an iterator can be read only once
        return self._output(self._learn(texts, y, returns_rows=True))

    def transform(self, X: Sentences) -> csr_matrix | csr_array | NDArray[np.float32]:
        """Return the blocks side by side, each with the square root of its weight, or dense directions of these.

        Parameters
        ----------
        X : iterable of str, SentenceCorpus, or table of one column
            Texts.

        Returns
        -------
        X_new : sparse matrix or ndarray of shape (n_texts, n_features_out), dtype float32
            Columns as in `get_feature_names_out`. Dense if `n_components` was set in `fit`.

        Raises
        ------
        ValueError
            If `set_output` asks for a data frame, and the rows are sparse.
        """
        check_is_fitted(self)
        self._check_output()
        return self._output(self._own_rows(self._texts(X, "X")))

    def get_feature_names_out(self, input_features: Labels = None) -> NDArray[np.object_]:
        """Get the names of the columns: block and word, characters or number.

        Parameters
        ----------
        input_features : None
            Not used; here for scikit-learn.

        Returns
        -------
        names : ndarray of str objects
            For example "words__cat", "characters__ca", "halves__0"; of dense rows "textvectorizer0".
        """
        check_is_fitted(self)
        if self._projection is not None:
            return np.array([f"textvectorizer{column}" for column in range(self.n_features_out_)], dtype=object)
        names: list[str] = []
        for name, block in self.blocks_.items():
            if name in self._given:
                own: Iterable[object] = names_of(self._given[name])
            else:
                is_tfidf = name in self._built_in.tfidf
                own = block.get_feature_names_out() if is_tfidf else range(self._built_in.n_columns(name))
            names += [f"{name}__{column}" for column in own]
        return np.array(names, dtype=object)

    def _learn(self, texts: list[str], y: Labels, *, returns_rows: bool) -> csr_array:
        """Set the fitted attributes, and return the blocks of the texts side by side, or of none of them."""
        if not texts:
            raise ValueError("X has no text. Pass at least one.")
        check_n_jobs(self.n_jobs)
        targets, has_target = targets_of_rows(y, len(texts))
        random_state = check_random_state(self.random_state)
        corpus = [] if self.corpus is None else self._texts(self.corpus, "corpus")
        own = [*corpus, *texts]
        wanted, transformers = check_blocks(self.blocks)
        transformers |= self._suppliers(transformers)
        warn_of_unrelated(corpus, texts)
        built_in, weighted = fit_blocks(
            own,
            wanted,
            self.n_jobs,
            random_state,
            neighbours=neighbours_of(self.corpus if isinstance(self.corpus, SentenceCorpus) else None, corpus),
            squares_idf=not tell_apart(targets),
        )
        seed = int(random_state.randint(2**31 - 1)) if transformers else 0
        unlabelled = np.flatnonzero(np.append(np.ones(len(corpus), bool), ~has_target))
        sample, unlabelled = sampled(transformers.get(PRETRAINED), own, len(texts), unlabelled)
        self_trains = transformers.keys() <= {PRETRAINED}
        reads_all = self_trains and are_enough(targets, len(unlabelled))
        given, rows = fit_given(transformers, own, len(texts), (targets, has_target), seed, sample, reads_all)
        left_out: dict[str, np.ndarray] = {}
        halfway: dict[str, np.ndarray] = {}
        if self.teacher is not None:
            if STUDENT in given:
                raise ValueError(f"{STUDENT!r} is the block that learns from the teacher. Give yours another name.")
            seed = int(random_state.randint(2**31 - 1))
            given[STUDENT], left_out, halfway = fit_student(
                self.teacher, own, self.n_teacher, self.n_jobs, seed, given.get(PRETRAINED)
            )
            rows[STUDENT] = as_of_new(given[STUDENT].plain_rows(texts), texts, left_out)
        if not rows and not built_in.blocks:
            raise ValueError("No text of X or corpus has a word or characters that another one has. Pass more text.")
        labelled = np.flatnonzero(has_target)
        if len(labelled) > _MOST_LABELLED:
            chosen = np.sort(random_state.choice(len(labelled), _MOST_LABELLED, replace=False))
            labelled, targets = labelled[chosen], targets[chosen]
        if returns_rows or self.n_components is not None:
            kept, of_kept = np.arange(len(texts)), labelled
        else:  # the rows of many texts would take more memory than all else
            kept, of_kept = labelled, np.arange(len(labelled))
        of_own = weighted
        weighted = {name: block[kept + len(corpus)] for name, block in of_own.items()}
        rows = {name: block[kept] for name, block in rows.items()}
        rows |= built_in.rows([texts[row] for row in kept], weighted)
        fitted = built_in.blocks | {name: block.transformer for name, block in given.items()}
        self._built_in, self._given = built_in, given
        self.blocks_ = {name: fitted[name] for name in dict.fromkeys([*NAMES, *given]) if name in fitted}
        sparse = {*SPARSE, *(name for name, block in rows.items() if issparse(block))}
        known = {name: rows[name][of_kept] for name in self.blocks_}
        if halfway:
            rows[STUDENT] = as_of_new(rows[STUDENT], [texts[row] for row in kept], halfway)
        models = [name for name in (PRETRAINED, STUDENT) if name in known]
        weights = find_weights({name: known[name] for name in known if name not in models}, targets, sparse)
        if models:
            weights = with_models(weights, known, targets, models)

        def read(some: np.ndarray) -> dict[str, Matrix]:
            of_some = [own[row] for row in some]
            of_tfidf = {name: block[some] for name, block in of_own.items()}
            return built_in.rows(of_some, of_tfidf) | rows_of(given, of_some, left_out)

        if self_trains and (found := self_train(read, unlabelled, (known, targets), weights, random_state)):
            built_in.stretch(found)
            given |= {name: given[name]._replace(stretch=found[name]) for name in given.keys() & found.keys()}
            rows = {name: block.stretched(rows[name]) for name, block in given.items()}
            rows |= built_in.rows([texts[row] for row in kept], weighted)
        of_user = [name for name in given if name not in models]
        self.block_weights_ = BlockWeights(weights, len(labelled) if tell_apart(targets) else 0, of_user)
        joined = side_by_side(rows, self.block_weights_)
        self._projection = None
        if self.n_components is not None:
            self._projection = fit_output(self.n_components, corpus, self._own_rows, joined, random_state)
        self.n_features_out_ = joined.shape[1] if self._projection is None else len(self._projection.components_)
        return joined

    def _check_output(self) -> None:
        """Refuse a data frame of sparse rows before the work, and say how to get one."""
        if self.n_components is None:
            refuse_frames(self, "Set n_components to make them dense")

    def _own_rows(self, texts: list[str]) -> csr_array:
        """The blocks side by side, each with the square root of its weight."""
        return side_by_side(self._built_in.rows(texts) | rows_of(self._given, texts), self.block_weights_)

    def _output(self, rows: csr_array) -> csr_matrix | csr_array | NDArray[np.float32]:
        if self._projection is None:
            return sparse_rows(rows)
        return np.asarray(rows @ self._projection.components_.T)

    def _texts(self, X: Sentences, name: str) -> list[str]:
        return list_of_texts(X, name, missing=self.missing)
