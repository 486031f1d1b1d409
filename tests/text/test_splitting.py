"""What the words of a text are not: options without effect, and phrases of scripts without spaces, are named."""

import warnings

import pytest
from estimators import as_is
from sklearn.feature_extraction.text import CountVectorizer
from test_tokenizer import decode

from skembed import BOWPCA, CharacterNgrams, SentenceCorpus
from skembed._text.tokenizer import Tokenizer


def test_a_capital_i_with_a_dot_does_not_cut_its_word():
    cities = ["\u0130STANBUL ve \u0130zmir", "D\u0130YARBAKIR"]
    for tokenizer in (Tokenizer(), Tokenizer(token_pattern=r"\b\w+\b"), Tokenizer(stop_words=["ve"])):
        found = decode(tokenizer, cities)
        assert found[1] == ["diyarbakir"] and found[0][:: 2 if len(found[0]) > 2 else 1] == ["istanbul", "izmir"]
    assert decode(Tokenizer(lowercase=False), cities[1:]) == [["D\u0130YARBAKIR"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The cat, a dog_1.", "the cat a dog_1"), ("cat 北京市 dog 日", "cat 北京市 dog 日"), ("กินข้าว", "กินข้าว")],
)
def test_words_are_joined_to_a_text_of_the_same_words(text, expected):
    tokenizer = Tokenizer()
    words = tokenizer.split(text)
    assert tokenizer.join(words) == expected and tokenizer.split(expected) == words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"stop_words": ["don't", "the"]},
            r"stop_words has \"don't\", which a text never gives.* to \['don', 't'\], and these words stay",
        ),
        (
            {"stop_words": ["The"]},
            r"stop_words has 'The', which a text never gives: it is lowered and split to \['the'\]",
        ),
        ({"stop_words": "english", "token_pattern": r"[a-z]"}, "stop_words has 'about', which a text never gives"),
        ({"analyzer": as_is, "stop_words": ["the"]}, "stop_words is not used, since analyzer is a callable"),
        ({"analyzer": as_is, "token_pattern": r"\w+"}, "token_pattern is not used, since analyzer is a callable"),
        ({"analyzer": "char", "token_pattern": r"\w+"}, "token_pattern is not used, .* cuts the text into n-grams"),
        ({"analyzer": CharacterNgrams(), "lowercase": False}, "lowercase is not used, .* cuts the text into n-grams"),
    ],
)
def test_options_without_effect_are_named(options, message):
    text = [["a", "b"], ["b", "c"], ["c", "d"]] if options.get("analyzer") is as_is else ["a b c", "b c d", "a d"]
    with pytest.warns(UserWarning, match=message):
        SentenceCorpus.from_sentences(text, **options)
    with pytest.warns(UserWarning, match=message):
        BOWPCA(1, **options).fit(text)


def test_stop_words_whose_parts_are_stop_words_are_fine():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for stop_words in ("english", ["don't", "don", "t"], ["A", "a", ""], ["?"]):
            SentenceCorpus.from_sentences(["a b"], stop_words=stop_words)


CHINESE = ["\u6211\u4eec\u4eca\u5929\u53bb\u5317\u4eac", "\u4ed6\u559c\u6b22\u559d\u7eff\u8336\u548c\u5496\u5561"] * 10


def test_text_without_spaces_between_words_is_named():
    with pytest.warns(UserWarning, match=r"have 8\.0 characters in the mean. They are no words.*token_pattern"):
        SentenceCorpus.from_sentences(CHINESE, token_pattern=r"\w+")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SentenceCorpus.from_sentences(CHINESE)
        pairs = CountVectorizer(analyzer="char", ngram_range=(1, 2)).build_analyzer()
        SentenceCorpus.from_sentences(CHINESE, analyzer=pairs)
        SentenceCorpus.from_sentences([" ".join(sentence[i : i + 2] for i in range(0, 6, 2)) for sentence in CHINESE])
        SentenceCorpus.from_sentences([*CHINESE, *["the river is wide and cold"] * 20])
        SentenceCorpus.from_sentences(["Donaudampfschifffahrtsgesellschaft"] * 10)


def test_letters_with_their_signs_are_no_phrases():
    burmese = [
        "\u1019\u103c\u1014\u103a\u1019\u102c\u1014\u102d\u102f\u1004\u103a\u1004\u1036",
        "\u1021\u1001\u103c\u102d\u102f\u1038\u1018\u102c\u101e\u102c",
    ] * 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SentenceCorpus.from_sentences(burmese)


@pytest.mark.parametrize("sentence", ["กินข้าว", "हिन्दी"])
def test_a_pattern_that_cuts_words_at_their_signs_is_named(sentence):
    with pytest.warns(
        UserWarning, match=f"100% of the words, such as '[{sentence}]',.*cuts words. Leave token_pattern=None"
    ):
        SentenceCorpus.from_sentences([sentence] * 20, token_pattern=r"\w+")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SentenceCorpus.from_sentences([sentence] * 20)
        SentenceCorpus.from_sentences([sentence, *["the river is wide and cold"] * 20], token_pattern=r"\w+")
        SentenceCorpus.from_sentences(["हिन्दी"] * 20, token_pattern=r"\S+")


def test_text_without_spaces_is_named_in_any_script():
    letters = "abcdefghijklmnopqrstuvwxyz"
    sentences = [letters[i:] + letters[:i] for i in range(20)]
    with pytest.warns(
        UserWarning, match=r"such as 'abc.* have 26\.0 characters in the mean, and most .*analyzer=\"char\""
    ):
        SentenceCorpus.from_sentences(sentences)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SentenceCorpus.from_sentences(sentences, analyzer="char")
        SentenceCorpus.from_sentences([f"https {sentence} a b c" for sentence in sentences])


def test_a_text_to_embed_says_why_its_words_are_unknown():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BOWPCA(1, token_pattern=r"\w+").fit(CHINESE)
    others = ["\u6628\u5929" + chr(0x5317 + i) * 9 for i in range(40)]
    with pytest.warns(UserWarning, match=r"Unknown words: .*their script has no spaces.*token_pattern=None"):
        model.transform(others)
    with pytest.warns(UserWarning, match="Both must be of one language"):
        model.transform(["the river is wide and cold"] * 10)
