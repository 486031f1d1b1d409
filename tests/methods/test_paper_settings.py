"""The settings of the papers: `doc/methods` shows the lines between the marks, the tests run them on a small text.

Every parameter that a default could change is written out, so a new default leaves a paper's setting alone.
"""

import re

import numpy as np
import pytest
from estimators import GROUPS, TEXT

from skembed import (
    BOWPCA,
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    Sent2VecVectorizer,
    SiameseCBOWVectorizer,
    Word2VecVectorizer,
)

PLAIN = {"weighting": None, "unknown": "zero"}
GOOGLE_NEWS = "GoogleNews-vectors-negative300.bin.gz"
SETTINGS = {}

# start of CBOS
SETTINGS["CBOS"] = CBOSVectorizer(
    100,
    window=1,
    negative=2,
    pooling="sum",
    solver="sgd",
    learning_rate=0.01,  # ours: the paper does not name it
    max_iter=10,
    batch_size=10,
    max_sentence_length=119,
    min_count=5,
    stemmer="english",
    **PLAIN,
)
# end of CBOS

# start of Siamese CBOW
SETTINGS["Siamese CBOW"] = SiameseCBOWVectorizer(
    300,
    window=1,
    negative=2,
    temperature=1.0,
    pooling="mean",
    solver="sgd",
    learning_rate=0.0001,
    max_iter=1,
    batch_size=100,
    max_sentence_length=None,
    min_count=5,
    **PLAIN,
)
# end of Siamese CBOW

# start of Sent2Vec
sent2vec = {"ngram_range": (1, 1), "negative": 10, "alpha": 0.0, "pooling": "mean", **PLAIN}
sent2vec |= {"solver": "sgd", "learning_rate": 0.2, "batch_size": 1, "max_sentence_length": None}
bigrams = sent2vec | {"ngram_range": (1, 2), "n_buckets": 4_000_000}  # the published command's buckets
books, wiki, twitter = (
    {"min_count": 5, "n_components": 700},
    {"min_count": 8, "max_iter": 9, "min_target_count": 20},
    {"min_count": 20, "max_iter": 3, "min_target_count": 20, "n_components": 700, "subsample": 1e-6},
)
SETTINGS |= {
    "Sent2Vec, books": Sent2VecVectorizer(max_iter=13, min_target_count=8, subsample=1e-5, **books, **sent2vec),
    "Sent2Vec, books, bigrams": Sent2VecVectorizer(
        max_iter=12, min_target_count=5, subsample=5e-6, dropout_k=7, **books, **bigrams
    ),
    "Sent2Vec, Wikipedia": Sent2VecVectorizer(n_components=600, subsample=1e-5, **wiki, **sent2vec),
    "Sent2Vec, Wikipedia, bigrams": Sent2VecVectorizer(
        n_components=700, subsample=5e-6, dropout_k=4, **wiki, **bigrams
    ),
    "Sent2Vec, Twitter": Sent2VecVectorizer(**twitter, **sent2vec),
    "Sent2Vec, Twitter, bigrams": Sent2VecVectorizer(dropout_k=3, **twitter, **bigrams),
}
# end of Sent2Vec

# start of word2vec
word2vec = {"window": 5, "negative": 5, "subsample": 1e-5, "min_count": 5, "max_iter": 5, "batch_size": 1}
word2vec |= {"pooling": "mean", "solver": "sgd", **PLAIN}
SETTINGS |= {
    "skip-gram": Word2VecVectorizer(300, algorithm="skipgram", learning_rate=0.025, **word2vec),
    "CBOW": Word2VecVectorizer(300, algorithm="cbow", learning_rate=0.05, **word2vec),
}
# end of word2vec

# start of means
given = {"word_vectors": GOOGLE_NEWS, "lowercase": False, **PLAIN}
SETTINGS |= {
    "MOWE": MeanEmbeddingVectorizer(pooling="mean", n_removed_components=0, **given),
    "SOWE": MeanEmbeddingVectorizer(pooling="sum", n_removed_components=0, **given),
    "Arora et al., W + R": MeanEmbeddingVectorizer(
        pooling="mean", n_removed_components=1, **(given | {"weighting": "sif"})
    ),
}
# end of means

# start of bags of words
SETTINGS |= {
    "PCA BOW": BOWPCA(300, weighting=None, min_count=1, token_pattern=r"(?u)\w+|[^\w\s]"),
    "BOW": BOWPCA(None, weighting=None, min_count=1, token_pattern=r"(?u)\w+|[^\w\s]"),
}
# end of bags of words


@pytest.mark.parametrize("name", SETTINGS)
def test_setting_learns_from_a_small_text(name):
    small = {"n_components": 8, "n_buckets": 1000, "min_count": 1, "min_target_count": 1, "subsample": 1e-2}
    model = SETTINGS[name]
    params = model.get_params()
    if params.get("stemmer") is not None:
        pytest.importorskip("snowballstemmer")
    if params["n_components"] is None:
        del small["n_components"]
    if params.get("word_vectors") is not None:
        words = sorted({word.strip(".") for sentence in TEXT[:40] for word in sentence.split()})
        small["word_vectors"] = dict(zip(words, np.random.default_rng(0).normal(size=(len(words), 8))))
    model = type(model)(**params).set_params(**{key: value for key, value in small.items() if key in params})
    if "random_state" in params:
        model.set_params(random_state=0)
    rows = model.fit_transform(TEXT, groups=GROUPS)
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    assert len(rows) == len(TEXT)
    assert np.isfinite(rows).all() and rows.any()
    assert np.isfinite(getattr(model, "loss_curve_", [])).all()


DOCUMENTED = {
    CBOSVectorizer: ["CBOS"],
    SiameseCBOWVectorizer: ["Siamese CBOW"],
    Sent2VecVectorizer: ["Sent2Vec, Wikipedia"],
    Word2VecVectorizer: ["skip-gram", "CBOW"],
    MeanEmbeddingVectorizer: ["MOWE"],
    BOWPCA: ["PCA BOW"],
}


@pytest.mark.parametrize(("cls", "names"), DOCUMENTED.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_setting_in_the_docstring_is_this_one(cls, names):
    text = re.search(r"The papers?'s? own settings?[:,].*", cls.__doc__, re.DOTALL).group()
    calls = re.findall(rf"``({cls.__name__}\(.*?\))``", text, re.DOTALL)
    assert len(calls) == len(names)
    for name, call in zip(names, calls):
        params = eval(call, {cls.__name__: cls, "path": GOOGLE_NEWS}).get_params()
        assert {key: str(value) for key, value in params.items()} == {
            key: str(value) for key, value in SETTINGS[name].get_params().items()
        }
