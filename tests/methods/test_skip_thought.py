"""Skip-thought vectors: what is predicted from what, against a slow twin, and words that are not learned."""

from dataclasses import replace

import numpy as np
import pytest
import recurrent_reference
from estimators import GIVEN, GROUPS, TEXT, with_state
from kernel_cases import DOCUMENT, N_WORDS, SENTENCES, tiny_text

from skembed._training.dense import Chunk
from skembed.research import SkipThoughtVectorizer
from skembed.research._skip_thought import neighbouring

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of random bits, without JIT

FAST = {"n_components": 12, "word_components": 8, "learning_rate": 0.02, "min_count": 1, "random_state": 0}
CHUNK = np.array([4, 0, 1, 2, 3, 6, 8, 9, 12, 11])


def twins_pairs():
    """The known words of the sentences of the chunk; for each decoder, the neighbours of each."""
    known = [[word for word in sentence if word < N_WORDS] for sentence in SENTENCES]
    sources = [int(i) for i in CHUNK if known[i]]
    pairs = [[], []]
    for index, i in enumerate(sources):
        for of_decoder, j in zip(pairs, (i - 1, i + 1)):
            if 0 <= j < len(known) and DOCUMENT[j] == DOCUMENT[i] and known[j]:
                of_decoder.append((index, known[j]))
    return [known[i] for i in sources], pairs


@pytest.mark.parametrize("direction", ["uni", "bi", "combine"])
def test_loss_is_the_twins(direction):
    text, _ = tiny_text()
    model = SkipThoughtVectorizer(**FAST | {"n_components": 7}, direction=direction).fit(TEXT, groups=GROUPS)
    sources, pairs = twins_pairs()
    assert min(map(len, pairs)) > 1
    doubles = {name: value.astype(np.float64) for name, value in model._state.arrays.items()}
    state = replace(model._state, n_learned=N_WORDS)
    networks = [network for network, _ in model._networks()]
    found = model._make_objective(state).gradients(Chunk(text, CHUNK, None), False)
    certain = dict.fromkeys(range(N_WORDS), 1.0)
    assert found.n_targets == len(networks) * sum(len(words) for of in pairs for _, words in of)
    assert found.loss == pytest.approx(
        recurrent_reference.prediction_loss(sources, pairs, doubles, networks, certain), rel=1e-4
    )


def test_neighbours_stay_in_their_document():
    text, _ = tiny_text()
    source, targets = neighbouring(Chunk(text, CHUNK, None), True)
    sources, pairs = twins_pairs()
    assert [part.tolist() for part in np.split(source.ids, source.ptr[1:-1])] == sources
    for target, of_decoder in zip(targets, pairs):
        parts = np.split(target.words.ids, target.words.ptr[1:-1])
        assert [(i, part.tolist()) for i, part in zip(target.source.tolist(), parts)] == of_decoder
    alone, nothing = neighbouring(Chunk(text, np.array([5]), None), True)  # the only sentence of its document
    assert len(alone.ptr) == 2 and not any(len(target.words.ids) for target in nothing)


@pytest.mark.parametrize("direction", ["uni", "bi", "combine"])
def test_it_predicts_better_than_the_frequency_of_words(direction):
    options = FAST | {"direction": direction, "n_components": 13}  # the halves differ
    model = SkipThoughtVectorizer(**options, max_iter=8, early_stopping=True).fit(TEXT * 2, groups=GROUPS * 2)
    shares = model.word_counts_ / model.word_counts_.sum()
    assert model.validation_loss_curve_[-1] < -0.9 * (shares * np.log(shares)).sum()
    assert model.transform(TEXT).shape == (len(TEXT), 13)


def test_both_ways_are_two_halves():
    model = SkipThoughtVectorizer(**FAST, direction="bi").fit(TEXT, groups=GROUPS)
    assert model.forward_weights_.shape == model.backward_weights_.shape == (3, 6, 15)
    assert not hasattr(model, "encoder_weights_")
    with_state(model, {"backward_weights_": model.forward_weights_})
    there, back = model.transform(["cat dog mouse", "mouse dog cat"])
    np.testing.assert_array_equal(there[:6], back[6:])
    combined = SkipThoughtVectorizer(**FAST, direction="combine").fit(TEXT, groups=GROUPS)
    lengths = [getattr(combined, f"{name}_weights_").shape[1] for name in ("encoder", "forward", "backward")]
    assert lengths == [6, 3, 3]


def test_more_words_by_a_linear_map():
    plain = SkipThoughtVectorizer(**FAST | {"min_count": 8}).fit(TEXT, groups=GROUPS)
    words = [word for word in GIVEN if word in plain.vocabulary_]
    # The given vectors are a linear map of the learned ones, so the map finds them again.
    learned = plain.word_vectors_[[plain.vocabulary_[word] for word in words]]
    to_given = np.random.default_rng(0).normal(size=(8, 8))
    other = np.random.default_rng(1).normal(size=8)
    given = dict(zip([*words, "unheard"], [*(learned @ to_given), other @ to_given]))
    model = SkipThoughtVectorizer(**FAST | {"min_count": 8}, expand_with=given).fit(TEXT, groups=GROUPS)
    assert list(model.vocabulary_)[-1] == "unheard" and model.loss_curve_ == plain.loss_curve_
    np.testing.assert_allclose(model.word_vectors_[-1], other, rtol=1e-3, atol=1e-3)
    assert model.word_counts_[-1] == 0 and model.target_vectors_.shape == plain.target_vectors_.shape
    assert not plain.transform(["unheard"]).any() and model.transform(["unheard"]).any()
    model.set_params(warm_start=True).fit(TEXT, groups=GROUPS)
    assert model.word_vectors_[-1].any() and model.n_iter_ == 2 * plain.n_iter_


def test_vectors_that_cannot_be_mapped():
    with pytest.raises(ValueError, match="expand_with has none of the learned words"):
        SkipThoughtVectorizer(**FAST, expand_with={"zzz": [1.0, 2.0]}).fit(TEXT, groups=GROUPS)
    with pytest.raises(FileNotFoundError, match="expand_with: There is no file at 'x'"):
        SkipThoughtVectorizer(**FAST, expand_with="x").fit(TEXT, groups=GROUPS)
    with pytest.raises(TypeError, match="expand_with: "):
        SkipThoughtVectorizer(**FAST, expand_with=5).fit(TEXT, groups=GROUPS)


@pytest.mark.parametrize(("direction", "smallest"), [("bi", 2), ("combine", 3)])
def test_each_unit_needs_a_number(direction, smallest):
    model = SkipThoughtVectorizer(smallest - 1, direction=direction)
    with pytest.raises(ValueError, match=f"needs at least {smallest} components"):
        model.fit(TEXT, groups=GROUPS)
    assert model.set_params(n_components=smallest, max_iter=1, min_count=1).fit_transform(TEXT).shape[1] == smallest
