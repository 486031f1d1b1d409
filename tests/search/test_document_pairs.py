"""Pairs cut from documents, and scores added."""

import numpy as np
import pytest
from collections_of_documents import mix
from numpy.testing import assert_allclose

from skembed._text.words import sentences_of
from skembed.search._document_pairs import cut_pairs


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ('He said: "Go." She went.', ['He said: "Go.', "She went."]),
        ("Version 3.11 of a.b is out.", ["Version 3.11 of a.b is out."]),
        ("一句。另一句！第三句", ["一句。", "另一句！", "第三句"]),
        ("A title\n\nand text\nof two lines", ["A title", "and text\nof two lines"]),
        (" \n ", []),
    ],
)
def test_sentences(text, sentences):
    assert sentences_of(text) == sentences


def test_title_and_body_count_twice_beside_each_sentence_and_the_rest():
    pairs = cut_pairs([("Cats", "Cats purr. Dogs bark. Birds sing.")], 0)
    body = "Cats purr. Dogs bark. Birds sing."
    assert pairs[:2] == [("Cats", body)] * 2
    assert sorted(pairs[2:]) == [
        ("Birds sing.", "Cats purr. Dogs bark."),
        ("Cats purr.", "Dogs bark. Birds sing."),
        ("Dogs bark.", "Cats purr. Birds sing."),
    ]


def test_short_documents_are_halved_and_those_without_pairs_left_out():
    assert cut_pairs([("one two three four",), ("一二三四",)], 0) == [("one two", "three four"), ("一二", "三四")]
    assert cut_pairs([("",), ("word",), ("!! ??",), ("", "..."), ("word", "!")], 0) == []
    assert cut_pairs([], 0) == []


def test_no_more_pairs_than_asked_and_the_same_for_a_seed():
    documents = [(f"t{i}", "aa bb. cc dd. ee ff.") for i in range(50)]
    some = cut_pairs(documents, 3, n_pairs=20)
    assert len(some) == 20 and some == cut_pairs(documents, 3, n_pairs=20) != cut_pairs(documents, 4, n_pairs=20)
    assert len({title for title, _ in some if title[0] == "t"}) > 1
    assert len(cut_pairs(documents, 3)) == 250


@pytest.mark.parametrize("script", ["latin", "chinese"])
def test_neighbours_are_pairs_where_the_order_means_something(script):
    random = np.random.default_rng(0)
    letters = [chr(0x4E00 + i) for i in range(3000)] if script == "chinese" else [f"w{i} " for i in range(3000)]
    # Eight sentences about each of twenty topics, of words that no other topic has.
    texts = ["".join(random.choice(letters[i // 8 * 20 :][:20], 12)) for i in range(160)]
    documents = [(text,) for text in texts]
    pairs = cut_pairs(documents, 0)
    assert len(pairs) == 160 + 159 and pairs[160:] == list(zip(texts, texts[1:]))
    shuffled = [documents[i] for i in random.permutation(160)]
    assert len(cut_pairs(shuffled, 0)) == 160
    assert len(cut_pairs(documents[:90], 0)) == 90  # too few to tell
    assert cut_pairs([("", "?")] * 200 + [("w", " ")], 0) == []


def test_mix_standardises_over_the_documents():
    bm25, cosines = np.array([[0.0, 0, 3], [1, 2, 3]]), np.array([[0.1, 0.5, 0.3], [0.2, 0.2, 0.2]])
    scores = mix(bm25, cosines, weight=2)
    z = (bm25 - bm25.mean(1, keepdims=True)) / bm25.std(1, keepdims=True)
    assert_allclose(scores[0], z[0] + 2 * (cosines[0] - 0.3) / cosines[0].std())
    assert_allclose(scores[1], z[1])
    assert_allclose(mix(bm25[0], cosines[0], weight=2), scores[0])
    assert (mix([5.0], [0.5], weight=2) == 0).all()
