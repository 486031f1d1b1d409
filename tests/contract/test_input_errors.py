"""Wrong inputs and parameters give an error that says what is wrong, and leave the estimator as it was."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimators import (
    CLASSES,
    FAST,
    GIVEN,
    GROUPS,
    KINDS,
    METHODS,
    NAMES,
    SPARSE,
    TEXT,
    TRAINED,
    TRAINED_CLASSES,
    Cutter,
    corpus,
    default,
    diverging,
    fitted,
    learned,
    make,
    stem,
)
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from skembed import SentenceCorpus

every = pytest.mark.parametrize("name", NAMES)
every_class = pytest.mark.parametrize("name", METHODS)
every_kind = pytest.mark.parametrize("name", KINDS)
every_that_counts = pytest.mark.parametrize(
    "name",  # without one that keeps all words of a model
    [
        cls.__name__
        for cls in CLASSES
        if "min_count" in make(cls.__name__).get_params() and cls.__name__ != "AdaptedVectorizer"
    ],
)
LEARNING = [
    (cls.__name__, name) for cls in CLASSES for name in ("fit", "partial_fit", "fit_transform") if hasattr(cls, name)
]
every_method = pytest.mark.parametrize(("name", "method"), LEARNING + [(cls.__name__, "transform") for cls in CLASSES])

# What is no collection of sentences, and what the message must say.
NOT_SENTENCES = {
    "string": ("one sentence", ValueError, "one str"),
    "bytes": (b"one sentence", ValueError, "one bytes"),
    "2-D array": (np.array(TEXT[:4]).reshape(2, 2), ValueError, r"one-dimensional.*\(2, 2\)"),
    "DataFrame": (pd.DataFrame({"text": TEXT, "more": TEXT}), ValueError, r'X\["text"\]'),
    "polars DataFrame": (pl.DataFrame({"text": TEXT, "more": TEXT}), ValueError, r'X\["text"\]'),
    "None": (None, TypeError, "None"),
    "number": (3.5, TypeError, "3.5"),
    "dict": ({"a": "b"}, TypeError, "no reading order"),
    "set": ({"a", "b"}, TypeError, "no reading order"),
}
# What is no sentence; it stands in row 2.
NOT_A_SENTENCE = {
    "None": (None, "missing"),
    "NaN": (float("nan"), "missing"),
    "NA": (pd.NA, "missing"),
    "number": (7, "int"),
    "bytes": (b"cat", "bytes"),
    "tokens": (["cat", "dog"], "analyzer"),
}


@every_method
def test_not_a_collection_of_sentences(name, method):
    for X, error, message in NOT_SENTENCES.values():
        _refused(name, method, X, error, message)


@every_method
def test_the_row_that_is_no_sentence_is_named(name, method):
    for item, message in NOT_A_SENTENCE.values():
        _refused(name, method, [*TEXT[:2], item, *TEXT[2:]], TypeError, f"(?i)row 2 .*{message}")
        _refused(name, method, iter([*TEXT[:2], item, *TEXT[2:]]), TypeError, f"(?i)row 2 .*{message}")


def _refused(name, method, X, error, message):
    estimator = copy.copy(fitted(name)) if method == "transform" else make(name)
    before = learned(estimator)
    with pytest.raises(error, match=message):
        getattr(estimator, method)(X)
    assert learned(estimator) == before


@every_class
def test_corpus_does_not_excuse_a_wrong_x(name):
    for X, error, message in map(NOT_SENTENCES.get, ["string", "2-D array", "None", "dict"]):
        with pytest.raises(error, match=message):
            make(name, corpus=corpus()).fit(X)


@every_class
def test_no_sentence(name):
    for X in ([], (), np.array([], dtype=str), iter([])):
        with pytest.raises(ValueError, match="no sentence"):
            make(name).fit(X)


@every
def test_no_word(name):
    if make(name).get_params().get("word_vectors") is None:
        for X in ([""], ["", "  "], ["?!", "...", "—"]):
            with pytest.raises(ValueError, match="no words"):
                make(name).fit(X)


@every_that_counts
def test_no_word_is_left(name):
    with pytest.raises(ValueError, match=r"No word is left.*min_count=1000"):
        make(name, min_count=1000).fit(TEXT)
    with pytest.raises(ValueError, match="no words"):
        make(name, stop_words=["cat", "dog"]).fit(["cat dog", "dog", "cat"])


# -- groups and corpora ----------------------------------------------------------------------------------------------


@every_class
def test_groups_of_another_length(name):
    for groups in (GROUPS[:-1], [*GROUPS, "more"], [], range(5), np.zeros(3)):
        with pytest.raises(ValueError, match=r"groups has.*(90|89) sentences"):
            make(name).fit(TEXT, groups=groups)


@every_class
def test_group_missing(name):
    with pytest.raises(ValueError, match="groups has no document id at row 4"):
        make(name).fit(TEXT, groups=[*GROUPS[:4], None, *GROUPS[5:]])


@pytest.mark.parametrize(("name", "method"), LEARNING)
def test_a_corpus_knows_its_documents(name, method):
    with pytest.raises(ValueError, match="groups must be None"):
        getattr(make(name), method)(corpus(), groups=GROUPS)


CONTRADICTIONS = {
    "token_pattern": r"\w\w+",
    "lowercase": False,
    "stop_words": ["the"],
    "stemmer": stem,
    "analyzer": str.split,
}


@pytest.mark.parametrize("name", [name for name in KINDS if make(name).stemmer is None])
@pytest.mark.parametrize("option", CONTRADICTIONS)
def test_option_that_contradicts_the_corpus(name, option):
    changed = {option: CONTRADICTIONS[option]}
    for estimator, X in ((make(name, **changed), corpus()), (make(name, corpus=corpus(), **changed), TEXT)):
        with pytest.raises(ValueError, match=f"{option}=.*contradicts"):
            estimator.fit(X)
    same = SentenceCorpus.from_sentences(TEXT, GROUPS, **changed)
    assert learned(make(name, **changed).fit(same)) == learned(make(name).fit(same))


@every_kind
def test_options_that_clone_copies_agree_with_the_corpus(name):
    cut = Cutter(3).stem
    estimator = make(name, stemmer=cut, corpus=SentenceCorpus.from_sentences(TEXT, GROUPS, stemmer=cut))
    again = clone(estimator)
    assert again.stemmer is not cut and again.stemmer != cut
    assert learned(again.fit(TEXT)) == learned(estimator.fit(TEXT))
    with pytest.raises(ValueError, match="stemmer=.*contradicts"):
        again.set_params(stemmer=Cutter(4).stem).fit(TEXT)


@every_that_counts
def test_min_count_that_contradicts_the_corpus(name):
    frequent = SentenceCorpus.from_sentences(TEXT, GROUPS, min_count=4)
    with pytest.raises(ValueError, match="min_count=3 contradicts"):
        make(name, min_count=3).fit(frequent)
    assert make(name, min_count=5).fit(frequent).word_counts_.min() >= 5


def test_corpus_without_rare_words_suits_an_estimator_that_counts_none():
    given = {"cat": [1.0, 0.0], "dog": [0.0, 1.0], "mat": [1.0, 1.0]}
    corpus = SentenceCorpus.from_sentences(["cat dog mat"] * 9, min_count=3)
    assert make("MetaEmbeddingVectorizer", word_vectors=[given, given]).fit(corpus).coverage_ == 1


@every
def test_corpus_of_another_tokenizer_at_transform(name):
    other = SentenceCorpus.from_sentences(TEXT, lowercase=False)
    with pytest.raises(ValueError, match="lowercase"):
        fitted(name).transform(other)


# -- parameters ------------------------------------------------------------------------------------------------------


def _numeric_parameters():
    for cls in CLASSES:
        for parameter, constraints in cls._parameter_constraints.items():
            for interval in constraints:
                if isinstance(interval, Interval):
                    yield pytest.param(cls.__name__, parameter, interval, id=f"{cls.__name__}-{parameter}")


@pytest.mark.parametrize(("name", "parameter", "interval"), list(_numeric_parameters()))
def test_number_outside_its_interval(name, parameter, interval):
    step = 1 if interval.type.__name__ == "Integral" else 0.5
    wrong = [interval.left - step, "many", [1], float("nan"), complex(1)]
    if interval.closed in ("right", "neither"):
        wrong.append(type(step)(interval.left))
    if interval.right is not None:
        wrong.append(interval.right + step)
    if interval.type.__name__ == "Integral":
        wrong.append(2.5)
    for i, value in enumerate(wrong):
        for method in [method for cls_name, method in LEARNING if cls_name == name][: None if i == 0 else 1]:
            estimator = make(name, **{parameter: value})
            with pytest.raises(ValueError, match=rf"The '{parameter}' parameter of {name} must be"):
                getattr(estimator, method)(TEXT)
            assert not learned(estimator)


@every_class
def test_every_number_has_an_interval(name):
    estimator = make(name)
    for parameter, value in default(type(estimator)).get_params(deep=False).items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and parameter not in ("verbose",):
            constraints = estimator._parameter_constraints[parameter]
            assert any(isinstance(constraint, Interval) for constraint in constraints), parameter


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_zero_jobs(name):
    with pytest.raises(ValueError, match="n_jobs"):
        make(name, n_jobs=0).fit(TEXT)
    assert learned(make(name, n_jobs=-1).fit(TEXT, groups=GROUPS)) == learned(fitted(name))


@pytest.mark.parametrize(
    "ngram_range", [(0, 1), (2, 2), (1, 0), (1,), (1, 2, 3), (1, "2"), (1, 1.5), [], (2, 1), (1, None)]
)
def test_wrong_ngram_range(ngram_range):
    for estimator in (make("Sent2VecVectorizer"), make("Sent2VecVectorizer", warm_start=True).fit(TEXT)):
        estimator.set_params(ngram_range=ngram_range)
        before = learned(estimator)
        with pytest.raises(ValueError, match="ngram_range"):
            estimator.fit(TEXT)
        assert learned(estimator) == before


@pytest.mark.parametrize("method", ["fit", "partial_fit", "transform", "similarity"])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Sent2VecVectorizer", {"ngram_range": (1, 2)}),
        ("Sent2VecVectorizer-bigrams", {"ngram_range": (1, 3)}),
        ("Sent2VecVectorizer-bigrams", {"n_buckets": 100_000}),
    ],
)
def test_ngrams_that_were_not_learned(name, changes, method):
    """They have no rows in the weights: looking there would be looking into foreign memory."""
    estimator = make(name, warm_start=True).fit(TEXT, groups=GROUPS).set_params(**changes)
    before = learned(estimator)
    with pytest.raises(ValueError, match=f"{[*changes][0]}=.* differs from"):
        getattr(estimator, method)(*([TEXT] * (1 + (method == "similarity"))))
    assert learned(estimator) == before
    assert learned(estimator.set_params(warm_start=False).fit(TEXT)) == learned(make(name, **changes).fit(TEXT))


@pytest.mark.parametrize("word_vectors", [None, GIVEN])
def test_too_many_removed_components(word_vectors):
    n = 8 if word_vectors is None else 10
    estimator = make("MeanEmbeddingVectorizer", n_components=n, word_vectors=word_vectors, n_removed_components=n)
    with pytest.raises(ValueError, match=f"n_removed_components={n}"):
        estimator.fit(TEXT)
    assert not learned(estimator)
    rows = estimator.set_params(n_removed_components=n - 1).fit_transform(TEXT)
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("n_components", [90, 88, 1000])
def test_too_many_principal_components(n_components):
    estimator = make("BOWPCA", n_components=n_components)
    with pytest.raises(ValueError, match=f"n_components={n_components} must be smaller"):
        estimator.fit(TEXT)
    assert not learned(estimator)


@every_class
def test_wrong_stemmer(name):
    for stemmer in ("klingon", "", 3):
        with pytest.raises(ValueError, match="stemmer"):
            make(name, stemmer=stemmer).fit(TEXT)


@every_class
def test_wrong_token_pattern(name):
    with pytest.raises(ValueError, match="token_pattern"):
        make(name, token_pattern="(").fit(TEXT)


# -- divergence ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "n_jobs"), [(name, 1) for name in TRAINED] + [(name, 3) for name in TRAINED_CLASSES])
def test_divergence(name, n_jobs):
    start, changes = diverging(name)
    estimator = make(name, n_jobs=n_jobs, **{**start, **changes})
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"diverged in pass \d+ with learning_rate=10+"):
        estimator.fit(TEXT, groups=GROUPS)
    assert not learned(estimator)


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_divergence_of_a_warm_start_keeps_what_was_learned(name):
    start, changes = diverging(name)
    estimator = make(name, warm_start=True, **start).fit(TEXT, groups=GROUPS)
    before = learned(estimator)
    assert before == learned(make(name, **start).fit(TEXT, groups=GROUPS))
    estimator.set_params(**changes)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="diverged"):
        estimator.fit(TEXT, groups=GROUPS)
    assert learned(estimator) == before
    estimator.set_params(**{key: make(name, **start).get_params()[key] for key in changes})
    estimator.fit(TEXT, groups=GROUPS)
    assert estimator.n_iter_ == 2 * FAST["max_iter"]


def test_sparse_estimators_are_tested_too():
    assert SPARSE
