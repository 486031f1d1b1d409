"""Below the compiled tokenizer: strings joined to one text, tables of words, and the ids of a scanner."""

from collections import Counter

import numpy as np
import pytest

import skembed._text.scanner as scanner_module
from skembed._compiled.compile import lean_kernel
from skembed._text.scanner import KnownWords, Scanner, pack_words, table_of, words_of
from skembed._text.sources import PADDING, iter_slices, join_strings
from skembed._text.utf8 import fold_product, line_feeds
from skembed._text.word_table import new_words

# Without JIT, NumPy says so where integers wrap.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


# -- the table of a vocabulary -----------------------------------------------------------------------------------------


@pytest.mark.kernel
def test_words_of_a_vocabulary_are_found():
    words = ["cat", "_", "é_x", "long" * 9, "", "New York", "Cat", "a\nb", "\x7f", "\ud800", "x" * 16, "y" * 17]
    known = KnownWords(words)
    ids, ptr, new = known.scan(["cat CAT _ É_x", "new york " + "LONG" * 9, "\x7f a\nb \ud800", "X" * 16, "Y" * 17])
    assert new == ["new", "york", "a", "b"]
    assert ids.tolist() == [0, 0, 1, 2, 12, 13, 3, 14, 15, 10, 11]
    assert ptr.tolist() == [0, 4, 7, 9, 10, 11]
    before = ids.copy()
    assert known.scan(["york cat"])[2] == ["york"]  # nothing is left of the text before
    assert np.array_equal(ids, before)  # nor does it change
    assert table_of([]).state[0] == 0


@pytest.mark.kernel
def test_line_feeds():
    (data, _), _ = join_strings(["a\nb", "", "c" * 100, "\n" * 70])
    ends = np.empty(3, np.int64)
    n_lines = line_feeds(data, len(data) - len(PADDING), ends)
    assert n_lines == bytes(data).count(b"\n") - len(PADDING)
    assert ends.tolist() == [1, 3, 4]


class Odd(str):
    """What a derived type may do, and nobody asks it."""

    __slots__ = ()

    def __len__(self):
        return 0

    def __str__(self):
        return "other"


@pytest.mark.kernel
@pytest.mark.parametrize(
    "sentences",
    [
        [],
        ["", "plain", "\n", "", "a\n\nb\n"],
        ["é" * n + "plain" * 3 + "ÿ" + "x" * n for n in range(18)],  # a byte a character
        ["€" + "plain" * n + "Ω–" + "x" * n for n in range(9)],  # two
        ["\U0001f600" + "plain é €" * n for n in range(3)],  # four
        ["\ud800a", "\x00", "\x7f\x80\xff\u0100\u07ff\u0800\uffff\U00010000\U0010ffff"],
        ["a", np.str_("of a derived type é"), Odd("abc"), Odd("a\nb")],
    ],
)
def test_strings_are_joined(sentences):
    (data, _), ends = join_strings(sentences)
    pieces = [str.encode(sentence, "utf-8", "surrogatepass") + b"\n" for sentence in sentences]
    assert bytes(data) == b"".join(pieces) + PADDING and not data.flags.writeable
    assert ends.tolist() == (np.cumsum([len(piece) for piece in pieces]) - 1).tolist()


@pytest.mark.kernel
@pytest.mark.parametrize("wrong", [None, 1, b"bytes", ["x"]])
def test_only_strings_are_joined(wrong):
    with pytest.raises(TypeError):
        join_strings(["a", wrong])


@pytest.mark.kernel
def test_scanner_keeps_its_words():
    scanner = Scanner()
    assert scanner.scan(["b a b"]).ids.tolist() == [0, 1, 0]
    assert scanner.scan(["a c"]).ids.tolist() == [1, 2]
    assert words_of(scanner.words) == ["b", "a", "c"] and words_of(new_words()) == []


@pytest.mark.kernel
def test_words_of_several_tables_are_packed_once(monkeypatch):
    monkeypatch.setattr(scanner_module, "_MERGED_AT_ONCE", 50)
    rng = np.random.default_rng(0)
    words = [f"{'eightbyt' * (i % 4)}_{i}" for i in range(400)]
    scanners, found = [Scanner() for _ in range(3)], []
    for scanner in scanners:
        drawn = rng.choice(words, 1000).tolist()
        found.append((drawn, scanner.scan([" ".join(drawn)]).ids))
    (text, starts, ends, counts), indices = pack_words(scanners)
    packed = [text[start:end].tobytes().decode() for start, end in zip(starts, ends)]
    assert dict(zip(packed, counts.tolist())) == Counter(word for drawn, _ in found for word in drawn)
    for (drawn, ids), index in zip(found, indices):
        assert [packed[i] for i in index[ids].tolist()] == drawn


@lean_kernel
def folded(a, b):
    return fold_product(a, b)


@pytest.mark.kernel
def test_a_product_is_folded_to_the_xor_of_its_halves():
    rng = np.random.default_rng(0)
    for a, b in rng.integers(2**64, size=(20, 2), dtype=np.uint64, endpoint=False):
        high, low = divmod(int(a) * int(b), 2**64)
        assert int(folded(a, b)) == high ^ low


@pytest.mark.kernel
def test_runs_without_words_between_sentences():
    sentences = ["a \u2014 b", "\u2014", "c\u2019d \u2014", "", "\u2014 \u2014 e"]
    found = Scanner().scan(sentences)
    assert np.diff(found.ptr).tolist() == [2, 0, 2, 0, 1] and found.ids.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.kernel
def test_ids_outlive_the_next_text():
    scanner = Scanner()
    found = [scanner.scan(["a b", "b c"]).ids for _ in range(3)] + [scanner.scan(["c"]).ids]
    assert [ids.tolist() for ids in found] == [[0, 1, 1, 2]] * 3 + [[2]]
    assert scanner.counts().tolist() == [3, 6, 4]


def test_slices_hold_a_length_and_a_longer_sentence_is_alone():
    assert list(iter_slices(np.array([0, 9, 18, 20, 22, 24]), 5)) == [
        slice(0, 1),
        slice(1, 2),
        slice(2, 4),
        slice(4, 5),
    ]
    assert list(iter_slices(np.arange(6), 5, most=2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(iter_slices(np.zeros(1, int), 5)) == []
