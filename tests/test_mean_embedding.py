"""Word2vec against its slow twin; given vectors, SIF and idf weights, and common components against a few lines."""

import copy

import joblib
import numba
import numpy as np
import pytest
from kernel_cases import (
    BLOCKS,
    UNCAPPED,
    assert_runs_are_their_sentences,
    assert_same_state,
    below,
    bits,
    doubles,
    draw_negative,
    encode,
    halves_of,
    kernel_gradients,
    make_plan,
    negative_probability,
    run_block,
    start,
    starts_of,
    tiny_text,
    uniform,
    weights_after_epochs,
)
from reference import keep_probability, numeric_gradient, sif, take_steps, word2vec_sentence
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus
from skembed._training.encoded_text import Plan

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
PLAIN = {"pooling": "mean", "weighting": None, "n_removed_components": 0, "unknown": "zero"}
MODELS = [
    {"algorithm": "skipgram", "window": 2, "negative": 4},
    {"algorithm": "skipgram", "window": 1, "negative": 2, "subsample": 0.05},
    {"algorithm": "cbow", "window": 2, "negative": 4},
    {"algorithm": "cbow", "window": 5, "negative": 1, "subsample": 0.05},
    {"algorithm": "cbow", "window": 1, "negative": 3},
]

# -- word2vec ----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def two_halves(monkeypatch):
    """All words of so small a vocabulary would be in one group, and so in one half."""
    monkeypatch.setattr("skembed._training.updates.ROWS_PER_GROUP", 1)


def make_objective(**options):
    estimator = MeanEmbeddingVectorizer(**{"subsample": 1e9, **options})
    return estimator._make_objective(start(estimator))


def random_choices(options, seed, i, sentence, n_words, half):
    """Words that are kept, their windows and negatives, from the generator that has its own tests."""
    words = [
        word
        for place, word in enumerate(sentence)
        if word < n_words and uniform(bits(seed, 3, i, place)) < options.keep[word]
    ]
    near = [1 + int(below(bits(seed, 4, i, place), options.window)) for place in range(len(words))]
    negatives = [draw_negative(options.negatives, half, bits(seed, 5, i, j)) for j in range(options.negative)]
    return words, near, negatives


def twin(text, source, target, objective, plan):
    options = objective.options
    loss, n_targets, source_entries, target_entries = 0.0, 0, [], []
    halves = halves_of(objective.options.negatives, plan)
    assert len(set(halves)) == 2
    for i, half in zip(starts_of(plan), halves):
        words, near, negatives = random_choices(options, plan.seed, i, text.sentences[i], len(text.weights), half)
        algorithm = "skipgram" if options.skipgram else "cbow"
        result = word2vec_sentence(words, source, target, near, negatives, algorithm)
        loss += result[0]
        n_targets += result[1]
        source_entries += result[2]
        target_entries += result[3]
    return loss, n_targets, source_entries, target_entries


@pytest.mark.kernel
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS)
@pytest.mark.parametrize("seed", range(4))  # a window that is full on both sides is rare in so small a text
def test_a_block_is_the_twin(seed, options, solver, max_steps):
    objective = make_objective(**options)
    text, slow_text = tiny_text("weighted")  # word2vec itself knows no word weights
    expected = doubles(objective)
    for block in BLOCKS:
        plan = make_plan(objective, block)._replace(seed=seed)
        loss, n_targets, *entries = twin(slow_text, expected[0][0], expected[1][0], objective, plan)
        for (weights, accumulator), of_matrix in zip(expected, entries):
            take_steps(weights, accumulator, of_matrix, 0.2, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.2, max_steps)
        assert n_targets > 0
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_gradient_is_the_numeric_one(options):
    objective = make_objective(**options)
    text, slow_text = tiny_text()
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
@pytest.mark.parametrize("window", [1, 3])
def test_window_is_drawn_evenly_and_stays_in_the_sentence(window):
    # A sentence of n words has 2 b n - b (b + 1) pairs at most b apart; skip-gram counts one target a pair and end.
    objective = make_objective(algorithm="skipgram", window=window)
    n, n_sentences = 8, 300
    text = encode([[i % 9 for i in range(n)]] * n_sentences, [0] * n_sentences, np.ones(9, np.float32))
    plan = Plan(np.arange(n_sentences), 1, 0, n_sentences, 0, 1, 7)
    n_targets = run_block(objective, text, plan, learn=False)[1]
    expected = n_sentences * np.mean([2 * b * n - b * (b + 1) for b in range(1, window + 1)])
    assert abs(n_targets - expected) <= (0 if window == 1 else 0.03 * expected)


@pytest.mark.kernel
@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
def test_subsampling_and_negatives(algorithm):
    counts = np.array([5000, 400, 20, 3])
    estimator = MeanEmbeddingVectorizer(algorithm=algorithm, subsample=1e-3)
    fitted = start(estimator, n_words=4) | {"word_counts_": counts, "_n_tokens": counts.sum()}
    options = estimator._make_objective(fitted).options
    expected = [keep_probability(count, counts.sum(), 1e-3) for count in counts]
    np.testing.assert_allclose(options.keep, expected, rtol=1e-6)
    np.testing.assert_allclose(negative_probability(options.negatives), counts**0.75 / (counts**0.75).sum(), atol=1e-6)


@pytest.mark.kernel
def test_subsampling_closes_the_gap():
    # With word 0 never kept, words 1 and 2 are neighbours.
    objective = make_objective(algorithm="cbow", window=1, negative=1)
    objective.options.keep[0] = 0.0
    text = encode([[1, 0, 2], [0, 0, 0], [3, 0]], [0] * 3, np.ones(9, np.float32))
    n_targets = run_block(objective, text, Plan(np.arange(3), 1, 0, 3, 0, 1, 5), learn=False)[1]
    assert n_targets == 2


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS[:3])
def test_any_number_of_threads_gives_the_same_bits(options, solver):
    estimator = MeanEmbeddingVectorizer(**{"subsample": 0.01, **options})
    results = [weights_after_epochs(estimator, solver, n) for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_a_run_is_its_sentences(options):
    assert_runs_are_their_sentences(MeanEmbeddingVectorizer(**{"subsample": 0.01, **options}))


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("options", MODELS[:3])
def test_runs_of_short_sentences_give_the_same_bits(options):
    estimator = MeanEmbeddingVectorizer(**{"subsample": 0.01, **options})
    short = {"n_sentences": 701, "batch_size": 160}  # about six words each, so runs of two, the last one short
    results = [weights_after_epochs(estimator, "adagrad", n, **short) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


@pytest.mark.kernel
@pytest.mark.parametrize(("algorithm", "rate"), [("skipgram", 0.025), ("cbow", 0.05)])
def test_the_baselines_of_the_papers_learn(algorithm, rate):
    # Siamese CBOW, section 3.3: window 5, 5 negatives, 300 dimensions; the text is too small for its threshold of 1e-5.
    rng = np.random.default_rng(0)
    n_components, n_sentences = (8, 40) if numba.config.DISABLE_JIT else (300, 500)
    words = [[f"{topic}{i}" for i in range(20)] for topic in "abcde"]
    X = [" ".join(rng.choice(words[i % 5], 10)) for i in range(n_sentences)]
    model = MeanEmbeddingVectorizer(
        n_components,
        algorithm=algorithm,
        window=5,
        negative=5,
        subsample=1e-2,
        solver="sgd",
        learning_rate=rate,
        batch_size=1,
        max_iter=20 if numba.config.DISABLE_JIT else 5,
        min_count=1,
        random_state=0,
        **PLAIN,
    ).fit(X)
    assert model.loss_curve_[-1] < model.loss_curve_[0] <= 6 * np.log(2) + 0.05
    assert model.transform(X[:2]).shape == (2, n_components)


# -- means of given vectors --------------------------------------------------------------------------------------------

X = ["The cat sat on the mat", "the dog sat", "A dog and a cat", "", "sat sat sat on zebras", "quagga", "cat dog mat"]
TOKENS = [sentence.lower().split() for sentence in X]
WORDS = ["dog", "cat", "the", "sat", "mat", "on", "unseen"]
VECTORS = dict(zip(WORDS, np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)))


def make(**options):
    return MeanEmbeddingVectorizer(word_vectors=VECTORS, **{**PLAIN, **options})


def weighted(weight, sentences=TOKENS, pooling="mean"):
    """Weighted sums or means of the known words, sentence by sentence."""
    rows = np.zeros((len(sentences), 4))
    for row, words in zip(rows, sentences):
        known = [word for word in words if word in VECTORS]
        for word in known:
            row += weight(word) * VECTORS[word] / (len(known) if pooling == "mean" else 1)
    return rows


def test_mean_and_sum_of_given_vectors():
    mean, total = make().fit(X).transform(X), make(pooling="sum").fit(X).transform(X)
    np.testing.assert_allclose(mean, weighted(lambda word: 1), rtol=1e-5, atol=1e-6)
    n_known = np.array([sum(word in VECTORS for word in words) for words in TOKENS])
    np.testing.assert_allclose(total, mean * n_known[:, None], rtol=1e-5, atol=1e-6)
    assert not mean[[3, 5]].any()


@pytest.mark.parametrize("n_removed", [0, 1, 2])
def test_sif_is_arora_s(n_removed):
    counts = {word: sum(words.count(word) for words in TOKENS) for words in TOKENS for word in words}
    expected, components = sif(TOKENS, VECTORS, counts, n_removed=n_removed)
    model = make(weighting="sif", n_removed_components=n_removed).fit(X)
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-4, atol=1e-6)
    assert model.components_.shape == (n_removed, 4)
    np.testing.assert_allclose(np.abs((model.components_ * components).sum(axis=1)), 1, atol=1e-5)


def test_components_are_those_of_the_text_of_fit():
    counts = {word: sum(words.count(word) for words in TOKENS[:4]) for words in TOKENS[:4] for word in words}
    _, components = sif(TOKENS[:4], VECTORS, counts)
    model = make(weighting="sif", n_removed_components=1).fit(X[:4])
    expected = sif(TOKENS, VECTORS, counts, n_removed=0)[0]
    expected -= expected @ components.T @ components
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.transform(X) @ model.components_.T, 0, atol=1e-6)


def test_hashed_unknown_words_are_freed_of_the_components_too():
    model = make(n_removed_components=1, unknown="hash").fit(X)
    rows = model.transform(["quagga", "cat quagga"])
    assert rows.all(axis=1).all()
    np.testing.assert_allclose(rows @ model.components_.T, 0, atol=1e-6)


def test_partial_fit_finds_the_components_of_all_batches():
    whole = make(n_removed_components=2).fit(X)
    parts = make(n_removed_components=2).partial_fit(X[:3]).partial_fit(X[3:])
    np.testing.assert_allclose(parts.components_, whole.components_, atol=1e-5)
    np.testing.assert_allclose(parts.transform(X), whole.transform(X), atol=1e-5)


def test_a_call_that_fails_changes_nothing(monkeypatch):
    model = make(n_removed_components=1).partial_fit(X[:3])
    before = model.transform(X).tobytes(), model.components_.tobytes(), set(vars(model))
    shared = copy.copy(model).partial_fit(X[3:])
    assert shared.components_.tobytes() != before[1]
    with pytest.raises(ValueError, match="X was made with"):
        model.partial_fit(SentenceCorpus.from_sentences(X, lowercase=False))
    with pytest.raises(ValueError, match="n_removed_components=4 would leave nothing"):
        model.set_params(n_removed_components=model.n_features_out_).partial_fit(X)
    model.set_params(n_removed_components=1)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("skembed._word_vectors.common_components.strongest_directions", interrupt)
    for method in (model.partial_fit, model.fit):
        with pytest.raises(KeyboardInterrupt):
            method(X)
    fresh = make(n_removed_components=1)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X)
    assert set(vars(fresh)) == set(vars(make()))
    assert (model.transform(X).tobytes(), model.components_.tobytes(), set(vars(model))) == before


def test_partial_fit_goes_on_from_memory_that_may_not_be_written_to(tmp_path):
    joblib.dump(make(n_removed_components=1).partial_fit(X[:3]), tmp_path / "model")
    parts = joblib.load(tmp_path / "model", mmap_mode="r").partial_fit(X[3:])
    expected = make(n_removed_components=1).partial_fit(X[:3]).partial_fit(X[3:])
    assert parts.transform(X).tobytes() == expected.transform(X).tobytes()


def test_idf_is_the_smooth_one_of_scikit_learn():
    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b").fit(X)
    idf = dict(zip(counter.get_feature_names_out(), TfidfTransformer().fit(counter.transform(X)).idf_))
    expected = weighted(idf.__getitem__)
    np.testing.assert_allclose(make(weighting="idf").fit(X).transform(X), expected, rtol=1e-5, atol=1e-6)
    never = make(weighting="idf").fit(X).transform(["unseen"])  # given, but not in the text of fit
    np.testing.assert_allclose(never[0], (np.log(1 + len(X)) + 1) * VECTORS["unseen"], rtol=1e-5)


@pytest.mark.kernel
@pytest.mark.parametrize("pooling", ["mean", "sum"])
def test_each_word_once_is_the_binary_count_of_scikit_learn(pooling):
    text = [*X, "cat cat", "quagga zebras quagga", "dog quagga dog cat quagga cat"]
    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b", vocabulary=WORDS, binary=True)
    counts = counter.transform(text).toarray()
    expected = counts @ np.array([VECTORS[word] for word in WORDS])
    expected /= np.maximum(counts.sum(axis=1, keepdims=True), 1) if pooling == "mean" else 1
    model = make(binary=True, pooling=pooling).fit(X)
    np.testing.assert_allclose(model.transform(text), expected, rtol=1e-5, atol=1e-6)
    corpus = SentenceCorpus.from_sentences(text)
    assert model.transform(corpus).tobytes() == model.transform(text).tobytes()
    model.set_params(unknown="hash")
    assert model.transform(["quagga cat quagga"]).tobytes() == model.transform(["quagga cat"]).tobytes()
    explained = model.explain("dog quagga dog cat quagga", "dog dog")
    assert explained.words_a == ["dog", "quagga", "cat"] and explained.words_b == ["dog"]
    assert explained.similarity == pytest.approx(model.similarity("dog quagga dog cat quagga", "dog dog"), abs=1e-6)


@pytest.mark.parametrize("n_removed", [0, 1])
def test_numbers_get_random_directions(n_removed):
    vectors = VECTORS | {"1914": [1, 2, 3, 4], "1939": [1, 2, 3, 5], "b2b": [4, 3, 2, 1]}
    text = [*X, "cat 1914", "dog 1939 b2b"]
    options = PLAIN | {"word_vectors": vectors, "unknown": "hash", "n_removed_components": n_removed}
    hashed = MeanEmbeddingVectorizer(**options, numbers="hash").fit(text)
    plain = MeanEmbeddingVectorizer(**options).fit(text)
    assert plain.similarity("1914", "1939") > 0.9 > hashed.similarity("1914", "1939")
    if not n_removed:
        assert hashed.transform(["cat dog"]).tobytes() == plain.transform(["cat dog"]).tobytes()
    else:
        np.testing.assert_allclose(hashed.transform(text) @ hashed.components_.T, 0, atol=1e-5)
    assert hashed.word_vectors_.tobytes() == plain.word_vectors_.tobytes()
    # A number has the row that it has where it is unknown; what `fit` has seen decides about its weight alone.
    del vectors["1914"]
    without = MeanEmbeddingVectorizer(**options, numbers="hash").fit(text)
    row, unknown = hashed.transform(["1914"])[0], without.transform(["1914"])[0]
    cosine = row @ unknown / np.linalg.norm(row) / np.linalg.norm(unknown)
    assert cosine == pytest.approx(1, abs=1e-5) if not n_removed else cosine > 0.5


def test_learned_numbers_go_on_learning():
    text = ["in 1914 and 1939 there was war", "war is in 1914", "no war in 1939"] * 20
    options = {"n_components": 5, "random_state": 0, "min_count": 1}
    hashed = MeanEmbeddingVectorizer(**options, numbers="hash").fit(text).partial_fit(text)
    plain = MeanEmbeddingVectorizer(**options).fit(text).partial_fit(text)
    assert hashed.word_vectors_.tobytes() == plain.word_vectors_.tobytes()
    rows, others = hashed.transform(["1914", "war"]), plain.transform(["1914", "war"])
    assert rows[1].tobytes() == others[1].tobytes() and not np.allclose(rows[0], others[0])


def test_given_vectors_are_kept_as_they_are():
    model = make().fit(X)
    assert list(model.vocabulary_) == WORDS and model.n_iter_ == 0 and model.loss_curve_ == []
    np.testing.assert_array_equal(model.word_vectors_, np.array(list(VECTORS.values())))
    counts = {word: sum(words.count(word) for words in TOKENS) for word in WORDS}
    assert dict(zip(WORDS, model.word_counts_.tolist())) == counts
    assert make(min_count=3).fit(X).vocabulary_ == model.vocabulary_  # min_count is for words that are learned
    assert model.get_feature_names_out().tolist() == [f"meanembeddingvectorizer{i}" for i in range(4)]


@pytest.mark.kernel
def test_vectors_of_another_fitted_estimator():
    text = ["a b c", "b c d", "d a b"] * 4
    other = CBOSVectorizer(5, min_count=1, max_iter=1, pooling="mean", unknown="zero", random_state=0).fit(text)
    model = MeanEmbeddingVectorizer(word_vectors=other, **PLAIN).fit(text)
    assert model.vocabulary_ == other.vocabulary_
    np.testing.assert_array_equal(model.transform(text), other.transform(text))
    other.word_vectors_[:] = 0
    assert model.transform(["a"]).any(), "a copy"


@pytest.mark.parametrize("n_removed", [4, 5])
def test_components_that_would_leave_nothing(n_removed):
    with pytest.raises(ValueError, match="n_removed_components"):
        make(n_removed_components=n_removed).fit(X)
    with pytest.raises(ValueError, match="n_removed_components"):
        MeanEmbeddingVectorizer(4, min_count=1, n_removed_components=n_removed).fit(X)


@pytest.mark.kernel
def test_learned_vectors_are_freed_of_their_components():
    text = ["a b c", "b c d", "d a b", "c"] * 5
    options = {**PLAIN, "min_count": 1, "max_iter": 2, "subsample": 1.0, "random_state": 0}
    plain = MeanEmbeddingVectorizer(5, **options).fit(text)
    freed = MeanEmbeddingVectorizer(5, **{**options, "n_removed_components": 1}).fit(text)
    np.testing.assert_array_equal(plain.word_vectors_, freed.word_vectors_)
    rows = plain.transform(text).astype(float)
    component = np.linalg.svd(rows)[2][0]
    np.testing.assert_allclose(freed.transform(text), rows - np.outer(rows @ component, component), atol=1e-6)


def test_no_warm_start_from_weights_of_another_shape():
    text = ["the cat sat on the mat", "a dog ran in the park"] * 10
    estimator = MeanEmbeddingVectorizer(4, min_count=1, max_iter=1, random_state=0).fit(text)
    given = {"cat": [1.0] * 6, "the": [2.0, 1.0, 0.0, 0.0, 1.0, 0.0], "a": [0.0] * 6}
    estimator.set_params(word_vectors=given).fit(text)
    estimator.set_params(word_vectors=None, warm_start=True).fit(text)
    assert estimator.word_vectors_.shape == estimator.target_vectors_.shape == (len(estimator.vocabulary_), 4)


def test_too_many_removed_components_are_refused_by_a_warm_start():
    text = ["the cat sat on the mat", "a dog ran in the park"] * 10
    estimator = MeanEmbeddingVectorizer(4, min_count=1, max_iter=1, random_state=0, warm_start=True).fit(text)
    with pytest.raises(ValueError, match="n_removed_components=4 must be smaller"):
        estimator.set_params(n_removed_components=4).fit(text)
