"""TextVectorizer on small text: what the tests of its rows and of its weights share."""

import numpy as np
from sklearn.preprocessing import normalize

from skembed import TextVectorizer

S = ["the cat drinks milk", "the bank lends money", "a dog eats meat", "the river is wide and cold"] * 10
Y = np.array([0, 1, 0, 1] * 10)
BLOCKS = ["words", "characters", "words_lsa", "characters_lsa", "halves"]
OWN = ["cats and kittens purr", "shares and stocks fell", "kittens drink milk", "the bank sold stocks"] * 10


def make(**params):
    return TextVectorizer(**{"random_state": 0, **params})


def squared_lengths(emb, rows):
    """Squared lengths of the rows in each block."""
    of_column = np.array([name.split("__")[0] for name in emb.get_feature_names_out()])
    return {name: np.asarray(rows[:, of_column == name].power(2).sum(axis=1)).ravel() for name in emb.blocks_}


def rows_by_block(emb, texts):
    """Rows of length one by block."""
    of_column = np.array([name.split("__")[0] for name in emb.get_feature_names_out()])
    rows = emb.transform(texts)
    return {name: normalize(rows[:, of_column == name]) for name in emb.blocks_}
