"""The same bits on every processor with fused multiply-add, however wide its vectors are."""

import hashlib
import json

import pytest
from estimators import PUBLIC, corpus, learned, make
from llvmlite import binding
from numba.core.registry import CPUDispatcher
from test_processes import run

from skembed import SentenceCorpus
from skembed._compiled import rows
from skembed._objectives import siamese_cbow, word2vec
from skembed._training import learned_arrays

MODULES = [vars(module) for module in (siamese_cbow, learned_arrays, rows, word2vec)]
# Rows of less than sixteen elements have code of their own; 21 elements are one SIMD vector and five more.
MODELS = [
    (name, {"n_components": n_components, "solver": "adagrad", "learning_rate": 0.1})
    for n_components in (8, 21)
    for name in ("SiameseCBOWVectorizer-idf-hash", "Word2VecVectorizer-cbow")
]


def digests(folder):
    """Digests of what each model learns and of its rows; the text is encoded, so its kernels need not be compiled."""
    text = SentenceCorpus.load(folder)
    fits = [make(name, **options).fit(text) for name, options in MODELS]
    states = [(learned(estimator), estimator.transform(text).tobytes()) for estimator in fits]
    return [hashlib.sha256(repr(state).encode()).hexdigest() for state in states]


def test_the_compiler_chooses_no_order():
    """With fastmath it would add up by the width of the processor's vectors, and divide by estimates."""
    assert PUBLIC  # all modules are imported
    compiled = {id(value): value for module in MODULES for value in module.values() if isinstance(value, CPUDispatcher)}
    assert len(compiled) > 30
    assert not [function for function in compiled.values() if function.targetoptions.get("fastmath")]


@pytest.mark.slow
@pytest.mark.skipif(
    not all(binding.get_host_cpu_features().get(feature) for feature in ("avx", "fma")), reason="needs AVX and FMA"
)
def test_the_width_of_vectors_changes_no_bit(tmp_path):
    corpus().save(tmp_path / "corpus")
    code = f"import json\nfrom test_processors import digests\nprint(json.dumps(digests({str(tmp_path / 'corpus')!r})))"
    narrow = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+avx,+fma,+prefer-128-bit"}
    assert json.loads(run(code, NUMBA_CACHE_DIR=str(tmp_path / "cache"), **narrow)) == digests(tmp_path / "corpus")
