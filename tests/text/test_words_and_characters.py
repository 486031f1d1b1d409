"""Words and n-grams of characters in one bag: weights, defaults, unknown words."""

from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from skembed import (
    BOWPCA,
    CBOSVectorizer,
    CharacterNgrams,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
    TargetVectorizer,
    load,
    save,
)
from skembed._base.queries import weighted_vectors
from skembed._text.ngrams import NGRAM_MULTIPLIER

S = ["Die Tür ist zu.", "Die Türen sind zu!", "日本語の文", "", "ΟΔΟΣ İstanbul", "a  b\tc"] * 5
MORE = ["Die Türe sind auf.", "Die Tür ist ein Tor", "日本語の本"] * 4
Y = [0, 0, 1, 1, 2, 2] * 5
BOTH = CharacterNgrams("char_wb", (3, 4), words=True)
FROM_LABELS = [CBOSVectorizer, SiameseCBOWVectorizer]


def of_ngrams(emb):
    return np.array([token.startswith("~") for token in emb.vocabulary_])


@pytest.mark.parametrize("method", FROM_LABELS)
def test_labels_are_learned_with_words_and_characters_by_default(method):
    emb = method(8, random_state=0).fit(S, Y)
    expected = method(
        8, analyzer=BOTH, weighting="idf", max_sentence_length=None, min_count=1, unknown="zero", random_state=0
    )
    assert np.array_equal(emb.transform(MORE), expected.fit(S, Y).transform(MORE))


@pytest.mark.parametrize("method", FROM_LABELS)
@pytest.mark.parametrize(
    "options",
    [
        {"ngram_range": (1, 2)},
        {"token_pattern": r"\w+"},
        {"stop_words": ["zu"]},
        {"stemmer": str.title},
        {"init": {"die": np.ones(8), "tür": np.arange(8.0)}},
        {"analyzer": "word"},
    ],
)
def test_options_of_words_leave_words_alone(method, options):
    emb = method(8, random_state=0, **options)
    with pytest.warns(UserWarning, match="have a vector") if "init" in options else pytest.MonkeyPatch.context():
        emb.fit(S, Y)
    assert emb._state.tokenizer.analyzer == "word"
    assert not of_ngrams(emb).any()
    if method is CBOSVectorizer and "init" not in options:
        expected = method(8, weighting=None, max_sentence_length=16, random_state=0, **options | {"analyzer": "word"})
        assert np.array_equal(emb.transform(MORE), expected.fit(S, Y).transform(MORE))


@pytest.mark.parametrize("method", FROM_LABELS)
def test_order_is_learned_with_words_by_default(method):
    emb = method(8, min_count=1, random_state=0).fit(S)
    expected = method(8, min_count=1, analyzer="word", weighting=None, random_state=0).fit(S)
    assert np.array_equal(emb.transform(MORE), expected.transform(MORE))


@pytest.mark.parametrize("weighting", ["idf", "sif", None])
def test_words_and_ngrams_share_the_weight_from_labels(weighting):
    params = {"analyzer": "word+char_wb", "weighting": weighting, "min_count": 1, "random_state": 0}
    text, y = [*S, "Ein Zebra", "die zebraartigen Gnus gnu gnu", "zebraartig"], [*Y, 0, 1, 2]
    from_order, emb = CBOSVectorizer(8, **params).fit(text), CBOSVectorizer(8, **params).fit(text, y)
    ratio, is_ngram = emb.word_weights_ / from_order.word_weights_, of_ngrams(emb)
    if weighting is None:
        assert np.all(ratio == 1)
        return
    np.testing.assert_allclose(ratio[is_ngram], emb._state.ngram_weight, rtol=1e-5)
    np.testing.assert_allclose(ratio[~is_ngram], emb._state.word_weight, rtol=1e-5)
    mass = emb.word_weights_.astype(float) * emb.word_counts_
    sentences = [BOTH(sentence) for sentence in text]
    n_sentences = Counter(chain.from_iterable(map(set, sentences)))
    shares = []
    for kind in (False, True):
        is_shared = [n_sentences[token] > 1 for token in chain(*sentences) if (token[0] == "~") == kind]
        shares.append((1 + sum(is_shared)) / (1 + len(is_shared)))
    assert shares[0] != shares[1]
    assert mass[~is_ngram].sum() / mass[is_ngram].sum() == pytest.approx(shares[0] / shares[1])
    assert mass.sum() == pytest.approx(emb.word_counts_.sum())  # the mean weight is one


def test_weights_of_more_text_are_those_of_all_text():
    emb = CBOSVectorizer(8, random_state=0).partial_fit(S, Y)
    of_words, of_both = emb._state.word_weight, emb._state.ngram_weight
    emb.partial_fit(MORE, [0, 1, 2] * 4)
    once = CBOSVectorizer(8, random_state=0).fit(S + MORE, Y + [0, 1, 2] * 4)
    assert (emb._state.word_weight, emb._state.ngram_weight) == (of_words, of_both)
    assert of_both != once._state.ngram_weight
    expected, found = (
        dict(zip(m.vocabulary_, m.word_weights_ / np.where(of_ngrams(m), m._state.ngram_weight, m._state.word_weight)))
        for m in (once, emb)
    )
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_later_fit_keeps_the_analyzer_of_the_first():
    emb = CBOSVectorizer(8, random_state=0).partial_fit(SentenceCorpus.from_sentences(S), Y)
    assert emb.partial_fit(MORE, [0, 1, 2] * 4)._state.tokenizer.analyzer == "word"
    emb = CBOSVectorizer(8, random_state=0).partial_fit(S, Y).set_params(context="order")
    assert emb.partial_fit(MORE)._state.tokenizer.analyzer == BOTH
    emb.set_params(context="auto", min_count=1).fit(S)
    assert emb._state.tokenizer.analyzer == "word"
    assert emb._state.ngram_weight == 1


def test_a_saved_model_goes_on_with_the_same_weights(tmp_path):
    emb = CBOSVectorizer(8, random_state=0).partial_fit(S, Y)
    save(emb, tmp_path / "model")
    again = load(tmp_path / "model").partial_fit(MORE, [0, 1, 2] * 4)
    emb.partial_fit(MORE, [0, 1, 2] * 4)
    assert np.array_equal(again.word_weights_, emb.word_weights_)
    assert np.array_equal(again.transform(MORE), emb.transform(MORE))


@pytest.mark.parametrize(
    "emb",
    [
        CBOSVectorizer(8, analyzer="word+char_wb", unknown="hash", min_count=1, random_state=0),
        Sent2VecVectorizer(8, analyzer="word+char_wb", min_count=1, random_state=0),
        Sent2VecVectorizer(8, analyzer="char_wb", min_count=1, random_state=0),
        TargetVectorizer(8, analyzer="word+char_wb", random_state=0),
    ],
)
def test_an_unknown_word_has_the_vector_of_its_ngrams(emb):
    emb.fit(S, np.arange(60.0).reshape(30, 2) if isinstance(emb, TargetVectorizer) else None)
    known, new, foreign, other = emb.transform(["Türen", "Türenx", "жзи", "ъыэ"])
    assert np.dot(known, new) > 0.5 * np.linalg.norm(known) * np.linalg.norm(new)
    assert not np.array_equal(known, new)
    assert 0.3 < emb.coverage(["Türenx"])[0] < 1
    assert np.array_equal(foreign, other)  # of their n-grams only a space is known


def test_similar_words_are_words():
    emb = CBOSVectorizer(8, random_state=0).fit(S, Y)
    for word in ("türen", "türenx"):
        found = [name for name, _ in emb.most_similar(word, 5)]
        assert len(found) == 5
        assert not any(name.startswith("~") for name in found)
    assert emb.explain("Türenx", "Tür").words_a[0] != ""


@pytest.mark.parametrize("method", FROM_LABELS)
def test_word_ngrams_are_made_of_words_alone(method, tmp_path):
    n_buckets = 10_007
    options = {"ngram_range": (1, 2), "n_buckets": n_buckets, "analyzer": "word+char_wb", "random_state": 0}
    options["min_count"] = 2  # so that words and n-grams of the rare sentences are unknown
    text, y = [*S, "Die xyz vwu ist zu", "tsr Tür"], [*Y, 1, 1]
    emb = method(8, n_jobs=1, **options).fit(text, y)
    rows_of = emb.vocabulary_
    words = [[rows_of[word] for word in BOTH(sentence) if word[0] != "~" and word in rows_of] for sentence in text]
    pairs = {(a * int(NGRAM_MULTIPLIER) + b) % 2**64 % n_buckets for row in words for a, b in pairwise(row)}
    assert pairs
    assert set(np.flatnonzero(emb.ngram_vectors_.any(axis=1)).tolist()) == pairs
    names, vectors = weighted_vectors(emb, emb._state, "Die Türen ist nie zu")
    assert {"die türen", "türen ist", "ist zu"} == {name for name in names if " " in name and name[0] != "~"}
    mean = vectors.sum(axis=0) / len(vectors)
    np.testing.assert_allclose(emb.transform(["Die Türen ist nie zu"])[0], mean, rtol=1e-4, atol=1e-6)
    others = method(8, n_jobs=2, **options).fit(text, y)
    assert np.array_equal(others.ngram_vectors_, emb.ngram_vectors_)
    save(emb, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").transform(MORE), emb.transform(MORE))


def test_ngrams_of_characters_are_not_joined():
    corpus = SentenceCorpus.from_sentences(S, analyzer="char_wb")
    with pytest.raises(ValueError, match=r"ngram_range=\(1, 2\) makes n-grams of words.*analyzer='char_wb'"):
        CBOSVectorizer(8, ngram_range=(1, 2)).fit(corpus)
    with pytest.raises(ValueError, match="analyzer='char_wb' or 'char', where it counts characters"):
        Sent2VecVectorizer(8, ngram_range=(1, 3), analyzer="word+char_wb").fit(S)


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
@pytest.mark.parametrize("method", [CBOSVectorizer, Sent2VecVectorizer, SiameseCBOWVectorizer])
def test_ngram_range_counts_characters(method, analyzer, tmp_path):
    named = method(8, analyzer=analyzer, ngram_range=(2, 3), random_state=0).fit(S)
    given = method(8, analyzer=CharacterNgrams(analyzer, (2, 3)), random_state=0).fit(S)
    expected = CountVectorizer(analyzer=analyzer, ngram_range=(2, 3), min_df=1).fit(S).vocabulary_
    assert set(named.vocabulary_) <= set(expected)
    assert {len(token) for token in named.vocabulary_} == {2, 3}
    assert np.array_equal(named.transform(MORE), given.transform(MORE))
    save(named, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").transform(MORE), named.transform(MORE))
    assert np.array_equal(clone(named).set_params(init=named).fit(S).word_counts_, named.word_counts_)


@pytest.mark.filterwarnings("ignore:n_shards=2 leaves each shard")
@pytest.mark.parametrize("method", [CBOSVectorizer, Sent2VecVectorizer, SiameseCBOWVectorizer])
def test_shards_learn_of_an_ngram_range_of_characters(method):
    options = {"n_shards": 2, "max_iter": 2, "random_state": 0}
    named = method(8, analyzer="char", ngram_range=(2, 3), **options).fit(MORE * 3)
    given = method(8, analyzer=CharacterNgrams("char", (2, 3)), **options).fit(MORE * 3)
    assert np.array_equal(named.transform(MORE), given.transform(MORE))


@pytest.mark.parametrize("method", [CBOSVectorizer, Sent2VecVectorizer, SiameseCBOWVectorizer])
@pytest.mark.parametrize(
    ("analyzer", "lengths", "other"), [("char", (1, 3), "word"), ("char", (2, 3), "word"), ("word", (1, 2), "char")]
)
def test_an_analyzer_set_after_the_fit_changes_no_row(method, analyzer, lengths, other):
    options = {"analyzer": analyzer, "ngram_range": lengths, "n_buckets": 101, "max_iter": 1, "random_state": 0}
    emb = method(8, **options).fit(S)
    rows, names = emb.transform(MORE), emb.explain(MORE[0], MORE[1]).words_a
    emb.set_params(analyzer=other)
    assert np.array_equal(emb.transform(MORE), rows)
    assert emb.explain(MORE[0], MORE[1]).words_a == names


@pytest.mark.parametrize("lengths", [(0, 2), (3, 2), (2,), (2.0, 3)])
def test_an_ngram_range_that_counts_no_characters_is_an_error(lengths):
    with pytest.raises(ValueError, match="ngram_range must be two integers"):
        CBOSVectorizer(8, analyzer="char", ngram_range=lengths).fit(S)


def test_a_huge_string_does_not_make_words_huge():
    emb = CBOSVectorizer(8, max_iter=1, random_state=0).fit([*S, "x" * 100_000], [*Y, 0])
    factors = np.where(of_ngrams(emb), emb._state.ngram_weight, emb._state.word_weight)
    of_one_factor = emb.word_counts_.sum() / (emb.word_counts_ * emb.word_weights_ / factors).sum()
    assert emb._state.word_weight == pytest.approx(10 * of_one_factor)
    assert np.isfinite(emb.transform(S)).all()


def test_a_million_combining_marks_have_a_row():
    text = "a" + "\u0301" * 1_000_000
    emb = CBOSVectorizer(8, max_iter=1, random_state=0).fit([*S, text], [*Y, 0])
    rows = emb.transform([text, text[:1000], "Tür"])
    assert np.isfinite(rows).all()
    assert rows.any(axis=1).all()


def test_components_of_words_and_characters():
    rows = BOWPCA(3, analyzer="word+char_wb").fit(S).transform(["Türenx"])
    assert np.abs(rows).max() > 0


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "",
        "\ud800\udc00 \udfff",
        "\u202b\u200f\u2067",
        "👩\u200d👩\u200d👧",
        "\u0301",
        "a" + "\u0301" * 1000,
        "\x00",
        "~ ~",
        "\u2028 \u3000",
    ],
)
def test_any_text_has_a_row(text):
    texts = [*S, text, text + " " + text]
    y = [*Y, 1, 1]
    for analyzer in ("auto", CharacterNgrams("char", (4, 9)), CharacterNgrams("char_wb", (4, 9), words=True)):
        emb = CBOSVectorizer(8, analyzer=analyzer, random_state=0).fit(texts, y)
        rows = emb.transform([text, "new " + text])
        assert rows.shape == (2, 8)
        assert np.isfinite(rows).all()
