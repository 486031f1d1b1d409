"""What every estimator that learns by gradient descent does with its training options."""

import contextlib
import warnings

import numpy as np
import pytest
from estimators import (
    GROUPS,
    METHODS,
    NAMES,
    OTHER_TEXT,
    PAIRED,
    SUPERVISED,
    TEXT,
    TRAINED,
    TRAINED_CLASSES,
    bits,
    corpus,
    dense,
    fitted,
    learned,
    make,
    vectors,
)

from skembed import SentenceCorpus
from skembed._training.passes import hold_out

trained = pytest.mark.parametrize("name", TRAINED)
trained_classes = pytest.mark.parametrize("name", TRAINED_CLASSES)
# Those with a partial_fit that learns; that of means without word_vectors refines only common components.
refined = pytest.mark.parametrize(
    "name", [n for n in NAMES if hasattr(make(n), "partial_fit") and getattr(make(n), "word_vectors", n) is not None]
)
LONG, LONG_GROUPS = TEXT * 5, [f"{group} {copy}" for copy in range(5) for group in GROUPS]
NEEDS_ORDER = [name for name in TRAINED_CLASSES if make(name)._needs_order]
NEEDS_DOCUMENTS = [*NEEDS_ORDER, *PAIRED]


# -- partial_fit and warm_start --------------------------------------------------------------------------------------


@refined
def test_first_partial_fit_decides_the_vocabulary(name):
    estimator = make(name)
    assert estimator.partial_fit(TEXT[:50], groups=GROUPS[:50]) is estimator
    whole = make(name).fit(TEXT[:50], groups=GROUPS[:50])
    vocabulary = dict(estimator.vocabulary_)
    assert vocabulary == whole.vocabulary_
    width = estimator.n_features_out_
    estimator.partial_fit(TEXT[50:], groups=GROUPS[50:], **({"new_words": "ignore"} if name in TRAINED else {}))
    assert estimator.vocabulary_ == vocabulary
    assert bits(estimator.word_counts_) == bits(whole.word_counts_)
    assert estimator.transform(OTHER_TEXT).shape == (len(OTHER_TEXT), width)


@pytest.mark.parametrize("name", [name for name in METHODS if hasattr(make(name), "partial_fit")])
def test_partial_fit_repeats(name):
    first, second = (make(name) for _ in range(2))
    for estimator in (first, second):
        for start in range(0, 90, 30):
            estimator.partial_fit(TEXT[start : start + 30], groups=GROUPS[start : start + 30])
    assert learned(first) == learned(second)
    assert np.isfinite(dense(first.transform(TEXT))).all()


@trained
def test_partial_fit_is_one_pass_a_call(name):
    estimator = make(name, n_jobs=2)
    before = None
    for n_calls in range(1, 4):
        estimator.partial_fit(TEXT, groups=GROUPS, new_words="ignore")
        assert estimator.n_iter_ == len(estimator.loss_curve_) == n_calls
        assert vectors(estimator) != before
        before = vectors(estimator)
    one_thread = make(name)
    for _ in range(3):
        one_thread.partial_fit(TEXT, groups=GROUPS, new_words="ignore")
    assert learned(one_thread) == learned(estimator)
    # AdaGrad's rate does not depend on how many passes there will be. Vectors of sentences begin anew in each call.
    if one_thread.solver == "adagrad" and not hasattr(one_thread, "store_training_vectors"):
        at_once = make(name, max_iter=3).fit(TEXT, groups=GROUPS)
        assert at_once.loss_curve_ == one_thread.loss_curve_
        assert vectors(at_once) == vectors(one_thread)


@trained
def test_partial_fit_on_unknown_words_changes_no_word(name):
    estimator = make(name).fit(TEXT, groups=GROUPS)
    before = vectors(estimator)
    is_hinge = getattr(estimator, "loss", None) == "hinge"  # whose loss of zero is a success
    match = "found nothing to predict in the text, so the last pass changed nothing"
    with contextlib.nullcontext() if is_hinge else pytest.warns(UserWarning, match=match):
        estimator.partial_fit(["qqq zzz", "zzz qqq", "", "qqq"], new_words="ignore")
    assert vectors(estimator) == before
    assert estimator.loss_curve_[-1] == 0.0


@trained
def test_warm_start_goes_on(name):
    estimator = make(name, warm_start=True).fit(TEXT, groups=GROUPS)
    first = list(estimator.loss_curve_)
    estimator.set_params(max_iter=3).fit(TEXT, groups=GROUPS)
    assert estimator.n_iter_ == len(estimator.loss_curve_) == 5
    assert estimator.loss_curve_[:2] == first
    if estimator.solver == "adagrad" and not hasattr(estimator, "store_training_vectors"):
        assert learned(estimator) == learned(make(name, max_iter=5).fit(TEXT, groups=GROUPS))
    assert learned(estimator.set_params(warm_start=False, max_iter=2).fit(TEXT, groups=GROUPS)) == learned(fitted(name))


@trained
def test_another_number_of_components_needs_a_new_start(name):
    estimator = make(name, warm_start=True).fit(TEXT, groups=GROUPS).set_params(n_components=5)
    before = learned(estimator)
    for method in (estimator.fit, estimator.partial_fit):
        with pytest.raises(ValueError, match="n_components=5 differs"):
            method(TEXT)
    assert learned(estimator) == before
    is_given = getattr(estimator, "init", None) is not None and not hasattr(estimator, "word_components")
    n_components = 10 if is_given else 5  # `init` says how long a word is, and mostly how long a sentence
    if hasattr(estimator, "filter_widths"):
        n_components = len(estimator.filter_widths) * estimator.n_filters
    estimator.set_params(warm_start=False)
    with pytest.warns(UserWarning, match="n_components=5 is not used") if is_given else contextlib.nullcontext():
        assert estimator.fit(TEXT).transform(TEXT).shape == (90, n_components)


@trained_classes
def test_another_tokenizer_needs_a_new_start(name):
    estimator = make(name, warm_start=True).fit(TEXT).set_params(lowercase=False)
    for method in (estimator.fit, estimator.partial_fit):
        with pytest.raises(ValueError, match="lowercase"):
            method(TEXT)


# -- passes and loss -------------------------------------------------------------------------------------------------


@trained
def test_max_iter(name):
    estimator = make(name, max_iter=4).fit(TEXT, groups=GROUPS)
    assert estimator.n_iter_ == len(estimator.loss_curve_) == 4
    if estimator.solver == "adagrad":
        assert estimator.loss_curve_[:2] == fitted(name).loss_curve_


@trained
def test_loss_falls_where_there_is_something_to_learn(name):
    losses = make(name, max_iter=12, random_state=1).fit(LONG, groups=LONG_GROUPS).loss_curve_
    assert np.isfinite(losses).all()
    assert min(losses[-3:]) < 0.98 * losses[0]


# A recursive autoencoder learns words only on demand.
@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if not name.startswith("Recursive")])
def test_topics_are_learned(name):
    """Words of one topic lie closer together than words of two, where each document is of one topic.

    Where a sentence is no sum of words, sentences of several words do.
    """
    topics = ["cat dog kitten puppy paw tail fur milk".split(), "rain snow storm cloud wind sun fog ice".split()]
    rng = np.random.default_rng(0)
    documents = [i // 6 for i in range(1200)]
    sentences = [" ".join(rng.choice(topics[document % 2], 4)) for document in documents]
    targets = np.eye(2)[np.array(documents) % 2] if name in SUPERVISED else None
    estimator = make(name, max_iter=5, n_jobs=2).fit(sentences, targets, groups=documents)
    sentences = [" ".join(rng.choice(topic, 4)) for topic in topics for _ in range(8)]
    rows = estimator.transform(topics[0] + topics[1] if hasattr(estimator, "word_vectors_") else sentences)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosine = rows @ rows.T
    inside = (cosine[:8, :8].sum() + cosine[8:, 8:].sum() - 16) / 112
    assert inside > cosine[:8, 8:].mean() + 0.3


# -- early stopping --------------------------------------------------------------------------------------------------


@trained_classes
def test_early_stopping_restores_the_best_weights(name):
    options = {"early_stopping": True, "tol": 0.0, "random_state": 2}
    estimator = make(name, max_iter=12, n_iter_no_change=2, n_jobs=2, **options).fit(LONG, groups=LONG_GROUPS)
    curve = estimator.validation_loss_curve_
    assert estimator.n_iter_ == len(estimator.loss_curve_) == len(curve)
    assert np.isfinite(curve).all()
    best = int(np.argmin(curve)) + 1
    assert estimator.n_iter_ == min(12, best + 2)
    if estimator.solver == "adagrad":
        there = make(name, max_iter=best, n_iter_no_change=2, **options).fit(LONG, groups=LONG_GROUPS)
        assert there.validation_loss_curve_ == curve[:best]
        assert vectors(there) == vectors(estimator)


@trained_classes
def test_early_stopping_stops(name):
    options = {"early_stopping": True, "n_iter_no_change": 1, "max_iter": 9}
    estimator = make(name, tol=1e6, **options).fit(TEXT, groups=GROUPS)
    assert estimator.n_iter_ == 2
    assert make(name, tol=1e6, **options | {"n_iter_no_change": 3}).fit(TEXT, groups=GROUPS).n_iter_ == 4
    assert learned(estimator) == learned(make(name, tol=1e6, n_jobs=3, **options).fit(TEXT, groups=GROUPS))
    assert fitted(name).validation_loss_curve_ == []


@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if name not in PAIRED])
def test_held_out_sentences_are_not_learned_from(name):
    """The last sentences are held out where there are few documents: what they say changes no weight.

    Of pairs, any are held out; see the tests of paraphrases.
    """
    options = {"early_stopping": True, "tol": 0.0, "max_iter": 1, "stop_words": None}
    tails = (
        ["cat dog mouse rain", "soup bread", "snow storm cat", "oven flour"],
        ["cat soup", "dog bread snow", "mouse storm cat", "rain oven flour"],  # the same words in other sentences
    )
    first, other = (make(name, validation_fraction=0.05, **options).fit([*TEXT[:76], *tail]) for tail in tails)
    assert first.validation_loss_curve_ != other.validation_loss_curve_
    assert vectors(first) == vectors(other)


@trained_classes
def test_held_out_text_without_a_target_stops_nothing(name):
    options = {"early_stopping": True, "validation_fraction": 0.02, "n_iter_no_change": 1, "max_iter": 4}
    options["min_count"] = 2  # so that the words of the held-out text are unknown
    estimator = make(name, **options)
    with pytest.warns(UserWarning, match="nothing to predict in the held-out text.*validation_fraction"):
        estimator.fit([*TEXT[:88], "qqq", "zzz"])
    assert estimator.validation_loss_curve_ == [0.0] * 4 and estimator.n_iter_ == 4


def test_documents_that_are_too_long_are_not_held_out():
    lengths = [60, 50, *[2] * 20]
    groups = np.repeat(np.arange(len(lengths)), lengths)
    corpus = SentenceCorpus.from_sentences([f"w{i} a b" for i in range(len(groups))], groups=groups)
    for seed in range(40):
        assert 14 <= hold_out(corpus, 0.1, seed).sum() <= 15
    assert hold_out(corpus, 0.005, 0).nonzero()[0].tolist() == [149]  # no document is so short: the end of the text


@trained_classes
def test_small_integers_of_numpy_count_like_others(name):
    params = make(name).get_params()
    option = "window" if name == "CBOSVectorizer" else "negative" if "negative" in params else "batch_size"
    estimators = [make(name, learning_rate=rate, **{option: n}) for rate, n in [(1, 2), (np.float32(1.0), np.uint8(2))]]
    first, second = (learned(estimator.fit(TEXT, groups=GROUPS)) for estimator in estimators)
    assert first == second


@trained_classes
def test_nothing_left_to_learn_from(name):
    with pytest.raises(ValueError, match="validation_fraction=0.9"):
        make(name, early_stopping=True, validation_fraction=0.9).fit(["a b c", "b c d"] * 2)


# -- documents and the corpus to learn from --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NEEDS_ORDER)
def test_context_never_crosses_a_document(name):
    """Without a neighbour there is nothing to learn: the vectors stay as they began, and a warning names the trap."""
    alone = make(name, max_sentence_length=None)
    nothing = pytest.warns(UserWarning, match="found nothing to predict in the text")
    with nothing, pytest.warns(UserWarning, match=r"90 of 90 sentences are alone .*corpus=") as caught:
        alone.fit(TEXT, groups=range(len(TEXT)))
    assert caught[0].filename == __file__
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        longer = make(name, max_sentence_length=None, max_iter=9).fit(TEXT, groups=range(len(TEXT)))
    assert bits(alone.word_vectors_) == bits(longer.word_vectors_)
    assert alone.loss_curve_ == [0.0, 0.0]


@pytest.mark.parametrize("name", NEEDS_ORDER)
def test_order_of_the_documents_names_does_not_matter(name):
    renamed = [GROUPS.index(group) for group in GROUPS]
    assert learned(make(name).fit(TEXT, groups=renamed)) == learned(fitted(name))


@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if name not in NEEDS_DOCUMENTS])
def test_no_warning_where_order_does_not_matter(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = make(name).fit(TEXT, groups=range(len(TEXT)))
    assert vectors(alone) == vectors(fitted(name))


@pytest.mark.parametrize("name", METHODS)
def test_corpus_is_learned_from_whatever_x_is(name):
    options = {key: getattr(make(name), key) for key in ("stemmer", "stop_words")}
    data = SentenceCorpus.from_sentences(TEXT, GROUPS, **options)
    consumed = iter(OTHER_TEXT)
    for X in (["x"], consumed, data[:5]):
        estimator = make(name, corpus=data).fit(X)
        assert learned(estimator) == learned(fitted(name))
    assert next(consumed) == OTHER_TEXT[0]
    rows = make(name, corpus=data).fit_transform(OTHER_TEXT)
    assert bits(rows) == bits(fitted(name).transform(OTHER_TEXT))


@trained_classes
def test_learning_leaves_the_corpus_alone(name):
    before = corpus().digest, bits(np.array(corpus().tokens)), repr(corpus())
    make(name, corpus=corpus(), n_jobs=3).fit(TEXT)
    again = SentenceCorpus(corpus().tokens, corpus().sent_ptr, corpus().doc_ptr, corpus().vocabulary)
    assert (again.digest, bits(np.array(again.tokens)), repr(again)) == before
