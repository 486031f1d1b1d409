"""One row of a sparse array, which is one-dimensional: every door that takes rows takes it as a table of one row."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from skembed import CBOSVectorizer
from skembed.evaluation import pair_features
from skembed.metrics import paired_cosine_similarity
from skembed.search import communities, near_duplicates, nearest

ROWS = np.float32([[1, 0, 2], [0, 3, 0], [2, 0, 4], [0, 0, 0]])
TABLE = sparse.csr_array(ROWS)
FORMS = {
    "a row of csr_array": lambda row: one_dimensional(TABLE, row),
    "one-dimensional csr_array": lambda row: one_dimensional(TABLE, row).tocsr(),
    "one-dimensional coo_array": lambda row: sparse.coo_array(ROWS[row]),
    "a row of csr_matrix": lambda row: sparse.csr_matrix(ROWS)[row],
}


def one_dimensional(array, row):
    """A row of a sparse array."""
    try:
        return array[row]
    except NotImplementedError:
        pytest.skip("this version of scipy takes no row of a sparse array")


every_form = pytest.mark.parametrize("row_of", list(FORMS.values()), ids=list(FORMS))


@every_form
def test_searches_take_one_row(row_of):
    for vectors in (TABLE, sparse.csr_matrix(ROWS), ROWS):
        for found, expected in zip(nearest(row_of(0), vectors, 2), nearest(ROWS[:1], vectors, 2)):
            assert_array_equal(found, expected)
    assert_array_equal(nearest(TABLE, row_of(0), 1)[0].ravel(), [0, 0, 0, -1])
    assert near_duplicates(row_of(0))[0].shape == (0, 2)
    assert_array_equal(communities(row_of(0))[0], [-1])


@every_form
def test_pairs_of_one_row(row_of):
    expected = paired_cosine_similarity(ROWS[:1], ROWS[2:3])
    for second in (row_of(2), ROWS[2:3]):
        assert paired_cosine_similarity(row_of(0), second) == pytest.approx(expected)
        features = pair_features(row_of(0), second)
        assert_array_equal(features.toarray() if sparse.issparse(features) else features, [[2, 0, 8, 1, 0, 2]])


def test_one_dense_row_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"^queries must be .* shape \(3,\)\. If it is one row, pass \[queries\]"):
        nearest(ROWS[0], ROWS)
    assert_array_equal(nearest([ROWS[0]], ROWS, 2)[0], [[0, 2]])
    with pytest.raises(ValueError, match="got a list. If it is one row, pass"):
        near_duplicates([1.0, 2.0])


def test_sparse_vectors_have_similar_words():
    model = CBOSVectorizer(5, min_count=1, random_state=0).fit(["the cat drinks milk", "the bank lends money"] * 20)
    rows = sparse.csr_matrix(model.transform(["cat milk", "money"]))
    expected = model.most_similar(rows.toarray(), 1)
    assert model.most_similar(rows, 1) == model.most_similar(sparse.csr_array(rows), 1) == expected
    assert model.most_similar([rows[0], rows[1]], 1) == expected
    assert model.most_similar(positive=rows[1], n_words=1) == model.most_similar(positive=rows[1].toarray(), n_words=1)
    assert model.most_similar(one_dimensional(sparse.csr_array(rows), 0), 1) == expected[0]
