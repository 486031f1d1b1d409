"""Sent2Vec against its slow twin, its numeric gradient, and its paper (001)."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from kernel_cases import (
    BLOCKS,
    N_WORDS,
    UNCAPPED,
    assert_runs_are_their_sentences,
    assert_same_state,
    below,
    bits,
    doubles,
    draw_negative,
    encode,
    for_python,
    halves_of,
    kernel_gradients,
    make_plan,
    negative_probability,
    run_block,
    start,
    starts_of,
    tiny_text,
    uniform,
    weights_after_passes,
)
from reference import features_of, keep_probability, numeric_gradient, sent2vec_sentence, take_steps

from skembed import Sent2VecVectorizer, SentenceCorpus
from skembed._base.embedding import encoded_corpus
from skembed._objectives.sent2vec import TargetSentence, list_features
from skembed._training.encoded_text import Plan
from skembed._training.state import FittedState
from skembed._training.trainer import Trainer

list_features = for_python(list_features)

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.usefixtures("two_halves"),
]
PLAIN = {"ngram_range": (1, 1), "dropout_k": 0, "min_target_count": 1, "pooling": "mean", "unknown": "zero"}
# Words alone; bigrams; trigrams with dropout, where some or all n-grams go. So few buckets that they clash.
MODELS = [
    {},
    {"ngram_range": (1, 2), "n_buckets": 7},
    {"ngram_range": (1, 3), "n_buckets": 7, "dropout_k": 2},
    {"ngram_range": (1, 3), "n_buckets": 7, "pooling": "sum"},
]


def make_objective(**options):
    estimator = Sent2VecVectorizer(**{**PLAIN, "negative": 4, "subsample": 0.02, **options})
    return estimator._make_objective(start(estimator))


def random_choices(options, seed, i, words, half):
    """Dropped n-grams, targets and negatives of a sentence, from the generator that has its own tests."""
    negatives = [draw_negative(options.negatives, half, bits(seed, 2, i, j)) for j in range(options.negative)]
    is_target = [uniform(bits(seed, 4, i, t)) < options.keep[word] for t, word in enumerate(words)]
    n_ngrams = sum(max(0, len(words) - order + 1) for order in range(2, options.max_order + 1))
    dropped, draw = set(), 0
    while len(dropped) < min(options.dropout, n_ngrams):
        dropped.add(int(below(bits(seed, 3, i, draw), n_ngrams)))
        draw += 1
    return dropped, is_target, negatives


def twin(text, source, target, objective, plan):
    """Loss, number of targets and sparse gradients of a block, sentence by sentence."""
    loss, n_targets, source_entries, target_entries = 0.0, 0, [], []
    pooling = "mean" if objective.options.mean else "sum"
    halves = halves_of(objective.options.negatives, plan)
    assert len(set(halves)) == 2
    for i, half in zip(starts_of(plan), halves):
        words = text.words(i)
        choices = random_choices(objective.options, plan.seed, i, words, half)
        order = objective.options.max_order
        result = sent2vec_sentence(words, source, target, text.weights, order, *choices, pooling)
        loss += result[0]
        n_targets += result[1]
        source_entries += result[2]
        target_entries += result[3]
    return loss, n_targets, source_entries, target_entries


@pytest.mark.kernel
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("options", MODELS)
def test_a_block_is_the_twin(options, kind, solver, max_steps, alpha):
    objective = make_objective(**options, alpha=alpha)
    text, slow_text = tiny_text(kind)
    expected = doubles(objective)
    for block in BLOCKS:
        plan = make_plan(objective, block)
        loss, n_targets, *entries = twin(slow_text, expected[0][0], expected[1][0], objective, plan)
        for (weights, accumulator), of_matrix in zip(expected, entries):
            take_steps(weights, accumulator, of_matrix, 0.2, solver, max_steps, alpha)
        total = run_block(objective, text, plan, solver, 0.2, max_steps)
        assert n_targets > 0
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_gradient_is_the_numeric_one(options):
    objective = make_objective(**options)
    text, slow_text = tiny_text("weighted")
    plan = make_plan(objective)
    (source, _), (target, _) = doubles(objective)

    def loss():
        return twin(slow_text, source, target, objective, plan)[0]

    expected = [numeric_gradient(loss, source), numeric_gradient(loss, target)]
    gradients = kernel_gradients(objective, lambda rate: run_block(objective, text, plan, rate=rate))
    for gradient, numeric in zip(gradients, expected):
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)
        assert np.abs(numeric).max() > 0.05


@pytest.mark.kernel
def test_soft_threshold_sets_numbers_to_exactly_zero():
    objective = make_objective(alpha=2.0)
    text, slow_text = tiny_text()
    plan = make_plan(objective)
    source_entries, target_entries = twin(slow_text, *[w for w, _ in doubles(objective)], objective, plan)[2:]
    before = doubles(objective)
    run_block(objective, text, plan, rate=0.1)
    for matrix, (old, _), entries in zip(objective.matrices, before, (source_entries, target_entries)):
        moved = sorted({row for row, *_ in entries})
        assert (matrix.weights[moved] == 0).mean() > 0.3
        others = sorted(set(range(N_WORDS)) - set(moved))
        np.testing.assert_array_equal(matrix.weights[others], old[others].astype(np.float32))


def loss_of(sentences, options):
    """Loss of a text in one block with every word a target, the weights it was computed from, and the block."""
    objective = make_objective(subsample=1e9, **options)
    text = encode(sentences, [0] * len(sentences), np.ones(N_WORDS, np.float32))
    plan = Plan(np.arange(len(sentences)), 1, 0, len(sentences), 0, 1, 5)
    return run_block(objective, text, plan, learn=False), objective, plan


@pytest.mark.kernel
def test_n_grams_of_the_target_are_no_context():
    # Sentence a b c, target b: no n-gram without b is left. With target a: b, c and "b c".
    (loss, n_targets), objective, plan = loss_of([[0, 1, 2]], {"ngram_range": (1, 2), "n_buckets": 1000, "negative": 1})
    (source, _), (target, _) = doubles(objective)
    row_ab, row_bc = (N_WORDS + (a * 116049371 + b) % 2**64 % 1000 for a, b in [(0, 1), (1, 2)])
    contexts = {0: [1, 2, row_bc], 1: [0, 2], 2: [0, 1, row_ab]}
    (negative,) = random_choices(objective.options, 5, 0, [0, 1, 2], *halves_of(objective.options.negatives, plan))[2]
    expected = 0.0
    for word, rows in contexts.items():
        v = source[rows].mean(axis=0)
        expected += np.log1p(np.exp(-target[word] @ v))
        if negative != word:
            expected += np.log1p(np.exp(target[negative] @ v))
    assert n_targets == 3
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


@pytest.mark.kernel
def test_a_repeated_word_stays_in_its_own_context():
    (loss, n_targets), objective, plan = loss_of([[3, 3]], {"negative": 1})
    (source, _), (target, _) = doubles(objective)
    (negative,) = random_choices(objective.options, 5, 0, [3, 3], *halves_of(objective.options.negatives, plan))[2]
    expected = 2 * np.log1p(np.exp(-target[3] @ source[3]))
    expected += 2 * np.log1p(np.exp(target[negative] @ source[3])) * (negative != 3)
    np.testing.assert_allclose((loss, n_targets), (expected, 2), rtol=1e-5)


@pytest.mark.kernel
@pytest.mark.parametrize("sentence", [[], [4], [4, 70000], [9, 10]])
def test_a_sentence_of_one_word_has_nothing_to_learn(sentence):
    assert loss_of([sentence, sentence], {"ngram_range": (1, 2), "n_buckets": 5})[0] == (0.0, 0.0)


@pytest.mark.kernel
def test_negatives_equal_to_the_target_are_skipped():
    # With one word in the vocabulary every negative is the target.
    estimator = Sent2VecVectorizer(negative=5, subsample=1e9)
    objective = estimator._make_objective(start(estimator, [[0, 0, 0]], 1))
    text = encode([[0, 0, 0]], [0], np.ones(1, np.float32))
    (source, _), (target, _) = doubles(objective)
    total = run_block(objective, text, Plan(np.array([0]), 1, 0, 1, 0, 1, 5))
    np.testing.assert_allclose(total, (3 * np.log1p(np.exp(-target[0] @ source[0])), 3), rtol=1e-5)


@pytest.mark.kernel
def test_negatives_are_drawn_by_the_root_of_the_count():
    counts = np.array([400, 100, 100, 25, 4, 1])
    estimator = Sent2VecVectorizer()
    state = replace(start(estimator, n_words=6), word_counts_=counts, n_tokens=counts.sum())
    options = estimator._make_objective(state).options
    expected = np.sqrt(counts) / np.sqrt(counts).sum()
    np.testing.assert_allclose(negative_probability(options.negatives), expected, atol=1e-6)


@pytest.mark.kernel
def test_q_p_and_min_target_count():
    counts = np.array([5000, 300, 20, 8, 7])
    estimator = Sent2VecVectorizer(subsample=1e-3, min_target_count=8)
    state = replace(start(estimator, n_words=5), word_counts_=counts, n_tokens=10_000)
    keep = estimator._make_objective(state).options.keep
    expected = [keep_probability(count, 10_000, 1e-3) for count in counts[:4]]
    np.testing.assert_allclose(keep[:4], expected, rtol=1e-6)
    assert expected[0] < 0.1 and expected[2] == 1.0
    assert keep[4] == 0.0  # too rare to be predicted, yet in every context


@pytest.mark.kernel
def test_share_of_targets_is_q_p():
    objective = make_objective(subsample=0.05, min_target_count=3)
    text = encode([[0, 1, 5, 8]] * 400, [0] * 400, np.ones(N_WORDS, np.float32))
    n_targets = run_block(objective, text, Plan(np.arange(400), 1, 0, 400, 0, 1, 5), learn=False)[1]
    expected = 400 * objective.options.keep[[0, 1, 5, 8]].astype(float).sum()
    assert objective.options.keep[8] == 0.0 and 0 < expected < 1600
    assert abs(n_targets - expected) < 4 * np.sqrt(400)


@pytest.mark.kernel
@pytest.mark.parametrize("max_order", [1, 2, 3, 4])
def test_features_and_their_dropout(max_order):
    weights = np.linspace(0.5, 1.5, N_WORDS).astype(np.float32)
    for n, dropout in [(1, 2), (2, 0), (2, 1), (5, 0), (5, 2), (5, 3), (9, 4), (3, 100)]:
        words = (np.arange(n) * 4 % N_WORDS).astype(np.int32)
        expected = features_of(words.tolist(), weights.astype(float), max_order, 1000)
        objective = make_objective(dropout_k=dropout, ngram_range=(1, max_order), n_buckets=1000)
        # Two words of another sentence before this one.
        text = encode([[1, 1], words.tolist()], [0, 0], weights)
        work = objective.make_scratch(text, Plan(np.arange(2), 1, 0, 2, 0, 1, 5), 1)
        work.words[2 : 2 + n] = words
        options, begin, source = objective.options._replace(max_order=work.max_order), 2 * work.max_order, work.source
        work.feature[:] = -7
        n_places, n_ngrams = len(expected), len(expected) - n
        seen = set()
        for sentence in range(12):
            n_kept = list_features(TargetSentence(sentence, 1, 2, n, begin, 0, 0), weights, options, 3, work)
            kept = work.feature[begin : begin + n_places] >= 0
            assert n_kept == n_places - min(dropout, n_ngrams) == kept.sum()
            assert kept[:n].all(), "words are never dropped"
            assert work.feature[begin : begin + n_places][kept].tolist() == list(range(begin, begin + n_kept))
            assert (work.feature[:begin] == -7).all() and (work.feature[begin + n_places :] == -7).all()
            wanted = [expected[f] for f in np.flatnonzero(kept)]
            assert source.row[begin : begin + n_kept].tolist() == [f[1] for f in wanted]
            np.testing.assert_allclose(source.scale[begin : begin + n_kept], [f[2] for f in wanted], rtol=1e-6)
            seen.add(kept.tobytes())
        if 0 < dropout < n_ngrams - 1:
            assert len(seen) > 3, "each sentence draws anew"


def test_transform_adds_the_n_grams_of_training():
    X = ["a b c a b", "b ? c", "a", "", "zzz", "c zzz a b"]
    model = Sent2VecVectorizer(4, **{**PLAIN, "ngram_range": (1, 3), "n_buckets": 50})
    rng = np.random.default_rng(0)
    source = rng.normal(size=(53, 4)).astype(np.float32)
    vocabulary = {"a": 0, "b": 1, "c": 2}
    model._state = FittedState(
        vocabulary_=vocabulary,
        word_counts_=np.array([3, 2, 1]),
        word_weights_=np.array([1, 0.5, 2], np.float32),
        coverage_=1.0,
        unknown_weight=np.float32(1),
        tokenizer=model._tokenizer_of_options(),
        n_features_out_=4,
        arrays={"_source_vectors": source},
    )
    rows = model.transform(X)
    for sentence, row in zip(X, rows):
        words = [vocabulary[word] for word in sentence.split() if word in vocabulary]
        features = features_of(words, model.word_weights_.astype(float), 3, 50)
        total = sum((weight * source[r].astype(float) for _, r, weight in features), np.zeros(4))
        np.testing.assert_allclose(row, total / max(1, len(features)), rtol=1e-5, atol=1e-6)


@pytest.mark.kernel
def test_n_gram_rows_that_were_learned_are_the_rows_of_transform():
    X = ["a b", "b c d", "d a"] * 3
    options = {**PLAIN, "ngram_range": (1, 2), "n_buckets": 1000, "min_count": 1, "subsample": 1e9}
    model = Sent2VecVectorizer(4, **options, max_iter=3, random_state=0).fit(X)
    learned = set(np.flatnonzero(np.abs(model.ngram_vectors_).max(axis=1)))
    ids = model.vocabulary_
    pairs = [(ids[a], ids[b]) for a, b in ["bc", "cd"]]  # the bigram of a sentence of two words holds every target
    assert learned == {(a * 116049371 + b) % 2**64 % 1000 for a, b in pairs}
    rows, _, _, ptr = model._features(
        model._state, encoded_corpus(model, model._state, SentenceCorpus.from_sentences(["b c d"]))
    )
    assert set(rows[3:] - len(ids)) == learned and ptr.tolist() == [0, 5]


@pytest.mark.kernel
def test_sgd_falls_linearly_to_zero(monkeypatch):
    rates = []

    def record(self, text, scratch, plan, update):
        blocks = np.arange(plan.first_block, plan.last_block)
        if update.learn:
            rates.extend(update.rate - update.rate_decay * blocks)
            scratch.losses.total[:] += 1

    monkeypatch.setattr(Trainer, "_call", record)
    options = {"min_count": 1, "max_iter": 5, "batch_size": 2, "learning_rate": 0.2, "random_state": 0}
    Sent2VecVectorizer(2, solver="sgd", **options).fit(["a b"] * 20)
    np.testing.assert_allclose(rates, 0.2 * (1 - np.arange(50) / 50), rtol=1e-9)
    rates.clear()
    Sent2VecVectorizer(2, solver="adagrad", **options).fit(["a b"] * 20)
    np.testing.assert_allclose(rates, 0.2)


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 3), "n_buckets": 40, "dropout_k": 2, "alpha": 1e-3}])
def test_any_number_of_threads_gives_the_same_bits(options, solver):
    estimator = Sent2VecVectorizer(subsample=0.01, **options)
    results = [weights_after_passes(estimator, solver, n) for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_a_run_is_its_sentences(options):
    assert_runs_are_their_sentences(Sent2VecVectorizer(**options))


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
def test_runs_of_short_sentences_give_the_same_bits():
    options = {"n_sentences": 701, "batch_size": 160}  # about six words each, so runs of two, the last one short
    results = [weights_after_passes(Sent2VecVectorizer(subsample=0.01), "adagrad", n, **options) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


@pytest.mark.kernel
@pytest.mark.parametrize(
    "options",
    [  # Sent2Vec, table 5: the books corpus
        {"min_target_count": 8, "max_iter": 13, "subsample": 1e-5},
        {"min_target_count": 5, "max_iter": 12, "subsample": 5e-6, "ngram_range": (1, 2), "dropout_k": 7},
    ],
    ids=["unigrams", "bigrams"],
)
def test_the_settings_of_the_paper_learn(options):
    rng = np.random.default_rng(0)
    n_components, n_sentences = (8, 80) if numba.config.DISABLE_JIT else (700, 1000)
    words = [[f"{topic}{i}" for i in range(20)] for topic in "abcde"]
    X = [" ".join(rng.choice(words[i % 5], 10)) for i in range(n_sentences)]
    # So few words are so frequent that the paper's t would keep hardly a target.
    options = {**PLAIN, **options, "subsample": options["subsample"] * 1000, "n_buckets": 500, "min_count": 5}
    model = Sent2VecVectorizer(
        n_components, negative=10, solver="sgd", learning_rate=0.2, batch_size=1, random_state=0, **options
    ).fit(X)
    assert model.n_iter_ == options["max_iter"]
    assert model.loss_curve_[-1] < model.loss_curve_[0] <= 11 * np.log(2) + 0.1
    assert model.transform(X[:2]).shape == (2, n_components)
