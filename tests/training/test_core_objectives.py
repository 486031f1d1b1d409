"""The core learns more than sums of rows: bits, what is learned, annotations, and an estimator like any other."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from core_objectives import MapVectorizer, ParagraphVectorizer
from estimators import CHECKS, GROUPS, OTHER_TEXT, TEXT, bits, learned
from kernel_cases import bits as bits_of
from kernel_cases import encode
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks
from threadpoolctl import threadpool_info

from skembed import SentenceCorpus
from skembed._base.pooled import PooledVectorizer
from skembed._training.dense import DenseTrainer
from skembed._training.encoded_text import split_long_sentences
from skembed._training.learned_arrays import LearnedArray, start_arrays, start_uniform
from skembed._training.trainer import BlockLoop
from skembed._word_vectors.bag import content_seeds

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
TOPICS = np.array([int(group.split()[1]) % 4 for group in GROUPS])
CLASSES = [MapVectorizer, ParagraphVectorizer]
VARIANTS = {
    "map": (MapVectorizer, {}),
    "map-adagrad": (MapVectorizer, {"solver": "adagrad", "learning_rate": 0.1}),
    "map-frozen": (MapVectorizer, {"frozen": True}),
    "paragraph": (ParagraphVectorizer, {}),
    "paragraph-adam": (ParagraphVectorizer, {"solver": "adam", "learning_rate": 0.02, "max_sentence_length": 3}),
}
every = pytest.mark.parametrize("name", VARIANTS)


def make(name, **changes):
    cls, options = VARIANTS[name]
    return cls(**{"random_state": 0, **options, **changes})


def fit(name, **changes):
    return make(name, **changes).fit(TEXT, groups=GROUPS)


def arrays_of(estimator):
    names = [array.name for array in estimator._learned_arrays(estimator._state)]
    return {name: getattr(estimator, name) for name in names}


# -- bits ------------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("batch_size", ["auto", 7, 50])
def test_number_of_threads_changes_no_bit(name, batch_size, monkeypatch):
    monkeypatch.setattr("skembed._base.trained.count_threads", lambda n_jobs: n_jobs or 1)  # whatever the machine has
    one = fit(name, batch_size=batch_size)
    for n_jobs in (2, 3):
        assert learned(fit(name, batch_size=batch_size, n_jobs=n_jobs)) == learned(one)
    assert learned(fit(name, batch_size=batch_size, random_state=1)) != learned(one)


@every
def test_row_depends_on_its_sentence_and_the_model_alone(name):
    estimator, X = fit(name), TEXT + OTHER_TEXT
    rows = estimator.transform(X)
    assert all(bits(estimator.transform([sentence])[0]) == bits(row) for sentence, row in zip(X, rows))
    order = np.random.default_rng(0).permutation(len(X))
    assert bits(estimator.transform([X[i] for i in order])) == bits(rows[order])
    estimator.n_jobs = 2
    assert bits(estimator.transform(X * 20)) == bits(np.tile(rows, (20, 1)))
    corpus = SentenceCorpus.from_sentences(X)
    assert bits(estimator.transform(corpus)) == bits(rows)


@every
def test_nothing_known_is_a_row_of_zeros(name):
    rows = fit(name).transform(["", "?!", "qqq zzz"])
    assert not rows.any() and not np.signbit(rows).any()


@pytest.mark.kernel
def test_seeds_are_functions_of_the_known_words():
    sentences = [[3, 5], [], [3, -1, 5], [5, 3], [-1], [2**40]]
    seeds = content_seeds(np.array(sum(sentences, [])), np.cumsum([0, *map(len, sentences)]), 11)
    for seed, sentence in zip(seeds, sentences):
        expected = 11
        for n, word in enumerate(word for word in sentence if word >= 0):
            expected = bits_of(expected, 7, word, n)
        assert seed == expected
    assert seeds[0] == seeds[2] != seeds[3] and seeds[1] == seeds[4] == 11


def test_fits_that_overlap_leave_the_threads_of_blas_as_they_were():
    before = threadpool_info()
    inside, together = [], threading.Barrier(2)
    original = DenseTrainer._step

    def step(trainer, *args):
        if not trainer.n_steps:
            together.wait(60)
        inside.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        original(trainer, *args)

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(DenseTrainer, "_step", step)
        assert len(set(map(len, pool.map(lambda seed: learned(fit("map", random_state=seed)), (1, 2))))) == 1
    assert inside and set(inside) == {1}
    assert threadpool_info() == before


# -- learning --------------------------------------------------------------------------------------------------------


def similarity_of_topics(model):
    """Mean cosine of sentences of one topic, less that of others."""
    rows = model.transform(TEXT).astype(float)
    known = rows.any(axis=1)
    rows = rows[known] / np.linalg.norm(rows[known], axis=1, keepdims=True)
    same = TOPICS[known][:, None] == TOPICS[known]
    return (rows @ rows.T)[same].mean() - (rows @ rows.T)[~same].mean()


@pytest.mark.parametrize(
    ("name", "rate", "largest_loss"),
    # Without knowledge a map has a loss of log(10) or more, and the vector of a sentence one of log(2).
    [("map", 0.03, 1.0), ("map-adagrad", 0.1, 1.0), ("paragraph", 0.3, 0.3), ("paragraph-adam", 0.02, 0.3)],
)
def test_it_learns(name, rate, largest_loss):
    learned_nothing = fit(name, max_iter=1, learning_rate=1e-12)
    model = fit(name, max_iter=30, learning_rate=rate)
    assert model.loss_curve_[-1] < largest_loss < learned_nothing.loss_curve_[0]
    if name != "paragraph-adam":  # of chunks of three words
        assert similarity_of_topics(model) > 2 * similarity_of_topics(learned_nothing)


def test_what_is_frozen_stays():
    estimator, other = fit("map-frozen"), fit("map-frozen", max_iter=1)
    assert bits(estimator.word_vectors_) == bits(other.word_vectors_)
    assert bits(estimator.matrix_) != bits(other.matrix_)
    assert not hasattr(estimator, "_word_vectors_accumulator")


@every
def test_partial_fit_and_warm_start_go_on(name):
    parts = make(name).partial_fit(TEXT, groups=GROUPS)
    first = {key: value.copy() for key, value in arrays_of(parts).items()}
    again = pickle.loads(pickle.dumps(parts))
    for estimator in (parts, again):
        estimator.partial_fit(TEXT[:45], groups=GROUPS[:45])
    assert learned(parts) == learned(again) and parts.n_iter_ == 2
    assert any(bits(first[key]) != bits(value) for key, value in arrays_of(parts).items())
    warm = fit(name, warm_start=True, max_iter=2)
    assert warm.fit(TEXT, groups=GROUPS).n_iter_ == 4 and len(warm.loss_curve_) == 4
    assert warm.loss_curve_[2] < warm.loss_curve_[0]
    before = learned(warm)
    with pytest.raises(ValueError, match="n_components=5 differs from 8"):
        warm.set_params(n_components=5).fit(TEXT, groups=GROUPS)
    with pytest.raises(ValueError, match="solver='sgd' differs"):
        warm.set_params(n_components=8, solver="sgd").partial_fit(TEXT, groups=GROUPS)
    assert learned(warm) == before


@every
def test_early_stopping_keeps_the_best_weights(name, monkeypatch):
    # Held-out loss that falls, and then rises.
    passes = iter([3.0, 2.0, 2.5, 2.6, 2.7])
    run_pass = BlockLoop.run_pass
    monkeypatch.setattr(
        BlockLoop,
        "run_pass",
        lambda loop, text, epoch, rates, **options: (
            run_pass(loop, text, epoch, rates=rates, **options) if rates else next(passes)
        ),
    )
    options = {"early_stopping": True, "validation_fraction": 0.2, "learning_rate": 0.01}
    options["solver"] = "adagrad"  # whose rate does not depend on max_iter
    stopped = fit(name, max_iter=9, n_iter_no_change=2, **options)
    assert stopped.n_iter_ == 4 and stopped.validation_loss_curve_ == [3.0, 2.0, 2.5, 2.6]
    passes = iter([3.0, 2.0])
    best = fit(name, max_iter=2, **options)
    assert bits(arrays_of(stopped)) == bits(arrays_of(best))


@every
def test_held_out_loss_is_repeatable(name):
    estimator = fit(name, early_stopping=True, validation_fraction=0.3, max_iter=3)
    assert len(estimator.validation_loss_curve_) == 3 and all(loss > 0 for loss in estimator.validation_loss_curve_)
    assert learned(fit(name, early_stopping=True, validation_fraction=0.3, max_iter=3)) == learned(estimator)


@pytest.mark.parametrize("cls", CLASSES)
def test_divergence_leaves_the_estimator_as_it_was(cls):
    estimator = cls(random_state=0).fit(TEXT, groups=GROUPS)
    before = learned(estimator)
    estimator.set_params(learning_rate=1e9)
    with pytest.raises(ValueError, match=f"{cls.__name__} diverged in pass 1 with learning_rate=1000000000.0"):
        estimator.partial_fit(TEXT, groups=GROUPS)
    assert learned(estimator) == before


# -- annotations -----------------------------------------------------------------------------------------------------


def test_labels_follow_the_sentences_through_parts_and_batches(monkeypatch):
    seen = []

    class Watched(MapVectorizer):
        max_sentence_length = 3

        def _make_objective(self, state):
            objective = super()._make_objective(state)
            gradients = objective.gradients

            def watch(chunk, learn):
                text = chunk.text
                for i in chunk.sentences:
                    seen.append((tuple(text.tokens[text.sent_ptr[i] : text.sent_ptr[i + 1]]), text.annotations[0][i]))
                return gradients(chunk, learn)

            objective.gradients = watch
            return objective

    # Words of a topic tell the label.
    sentences = [f"w{label}a w{label}b w{label}c w{label}d"[: 3 + 4 * (i % 4)] for i in range(60) for label in (i % 3,)]
    labels = [f"label {i % 3}" for i in range(60)]
    options = {"random_state": 0, "max_iter": 1, "early_stopping": True, "validation_fraction": 0.2}
    model = Watched(**options).fit(sentences, labels, groups=np.arange(60) // 20)
    words = list(model.vocabulary_)
    assert len(seen) > 60
    assert all(f"w{label}" in words[token] for tokens, label in seen for token in tokens)
    plain = MapVectorizer(random_state=0).fit(TEXT, groups=GROUPS)
    assert bits(plain.matrix_) != bits(MapVectorizer(random_state=0).fit(TEXT, TOPICS, groups=GROUPS).matrix_)


def test_parts_of_a_sentence_have_its_annotations():
    text = encode([[0] * 7, [], [1], [2] * 4], [0, 0, 0, 1], np.ones(3, np.float32))
    weights, targets = np.array([1.0, 2.0, 3.0, 4.0]), np.arange(8).reshape(4, 2)
    parts = split_long_sentences(text._replace(annotations=(weights, targets)), 3)
    assert parts.annotations[0].tolist() == [1, 1, 1, 2, 3, 4, 4]
    assert parts.annotations[1].tolist() == targets[[0, 0, 0, 1, 2, 3, 3]].tolist()
    assert split_long_sentences(text, 3).annotations == ()


# -- an estimator like any other -------------------------------------------------------------------------------------


@every
def test_copies_names_and_tables(name):
    estimator = fit(name)
    rows = estimator.transform(TEXT)
    copied = pickle.loads(pickle.dumps(estimator))
    assert bits(copied.transform(TEXT)) == bits(rows)
    assert not learned(clone(estimator)) and clone(estimator).get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        clone(estimator).transform(TEXT)
    names = [f"{type(estimator).__name__.lower()}{i}" for i in range(8)]
    assert list(estimator.get_feature_names_out()) == names
    frame = make(name).set_output(transform="pandas").fit_transform(pd.Series(TEXT), groups=GROUPS)
    assert list(frame.columns) == names and bits(np.ascontiguousarray(frame)) == bits(rows)
    assert rows.dtype == np.float32 and rows.shape == (len(TEXT), 8)


@every
def test_memory_is_that_of_the_records(name):
    estimator = fit(name)
    memory = make(name).estimate_memory(TEXT)
    assert memory["weights"] == sum(array.nbytes for array in arrays_of(estimator).values())
    states = [value.nbytes for key, value in estimator._state.arrays.items() if key.endswith("_accumulator")]
    assert memory["accumulators"] == sum(states) > 0
    assert memory["scratch"] > 0 and memory["total"] == sum(v for key, v in memory.items() if key != "total")
    assert not hasattr(estimator, "explain") and not isinstance(estimator, PooledVectorizer)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("cls", CLASSES)
def test_scikit_learn_check(cls, check):
    getattr(estimator_checks, check)(cls.__name__, cls())


def test_each_array_has_random_numbers_of_its_own():
    arrays = [
        LearnedArray("a_", (5, 4), start_uniform(1.0)),
        LearnedArray("b_", (5, 4), start_uniform(1.0, 2), "dense"),
    ]
    started = start_arrays(arrays, "adam", 3)
    assert not np.array_equal(started["a_"][:2], started["b_"][:2]) and started["a_"].all()
    assert started["b_"][:2].all() and not started["b_"][2:].any()
    assert [started[array.accumulator].shape for array in arrays] == [(5, 2, 4), (2, 5, 4)]


@pytest.mark.parametrize("early_stopping", [False, True])
def test_labels_of_another_text(early_stopping):
    estimator = MapVectorizer(early_stopping=early_stopping)
    with pytest.raises(ValueError, match=f"y has 5 values, but the text has {len(TEXT)} sentences"):
        estimator.fit(TEXT, TEXT[:5], groups=GROUPS)
    assert not hasattr(estimator, "vocabulary_")
