"""The compiled tokenizer and its Python twin: the same words, ids and documents for any text and number of threads."""

import gzip
import re
import sys
import unicodedata
from itertools import islice, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import skembed._text.files as text_files_module
import skembed._text.sources as sentences_module
from skembed._corpus.corpus import SentenceCorpus
from skembed._text.known_words import KnownTokens
from skembed._text.sources import _N_CHARACTERS, lowered_characters
from skembed._text.tokenizer import Tokenizer
from skembed._text.words import END_OF_MARKS, UNSPACED_LETTER

# Without JIT, NumPy says so where integers wrap.
pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    # Text without spaces is text too, and so are wrong bytes, which are often one long word.
    pytest.mark.filterwarnings("ignore:.*their script has no spaces between", "ignore:Words such as"),
]

slow_twin = Tokenizer(analyzer=Tokenizer().analyze)

# Words of every length around the borders of the kernel (8, 16, 64, 512 bytes), and all that has ever broken a program.
LETTERS = list(
    "aZ_09 .'-\n\r\t\x00\x7f\x85\u00a0\u2028\ufeff\ud800\udc00\udfff\u0301\u0307\u0663\u4e2d\u1e9e\u212a\u023a"
)
# Marks that compose or change places, joiners, emoji, Hangul in parts, Thai, Devanagari, Bengali; what NFC replaces.
LETTERS += list("\u0302\u0323\u0345\u0338\u200d\u200c\ufe0f\u20e3\u1112\u1161\u11ab\u0e01\u0e34\u0e48\u0e50\u0e33")
LETTERS += list("\u0939\u093f\u093c\u0958\u09c7\u09be\u30ab\u3099\u212b\uf900\u0344\u064b\u0651\u2615\ua9e0\U00020000i")
LETTERS += ["\u0130", "\u03a3", "\u03c3\u03a3", "A\u03a3 ", "\U00010400", "😀", "\U000e0100"]
REPEATED = ["a", "B_", "é", "中", "\u0e01\u0e34", "\U00010400", " ", ".", "\u0301", "\u09be"]
PIECES = st.one_of(
    st.text(st.characters(), max_size=8),
    st.sampled_from(LETTERS),
    st.builds(lambda c, n: c * n, st.sampled_from(REPEATED), st.integers(0, 70)),
    st.builds(lambda n: "x" * n + " ", st.integers(500, 530)),
)
TEXT = st.lists(PIECES, max_size=12).map("".join)


def content(corpus):
    """What a corpus holds, as lists."""
    words, counts = corpus.vocabulary.words, corpus.vocabulary.counts
    return [list(map(int, array)) for array in (corpus.tokens, corpus.sent_ptr, corpus.doc_ptr, counts)], words


def built(make, *args, **options):
    """Return the content of a corpus, or the error."""
    try:
        return content(make(*args, **options))
    except ValueError as error:
        return str(error)


def encoded(tokenizer, sentences):
    found = KnownTokens({}, tokenizer).encode(sentences)
    return found.ids.tolist(), found.ptr.tolist(), [*found.words, *found.more_words]


def assert_twins(sentences, n_threads=1, **options):
    slow = {"analyzer": Tokenizer(stop_words=options.get("stop_words")).analyze, "stemmer": options.get("stemmer")}
    assert encoded(Tokenizer(**options), sentences) == encoded(Tokenizer(**slow), sentences)
    expected = built(SentenceCorpus.from_sentences, sentences, **slow)
    assert built(SentenceCorpus.from_sentences, sentences, n_jobs=n_threads, **options) == expected


def test_the_twin_is_used():
    assert Tokenizer().is_compiled and Tokenizer(stop_words="english", stemmer=str.upper).is_compiled
    assert not any(
        t.is_compiled for t in (slow_twin, Tokenizer(lowercase=False), Tokenizer(token_pattern=r"(?u)\b\w+\b"))
    )


# -- tokens ------------------------------------------------------------------------------------------------------------


def different_characters():
    """All characters, but of a long run of one kind, as Chinese ones are, the borders and each 64th."""
    codes = np.arange(sys.maxunicode + 1)
    kinds = [
        (unicodedata.category(c), bool(unicodedata.decomposition(c)), bool(UNSPACED_LETTER.match(c)))
        for c in map(chr, codes.tolist())
    ]
    starts = [i for i in codes.tolist() if i == 0 or kinds[i] != kinds[i - 1]]
    for start, end in pairwise([*starts, len(codes)]):
        for code in range(start, end):
            if end - start < 400 or code % 64 == 0 or code - start < 3 or end - code < 3:
                yield chr(code)


def test_every_character():
    """Between letters, alone, after a capital."""
    characters = list(different_characters())
    assert len(characters) > 20_000
    step = 128
    sentences = [
        " ".join(f"aB{c}Cd {c} {c}{c}E_" for c in characters[start : start + step])
        for start in range(0, len(characters), step)
    ]
    assert_twins(sentences)
    assert len(lowered_characters()) == _N_CHARACTERS
    known = [c for c in characters if ord(c) < _N_CHARACTERS]
    assert_twins([f"\u4e00{c}\u4e01{c} i{c}e{c}\u0301 {c}\u0301\u0323\u0301" for c in known])


def test_no_word_character_beyond_the_table():
    beyond = "".join(map(chr, range(_N_CHARACTERS, sys.maxunicode + 1)))
    assert not re.search(r"\w", beyond)


def test_no_marks_beyond_those_that_are_looked_at():
    later = [chr(code) for code in range(END_OF_MARKS, sys.maxunicode + 1)]
    marks = [c for c in later if unicodedata.category(c) in ("Mn", "Mc")]
    assert "\U000e0100" in marks and all("\U000e0100" <= c <= "\U000e01ef" for c in marks)  # selectors of variants
    assert not any(" " in unicodedata.decomposition(c) for c in later)


def test_every_character_after_a_sigma():
    # A capital sigma is lowered to one letter at the end of a word and to another before its end.
    assert_twins([f"A\u03a3{c} {c}\u03a3{c}\u0130" for c in different_characters() if ord(c) < _N_CHARACTERS])


@given(st.lists(TEXT, max_size=8))
@settings(max_examples=400)
@example(["\u03a3", "a\u03a3", "a\u03a3b \u0130x\n\u03a3"])
@example(["a" * 16 + "é", "a" * 17, "é" * 8, "é" * 8 + "a", "_" * 16, "_" * 17])
@example(["\ud800", "\udc00", "\ud800\udc00", "a\ud800b"])
@example(["a\n\nb", "\n", ""])
def test_any_text(sentences):
    assert_twins(sentences)


@pytest.mark.kernel
@pytest.mark.parametrize("length", [*range(1, 20), 62, 63, 64, 65, 66, 511, 512, 513, 3000])
def test_words_at_every_place(length):
    word = ("Ab_9" * length)[:length]
    sentences = ["." * start + word + tail for start in (0, 1, 7, 47, 63) for tail in ("", " ", " x", "é", " É")]
    assert_twins(sentences)


@pytest.mark.kernel
def test_many_words_make_the_table_grow():
    sentences = [" ".join(f"w{i * 31 + j} é{j}{'long' * 5}{i % 7}" for j in range(31)) for i in range(40)]
    sentences.append(" ".join(f"中{i}。" for i in range(700)))
    assert_twins([*sentences, "".join(f"中{i}。" for i in range(700)), "ab" * 5000 + "é", *sentences])


@pytest.mark.kernel
def test_no_sentences_and_empty_ones():
    assert_twins([])
    assert_twins([""])
    assert_twins(["", "a", "", ""])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simplewiki", "books_small"])
def test_each_tenth_line_of_the_corpora(data_dir, name):
    path = data_dir / "corpora" / f"{name}.txt.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\r\n") for line in islice(file, 0, None, 10)]
    fast = SentenceCorpus.from_sentences(lines, n_jobs=2)
    slow = SentenceCorpus.from_sentences(lines, analyzer=Tokenizer().analyze)
    assert np.array_equal(fast.tokens, slow.tokens) and np.array_equal(fast.sent_ptr, slow.sent_ptr)
    assert fast.n_sentences == len(lines) and fast.vocabulary == slow.vocabulary


# -- stems and stop words ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
@given(st.lists(st.lists(st.sampled_from(["the", "The", "a", "cats", "cat", "x", "É"])).map(" ".join), max_size=6))
def test_stems_and_stop_words(sentences):
    for options in ({"stop_words": ["the", "é"]}, {"stop_words": "english"}, {"stemmer": lambda word: word[:2]}):
        assert_twins(sentences, **options)


# -- threads -----------------------------------------------------------------------------------------------------------


@given(st.lists(TEXT, max_size=20), st.integers(2, 5), st.integers(1, 4))
@settings(max_examples=60)
def test_threads_change_nothing(sentences, n_threads, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences_module, "BATCH_SIZE", size)
        patch.setattr(sentences_module, "BATCH_LENGTH", 30)
        patch.setattr("skembed._text.encoder.LEAST_BATCHES", 1)
        patch.setattr("skembed._corpus.build.count_threads", lambda n_jobs: n_jobs or 1)
        assert_twins(sentences, n_threads)


def test_threads_give_the_same_corpus(monkeypatch, tmp_path):
    monkeypatch.setattr(sentences_module, "BATCH_SIZE", 100)
    rng = np.random.default_rng(0)
    sentences = [" ".join(f"W{i}" * (1 + i % 7) for i in rng.zipf(1.3, 12) % 5000) for _ in range(3000)]
    groups = [i // 37 for i in range(3000)]
    one = SentenceCorpus.from_sentences(sentences, groups)
    file = tmp_path / "a.txt"
    file.write_text("".join(f"{'' if i % 37 or not i else chr(10)}{s}\n" for i, s in enumerate(sentences)))
    monkeypatch.setattr(text_files_module, "READ_SIZE", 5000)
    for n_jobs in (2, 3, 7):
        assert SentenceCorpus.from_sentences(sentences, groups, n_jobs=n_jobs) == one
        assert SentenceCorpus.from_file(file, n_jobs=n_jobs) == one
    with pytest.raises(TypeError, match="^Row 2500 is missing"):
        SentenceCorpus.from_sentences([*sentences[:2500], None], n_jobs=2)


@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
@pytest.mark.parametrize(
    "options",
    [
        {"min_count": 3},
        {"max_features": 50},
        {"max_features": 1},
        {"stop_words": ["w1", "w7"]},
        {"stemmer": lambda word: word[:3], "min_count": 2},
    ],
    ids=["rare words", "all but 50", "all but one", "stop words", "stems"],
)
def test_threads_leave_out_the_same_words(options, monkeypatch, tmp_path):
    monkeypatch.setattr(sentences_module, "BATCH_SIZE", 50)
    monkeypatch.setattr("skembed._corpus.build.count_threads", lambda n_jobs: n_jobs)  # more than there are cores
    rng = np.random.default_rng(1)
    sentences = [" ".join(f"W{i}" for i in rng.zipf(1.4, 8) % 900) + " \u03a3" * (k % 97 == 0) for k in range(1000)]
    with monkeypatch.context() as patch:
        patch.setattr(Tokenizer, "is_compiled", False)
        expected = SentenceCorpus.from_sentences(sentences, n_jobs=1, **options)
    for n_jobs in (1, 2, 5):
        corpus = SentenceCorpus.from_sentences(sentences, n_jobs=n_jobs, **options)
        for name in ("tokens", "sent_ptr", "doc_ptr"):
            assert np.array_equal(getattr(corpus, name), getattr(expected, name)), (n_jobs, name)
        assert corpus.vocabulary == expected.vocabulary
        on_disk = SentenceCorpus.from_sentences(sentences, n_jobs=n_jobs, to=tmp_path / "c", **options)
        assert on_disk.digest == corpus.digest
        names = sorted(file.name.partition("-")[0] for file in (tmp_path / "c").iterdir())
        assert names == ["arrays", "corpus.json", "doc_ptr", "sent_ptr", "tokens"]


# -- files -------------------------------------------------------------------------------------------------------------


BYTES = [b"\n", b"\r\n", b" \n", b"\xc2\xa0\n", b"\x1c\n", b"\xef\xbb\xbf", b"a\n", b"\xc2\x85", b"- -\n"]
ENCODED = TEXT.map(lambda text: text.encode("utf-8", "replace"))
LINES = st.lists(ENCODED | st.sampled_from(BYTES), max_size=12).map(b"".join)


@given(LINES, st.integers(3, 40))
@settings(max_examples=300)
@example(b"", 10)
@example(b"\xef\xbb\xbf", 10)
@example(b"\xef\xbb\xbf\n\na\n\n\n\xef\xbb\xbf\nb", 3)
def test_files(tmp_path_factory, data, read_size):
    compare_files(tmp_path_factory, data, read_size)


@given(LINES, st.binary(max_size=5), st.integers(0, 100))
@settings(max_examples=300)
@example(b"", b"\xed\xa0\x80", 0)
@example(b"", b"\xe2\x82", 0)
@example(b"", b"\xf4\x90\x80\x80", 0)
@example(b"", b"\xc0\xaf", 0)
@example(b"\xce\xa3", b"\xff", 2)
def test_files_with_wrong_bytes(tmp_path_factory, data, wrong, offset):
    compare_files(tmp_path_factory, data[:offset] + wrong + data[offset:], 20)


def compare_files(tmp_path_factory, data, read_size):
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_files_module, "READ_SIZE", read_size)
        fast = built(SentenceCorpus.from_file, path)
        patch.setattr(Tokenizer, "is_compiled", False)
        assert fast == built(SentenceCorpus.from_file, path)


# -- columns in Arrow's memory -----------------------------------------------------------------------------------------

COLUMN = ["The cat", "", "É\ud7ff x_1", "a\nb", "long" * 9, "\u0130\u03a3 c"] * 3


def columns():
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    yield pyarrow.array(COLUMN)
    yield pyarrow.array(["before", *COLUMN, "after"], pyarrow.large_string())[1:-1]
    yield pyarrow.chunked_array([COLUMN[:2], [], COLUMN[2:7], COLUMN[7:]])
    yield polars.Series(["x", *COLUMN])[1:]
    yield pd.Series(COLUMN, dtype="string[pyarrow]", index=range(len(COLUMN), 0, -1))
    yield pd.Series(COLUMN, dtype=pd.ArrowDtype(pyarrow.string()))[:]
    if hasattr(pyarrow, "string_view"):
        yield pyarrow.array(COLUMN, pyarrow.string_view())


def test_columns(monkeypatch):
    monkeypatch.setattr(sentences_module, "BATCH_SIZE", 4)
    monkeypatch.setattr(sentences_module, "BATCH_LENGTH", 16)
    monkeypatch.setattr("skembed._text.encoder.LEAST_BATCHES", 1)
    groups = [i // 4 for i in range(len(COLUMN))]
    expected = SentenceCorpus.from_sentences(COLUMN, groups)
    monkeypatch.setattr("skembed._text.scanner.join_strings", None)  # no Python strings are made
    for column in columns():
        for n_jobs in (None, 2):
            assert SentenceCorpus.from_sentences(column, groups, n_jobs=n_jobs) == expected, type(column)


def test_missing_values_of_columns():
    for column in columns():
        cut = column[:7]
        if hasattr(cut, "to_pandas"):
            cut = cut.to_pandas()
        whole = pd.concat([pd.Series(list(cut)), pd.Series([None])])
        for dtype in ("string[pyarrow]", "object"):
            with pytest.raises(TypeError, match="^Row 7 is missing"):
                SentenceCorpus.from_sentences(whole.astype(dtype))


def test_columns_of_other_types():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="^Row 0 is 1 of type int"):
        SentenceCorpus.from_sentences(pyarrow.array([1, 2]))
    dictionary = pyarrow.array(["a b", "c", "a b"]).dictionary_encode()
    assert list(SentenceCorpus.from_sentences(dictionary)) == [["a", "b"], ["c"], ["a", "b"]]
    buffers = [None, pyarrow.py_buffer(np.array([0, 2], np.int32).tobytes()), pyarrow.py_buffer(b"\xff\xfe")]
    damaged = pyarrow.Array.from_buffers(pyarrow.string(), 1, buffers)
    with pytest.raises(ValueError, match="^Row 0 is not UTF-8"):
        SentenceCorpus.from_sentences(damaged)
