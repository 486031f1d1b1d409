"""A `y` that has a length has that of the text, also where its values are not learned from."""

import numpy as np
import pytest
from estimators import CLASSES, GROUPS, TEXT, corpus, vectors
from scipy import sparse

from skembed import CSEVectorizer, PairCorpus, ParaphraseVectorizer
from skembed._base.context import ContextVectorizer
from skembed.research import GRANVectorizer

CONTEXT = [cls for cls in CLASSES if issubclass(cls, ContextVectorizer)]
every = pytest.mark.parametrize("cls", CONTEXT, ids=lambda cls: cls.__name__)
SMALL = {"n_components": 6, "max_iter": 1, "random_state": 0}
TOPIC = np.arange(90) % 3
PAIRS = [("cheap flights", "low cost tickets"), ("rent a car", "car hire")] * 9


@every
@pytest.mark.parametrize("method", ["fit", "partial_fit", "estimate_memory"])
@pytest.mark.parametrize(
    ("y", "options"),
    [
        ([0.1, 0.2], {}),
        ([0.1, 0.2], {"context": "order"}),
        (["a"] * 2, {"context": "order"}),
        ([np.nan] * 2, {"context": "order"}),
        (np.zeros((2, 90)), {"context": "order"}),
        (sparse.csr_matrix(np.eye(2, 90)), {"context": "order"}),
        (np.full((2, 3), 0.5), {}),
    ],
    ids=["targets", "order", "names", "NaN", "matrix", "sparse", "matrix of targets"],
)
@pytest.mark.filterwarnings("ignore:.* learns from neighbouring sentences")
def test_context_methods(cls, method, y, options):
    model = cls(**options, **SMALL)
    with pytest.raises(ValueError, match="y has 2 values, but the text has 90 sentences. Pass one for each"):
        getattr(model, method)(TEXT, y)
    with pytest.raises(ValueError, match="y has 2 values, but the text has 90 sentences"):
        getattr(model, method)(corpus(), y)
    assert not hasattr(model, "vocabulary_")


@every
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_beside_groups(cls, method):
    with pytest.raises(ValueError, match="y has 5 values, but the text has 90 sentences"):
        getattr(cls(**SMALL), method)(TEXT, TOPIC[:5], groups=GROUPS)
    with pytest.raises(ValueError, match="y has 5 values, but the text has 90 sentences"):
        getattr(cls(**SMALL), method)(iter(TEXT), TOPIC[:5], groups=GROUPS)  # its length is known when it is read


@every
def test_beside_a_corpus_it_belongs_to_the_sentences_of_the_pipeline(cls):
    model = cls(corpus=corpus(), **SMALL)
    with pytest.raises(ValueError, match="y has 90 values, but X has 4 sentences"):
        model.fit(TEXT[:4], TOPIC)
    found = [model.fit(X, y) for X, y in ((TEXT[:4], TOPIC[:4]), (TEXT[:4], None), (iter(TEXT[:4]), TOPIC))]
    assert len({str(vectors(one)) for one in found}) == 1


@every
def test_the_values_do_not_matter_where_the_order_is_learned(cls):
    expected = vectors(cls(context="order", **SMALL).fit(TEXT, groups=GROUPS))
    for y in (TOPIC, np.full(90, np.nan), [None] * 90, np.full((90, 2), np.nan)):
        assert vectors(cls(context="order", **SMALL).fit(TEXT, y, groups=GROUPS)) == expected


@pytest.mark.parametrize("cls", [ParaphraseVectorizer, CSEVectorizer, GRANVectorizer])
def test_methods_of_pairs(cls):
    model = cls(8, max_iter=1, corpus=PairCorpus.from_pairs(PAIRS))
    for method in (model.fit, model.partial_fit, model.fit_transform, model.estimate_memory):
        with pytest.raises(ValueError, match="y has 2 values, but X has 3 sentences"):
            method(["a car", "a flight", "rent"], [1, 2])
    assert not hasattr(model, "vocabulary_")
    model.fit(["a car", "a flight", "rent"], [1, 2, 1]).fit(iter(["a car", "a flight"]), [1])
