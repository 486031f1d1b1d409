"""How far the gradients of each method are from those of its slow twin, or from finite differences of the twin's loss.

    python benchmarks/quality/gradients.py [--out doc/_results/quality]

Runs the tests of the gradients, which compare arrays by `numpy.testing.assert_allclose`, and notes what they compare:
the largest difference, as a share of the largest number of the array that is expected. Kernels compute in float32, with
numbers of 24 bits: 6e-8 of the largest.
"""

import argparse
import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))  # the modules that all benchmarks share

from reporting import report

METHODS = {
    "cbos": "CBOS",
    "cphrase": "C-PHRASE",
    "cse": "CSE",
    "denoising_autoencoder": "SDAE; SkipThought, by two decoders",
    "fastsent": "FastSent",
    "gran": "GRAN",
    "paragraph": "PV-DBOW, PV-DM",
    "paraphrase": "PP, softmax and hinge",
    "recursive_autoencoder": "URAE",
    "sent2vec": "Sent2Vec",
    "siamese_cbow": "Siamese CBOW",
    "target": "Target",
    "word2vec": "skip-gram, CBOW",
}


class Differences:
    """A plugin of pytest: the largest difference in each file of tests, and how many numbers were compared."""

    def __init__(self):
        self.found, self.file = {}, ""
        self.compare = np.testing.assert_allclose

    def pytest_runtest_setup(self, item):
        self.file = item.path.stem.removeprefix("test_")

    def note(self, actual, desired, *args, **options):
        self.compare(actual, desired, *args, **options)
        actual, desired = np.asarray(actual, float), np.asarray(desired, float)
        largest = np.abs(desired).max(initial=0)
        if desired.size > 3 and largest > 0:  # not a loss
            n, before = self.found.get(self.file, (0, 0.0))
            self.found[self.file] = n + desired.size, max(before, np.abs(actual - desired).max() / largest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the table (.inc)")
    options = parser.parse_args()
    plugin = Differences()
    np.testing.assert_allclose = plugin.note
    files = [str(ROOT / "tests" / "methods" / f"test_{name}.py") for name in METHODS]
    selected = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", "gradient and not cut and not zeros"]
    if pytest.main([*files, *selected, f"--rootdir={ROOT}"], plugins=[plugin]) != 0:
        sys.exit("A test of a gradient failed.")
    np.testing.assert_allclose = plugin.compare
    rows = [
        {"method": title, "numbers compared": f"{n:,}", "largest difference": re.sub("e-0", "e-", f"{worst:.0e}")}
        for name, title in METHODS.items()
        for n, worst in [plugin.found[name]]
    ]
    notes = "As a share of the largest number of the array. Kernels compute in float32, Target in float64."
    report(options, "gradients", "Gradients beside those of the slow twins", rows, notes=notes)


if __name__ == "__main__":
    main()
