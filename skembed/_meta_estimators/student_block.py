"""The block of TextVectorizer that is learned from a teacher: a model that embeds some of the texts, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._methods.student import StudentVectorizer
from .._pretrained.parameter import as_vectorizer
from .given_blocks import GivenBlock, unit_rows

STUDENT = "student"
_LEAST = 2  # texts


def fit_student(
    teacher: Any, own: list[str], n_texts: int, n_teacher: int | None, n_jobs: int | None, seed: int
) -> tuple[GivenBlock, np.ndarray]:
    """The student, and its rows of the last `n_texts` texts: as of new ones, also of those that it learned from.

    `teacher` embeds at most `n_teacher` of the distinct texts, drawn at random; a mapping has the rows of some.
    """
    supplier = as_vectorizer(teacher).fit()
    distinct = list(dict.fromkeys(text for text in own if text.strip()))
    if isinstance(supplier.model, Mapping):
        distinct = [text for text in distinct if text in supplier.model]
    if n_teacher is not None and len(distinct) > n_teacher:
        chosen = np.random.default_rng(seed).choice(len(distinct), n_teacher, replace=False)
        distinct = [distinct[row] for row in np.sort(chosen)]
    targets = supplier.transform(distinct) if distinct else np.zeros((0, 2), np.float32)
    has_row = np.asarray(targets.any(axis=1))
    learned = [text for text, has in zip(distinct, has_row) if has]
    if len(learned) < _LEAST:
        raise ValueError(f"The teacher has rows of {len(learned)} texts of X and corpus. Pass {_LEAST} texts or more.")
    student = StudentVectorizer(n_jobs=n_jobs, random_state=seed)
    left_out = dict(zip(learned, student.fit_left_out(learned, targets[has_row])))
    texts = own[len(own) - n_texts :]
    rows = student.transform(texts).copy()
    for row, text in enumerate(texts):
        if text in left_out:
            rows[row] = left_out[text]
    return GivenBlock(STUDENT, student, rows.shape[1]), unit_rows(STUDENT, rows, n_texts)
