"""The methods of the tables: every estimator that learns is among them, with its papers' settings."""

import pytest
from estimators import PAIRED, SUPERVISED, TRAINED_CLASSES, corpus, make

from benchmarks.papers.methods import DEFAULT_METHODS, METHODS, fit_to_corpus

MORE_THAN_TEXT = [*PAIRED, *SUPERVISED]


@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if name not in MORE_THAN_TEXT])
def test_method_is_in_the_tables(name):
    cls = type(make(name))
    rows = [row for row, method in METHODS.items() if type(method.make(corpus(), 0, 1)) is cls]
    assert set(rows) & set(DEFAULT_METHODS)
    made = [METHODS[row].make(corpus(), 7, 1) for row in rows]
    assert any(model.get_params() == cls(random_state=7, n_jobs=1).get_params() for model in made)
    assert len(rows) >= 1 + bool(cls._paper_settings)
    assert all(model.random_state == 7 and model.stemmer is None for model in made)


@pytest.mark.parametrize("name", PAIRED)
def test_method_that_learns_from_pairs_is_in_the_tables_of_similarity(name):
    cls = type(make(name))
    rows = [row for row in METHODS.values() if row.pairs and issubclass(cls, type(row.make(corpus(), 0, 1)))]
    kinds = [("phrases",), ("sentences",), ("phrases", "sentences")]
    assert sorted({row.pairs for row in rows}) == sorted(kinds) and len(rows) == len(kinds) * (
        1 + bool(cls._paper_settings)
    )
    assert all("sts" in row.tables and "senteval" not in row.tables for row in rows)


@pytest.mark.parametrize("name", SUPERVISED)
def test_method_that_needs_targets_is_in_no_table(name):
    assert not [row for row, method in METHODS.items() if isinstance(make(name), type(method.make(corpus(), 0, 1)))]


@pytest.mark.parametrize("name", ["tf-idf of the compared sentences", "tf-idf on stems of the compared sentences"])
def test_tfidf_of_the_compared_sentences_is_in_the_tables_of_similarity(name):
    pytest.importorskip("snowballstemmer")
    assert name in DEFAULT_METHODS and METHODS[name].tables == ("sts", "sick", "training")
    model = fit_to_corpus(METHODS[name].make(corpus(), 0, 1), corpus())
    rows = model.transform(["unseen words here", "an unseen word"]).toarray()
    assert rows.shape == (2, 4 if "stems" in name else 5) and rows[0] @ rows[1] > 0.1
