"""Word vectors, as files hold them, and a check of what is read from one."""

import numpy as np

WORDS = ["the", "naïve", "猫", "7", "a-b"]
VECTORS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


def text(words=WORDS, vectors=VECTORS, header=True, end="\n", separator=" "):
    lines = [f"{len(words)} {len(vectors[0])}"] if header else []
    lines += [separator.join([word, *(f"{x:.9g}" for x in vector)]) for word, vector in zip(words, vectors)]
    return "".join(line + end for line in lines).encode()


def binary(words=WORDS, vectors=VECTORS, end=b"\n"):
    rows = [word.encode() + b" " + vector.astype("<f4").tobytes() + end for word, vector in zip(words, vectors)]
    return f"{len(words)} {vectors.shape[1]}\n".encode() + b"".join(rows)


def check(found, words=WORDS, vectors=VECTORS, counts=None):
    assert found[0] == list(words) and all(type(word) is str for word in found[0])
    assert found[1].dtype == np.float32 and found[1].flags.c_contiguous and found[1].flags.writeable
    np.testing.assert_array_equal(found[1], np.asarray(vectors, dtype=np.float32))
    if counts is None:
        assert found[2] is None
    else:
        assert found[2].dtype == np.int64 and found[2].tolist() == counts
