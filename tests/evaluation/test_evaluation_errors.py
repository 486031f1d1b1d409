"""What evaluation, inspection and metrics say of inputs that are wrong: the argument, and its row or column."""

import numpy as np
import pytest
from labelled_sentences import NAMES, PAIRS, SCORES, X, Y
from sklearn.utils import Bunch

from skembed import BOWPCA
from skembed.evaluation import (
    MTEBEncoder,
    error_agreement,
    nested_classification,
    pair_classification,
    pair_features,
    semantic_classification,
    sick_relatedness,
    sick_scores,
    split_classification,
    sts_intervals,
    sts_similarities,
)
from skembed.metrics import pearson_score

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

BAGS = BOWPCA(n_components=None)
T = Bunch(data=X, target=Y)
P = Bunch(data=PAIRS, target=SCORES)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: semantic_classification(BAGS, X, Y[:-1]),
            ValueError,
            "X and y must have the same length, got 48 and 47",
        ),
        (lambda: semantic_classification(BAGS, X[:-1] + [None], Y), TypeError, r"Row 47 of X is missing \(None\)"),
        (lambda: semantic_classification(BAGS, "a text", Y), ValueError, "X must be an iterable of sentences"),
        (lambda: semantic_classification(BAGS, X, Y[:-1] + [None]), ValueError, "y has no label in row 47"),
        (lambda: semantic_classification(BAGS, X, [np.nan, *Y[1:]]), ValueError, "y has no label in row 0"),
        (
            lambda: nested_classification(BAGS, X, ["a", *Y[1:]]),
            TypeError,
            "y mixes labels of the types text and number",
        ),
        (lambda: nested_classification(BAGS, X, dict(enumerate(Y))), TypeError, "y must be a list, .* got a dict"),
        (lambda: nested_classification(BAGS, X, "labels"), TypeError, "y must be a list, .* got a str"),
        (lambda: nested_classification(BAGS, X, [[y] for y in Y]), TypeError, "y must have one value per row"),
        (
            lambda: nested_classification(BAGS, X, pd.DataFrame({"a": Y, "b": Y})),
            TypeError,
            "y must be a list, .* got a DataFrame with the columns 'a', 'b'",
        ),
        (lambda: nested_classification(BAGS, X, [1] * 48), ValueError, "y must have two labels or more, got only"),
        (lambda: split_classification(BAGS, X, T), TypeError, "train must have the fields 'data', 'target'"),
        (
            lambda: split_classification(BAGS, pd.DataFrame({"text": X, "label": Y}), T),
            ValueError,
            "train has no 'data'; it has 'text', 'label'",
        ),
        (
            lambda: split_classification(BAGS, T, Bunch(data=X, target=NAMES)),
            TypeError,
            "target of train has numbers and target of test has strings",
        ),
        (lambda: split_classification(BAGS, (X, [0] * 48), T), ValueError, "target of train must have two labels"),
        (
            lambda: pair_classification(BAGS, T, T),
            ValueError,
            "Row 0 of data of train is not a pair of sentences but '",
        ),
        (lambda: pair_classification(BAGS, (["ab"], [1]), T), ValueError, "Row 0 of data of train is not a pair"),
        (
            lambda: pair_classification(BAGS, ([("a", None)], [1]), T),
            ValueError,
            r"Row 0 of data of train lacks a sentence: \('a', None\)",
        ),
        (
            lambda: pair_classification(BAGS, (pd.DataFrame({"a": X, "b": X, "c": X}), Y), T),
            ValueError,
            "data of train must have two columns, .* it has 'a', 'b', 'c'",
        ),
        (
            lambda: pair_classification(BAGS, ({"a": X, "b": X[1:]}, Y), T),
            ValueError,
            "'a' of data of train and 'b' of data of train must have the same length, got 48 and 47",
        ),
        (lambda: sick_scores(BAGS, test=(PAIRS, SCORES[1:])), ValueError, "data and target of test .* got 24 and 23"),
        (lambda: sick_scores(BAGS, test=(PAIRS, ["x", *SCORES[1:]])), ValueError, "target of test has 'x' in row 0"),
        (lambda: sick_scores(BAGS, test=(PAIRS, [np.nan, *SCORES[1:]])), ValueError, "target of test has nan in row 0"),
        (lambda: sick_scores(BAGS, test=(PAIRS[:1], [1.0])), ValueError, "test must have two pairs or more, got 1"),
        (lambda: sick_relatedness(BAGS, P, {"data": PAIRS}, P), ValueError, "trial has no 'target'; it has 'data'"),
        (lambda: sick_relatedness(BAGS, P, P, P, alphas=["x"]), ValueError, "alphas has 'x' in row 0"),
        (lambda: sts_similarities(BAGS, {2012: X}), TypeError, "2012 must have the fields 'data', 'target'"),
        (lambda: sts_similarities(BAGS, pd.DataFrame({"target": SCORES})), TypeError, "got the pairs without a name"),
        (lambda: sts_similarities(BAGS, 2012), TypeError, "sets must be a mapping"),
        (lambda: sts_intervals([1, 2]), TypeError, "models must be a mapping of names to similarities"),
        (lambda: error_agreement(Y, {"a": NAMES}), TypeError, "y_true has numbers and predictions of a has strings"),
        (lambda: error_agreement(Y, {"a": Y[1:]}), ValueError, "y_true and predictions of a .* got 48 and 47"),
        (lambda: error_agreement(Y, [("a", Y), ("a", Y)]), ValueError, "predictions has a name twice: 'a', 'a'"),
        (lambda: error_agreement(Y, 5), TypeError, "predictions must be a mapping of names, a table, or a sequence"),
        (lambda: pair_features([1, 2], [[1]]), ValueError, "A must be a table of numbers, .* got a list"),
        (lambda: pair_features([[1], [1, 2]], [[1]]), ValueError, "A must be a table of numbers"),
        (lambda: pearson_score([1, None], [1, 2]), ValueError, "y_true has nan in row 1"),
        (lambda: MTEBEncoder(BAGS).encode([{"text": ["a", None]}]), TypeError, "Row 1 of text is missing"),
        (lambda: MTEBEncoder(BAGS).encode("a cat"), TypeError, "inputs must be a list"),
        (lambda: MTEBEncoder(BAGS).encode([None]), TypeError, "each batch must be a dict"),
    ],
)
def test_what_is_wrong_is_named(call, error, message):
    BAGS.fit(X)
    with pytest.raises(error, match=message) as raised:
        call()
    assert len(str(raised.value)) < 300
