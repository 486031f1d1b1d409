"""The block "halves" of TextVectorizer: pairs of random halves, read once; and products of sparse rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random

from skembed import PairCorpus, ParaphraseVectorizer, SentenceCorpus, TextVectorizer
from skembed._meta_estimators import halves, projections
from skembed._text.words import WORD

TEXTS = ["The cat sat on the mat", "Rain!", "", "a a b", "Le café était là", "北京 is a city", "?!"]


def test_halves_of_ids_are_those_of_strings():
    corpus = SentenceCorpus.from_sentences(TEXTS, token_pattern=WORD)
    found = halves._encoded_halves(corpus, np.array([[0, 1], [1, 2], [3, 4]]), np.random.RandomState(0))
    strings = [(TEXTS[0], TEXTS[1]), (TEXTS[3], TEXTS[4])]  # the third text has no word
    random_state = np.random.RandomState(0)
    for _ in range(3):
        sides = iter((random_state.random_sample(corpus.n_tokens) < 0.5).tolist())
        for words in corpus:
            drawn = [(word, next(sides)) for word in words]
            pair = tuple(" ".join(word for word, side in drawn if side is wanted) for wanted in (True, False))
            strings += [pair] if all(pair) else []
    assert found == PairCorpus.from_pairs(strings, token_pattern=WORD)


@pytest.mark.parametrize("texts", [["cat", "dog"], ["", "?!"]], ids=["one word each", "no word"])
def test_no_halves(texts):
    pairs = np.empty((0, 2), np.int64)
    assert halves.fit_halves(texts, pairs, 10, 100, None, np.random.RandomState(0)) is None


def test_an_error_says_which_block_to_leave_out(monkeypatch):
    def fit(self, pairs):
        raise MemoryError("ParaphraseVectorizer needs 9 GiB of memory")

    monkeypatch.setattr(ParaphraseVectorizer, "fit", fit)
    with pytest.raises(MemoryError) as found:
        TextVectorizer().fit(TEXTS)
    assert found.value.__notes__ == [
        'In the block \'halves\' of TextVectorizer, a ParaphraseVectorizer. blocks={"halves": "drop"} leaves it out.'
    ]


def test_products_are_those_of_scipy(monkeypatch):
    monkeypatch.setattr(projections, "_STEP", 7)
    rows = csr_array(random(30, 40, density=0.2, random_state=0, dtype=np.float32))
    columns = np.random.default_rng(0).normal(size=(40, 21)).astype(np.float32)
    np.testing.assert_allclose(projections.product(rows, columns), rows @ columns, rtol=1e-5, atol=1e-6)
    fewer = projections.product(rows, columns[:25])
    np.testing.assert_allclose(fewer, rows[:, :25] @ columns[:25], rtol=1e-5, atol=1e-6)
    assert (projections.product(rows[[3]], columns) == projections.product(rows, columns)[3]).all()
    assert projections.product(rows[:0], columns).shape == (0, 21)


@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
def test_directions_are_those_of_a_singular_value_decomposition(shape):
    rows = csr_array(random(*shape, density=0.3, random_state=0, dtype=np.float32))
    rows = csr_array(np.r_[rows.toarray(), rows.toarray()[:5]])  # below full rank on one side
    found = projections.fit_projection(rows, 30, np.random.RandomState(0))
    _, strengths, directions = np.linalg.svd(rows.toarray(), full_matrices=False)
    assert len(found.components_) == np.linalg.matrix_rank(rows.toarray())
    np.testing.assert_allclose(found.singular_values_, strengths[: len(found.components_)], rtol=1e-4)
    dots = np.abs((found.components_ * directions[: len(found.components_)]).sum(axis=1))
    np.testing.assert_allclose(dots, 1, atol=2e-3)
    spread = rows.toarray() @ found.components_.T
    np.testing.assert_allclose(found.explained_variance_, spread.var(axis=0), rtol=1e-2)
