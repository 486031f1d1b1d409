"""The block of TextVectorizer that is learned from a teacher: a model that embeds some of the texts, once."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._base.spelled_words import LEAST_FOR_WARNING
from .._compiled.products import product_by_row
from .._methods.student import StudentVectorizer
from .._pretrained.models import PretrainedModel
from .._pretrained.parameter import PRETRAINED, as_vectorizer
from .._training.ridge import ALPHAS, slices_of
from .._validation.columns import Matrix
from .._validation.messages import warn_at_user
from .._word_vectors.join import unit_rows as unit_lengths
from .given_blocks import GivenBlock, unit_rows
from .text_blocks import naming

STUDENT = "student"
_LEAST = 2  # texts
_MOST_COMPARED = 1_500  # texts that the penalty of the map is found on
_MOST_LANDMARKS = 500  # texts that others are compared with
_SHARPNESS = 4.0  # of the kernel that compares them: on development tasks
_LEAST_VALUE = 1e-6  # of the eigenvalues of that kernel, as part of the largest


@dataclass(eq=False, repr=False)
class StudentBeside:
    """A student beside a pretrained model: a map from the rows of both to the teacher's, by a Gaussian kernel.

    A student of a few hundred texts knows few of the words of new ones. The pretrained model knows them, and the map
    turns what it says to the teacher's directions. Both are sums over words; the kernel, which compares a text with
    some that the teacher has embedded, adds what follows from several words together.
    """

    student: StudentVectorizer
    pretrained: GivenBlock
    landmarks: np.ndarray  # (n_landmarks, n_columns of both) float32: rows of length one that others are compared with
    weights: np.ndarray  # (n_landmarks, n_columns of the student) float32: what each comparison adds to a row

    def transform(self, texts: list[str]) -> np.ndarray:
        """Return a row for each text, of any length."""
        return self.transform_beside(texts, self.pretrained.plain_rows(texts))

    def transform_beside(self, texts: list[str], of_pretrained: np.ndarray) -> np.ndarray:
        """Return the same, from the rows of the pretrained model."""
        both = unit_lengths(np.hstack([self.student.transform(texts), of_pretrained]))
        n_columns = self.weights.shape[1]
        found = (_alike(both[rows], self.landmarks) for rows in slices_of(len(both)))
        return np.concatenate([product_by_row(rows, self.weights.T)[:, :n_columns] for rows in found])


def rows_of(
    given: dict[str, GivenBlock], texts: list[str], left_out: dict[str, np.ndarray] | None = None
) -> dict[str, Matrix]:
    """Rows of each block; those of the student for texts that it has learned from are in `left_out`."""
    rows: dict[str, Matrix] = {}
    for name, block in given.items():
        student = block.transformer
        if texts and isinstance(student, StudentBeside):
            rows[name] = unit_rows(name, student.transform_beside(texts, rows[PRETRAINED]), len(texts))
        else:
            rows[name] = block.plain_rows(texts)
    if left_out:
        rows[STUDENT] = as_of_new(rows[STUDENT], texts, left_out)
    return {name: given[name].stretched(of_texts) for name, of_texts in rows.items()}


def as_of_new(rows: np.ndarray, texts: list[str], left_out: dict[str, np.ndarray]) -> np.ndarray:
    """The rows of a student, those of texts that it has learned from as if these had been left out."""
    return np.array([left_out.get(text, row) for text, row in zip(texts, rows)], rows.dtype).reshape(rows.shape)


@naming(STUDENT, "which learns from the parameter teacher")
def fit_student(
    teacher: PretrainedModel,
    own: list[str],
    n_teacher: int | None,
    n_jobs: int | None,
    seed: int,
    pretrained: GivenBlock | None = None,
) -> tuple[GivenBlock, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The student, and two rows for each text that it learned from: as if it had been left out, and for a classifier.

    The second is halfway from the first to the teacher's: half of what the student gets wrong, as in new texts, and
    half of what the teacher says. With a `pretrained` model, the rows of both are mapped to the teacher's.
    """
    supplier = as_vectorizer(teacher).fit()
    distinct = list(dict.fromkeys(text for text in own if text.strip()))
    if isinstance(supplier.model, Mapping):
        distinct = [text for text in distinct if text in supplier.model]
    if n_teacher is not None and len(distinct) > n_teacher:
        chosen = np.random.default_rng(seed).choice(len(distinct), n_teacher, replace=False)
        distinct = [distinct[row] for row in np.sort(chosen)]
    targets = np.asarray(supplier.transform(distinct)) if distinct else np.zeros((0, 2), np.float32)
    if targets.shape[1] < 2:
        raise ValueError(
            f"The teacher gives rows of {targets.shape[1]} number, but only their directions are learned. Pass a model "
            "whose rows have two numbers or more."
        )
    has_row = np.asarray(targets.any(axis=1))
    learned = [text for text, has in zip(distinct, has_row) if has]
    if len(learned) < _LEAST:
        zeros = f", and rows of zeros for {len(distinct) - len(learned)} others" if len(learned) < len(distinct) else ""
        raise ValueError(
            f"The teacher has rows of {len(learned)} texts of X and corpus{zeros}. Pass {_LEAST} texts or more, not "
            "counting repeated and empty ones."
        )
    student = StudentVectorizer(n_jobs=n_jobs, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "StudentVectorizer has learned nothing", UserWarning)  # by rows of `y`
        left_out = student.fit_left_out(learned, targets[has_row])
    if student.score_ <= 0 and (len(learned) >= LEAST_FOR_WARNING or not student.word_vectors_.any()):
        warn_at_user(
            "The student has learned nothing from teacher: for a text that is left out, the mean of the rows is as "
            "good a prediction. Does teacher give the row of each text? Else let it embed more texts, or leave it out."
        )
    of_teacher = student.transform_targets(targets[has_row])
    transformer: StudentVectorizer | StudentBeside = student
    if pretrained is not None:
        both = unit_lengths(np.hstack([left_out, pretrained.rows(learned)]))
        chosen = np.random.default_rng(seed).permutation(len(both))[:_MOST_LANDMARKS]
        landmarks = both[np.sort(chosen)]
        values, vectors = np.linalg.eigh(_alike(landmarks, landmarks).astype(np.float64))
        kept = values > _LEAST_VALUE * values[-1]
        root = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)
        weights, left_out = _map_to(of_teacher, _alike(both, landmarks) @ root, seed)
        transformer = StudentBeside(student, pretrained, landmarks, root @ weights)
    left_out = unit_rows(STUDENT, left_out, len(learned))
    halfway = unit_lengths(left_out + of_teacher)
    block = GivenBlock(STUDENT, transformer, left_out.shape[1])
    return block, dict(zip(learned, left_out)), dict(zip(learned, halfway))


def _alike(rows: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """How much each row is like each landmark, both of length one: 1 where they are the same. Zeros for zeros."""
    found = np.exp(np.float32(_SHARPNESS) * (product_by_row(rows, landmarks)[:, : len(landmarks)] - 1))
    found[~rows.any(axis=1)] = 0
    return np.asarray(found)


def _map_to(targets: np.ndarray, rows: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A map of rows to targets by ridge regression, and its predictions as if each row had been left out."""
    values, vectors = np.linalg.eigh(rows.T.astype(np.float64) @ rows)
    values = np.maximum(values, 0)
    turned = rows @ vectors
    products = turned.T @ targets

    def left_out(alpha: float, some: slice | np.ndarray) -> np.ndarray:
        predicted = turned[some] @ (products / (values + alpha)[:, None])
        leverage = (np.square(turned[some]) @ (1 / (values + alpha)))[:, None]
        return np.asarray((predicted - leverage * targets[some]) / np.maximum(1 - leverage, 1e-6))

    some: slice | np.ndarray = slice(None)
    if len(rows) > _MOST_COMPARED:
        some = np.random.default_rng(seed).choice(len(rows), _MOST_COMPARED, replace=False)
    alpha = ALPHAS[np.argmin([np.square(targets[some] - left_out(alpha, some)).sum() for alpha in ALPHAS])]
    weights = vectors @ (products / (values + alpha)[:, None])
    return weights.astype(np.float32), left_out(alpha, slice(None)).astype(np.float32)
