"""Sentences of two kinds, told apart by their words, with labels; and scored pairs of them."""

import numpy as np

WORDS = "red green blue pink grey cat dog cow pig hen".split()
RNG = np.random.default_rng(0)
Y = (np.arange(48) % 2).tolist()
X = [f"{WORDS[5 * y + RNG.integers(5)]} the w{i % 7}" for i, y in enumerate(Y)]
NAMES = [("colour", "animal")[y] for y in Y]
SCORES = [1.0 + i % 5 for i in range(24)]
PAIRS = list(zip(X[:24], X[24:]))
