"""The same bits on every processor with fused multiply-add, however wide its vectors are."""

import json

import pytest
from estimators import GROUPS, TEXT, make
from llvmlite import binding
from numba.core.registry import CPUDispatcher
from test_processes import digest_of, run

import skembed
from skembed._compiled import rows
from skembed._objectives import siamese_cbow, word2vec
from skembed._training import updates

MODULES = [vars(module) for module in (siamese_cbow, updates, rows, word2vec)]
# Vectors of less than sixteen numbers have code of their own; 21 numbers are one vector and five more.
MODELS = [
    (name, {"n_components": n_components, "solver": "adagrad", "learning_rate": 0.1})
    for n_components in (8, 21)
    for name in ("SiameseCBOWVectorizer-idf-hash", "Word2VecVectorizer-cbow")
]


def digests():
    return [digest_of(make(name, **options).fit(TEXT, groups=GROUPS)) for name, options in MODELS]


def test_the_compiler_chooses_no_order():
    """With fastmath it would add up by the width of the processor's vectors, and divide by estimates."""
    for name in skembed.__all__:
        getattr(skembed, name)  # imports what is imported at first use
    compiled = {id(value): value for module in MODULES for value in module.values() if isinstance(value, CPUDispatcher)}
    assert len(compiled) > 30
    assert not [function for function in compiled.values() if function.targetoptions.get("fastmath")]


@pytest.mark.slow
@pytest.mark.skipif(
    not all(binding.get_host_cpu_features().get(feature) for feature in ("avx", "fma")), reason="needs AVX and FMA"
)
def test_the_width_of_vectors_changes_no_bit(tmp_path):
    code = "import json\nfrom test_processors import digests\nprint(json.dumps(digests()))"
    narrow = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+avx,+fma,+prefer-128-bit"}
    assert json.loads(run(code, NUMBA_CACHE_DIR=str(tmp_path), **narrow)) == digests()
