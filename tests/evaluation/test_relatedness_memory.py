"""`estimate_memory` of the head with its encoder says what a fit needs."""

import numpy as np
import pytest
from scored_pairs import ENCODERS, make, scored, state
from sklearn.base import clone
from traced_memory import peak_of

from skembed import PairCorpus, ParaphraseVectorizer
from skembed._compiled import arrays


def encoded_pairs(n, n_words):
    words = np.random.default_rng(0).integers(n_words, size=(n, 8))
    rows = [" ".join(f"w{i}" for i in row) for row in words]
    return PairCorpus.from_pairs(list(zip(rows[::2], rows[1::2]))), np.random.default_rng(1).uniform(1, 5, n // 2)


SHAPES = {
    "words": ({"n_components": 200}, {}, (3000, 20_000)),
    "pairs": ({}, {"batch_size": 256}, (40_000, 500)),
    "head": ({"n_components": 200}, {"n_hidden": 3000}, (400, 50)),
    "batch": ({"n_components": 200}, {"batch_size": 4096}, (10_000, 50)),
}


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_peak_of_a_fit(encoder, shape, early_stopping):
    of_encoder, options, size = SHAPES[shape]
    pairs, y = encoded_pairs(*size)
    encoder = clone(ENCODERS[encoder]).set_params(**of_encoder)
    model = make(encoder, max_iter=1, early_stopping=early_stopping, **options)
    clone(model).fit(pairs[:40], y[:40])  # whose kernels are compiled then
    memory = model.estimate_memory(pairs)
    assert list(memory) == ["weights", "accumulators", "corpus", "copies", "scratch", "total"]
    assert memory["total"] == sum(list(memory.values())[:-1]) and all(type(size) is int for size in memory.values())
    of_corpus = memory["corpus"]  # which is there before
    peak = of_corpus + peak_of(lambda: clone(model).fit(pairs, y), memory["total"] - of_corpus)
    assert peak <= memory["total"]
    if isinstance(encoder, ParaphraseVectorizer):  # the others allow for a text of distinct words
        assert peak >= 0.85 * memory["total"]


def test_estimate_changes_nothing():
    pairs, y = scored(40)
    assert make().estimate_memory(pairs) == make().estimate_memory(PairCorpus.from_pairs(pairs), y)
    model = make(max_iter=1).fit(pairs, y)
    before = state(model)
    memory = model.estimate_memory(pairs)
    assert state(model) == before and not hasattr(make(), "encoder_")
    of_head = sum(array.size for array in (*model.coefs_, *model.intercepts_))
    of_words = sum(model.encoder_._state.arrays[name].nbytes for name in ("_directions", "_scales", "_start_vectors"))
    assert memory["weights"] == 4 * of_head + of_words


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_lack_of_memory_names_parameters_and_bytes(method, monkeypatch):
    def no_room(shape, dtype):
        raise MemoryError

    monkeypatch.setattr(arrays, "unshared_zeros", no_room)
    model = make(ParaphraseVectorizer(10**7), n_hidden=1)
    total = model.estimate_memory(scored(40)[0])["total"]
    message = rf"^FineTunedRelatednessRegressor needs {total / 2**30:,.1f} GiB .*n_components=10000000"
    with pytest.raises(MemoryError, match=message):
        getattr(model, method)(*scored(40))
    assert not hasattr(model, "encoder_")
