"""What a term is, and what a query asks for."""

import numpy as np
import pytest

from skembed import SearchIndex
from skembed.search._terms import Lexicon, TermReader, codes_of, read_query

TEXTS = [
    "Error ERR_4012 in C++ and .NET; the x-200's v1.5.2 (os.path) at foo@bar.com.",
    "关系数据库win10系统 テスト ภาษาไทย",
    "",
    "Don't: e.g. and/or F# 10:30 well-known __init__ _x_ 1,000 3.14",
    "ΑΣ Straße İstanbul ﬁne\nnew\tlines--here a#b #tag ++ -- ...",
    "state-of-the-art std::vector<int> https://example.org/a-b?c=d 192.168.0.1",
]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("the x-200.", ["x-200"]),
        ("C++, C# and F#!", ["c++", "c#", "f#"]),
        (".NET (node.js)", [".net", "node.js"]),
        ("version 1.5.2, ISO-8859-1", ["1.5.2", "iso-8859-1"]),
        ("well-known and/or don't", []),
        ("end. Begin, 5 - 3", []),
        ("std::vector foo@bar.com 10:30", ["std::vector", "foo@bar.com", "10:30"]),
        ("A-1/B-2 A-1", ["a-1/b-2", "a-1"]),
        ("ends with a symbol - + #", []),
        ("ÄÖ-9", ["äö-9"]),
    ],
)
def test_codes(text, codes):
    assert codes_of(text) == codes


def test_words_with_underscores_and_scripts_without_spaces():
    reader = TermReader()
    assert reader.terms_of("ERR_4012") == ["err_4012", "err", "4012"]
    assert reader.terms_of("数据库") == ["数", "数据", "据", "据库", "库"]
    assert reader.terms_of("win10系统") == ["win10", "系", "系统", "统"]
    assert reader.terms_of("_") == ["_"]


@pytest.mark.parametrize("options", [(), (str.upper,), (None, "english"), (str.upper, ["in", "数据"])])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_documents_and_queries_give_the_same_terms(options, n_jobs):
    reader = TermReader(*options)
    for texts in (TEXTS, TEXTS * 3000 if not options else TEXTS, [""], ["?"], []):
        encoded = reader.encode(texts, n_jobs)
        assert len(encoded.ptr) == len(texts) + 1 and len(set(encoded.terms)) == len(encoded.terms)
        for i, text in enumerate(texts[:12]):
            tokens = encoded.tokens[encoded.ptr[i] : encoded.ptr[i + 1]]
            assert [encoded.terms[token] for token in tokens] == reader.terms_of(text)
    stopped = TermReader(None, "english").terms_of("the and cat")
    assert stopped == ["cat"]


def test_wrong_stems():
    with pytest.raises(TypeError, match="stemmer must return a string, got 3"):
        SearchIndex(n_components=None, stemmer=lambda word: 3).fit(["a"])


def test_lexicon():
    words = sorted({word for text in TEXTS for word in TermReader().terms_of(text)}, key=len)
    lexicon = Lexicon.of(words)
    np.testing.assert_array_equal(lexicon.find(words), np.arange(len(words)))
    assert lexicon.find(["zzz", "", "a", words[0] + "x", "\ud800"])[[0, 1, 3, 4]].tolist() == [-1] * 4
    assert [words[row] for row in lexicon.order] == sorted(words, key=lambda word: word.encode())
    assert lexicon.terms() == words and lexicon.term(3) == words[3]
    assert Lexicon.of([]).find(["a"]).tolist() == [-1]


@pytest.mark.parametrize(
    ("text", "terms", "required", "excluded"),
    [
        ("plain words", ["plain", "words"], [], []),
        ('"two words" three', ["two", "words", "three"], [["two", "words"]], []),
        ("+one -two three", ["one", "three"], [["one"]], [["two"]]),
        ('-"two words" x', ["x"], [], [["two", "words"]]),
        ('+"two words"', ["two", "words"], [["two", "words"]], []),
        ("+c++ -x-200", ["c", "c++"], [["c++"]], [["x-200"]]),
        ("+don't", ["don", "t"], [["don", "t"]], []),
        ('an "open quote', ["an", "open", "quote"], [], []),
        ("5 - 3 + x -- ++", ["5", "3", "x"], [], []),
        ("x-200 a-b", ["x", "200", "a", "b", "x-200"], [], []),
        ('"" + - "?" -?', [], [], []),
        ("-err_4012", [], [], [["err_4012", "err", "4012"]]),
    ],
)
def test_operators(text, terms, required, excluded):
    query = read_query(text, TermReader(), operators=True)
    assert sorted(query.terms) == sorted(terms)
    assert query.required == required and query.excluded == excluded
    assert read_query(text, TermReader(), operators=False).is_plain


def find(index, query):
    rows = index.search([query], k=5, operators=True)[0][0]
    return sorted(rows[rows >= 0].tolist())


@pytest.mark.parametrize("n_components", [None, 8])
def test_searches_with_operators(n_components):
    documents = [
        ("Strike", "put two tildes to strike through text"),
        ("Text", "the text goes through a strike"),
        ("strike through", "words"),
        ("strike", "through the night"),
        ("数据库", "x-200 C++"),
    ]
    index = SearchIndex(n_components, random_state=0).fit(documents)
    assert find(index, '"strike through"') == [0, 2]  # and not through the border of two fields
    assert find(index, "+strike +night") == [3]
    assert find(index, "strike -text -words") == ([3] if n_components is None else find(index, "strike -text -words"))
    assert not {0, 1, 2} & set(find(index, "strike -text -words"))
    assert find(index, '+text -"strike through"') == [1]
    assert find(index, "+c++") == find(index, "+x-200") == find(index, '+"数据"') == [4]
    assert find(index, '"数库"') == find(index, "+unheard strike") == find(index, "-strike") == []
    plain = index.search(['"strike through"'], k=5)[0][0]
    assert {0, 1, 2, 3} <= set(plain.tolist())


def test_codes_come_first_among_identifiers():
    generator = np.random.default_rng(0)
    codes = [f"{a}-{n}" for a in ("x", "k", "ab") for n in range(100, 140)]
    documents = [f"The part {code} of {' '.join(generator.choice(codes, 0))} fits." for code in codes]
    documents += [f"Part {c[::-1]} x {n} ab {m}" for c, n, m in zip(codes, range(100, 220), range(120, 240))]
    index = SearchIndex(8, random_state=0).fit(documents)
    rows = index.search([f"where is {code}?" for code in codes], k=1)[0]
    np.testing.assert_array_equal(rows[:, 0], np.arange(len(codes)))
