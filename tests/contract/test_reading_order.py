"""A method that learns from neighbouring sentences warns where labels say that there are hardly any neighbours."""

import warnings

import numpy as np
import pytest
from estimators import CLASSES, GROUPS, NAMES, TEXT, corpus, learned, make
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from skembed import MeanEmbeddingVectorizer, SiameseCBOWVectorizer

Y = np.array([int(group.split()[1]) % 2 for group in GROUPS])
SMALL = {"n_components": 4, "min_count": 1, "max_iter": 1, "random_state": 0}
CONTEXT = [cls for cls in CLASSES if cls._needs_order]
TRAP = (
    r"^{}(, which MeanEmbeddingVectorizer uses,)? learns from neighbouring sentences, but sentences with labels y "
    r"are seldom in reading order\. If X is in reading order, .*groups.*"
    r"corpus=SentenceCorpus\.from_sentences.*Sent2VecVectorizer"
)
by_name = {"ids": lambda cls: cls.__name__}


def in_order(cls):
    """One that learns from the order, whatever `y` is."""
    return cls(**SMALL, **({"context": "order"} if hasattr(cls, "context") else {}))


@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_transform"])
@pytest.mark.parametrize("cls", CONTEXT, **by_name)
def test_labels_without_an_order(cls, method):
    quiet = cls(**SMALL).fit(TEXT)
    with pytest.warns(UserWarning, match=TRAP.format(cls.__name__)) as caught:
        getattr(in_order(cls), method)(TEXT, Y)
    assert len(caught) == 1 and len(str(caught[0].message)) < 400
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="neighbouring"):
        assert learned(in_order(cls).fit(TEXT, Y)) == learned(quiet)  # y is not used
    with pytest.warns(UserWarning, match="neighbouring"):
        assert learned(cls(**SMALL).fit(TEXT, Y + 0.5)) == learned(quiet)  # nor the target of a regression


@pytest.mark.parametrize("cls", CONTEXT, **by_name)
def test_the_headline_pipeline(cls):
    pipeline = Pipeline([("emb", in_order(cls)), ("svm", LinearSVC(random_state=0))])
    with pytest.warns(UserWarning, match=TRAP.format(cls.__name__)) as caught:
        pipeline.fit(TEXT, Y)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=TRAP.format(cls.__name__)):
        cross_val_score(pipeline, TEXT, Y, cv=2)


@pytest.mark.parametrize("cls", CONTEXT, **by_name)
def test_a_source_that_is_to_learn_from_neighbours(cls):
    model = MeanEmbeddingVectorizer(word_vectors=[cls(**SMALL), {"cat": [1.0]}])
    with pytest.warns(UserWarning, match=TRAP.format(cls.__name__)):
        model.fit(TEXT, Y)


@pytest.mark.parametrize("cls", CONTEXT, **by_name)
def test_no_warning_where_there_is_an_order_or_no_label(cls):
    learned_source = cls(**SMALL).fit(TEXT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cls(**SMALL).fit(TEXT)
        cls(**SMALL).fit(TEXT, Y, groups=GROUPS)
        cls(**SMALL).fit(corpus(), Y)
        cls(corpus=corpus(), **SMALL).fit(TEXT, Y)
        cls(**SMALL).partial_fit(TEXT, Y, groups=GROUPS).partial_fit(corpus())
        make_pipeline(FrozenEstimator(learned_source), LinearSVC(random_state=0)).fit(TEXT, Y)
        for source in (learned_source, cls(corpus=corpus(), **SMALL)):
            MeanEmbeddingVectorizer(word_vectors=[source]).fit(TEXT, Y)
        MeanEmbeddingVectorizer(word_vectors=[cls(**SMALL)]).fit(TEXT, Y, groups=GROUPS)


@pytest.mark.parametrize("name", [name for name in NAMES if make(name)._needs_order_for is None])
def test_methods_that_learn_from_words_are_quiet(name):
    assert not isinstance(make(name), tuple(CONTEXT))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        make(name).fit(TEXT, Y)


def test_an_estimator_that_brings_its_own_source_says_which_option_to_set():
    source = SiameseCBOWVectorizer(**SMALL)
    pipeline = make_pipeline(MeanEmbeddingVectorizer(word_vectors=source, random_state=0), LinearSVC(random_state=0))
    advice = r"SiameseCBOWVectorizer, which MeanEmbeddingVectorizer uses, .*word_vectors=Sent2VecVectorizer\(\.\.\.\)"
    with pytest.warns(UserWarning, match=advice) as caught:
        pipeline.fit(TEXT, Y)
    assert [warning.filename for warning in caught] == [__file__]
