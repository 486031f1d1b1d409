"""`estimate_memory` says what a fit needs, and a fit needs no more than it should."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from estimators import (
    GROUPS,
    OTHER_TEXT,
    RECURRENT,
    TEXT,
    TRAINED,
    TRAINED_CLASSES,
    corpus,
    fitted,
    learned,
    make,
    published,
)
from numba import config
from sklearn.base import clone
from traced_memory import peak_of

from skembed import CBOSVectorizer, PairCorpus, SentenceCorpus
from skembed._text.vocabulary import Vocabulary
from skembed._training.dense import Chunk
from skembed._training.encoded_text import encode_text
from skembed._training.learned_arrays import accumulator_bytes

RECURSIVE = "RecursiveAutoencoderVectorizer"
ROOT = Path(__file__).resolve().parents[2]
MATRICES = ("word_vectors_", "_source_vectors", "target_vectors_", "coef_", "_directions", "_start_vectors", "_scales")

MATRICES += (
    "_interpolated_vectors",
    "_filters",
    "filters_",
    "_start_filters",
    "_intercept",
    "intercept_",
    "_start_intercept",
    "_unit_weights",
    "unit_weights_",
    "_start_unit_weights",
    "_gate_weights",
    "gate_weights_",
    "_start_gate_weights",
    "encoder_weights_",
    "decoder_weights_",
    "forward_weights_",
    "backward_weights_",
    "bi_decoder_weights_",
    "bi_target_vectors_",
)
PARTS = ["weights", "accumulators", "corpus", "copies", "scratch"]


@pytest.mark.parametrize("name", TRAINED)
def test_parts_are_what_a_fit_has(name):
    estimator = fitted(name)
    text = SentenceCorpus.from_sentences(TEXT, GROUPS, stemmer=estimator.stemmer)
    memory = make(name).estimate_memory(text)
    state = estimator._state
    arrays = {key: value for key, value in state.values().items() if isinstance(value, np.ndarray)}
    names = [*MATRICES, "word_weights_"] if "_scales" in arrays else MATRICES  # where they are learned
    of_weights = {id(arrays[key]): arrays[key].nbytes for key in names if key in arrays}  # two may be the same
    records = estimator._copied_at_the_end(estimator._learned_arrays(state))
    at_the_end = sum(record.n_bytes for record in records)
    # Vectors of sentences live as long as a fit.
    of_text = estimator._arrays_of_text(state, encode_text(estimator, text, state))
    of_sentences = sum(record.n_bytes for record in of_text)
    assert memory["weights"] + at_the_end == sum(of_weights.values()) + of_sentences
    assert memory["copies"] >= at_the_end
    accumulators = sum(value.nbytes for key, value in arrays.items() if "accumulator" in key)
    assert memory["accumulators"] == accumulators + accumulator_bytes(of_text, estimator.solver)
    assert memory["corpus"] == text.tokens.nbytes + text.sent_ptr.nbytes + text.doc_ptr.nbytes
    assert memory["total"] == sum(memory[part] for part in PARTS)
    assert list(memory) == [*PARTS, "total"]
    assert all(type(value) is int for value in memory.values())


@pytest.mark.parametrize(
    ("name", "options"), [*((name, {}) for name in [*RECURRENT, RECURSIVE]), (RECURSIVE, {"learn_words": True})]
)
def test_activations_of_a_chunk(name, options):
    model = make(name, n_components=64, max_iter=1, **options)
    text = SentenceCorpus.from_sentences([sentence for sentence in TEXT if sentence] * 2)
    state = model.fit(text)._state
    objective, encoded = model._make_objective(state), encode_text(model, text, state)
    chunk = Chunk(encoded, np.arange(128), np.random.default_rng(0))
    found = objective.gradients(chunk, True)
    of_found = sum(array.nbytes for array in found.of.values() if isinstance(array, np.ndarray))
    expected = objective.activation_bytes(int(text.sent_ptr[128]))
    peak = peak_of(lambda: objective.gradients(chunk, True), of_found + 1.1 * expected)
    assert 0.5 < (peak - of_found) / expected < 1.1


def test_sentences_are_encoded_first():
    text = SentenceCorpus.from_sentences(TEXT)
    assert make("CBOSVectorizer").estimate_memory(iter(TEXT)) == make("CBOSVectorizer").estimate_memory(text)


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_nothing_is_learned(name):
    estimator = make(name, warm_start=True).fit(TEXT, groups=GROUPS)
    before = learned(estimator)
    estimator.estimate_memory(corpus())
    assert learned(estimator) == before
    assert not hasattr(make(name), "vocabulary_")


def test_mapped_corpus_takes_none(tmp_path):
    corpus().save(tmp_path / "corpus")
    mapped = SentenceCorpus.load(tmp_path / "corpus")
    estimator = make("CBOSVectorizer")
    assert estimator.estimate_memory(mapped)["corpus"] == 0
    assert estimator.set_params(corpus=mapped).estimate_memory(OTHER_TEXT)["corpus"] == 0


def test_a_row_of_a_matrix_has_ten_bytes_beside_its_numbers():
    """How often it is updated, and which thread has it."""

    def scratch(name, max_features):
        return make(name, max_features=max_features).estimate_memory(corpus())["scratch"]

    for name, n_matrices in (("CBOSVectorizer", 1), ("Sent2VecVectorizer", 2)):
        assert scratch(name, 40) - scratch(name, 10) == 10 * 30 * n_matrices


def test_limits_of_the_vocabulary_count():
    def weights(**options):
        return make("CBOSVectorizer", **options).estimate_memory(corpus())["weights"]

    assert weights(max_features=10) == 4 * 8 * 10
    counts = corpus().vocabulary.counts
    assert weights(min_count=5) == 4 * 8 * int((counts >= 5).sum())


def test_copies_are_counted():
    def copies(estimator, text=None):
        return estimator.estimate_memory(corpus() if text is None else text)["copies"]

    plain = make("CBOSVectorizer")
    memory = plain.estimate_memory(corpus())
    assert memory["copies"] == 0
    assert copies(make("CBOSVectorizer", early_stopping=True)) >= memory["corpus"] + memory["weights"]
    warm = make("CBOSVectorizer", warm_start=True).fit(corpus())
    assert copies(warm) == memory["weights"] + memory["accumulators"]
    other = SentenceCorpus.from_sentences(OTHER_TEXT)
    assert copies(warm, other) == memory["weights"] + memory["accumulators"] + other.tokens.nbytes


FROM_PAIRS = [name for name in TRAINED_CLASSES if make(name)._learns_from == "pairs"]


@pytest.mark.skipif(config.DISABLE_JIT, reason="a million numbers one by one")
@pytest.mark.parametrize("name", FROM_PAIRS)
@pytest.mark.parametrize("interpolation", [1.0, 0.5])
def test_no_copy_of_the_words_beside_those_that_are_counted(name, interpolation):
    pairs = PairCorpus.from_pairs([(f"a{i} b{i}", f"a{i} c{i}") for i in range(3000)])
    model = published(make(name, n_components=200, max_iter=1, interpolation=interpolation))
    memory = model.fit(pairs).estimate_memory(pairs)
    limit = memory["total"] + memory["weights"] / 8  # the words, as they are and at the start, are the weights
    assert peak_of(lambda: clone(model).fit(pairs), limit) < limit


@pytest.mark.parametrize("learn_words", [False, True])
def test_no_copy_of_the_words_of_trees(learn_words):
    text = SentenceCorpus.from_sentences([f"a{i // 2} {'bc'[i % 2]}{i // 2}" for i in range(6000)])
    model = published(make(RECURSIVE, n_components=100, max_iter=1, learn_words=learn_words))
    limit = model.fit(text).estimate_memory(text)["total"]
    assert peak_of(lambda: clone(model).fit(text), limit) < limit


def test_contradicting_options_are_refused():
    with pytest.raises(ValueError, match="n_components"):
        CBOSVectorizer(0).estimate_memory(corpus())
    with pytest.raises(ValueError, match="batch_size=2 is too small"):
        CBOSVectorizer(batch_size=2).estimate_memory(corpus())


# -- what a fit really takes -----------------------------------------------------------------------------------------

OF_PROCESS = """
import json, os, resource, sys
import numpy as np
import skembed
from skembed import SentenceCorpus

def peak():
    if sys.platform == "linux":  # whose getrusage counts what the tests had before this process began, too
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
"""

# A process for each fit, all of which have imported everything.
PEAKS_OF_FITS = f"""{OF_PROCESS}
import skembed.research
for name in skembed.__all__:
    getattr(skembed, name)

def measured(name, folder, options):
    home = skembed if hasattr(skembed, name) else skembed.research
    estimator = getattr(home, name)(max_iter=1, min_count=1, random_state=0, **options)

    def targets(n_sentences):
        return np.ones((n_sentences, 5)) if estimator._learns_from == "targets" else None

    estimator.fit(["a b c d e f", "g a b c"] * 200, targets(400), groups=np.arange(400) // 4)
    before = peak()
    corpus = SentenceCorpus.load(folder, mmap=False, verify=False)
    y = targets(corpus.n_sentences)
    memory = estimator.estimate_memory(corpus, y)
    estimator.fit(corpus, y)
    return [peak() - before, memory]

for job in sys.stdin:
    child = os.fork()
    if child == 0:
        print(json.dumps(measured(*json.loads(job))), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("null", flush=True)
"""


def generated(folder, n_words, n_tokens):
    """Save a corpus of sentences of 20 words, whose frequencies fall as they do in a language."""
    frequency = 1 / np.arange(1, n_words + 1)
    tokens = np.random.default_rng(0).choice(n_words, n_tokens - n_words, p=frequency / frequency.sum())
    tokens = np.concatenate([np.arange(n_words), tokens])
    counts = np.bincount(tokens)
    words = np.array([f"w{i}" for i in range(n_words)])
    order = np.lexsort((words, -counts))
    rank = np.empty(n_words, np.int32)
    rank[order] = np.arange(n_words)
    sent_ptr = np.append(np.arange(0, n_tokens, 20), n_tokens)
    doc_ptr = np.append(np.arange(0, len(sent_ptr) - 1, 50), len(sent_ptr) - 1)
    vocabulary = Vocabulary(words[order].tolist(), counts[order])
    SentenceCorpus(rank[tokens], sent_ptr, doc_ptr, vocabulary).save(folder)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    generated(folder / "many words", 40_000, 50_000)
    generated(folder / "many tokens", 1_000, 10_000_000)
    return folder


@pytest.fixture(scope="module")
def fit_elsewhere():
    """Return a function that fits in a new process: what that took at most, and what was estimated."""
    pytest.importorskip("resource")
    with subprocess.Popen(
        [sys.executable, "-c", PEAKS_OF_FITS], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def fit(*job):
            print(json.dumps(job), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield fit
        process.stdin.close()


COMPONENTS = {"many words": 700, "many tokens": 4}
# Above, the copies of these are counted. The arrays of the last two are those of CBOS.
COUNTED = {RECURSIVE, *FROM_PAIRS, "SiameseCBOWVectorizer", "Word2VecVectorizer", *RECURRENT}
PEAKS = [(name, "many words") for name in TRAINED_CLASSES if name not in COUNTED]
PEAKS += [(name, "many tokens") for name in ("CBOSVectorizer", "ParagraphVectorizer", "ParaphraseVectorizer")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "shape"), PEAKS)
def test_peak_of_a_fit(name, shape, corpora, fit_elsewhere):
    found = fit_elsewhere(name, str(corpora / shape), {"n_components": COMPONENTS[shape]})
    check_peak(*found, shape)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECURRENT)
def test_peak_of_a_slow_fit(name, corpora, fit_elsewhere):
    options = {"n_components": 16, "word_components": 700, "negative": 50}
    check_peak(*fit_elsewhere(name, str(corpora / "many words"), options), "many words")


def check_peak(taken, memory, shape):
    beside = taken - memory["weights"] - memory["accumulators"] - memory["corpus"]
    assert 0 < beside <= 150e6
    if shape == "many tokens":  # no second copy of the text
        assert beside <= memory["scratch"] + memory["copies"] + 50e6


LONG_WORD = f"""{OF_PROCESS}
SentenceCorpus.from_sentences(["a cat", "y" * 1000])
before = peak()
SentenceCorpus.from_sentences(["a cat", "x" * 10_000_000])
print(peak() - before)
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="ten million bytes one by one")
def test_a_long_word_takes_a_few_times_its_size():
    """Though the table has slots for three million words, which as many letters of other scripts could be."""
    done = subprocess.run([sys.executable, "-c", LONG_WORD], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150e6
