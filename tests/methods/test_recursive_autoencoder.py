"""The recursive autoencoder: trees, loss and gradients against a slow twin, and brackets in text."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference

from skembed import SentenceCorpus
from skembed.research import RecursiveAutoencoderVectorizer
from skembed.research import _tree as recursive
from skembed.research._recurrent import SentenceIds
from skembed.research._tree import back, balanced_trees, fold, parse, start_pairs, trees_of, unfold

OPEN, CLOSE, D = 90, 91, 5
TREES = [(0, ((1, 2), 3)), 4, ((5, (6, 7)), (8, 9)), (10, 11)]  # of the words of four sentences
FAST = {"n_components": 8, "min_count": 1, "max_iter": 3, "random_state": 0}
TEXT = ["(S (NP the dog) (VP bites (NP the man)))", "(S (NP the man) (VP bites (NP the dog)))", "(S (NP dogs))"] * 6


def tokens_of(tree):
    return [tree] if isinstance(tree, int) else [OPEN, *tokens_of(tree[0]), *tokens_of(tree[1]), CLOSE]


def given_trees():
    return trees_of([parse(tokens_of(tree), OPEN, CLOSE) for tree in TREES])


def folded_twin(tree, vectors, encoder):
    if isinstance(tree, int):
        return vectors[tree]
    pair = [folded_twin(child, vectors, encoder) for child in tree]
    return np.tanh(encoder @ np.concatenate([*pair, [1.0]]))


def unfolded_twin(tree, vector, decoder):
    """The words that a node unfolds to."""
    found = {}
    for child, half in zip(tree, np.split(decoder @ np.append(vector, 1.0), 2)):
        found |= {child: half} if isinstance(child, int) else unfolded_twin(child, np.tanh(half), decoder)
    return found


def loss_twin(encoder, decoder, vectors):
    loss = 0.0
    for tree in TREES:
        if not isinstance(tree, int):
            for word, output in unfolded_twin(tree, folded_twin(tree, vectors, encoder), decoder).items():
                loss += ((output - vectors[word]) ** 2).sum() / 2
    return loss


def test_loss_and_gradients_are_the_twins():
    random = np.random.default_rng(0)
    shapes = (D, 2 * D + 1), (2 * D, D + 1), (12, D)
    doubles = [random.normal(0, 0.7, shape) for shape in shapes]
    encoder, decoder, vectors = (array.astype(np.float32) for array in doubles)
    folded = fold(vectors, given_trees(), encoder)
    expected = [folded_twin(tree, doubles[2], doubles[0]) for tree in TREES]
    np.testing.assert_allclose(folded.states[folded.trees.roots], expected, rtol=1e-4, atol=1e-5)
    unfolded = unfold(folded, decoder)
    assert unfolded.loss == pytest.approx(loss_twin(*doubles), rel=1e-4) and unfolded.n_words == 11
    for array, found in zip(doubles, back(unfolded, encoder, decoder)):
        numeric = reference.numeric_gradient(lambda: loss_twin(*doubles), array, 1e-6)
        np.testing.assert_allclose(found, numeric, rtol=1e-3, atol=1e-3)
        assert np.abs(numeric).max() > 0.1


def test_gradients_of_learned_words(monkeypatch):
    """With a word that occurs twice, one that is alone in its sentence, and the pull to the start."""
    random, ids, alpha = np.random.default_rng(1), np.arange(12), 0.3
    ids[11] = 10
    encoder, decoder, vectors = (random.normal(0, 0.7, shape) for shape in ((D, 2 * D + 1), (2 * D, D + 1), (11, D)))
    start = vectors + random.normal(0, 0.5, vectors.shape)
    names = "encoder_weights_", "decoder_weights_", "word_vectors_", "_start_vectors"
    fitted = {name: array.astype(np.float32) for name, array in zip(names, (encoder, decoder, vectors, start))}
    tokens = [ids[token] if token < OPEN else token for tree in TREES for token in tokens_of(tree)]
    ptr = np.cumsum([0, *(len(tokens_of(tree)) for tree in TREES)])
    monkeypatch.setattr(recursive, "list_known", lambda *_: (SentenceIds(np.array(tokens), ptr), np.arange(4)))
    found = recursive.Unfolding(fitted, (OPEN, CLOSE), alpha).gradients(SimpleNamespace(text=0, sentences=0), True)

    def loss():
        moved = (vectors - start)[np.delete(ids, 4)]
        return loss_twin(encoder, decoder, vectors[ids]) + alpha / 2 * (moved**2).sum()

    assert found.loss == pytest.approx(loss(), rel=1e-4) and found.n_targets == 11
    of_words = np.zeros_like(vectors)
    np.add.at(of_words, found.of["word_vectors_"].rows, found.of["word_vectors_"].vectors)
    np.testing.assert_allclose(of_words, reference.numeric_gradient(loss, vectors, 1e-6), rtol=1e-3, atol=1e-3)
    assert np.abs(of_words[10]).max() > 0.1 and not of_words[4].any()


def described(trees, n_words):
    """Each tree as nested pairs of words."""

    def of(index):
        return int(index) if index < n_words else tuple(map(of, trees.children[index - n_words]))

    return [of(root) for root in trees.roots]


def test_trees():
    assert described(given_trees(), 12) == TREES
    lengths = [5, 1, 2, 8]
    balanced = balanced_trees(np.cumsum([0, *lengths]))
    assert described(balanced, 16) == [(((0, 1), (2, 3)), 4), 5, (6, 7), (((8, 9), (10, 11)), ((12, 13), (14, 15)))]
    flat = parse([OPEN, 1, OPEN, OPEN, CLOSE, CLOSE, 2, 3, CLOSE, 4], OPEN, CLOSE)
    assert described(trees_of([flat]), 4) == [(((0, 1), 2), 3)]  # empty nodes are left out
    assert parse([OPEN, CLOSE], OPEN, CLOSE).root == -1
    for wrong in ([OPEN, 1], [1, CLOSE], [CLOSE, 1, OPEN]):
        with pytest.raises(ValueError, match="do not fit"):
            parse(wrong, OPEN, CLOSE)


def test_the_tree_counts():
    model = RecursiveAutoencoderVectorizer(**FAST, trees="bracketed").fit(TEXT)
    rows = model.transform(
        [*TEXT[:2], "( ( the dog) ( bites ( the man)))", "(S the dog bites the man)", "", "()", "(S)"]
    )
    assert rows[0].tobytes() == rows[2].tobytes()  # labels do not count
    assert np.abs(rows[0] - rows[1]).max() > 1e-3 < np.abs(rows[0] - rows[3]).max()
    assert not rows[4:].any()
    np.testing.assert_array_equal(model.transform(["(S (NP dogs))"])[0], model.word_vectors_[model.vocabulary_["dogs"]])


def test_a_frozen_start_and_a_corpus():
    words = "the dog bites man dogs".split()
    given = dict(zip(words, np.random.default_rng(0).normal(size=(5, 4))))
    options = FAST | {"n_components": 4, "trees": "bracketed", "init": given}
    model = RecursiveAutoencoderVectorizer(**options).fit(TEXT)
    np.testing.assert_array_equal(model.word_vectors_[:5], np.array(list(given.values()), np.float32))
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    corpus = SentenceCorpus.from_sentences(TEXT, token_pattern=model._state.tokenizer.token_pattern)
    again = RecursiveAutoencoderVectorizer(**options).fit(corpus)
    assert again.transform(corpus).tobytes() == model.transform(TEXT).tobytes()
    with pytest.raises(ValueError, match="token_pattern=.* contradicts X"):
        again.fit(SentenceCorpus.from_sentences(TEXT))


def test_brackets_that_do_not_fit():
    model = RecursiveAutoencoderVectorizer(**FAST, trees="bracketed").fit(TEXT)
    for text in ("(S dogs", "dogs) (bark", "the dog)"):
        for learn in (model.transform, RecursiveAutoencoderVectorizer(**FAST, trees="bracketed").fit):
            with pytest.raises(ValueError, match="opening and . closing brackets that do not fit"):
                learn([text] * 3)


def test_it_unfolds_held_out_sentences():
    random = np.random.default_rng(0)
    text = [" ".join(random.choice(list("abcdefgh"), random.integers(1, 5))) for _ in range(200)]
    options = FAST | {"max_iter": 15, "n_components": 16, "learning_rate": 0.01}
    model = RecursiveAutoencoderVectorizer(**options, token_pattern=r"\w", early_stopping=True).fit(text)
    squares = np.square(model.word_vectors_).sum(axis=1)
    assert model.validation_loss_curve_[-1] < 0.5 * (squares * model.word_counts_).sum() / model.word_counts_.sum() / 2


def test_learned_words_keep_apart():
    """Words of one topic come closer together, a short root tells the words of a sentence, and none become equal."""
    random = np.random.default_rng(0)
    text = [" ".join(random.choice(list(topic), 4)) for topic in ["abcdefgh", "ijklmnop"] * 600]
    options = FAST | {"max_iter": 20, "learning_rate": 0.01, "token_pattern": r"\w"}
    rows = random.integers(0, 8, 400) + np.repeat([0, 8, 0, 8], 100)
    right, nearest, closer = [], [], []
    for changed in ({}, {"learn_words": True}, {"learn_words": True, "alpha": 1e-9}):
        model = RecursiveAutoencoderVectorizer(**options, **changed).fit(text)
        words = model.word_vectors_[[model.vocabulary_[letter] for letter in "abcdefghijklmnop"]]
        units = words / np.linalg.norm(words, axis=1, keepdims=True)
        closer.append((units[:8] @ units[:8].T - np.eye(8)).sum() / 56 - (units[:8] @ units[8:].T).mean())
        folded = fold(words[rows], balanced_trees(np.arange(0, 401, 4)), model.encoder_weights_)
        distances = np.square(unfold(folded, model.decoder_weights_).outputs[:400, None] - words).sum(axis=2)
        right.append((distances.argmin(axis=1) == rows).mean())
        nearest.append(np.linalg.norm(words[:, None] - words, axis=2)[~np.eye(16, dtype=bool)].min())
    assert closer[1] > closer[0] + 0.1 and right[1] > right[0] + 0.2
    assert nearest[1] > 0.05 > nearest[2]  # without a pull to the start, words become equal


def test_start_is_a_sum():
    encoder, decoder = np.zeros((D, 2 * D + 1), np.float32), np.zeros((2 * D, D + 1), np.float32)
    start_pairs(encoder, [0], is_decoder=False)
    start_pairs(decoder, [1], is_decoder=True)
    for array in (encoder[:, :-1].T, decoder[:, :-1]):
        np.testing.assert_allclose(array, np.concatenate([np.eye(D)] * 2) / 2**0.5, atol=0.2)
    assert not encoder[:, -1].any() and not decoder[:, -1].any()


class NltkTree(list):
    """A tree as those of nltk: a list of its children, with a label."""

    def __init__(self, label, children):
        super().__init__(children)
        self.label = label


def test_trees_of_nltk_are_read():
    def tree(left, right):
        return NltkTree("S", [["the", left], ("bites", NltkTree("NP", ["the", right]))])

    of_tree = RecursiveAutoencoderVectorizer.words_of_tree
    trees = [tree("dog", "man"), tree("man", "dog"), NltkTree("S", [["dogs"]])] * 6
    model = RecursiveAutoencoderVectorizer(**FAST, trees="bracketed").fit(TEXT)
    found = RecursiveAutoencoderVectorizer(**FAST, trees="bracketed", analyzer=of_tree).fit(trees)
    assert found.transform(trees).tobytes() == model.transform(TEXT).tobytes()
    deep = ["a"]
    for _ in range(5000):
        deep = [deep]
    assert of_tree(deep).count("(") == 5001
    with pytest.raises(TypeError, match="Row 1: analyzer must return strings, got the token 7"):
        found.set_params(analyzer=of_tree).fit([["a", "b"], ["a", 7]])
