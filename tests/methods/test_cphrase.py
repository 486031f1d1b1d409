"""C-PHRASE against its slow twin, and what its trees do."""

import re
from dataclasses import replace

import numba
import numpy as np
import pytest
from kernel_cases import (
    UNCAPPED,
    assert_runs_are_their_sentences,
    assert_same_state,
    bits,
    doubles,
    draw_negative,
    encode,
    halves_of,
    kernel_gradients,
    run_block,
    start,
    starts_of,
    uniform,
    weights_after_passes,
)
from reference import constituents, cphrase_sentence, keep_probability, numeric_gradient, take_steps

from skembed import SentenceCorpus, Word2VecVectorizer
from skembed._objectives.cphrase import CPhraseObjective
from skembed._training.encoded_text import Plan
from skembed.research import CPhraseVectorizer

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.usefixtures("two_halves"),
]
OPENING, CLOSING, N_WORDS = 7, 8, 9
# Ids from 9 on are unknown words. Nested and flat trees, brackets around one word, around nothing, twice around the
# same words, an only child, words outside of all brackets, no bracket, no word.
TREES = [
    [[0, 1], [[2, [4, 6]], 5]],
    [[[3, 3]], [4]],
    [],
    [[], [5, 9], [1, [70000, 2]]],
    [2],
    [6, [6, 0], 3, [[1, 2, 3], 4]],
    [0, 1, 2],
    [[9, 9]],
    [[[[[0, 5], 1], 4], 2], 3],
    [[1, [4, [5, [6, [0, 2]]]]]],
]
MODELS = [
    {"trees": "bracketed", "window": 1, "window_growth": 1, "negative": 4},
    {"trees": "bracketed", "window": 2, "window_growth": 0, "negative": 1, "subsample": 0.1},
    {"trees": "balanced", "window": 1, "window_growth": 2, "negative": 3},
    {"trees": "balanced", "window": 5, "window_growth": 0, "negative": 4, "subsample": 0.1},
]


def tokens_of(tree):
    """A nested list with brackets around all lists but the outermost."""
    return [
        t for child in tree for t in ([OPENING, *tokens_of(child), CLOSING] if isinstance(child, list) else [child])
    ]


SENTENCES = [tokens_of(tree) for tree in TREES]


def text_of(estimator):
    sentences = SENTENCES
    if estimator.trees == "balanced":
        sentences = [[t for t in sentence if t not in (OPENING, CLOSING)] for sentence in SENTENCES]
    return sentences, encode(sentences, [0] * len(sentences), np.ones(N_WORDS, np.float32))


def make_objective(estimator, sentences):
    brackets = (OPENING, CLOSING) if estimator.trees == "bracketed" else None
    return CPhraseObjective(estimator, start(estimator, sentences), brackets)


def plan_of(block=0):
    return Plan(np.random.default_rng(4).permutation(len(TREES)), 1, 0, 5, block, block + 1, 12345)


def balanced(words):
    """The balanced tree of words as nested lists."""
    while len(words) > 1:
        words = [words[i : i + 2] if i + 1 < len(words) else words[i] for i in range(0, len(words), 2)]
    return words


def kept(tree, keep, position):
    """The tree of what subsampling keeps, by the positions of the tokens; ends at `position[0]`."""
    found = []
    for child in tree:
        if isinstance(child, list):
            position[0] += 1
            found.append(kept(child, keep, position))
            position[0] += 1
        else:
            if keep(child, position[0]):
                found.append(child)
            position[0] += 1
    return found


def twin(trees, source, target, estimator, objective, plan):
    options, (loss, n_targets), source_entries, target_entries = objective.options, (0.0, 0), [], []
    for i, half in zip(starts_of(plan), halves_of(options.negatives, plan)):
        tree = trees[i] if estimator.trees == "bracketed" else constituents(trees[i])[0]
        tree = kept(
            tree,
            lambda w, p: w < N_WORDS and uniform(bits(plan.seed, 3, i, p)) < options.keep[w],  # noqa: B023
            [0],
        )
        words, phrases = constituents(tree if estimator.trees == "bracketed" else balanced(tree))
        negatives = [draw_negative(options.negatives, half, bits(plan.seed, 5, i, j)) for j in range(options.negative)]
        result = cphrase_sentence(words, phrases, source, target, estimator.window, estimator.window_growth, negatives)
        loss, n_targets = loss + result[0], n_targets + result[1]
        source_entries += result[2]
        target_entries += result[3]
    return loss, n_targets, source_entries, target_entries


@pytest.mark.kernel
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS)
def test_a_block_is_the_twin(options, solver, max_steps):
    estimator = CPhraseVectorizer(**{"subsample": 1e9, **options})
    sentences, text = text_of(estimator)
    objective = make_objective(estimator, sentences)
    expected = doubles(objective)
    for block in (0, 1):
        plan = plan_of(block)
        loss, n_targets, *entries = twin(TREES, expected[0][0], expected[1][0], estimator, objective, plan)
        for (weights, accumulator), of_matrix in zip(expected, entries):
            take_steps(weights, accumulator, of_matrix, 0.2, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.2, max_steps)
        assert n_targets > 0
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_gradient_is_the_numeric_one(options):
    estimator = CPhraseVectorizer(**{"subsample": 1e9, **options})
    sentences, text = text_of(estimator)
    objective, plan = make_objective(estimator, sentences), plan_of()
    (source, _), (target, _) = doubles(objective)

    def loss():
        return twin(TREES, source, target, estimator, objective, plan)[0]

    expected = [numeric_gradient(loss, source), numeric_gradient(loss, target)]
    gradients = kernel_gradients(objective, lambda rate: run_block(objective, text, plan, rate=rate))
    for gradient, numeric in zip(gradients, expected):
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)
        assert np.abs(numeric).max() > 0.05


@pytest.mark.kernel
def test_brackets_are_neither_counted_nor_drawn():
    counts = np.array([5000, 400, 20, 3, 9000, 9000])
    estimator = CPhraseVectorizer(trees="bracketed", subsample=1e-3)
    state = replace(start(estimator, n_words=6), word_counts_=counts, n_tokens=counts.sum())
    options = CPhraseObjective(estimator, state, (4, 5)).options
    expected = [keep_probability(count, 5423, 1e-3) for count in counts[:4]]
    np.testing.assert_allclose(options.keep[:4], expected, rtol=1e-6)
    drawn = {draw_negative(options.negatives, half, bits(1, 2, 3, j)) for half in ((0, 6),) for j in range(2000)}
    assert drawn <= {0, 1, 2, 3} and {0, 1} <= drawn


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS[2:])
def test_any_number_of_threads_gives_the_same_bits(options, solver):
    estimator = CPhraseVectorizer(**{"subsample": 0.01, **options})
    results = [weights_after_passes(estimator, solver, n) for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


@pytest.mark.kernel
def test_a_run_is_its_sentences():
    assert_runs_are_their_sentences(CPhraseVectorizer(window=1, subsample=0.01))


def text_of_parses(brackets, n=600):
    """Beings, then up to four words that say nothing, then what a being does: only the parse puts the two together."""
    random, parses = np.random.default_rng(0), []
    for _ in range(n):
        topic, other = random.choice(["dog", "cat", "owl"]), [f"word{i}" for i in random.integers(10, size=6)]
        subject, verb, n_between = (
            f"{topic}{random.integers(5)}",
            f"{topic}s{random.integers(5)}",
            random.integers(2, 5),
        )
        between, behind = " ".join(other[:n_between]), " ".join(other[n_between:])
        if brackets == "around the subject":
            parses.append(f"(S (NP {subject} {between}) (VP {verb} {behind}))")
        else:
            between, last = between.rsplit(" ", 1)
            parses.append(f"(S (NP {subject} {between}) (VP {last} {verb} {behind}))")
    return parses


def nearness_of_topics(model):
    """Mean cosine of beings of one topic, less that of beings of two."""
    rows = [model.vocabulary_[f"{topic}{i}"] for topic in ("dog", "cat", "owl") for i in range(5)]
    vectors = model.word_vectors_[rows].astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    same = np.kron(np.eye(3), np.ones((5, 5))) > 0
    return (vectors @ vectors.T)[same & ~np.eye(15, dtype=bool)].mean() - (vectors @ vectors.T)[~same].mean()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="too slow")
def test_constituents_find_what_windows_of_the_same_width_do_not():
    options = {"n_components": 16, "window": 1, "max_iter": 20, "min_count": 1, "subsample": 1e9, "random_state": 0}
    parses, wrong = (text_of_parses(brackets) for brackets in ("around the subject", "around a part of it"))
    of_parses, of_wrong = (
        CPhraseVectorizer(**options, trees="bracketed", window_growth=0).fit(text) for text in (parses, wrong)
    )
    windows = Word2VecVectorizer(**options).fit([re.sub(r"\(\w+|\)", "", parse) for parse in parses])
    assert nearness_of_topics(of_parses) > 0.5
    assert abs(nearness_of_topics(of_wrong)) < 0.2
    assert abs(nearness_of_topics(windows)) < 0.2


def test_brackets_change_the_learning_and_not_the_sentence():
    parses = text_of_parses("around the subject", 60)
    model = CPhraseVectorizer(8, trees="bracketed", random_state=0, pooling="mean").fit(parses)
    plain = [re.sub(r"\(\w+|\)", "", parse) for parse in parses]
    np.testing.assert_array_equal(model.transform(parses), model.transform(plain))
    brackets = [model.vocabulary_["("], model.vocabulary_[")"]]
    assert not model.word_vectors_[brackets].any()
    assert model.explain(parses[0], plain[0]).words_a == plain[0].split()
    assert "(" not in [word for word, _ in model.most_similar("word1", 100)]
    balanced = CPhraseVectorizer(8, random_state=0).fit(plain)
    assert not {"(", ")"} & set(balanced.vocabulary_)


def test_trees_of_nltk_are_read():
    tree = [["the", "dog"], ["bites", ["the", "man"]]]
    text = "( ( the dog ) ( bites ( the man ) ) )"
    options = {"n_components": 4, "trees": "bracketed", "subsample": 1e9, "random_state": 0}
    expected = CPhraseVectorizer(**options).fit([text] * 20)
    model = CPhraseVectorizer(**options, analyzer=CPhraseVectorizer.words_of_tree).fit([tree] * 20)
    np.testing.assert_array_equal(model.word_vectors_, expected.word_vectors_)


@pytest.mark.parametrize(
    ("sentence", "row"), [("(S dogs) bark)", 70_000), ("(S (NP dogs) bark", 70_000), (") dogs bark (", 70_000)]
)
def test_sentence_that_is_no_tree_is_named(sentence, row):
    text = [*["(S dogs (VP bark))", ""] * 35_000, sentence, "(S dogs)"]
    for learn in (CPhraseVectorizer(4, trees="bracketed").fit, CPhraseVectorizer(4, trees="bracketed").partial_fit):
        with pytest.raises(ValueError, match=f"Row {row} has opening and closing brackets that do not fit"):
            learn(text)


@pytest.mark.parametrize("options", [{"min_count": 100}, {"max_features": 1, "min_count": 1}, {"stop_words": [")"]}])
def test_text_without_the_brackets_that_are_learned_is_an_error(options):
    text = ["(S dogs bark)"] * 50 + ["dogs bark"] * 100
    with pytest.raises(ValueError, match="brackets"):
        CPhraseVectorizer(4, trees="bracketed", **options).fit(text)


def test_corpus_of_parses_and_more_of_them():
    parses = text_of_parses("around the subject", 80)
    options = {"n_components": 4, "trees": "bracketed", "min_count": 1, "random_state": 0}
    corpus = SentenceCorpus.from_sentences(parses, token_pattern=r"[()]|(?<![^\s)])[^\s()]+")
    model, again = CPhraseVectorizer(**options).fit(parses), CPhraseVectorizer(**options).fit(corpus)
    np.testing.assert_array_equal(model.word_vectors_, again.word_vectors_)
    before = model.word_vectors_.copy()
    model.partial_fit(["(S (NP the new word) (VP dogs0 dogs1))"])
    assert "new" in model.vocabulary_ and np.any(model.word_vectors_[: len(before)] != before)
    assert not model.word_vectors_[model.vocabulary_["("]].any()
