"""What must hold for every corpus, and a small one."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

TEXT = ["The cat sat.", "The cat slept!", "", "A dog", "Rain, rain, rain.", "the end"]
GROUPS = [0, 0, 0, "b", "b", 0]
SENTENCES = st.lists(
    st.lists(
        st.sampled_from(["a", "bb", "c", "d", "\ud800", "\udc00", "\ud800\udc00", "\x00", "é", "e\u0301"]), max_size=4
    ),
    min_size=1,
    max_size=12,
)


def documents(corpus):
    """Return the corpus as nested lists, which is what it means."""
    sentences = list(corpus)
    return [sentences[a:b] for a, b in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:])]


def check(corpus):
    """Check what must hold for every corpus."""
    assert (corpus.tokens.dtype, corpus.sent_ptr.dtype, corpus.doc_ptr.dtype) == (np.int32, np.int64, np.int64)
    for array in (corpus.tokens, corpus.sent_ptr, corpus.doc_ptr):
        assert not array.flags.writeable and array.flags.c_contiguous and type(array) is np.ndarray
    counts = Counter(word for sentence in corpus for word in sentence)
    assert corpus.vocabulary.words == sorted(counts, key=lambda word: (-counts[word], word))
    assert corpus.vocabulary.counts.tolist() == [counts[word] for word in corpus.vocabulary.words]
    assert corpus.shape == (len(corpus),) == (corpus.n_sentences,)
    assert corpus.n_tokens == sum(counts.values())
    assert len(documents(corpus)) == corpus.n_documents and all(documents(corpus))
    return corpus
