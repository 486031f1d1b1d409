"""Tokenizer, word ids and the check of collections of sentences."""

import copy
import importlib
import pickle
import pkgutil
import sys
import types
from itertools import chain, pairwise

import numpy as np
import pandas as pd
import pytest
from estimators import Cutter, as_is
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from skembed import SentenceCorpus
from skembed._text.encoder import WordIds
from skembed._text.known_words import KnownTokens
from skembed._text.sources import BATCH_SIZE, iter_batches, iter_sentences
from skembed._text.tokenizer import Tokenizer

# Every kind of character that has broken a text program: surrogates, NUL, combining marks, final sigma, dotted I,
# line separators that are not line feeds, ideographs and digits of other scripts.
NASTY = st.text(
    st.characters()
    | st.sampled_from("aAbB\u00df _'\u0130\u03a3\u0307\u0301\ud800\udc00\x00\x85\u2028\u00a0\u4e2d\u0663")
)


def split_spaces(text):
    return text.split()


def decode(tokenizer, sentences):
    """The words of each sentence."""
    known, found = KnownTokens({}, tokenizer), []
    for batch in iter_batches(sentences, tokenizer):
        encoded = known.encode(batch, len(found))
        words = encoded.words_of(encoded.ids)
        found += [words[a:b] for a, b in pairwise(encoded.ptr.tolist())]
    return found


# -- what a token is ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
@given(
    st.lists(NASTY),
    st.sampled_from([r"(?u)\b\w+\b", r"(?u)\b\w\w+\b", r"\w*", r"(\S)\S*"]),
    st.booleans(),
    st.sampled_from([None, "english", ["a", "b"]]),
)
@example(["a\u0307 \u0130"], r"(?u)\b\w+\b", True, None)  # accents are composed only without a pattern
def test_tokens_are_those_of_count_vectorizer(sentences, token_pattern, lowercase, stop_words):
    options = {"token_pattern": token_pattern, "lowercase": lowercase, "stop_words": stop_words}
    analyze = CountVectorizer(**options).build_analyzer()
    dotted_i = "i" if lowercase else "\u0130"  # one letter, where Python's lower makes a letter and a separate dot
    expected = [analyze(sentence.replace("\u0130", dotted_i)) for sentence in sentences]
    assert decode(Tokenizer(**options), sentences) == expected


def test_ids_by_first_appearance_and_types():
    known = KnownTokens({}, Tokenizer())
    ids, ptr, rows, *words = known.encode(["b a b", "", "c!"])
    assert words == [[], ["b", "a", "c"]] and set(rows.tolist()) == {-1}
    assert ids.dtype == np.int32 and ptr.dtype == np.int64
    assert ids.tolist() == [0, 1, 0, 2] and ptr.tolist() == [0, 3, 3, 4]
    ids, ptr, *_ = known.encode([])
    assert (ids.dtype, ptr.dtype, ids.shape, ptr.tolist()) == (np.int32, np.int64, (0,), [0])


def test_more_than_one_batch_and_a_generator_consumed_once():
    n = BATCH_SIZE + 3
    generator = (f"w{i} x" for i in range(n))
    assert decode(Tokenizer(), generator) == [[f"w{i}", "x"] for i in range(n)]
    assert next(generator, None) is None


@pytest.mark.parametrize("kind", [list, tuple, iter, "column"])
def test_batches_of_long_sentences_are_small(kind):
    """So that there is work for all threads, and a few documents at a time in memory."""
    sentences = ["w " * 50_000 if i % 1000 < 500 else "w" for i in range(1000)]
    if kind == "column":
        kind = pytest.importorskip("pyarrow").array
    batches = list(iter_batches(kind(sentences), Tokenizer()))
    assert sum(map(len, batches)) == 1000
    assert 25 <= len(batches) <= 150 and max(map(len, batches[:5])) <= 64
    assert len(list(iter_batches(kind(["w"] * (2 * BATCH_SIZE + 1)), Tokenizer()))) == 3


def test_callable_analyzer_takes_any_item():
    tokenizer = Tokenizer(analyzer=as_is)
    items = [["A", "b"], ("b",), (token for token in "xy"), []]
    assert decode(tokenizer, items) == [["A", "b"], ["b"], ["x", "y"], []]
    assert [type(word) for word in decode(tokenizer, [np.array(["q", "r"])])[0]] == [str, str]


# -- stemming ----------------------------------------------------------------------------------------------------------


def test_stemmer_is_called_once_for_each_distinct_word():
    calls = []

    def stem(word):
        calls.append(word)
        return word[:3]

    sentences = ["walking walked walk", "talk walk"] * 3
    known = KnownTokens({}, Tokenizer(stemmer=stem))
    for _ in range(3):
        assert known.encode(sentences).words == ["wal", "tal"]
    assert calls == ["walking", "walked", "walk", "talk"]
    assert SentenceCorpus.from_sentences(sentences, stemmer=stem).vocabulary.words == ["wal", "tal"]
    assert calls[4:] == calls[:4]


def test_stem_that_is_also_a_word():
    swap = {"a": "b", "b": "a", "c": "c"}
    assert decode(Tokenizer(stemmer=swap.__getitem__), ["a b c a"]) == [["b", "a", "c", "b"]]


def test_language_names():
    pytest.importorskip("snowballstemmer")
    assert decode(Tokenizer(stemmer="english"), ["running runs"]) == [["run", "run"]]
    assert decode(Tokenizer(stemmer="german"), ["häuser"]) == [["haus"]]
    with pytest.raises(ValueError, match="no stemmer called 'klingon'.*english.*german"):
        KnownTokens({}, Tokenizer(stemmer="klingon"))


def stems_in_python(language, words):
    """What snowballstemmer gives by itself, without PyStemmer, which it would use in any version."""
    module = importlib.import_module(f"snowballstemmer.{language}_stemmer")
    stemmer = getattr(module, language.title().replace("_", "") + "Stemmer")()
    return [stemmer.stemWord(word) for word in words]


WORDS = ["running", "generalisations", "häuser", "aquí", "бегущая", "naïve", "", "a\x00s", "\ud800runnings", "x" * 3000]


def test_stems_are_those_of_snowballstemmer_in_every_language():
    snowballstemmer = pytest.importorskip("snowballstemmer")
    names = {module.name for module in pkgutil.iter_modules(snowballstemmer.__path__)}
    languages = sorted(name.removesuffix("_stemmer") for name in names if name.endswith("_stemmer"))
    assert {"english", "german"} < set(languages)
    for language in languages:
        stem = Tokenizer(stemmer=language).build_stemmer()
        assert [stem(word) for word in WORDS] == stems_in_python(language, WORDS), language


@pytest.mark.parametrize(("versions", "is_used"), [(("3.1.0", "3.1.1"), True), (("2.2.0.3", "3.1.1"), False)])
def test_stems_do_not_depend_on_another_version_of_pystemmer(monkeypatch, versions, is_used):
    pytest.importorskip("snowballstemmer")

    class Stemmer:
        def __init__(self, language, cache_size):
            self.language = language

        def stemWord(self, word):
            return f"{word}, by PyStemmer"

    monkeypatch.setitem(sys.modules, "Stemmer", types.SimpleNamespace(Stemmer=Stemmer))
    found = dict(zip(("PyStemmer", "snowballstemmer"), versions))
    monkeypatch.setattr("skembed._text.tokenizer.version", found.__getitem__)
    assert Tokenizer(stemmer="english").build_stemmer()("cats") == ("cats, by PyStemmer" if is_used else "cat")


def test_missing_stemmer_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ImportError, match=r"pip install skembed\[stem\]"):
        KnownTokens({}, Tokenizer(stemmer="english"))


def test_stemmer_must_return_strings():
    with pytest.raises(TypeError, match="stemmer must return a string, got None for the word 'cat'"):
        decode(Tokenizer(stemmer=lambda word: None), ["cat"])


# -- wrong rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "advice"),
    [
        (None, r"missing \(None\)"),
        (float("nan"), r"missing \(nan\)"),
        (np.float32("nan"), "missing"),
        (pd.NA, r"missing \(<NA>\)"),
        (pd.NaT, r"missing \(NaT\)"),
        (b"bytes", "bytes.*decode"),
        (["a", "b"], "a list.*analyzer= a named function"),
        (("a",), "a tuple.*analyzer="),
        (7, "7 of type int, not a string.*str"),
        ({"a": 1}, "type dict, not a string"),
    ],
)
def test_rows_that_are_not_strings(item, advice):
    with pytest.raises(TypeError, match=f"^Row 3 is .*{advice}"):
        KnownTokens({}, Tokenizer()).encode(["three", item, "five"], 2)


def test_row_number_beyond_the_first_batch():
    with pytest.raises(TypeError, match=f"^Row {BATCH_SIZE + 1} is missing"):
        decode(Tokenizer(), chain(["a"] * (BATCH_SIZE + 1), [None]))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("text", "Row 101: analyzer must return a list of tokens, got 'text' of type str"),
        (None, "Row 101: analyzer must return a list of tokens, got None"),
        (["a", 3], "Row 101: analyzer must return strings, got the token 3 of type int"),
        (["a", ["b"]], r"Row 101: analyzer must return strings, got the token \['b'\]"),
        ([b"a"], "Row 101: analyzer must return strings, got the token b'a'"),
    ],
)
def test_rows_that_a_callable_does_not_turn_into_tokens(item, message):
    with pytest.raises(TypeError, match=message):
        KnownTokens({}, Tokenizer(analyzer=as_is)).encode([["fine"]] * 91 + [item], 10)


def test_an_error_of_the_analyzer_itself_passes_through():
    def fail(item):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        decode(Tokenizer(analyzer=fail), ["a"])


def test_more_words_than_int32(monkeypatch):
    monkeypatch.setattr(WordIds, "max_words", 3)
    for options in ({}, {"stemmer": str.upper}, {"lowercase": False}):
        assert SentenceCorpus.from_sentences(["a b c", "a b c"], **options).n_tokens == 6
        with pytest.raises(ValueError, match="More than 3 distinct words"):
            SentenceCorpus.from_sentences(["a b c", "a b c", "d"], **options)


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"analyzer": "chars"}, ValueError, 'analyzer must be "word", "char", "char_wb", "word.char_wb" or a callable'),
        ({"analyzer": None}, ValueError, "analyzer must be"),
        ({"token_pattern": "("}, ValueError, "not a valid regular expression"),
        ({"token_pattern": r"(a)(b)"}, ValueError, "2 capturing groups"),
        ({"token_pattern": 3}, TypeError, "token_pattern must be a string or None"),
        ({"lowercase": "yes"}, TypeError, "lowercase must be True or False"),
        ({"stop_words": "french"}, ValueError, 'stop_words must be "english", a list'),
        ({"stop_words": [1]}, TypeError, "stop_words must be strings"),
        ({"stemmer": 3}, TypeError, "stemmer must be None, a callable, or the name"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        Tokenizer(**options)


def test_equal_options_make_equal_tokenizers():
    a, b = Tokenizer(stop_words=["x", "y"]), Tokenizer(stop_words={"y", "x"})
    assert a == b and hash(a) == hash(b)
    for other in (
        Tokenizer(),
        Tokenizer(stop_words=["x"]),
        Tokenizer(stop_words=["x", "y"], lowercase=False),
        Tokenizer(stop_words=["x", "y"], stemmer="english"),
        Tokenizer(stop_words=["x", "y"], analyzer=as_is),
    ):
        assert a != other
    with pytest.raises(AttributeError):
        a.lowercase = False


@pytest.mark.parametrize("take", [lambda cutter: cutter.stem, lambda cutter: cutter], ids=["method", "object"])
def test_copied_objects_make_equal_tokenizers(take):
    mine, other = Tokenizer(stemmer=take(Cutter(3))), Tokenizer(stemmer=take(Cutter(4)))
    for copied in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert copied.stemmer is not mine.stemmer
        assert copied == mine and hash(copied) == hash(mine) and copied != other
    assert mine != Tokenizer(stemmer=lambda word: word[:3])
    assert mine != Tokenizer(stemmer=take(Cutter(n for n in ())))  # which cannot be pickled


@pytest.mark.parametrize(
    "options", [{}, {"stop_words": ["x"], "lowercase": False}, {"analyzer": split_spaces, "stemmer": str.upper}]
)
def test_pickle(options):
    tokenizer = Tokenizer(**options)
    size = len(pickle.dumps(tokenizer))
    decode(tokenizer, ["x Y"])  # builds the analyzer, which must not travel
    copied = pickle.loads(pickle.dumps(tokenizer))
    assert copied == tokenizer and len(pickle.dumps(tokenizer)) == size
    assert decode(copied, ["x Y"]) == decode(tokenizer, ["x Y"])


def test_options_round_trip():
    tokenizer = Tokenizer(token_pattern=r"\S+", lowercase=False, stop_words=["b", "a"], stemmer="german")
    assert Tokenizer.from_options(tokenizer.options()) == tokenizer
    with pytest.raises(ValueError, match=r"analyzer='word'; analyzer=<function as_is"):
        Tokenizer.from_options(tokenizer.options(), analyzer=as_is)
    with pytest.raises(ValueError, match="Expected the options"):
        Tokenizer.from_options({"analyzer": "word"})


def test_options_with_callables():
    tokenizer = Tokenizer(analyzer=split_spaces, stemmer=str.upper)
    options = tokenizer.options()
    assert options["analyzer"] == {"callable": f"{__name__}:split_spaces"}
    assert Tokenizer.from_options(options, analyzer=split_spaces, stemmer=str.upper) == tokenizer
    with pytest.raises(ValueError, match="the analyzer '.*:split_spaces'.*Pass it again: analyzer="):
        Tokenizer.from_options(options, stemmer=str.upper)
    with pytest.raises(ValueError, match="Pass it again: stemmer="):
        Tokenizer.from_options(options, analyzer=split_spaces)


# -- the check of arguments --------------------------------------------------------------------------------------------


def containers():
    text = ["a b", "c"]
    yield from (text, tuple(text), np.array(text), np.array(text, dtype=object), pd.Series(text, index=[5, 5]))
    yield from (pd.Series(text, dtype="category"), pd.Index(text), iter(text), dict(enumerate(text)).values())
    for library, build in (
        ("polars", lambda m: m.Series(text)),
        ("pyarrow", lambda m: m.array(text)),
        ("pyarrow", lambda m: m.chunked_array([text[:1], text[1:]])),
    ):
        if (module := pytest.importorskip(library) if library in sys.modules or _has(library) else None) is not None:
            yield build(module)


def _has(library):
    from importlib.util import find_spec

    return find_spec(library) is not None


def test_containers():
    seen = 0
    for X in containers():
        assert decode(Tokenizer(), iter_sentences(X)) == [["a", "b"], ["c"]], type(X)
        seen += 1
    assert seen >= 9


def test_guard_does_not_consume():
    generator = (text for text in ["a", "b"])
    assert iter_sentences(generator) is generator
    assert list(generator) == ["a", "b"]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("text", ValueError, r"got one str. Wrap it in a list: \[X\]"),
        (b"text", ValueError, r"got one bytes. Wrap it in a list"),
        ({"a": 1}, TypeError, r"dict, which has no reading order.*list\(X.values\(\)\)"),
        ({"a"}, TypeError, r"set, which has no reading order.*list\(X\)"),
        (frozenset("a"), TypeError, "no reading order"),
        (3, TypeError, "X must be an iterable of sentences, got 3 of type int"),
        (None, TypeError, "got None"),
        (np.array("text"), TypeError, "iterable of sentences"),
        (np.array([["a", "b"]]), ValueError, r"shape \(1, 2\). Pass one column: X\[:, 0\]"),
        (pd.DataFrame([["a", "b"]]), ValueError, r"of shape \(1, 2\). Pass one column, for example X\[0\]\. "),
        (pd.DataFrame([["a", "b"]]), ValueError, r"The columns are \[0, 1\]\.$"),
        (sparse.csr_matrix(np.eye(2)), ValueError, "Pass one column"),
        (sparse.csr_array(np.eye(2)), ValueError, "Pass one column"),
    ],
)
def test_what_is_not_a_column_of_sentences(X, error, message):
    with pytest.raises(error, match=message):
        iter_sentences(X)


def test_tables_of_other_libraries():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {"text": ["a"], "more": ["b"]}
    for table in (polars.DataFrame(columns), pyarrow.table(columns)):
        with pytest.raises(ValueError, match=r'Pass one column, for example X\["text"\]. The columns are .*more'):
            iter_sentences(table)
    with pytest.raises(TypeError, match=r'^X is a LazyFrame, .* Pass a column: X\.collect\(\)\["column"\]'):
        iter_sentences(polars.LazyFrame({"text": ["a"]}))
    for column in (polars.Series(["a", None]), pyarrow.array(["a", None]), pd.Series(["a", None])):
        with pytest.raises(TypeError, match="^Row 1 is missing"):
            decode(Tokenizer(), iter_sentences(column))
