"""N-grams of characters as the tokens of corpora and models: compiled code does what the analyzer does in Python."""

import pickle
import unicodedata

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import normalize
from test_characters import random_texts

from skembed import (
    CBOSVectorizer,
    CharacterNgrams,
    PairCorpus,
    ParaphraseVectorizer,
    SentenceCorpus,
    TextVectorizer,
    Word2VecVectorizer,
    load,
    save,
)
from skembed._text import encoder, sources
from skembed._text.characters import KnownNgrams
from skembed._text.tokenizer import Tokenizer
from skembed._word_vectors.character_ngrams import count_ngrams
from skembed.formats import export_model, import_model, read_word_vectors, write_word_vectors

S = ["Die Tür ist zu.", "Die Türen sind zu!", "日本語の文", "", "ΟΔΟΣ İstanbul", "a  b\tc"] * 5
NEW = ["Türme und Tor", "", "本の 文", "xyz \x00 \ud800"]


class InPython:
    """The same analyzer as a function of the user."""

    def __init__(self, analyzer):
        self.analyzer = analyzer

    def __call__(self, text):
        return self.analyzer(text)


def assert_same_corpus(mine, expected):
    assert np.array_equal(mine.tokens, expected.tokens)
    assert np.array_equal(mine.sent_ptr, expected.sent_ptr)
    assert np.array_equal(mine.doc_ptr, expected.doc_ptr)
    assert mine.vocabulary == expected.vocabulary


@pytest.mark.parametrize(
    "options",
    [
        ("char", (1, 4)),
        ("char_wb", (1, 4)),
        ("char_wb", (3, 6), False),
        ("char", (2, 2)),
        ("char_wb", (1, 4), True, True),
        ("char", (2, 3), True, True),
        ("char_wb", (2, 3), False, True),
        ("char_wb", (1, 4), True, False, 97),
        ("char", (2, 3), True, True, 10_000),
        ("char_wb", (1, 1), False, True, 1),
    ],
)
@pytest.mark.parametrize("limits", [{}, {"min_count": 2}, {"max_features": 30}])
def test_a_corpus_has_the_ids_of_the_analyzer(options, limits):
    analyzer, texts = CharacterNgrams(*options), random_texts(150)
    mine = SentenceCorpus.from_sentences(texts, analyzer=analyzer, **limits)
    assert_same_corpus(mine, SentenceCorpus.from_sentences(texts, analyzer=InPython(analyzer), **limits))


@pytest.mark.parametrize("analyzer", ["char_wb", "word+char_wb"])
def test_threads_and_batches_change_no_id(monkeypatch, analyzer):
    texts = random_texts(200)
    expected = SentenceCorpus.from_sentences(texts, analyzer=analyzer)
    for module in (encoder, sources):
        for name, value in (("BATCH_LENGTH", 100), ("BATCH_SIZE", 7)):
            monkeypatch.setattr(module, name, value, raising=False)
    monkeypatch.setattr("skembed._corpus.build.count_threads", lambda n_jobs: n_jobs)
    for n_jobs in (1, 3):
        assert_same_corpus(SentenceCorpus.from_sentences(texts, analyzer=analyzer, n_jobs=n_jobs), expected)


def test_names_mean_one_to_four_characters_and_three_or_four_beside_words():
    for name in ("char", "char_wb"):
        for lowercase in (True, False):
            corpus = SentenceCorpus.from_sentences(S, analyzer=name, lowercase=lowercase)
            assert corpus.tokenizer.analyzer == CharacterNgrams(name, (1, 4), lowercase)
    both = SentenceCorpus.from_sentences(S, analyzer="word+char_wb").tokenizer.analyzer
    assert both == CharacterNgrams("char_wb", (3, 4), words=True)


@pytest.mark.parametrize(
    "emb",
    [
        CBOSVectorizer(8, random_state=0),
        CBOSVectorizer(8, analyzer="word", random_state=0),
        CBOSVectorizer(8, analyzer=CharacterNgrams("char_wb", (2, 3), words=True, n_buckets=50), random_state=0),
        TextVectorizer(random_state=0),
    ],
    ids=["both", "words", "buckets", "text"],
)
def test_decomposed_text_has_the_rows_of_composed_text(emb):
    texts = [
        "Die Türen öffnen",
        "Äpfel für Übermütige",
        "ड़ी ऩया क़लम",
        "Việt Nam",
        "강남 한글",
        "ÉCOLE, \u0130ZM\u0130R",
    ] * 3
    composed, decomposed = ([unicodedata.normalize(form, text) for text in texts] for form in ("NFC", "NFD"))
    assert composed != decomposed
    rows = [clone(emb).fit(learned, [0, 1] * 9).transform(read) for learned, read in pairs_of(composed, decomposed)]
    for other in rows[1:]:
        assert abs(rows[0] - other).max() == 0
    assert abs(rows[0]).max() > 0


def pairs_of(one, other):
    return (one, one), (one, other), (other, one), (other, other)


def test_words_stand_before_ngrams_and_are_never_one():
    analyzer = CharacterNgrams("char_wb", (1, 2), words=True)
    assert analyzer("Ab~ c") == ["ab", "c", *map("~{}".format, [" ", " a", "a", "ab", "b", "b~", "~", "~ ", " "])] + [
        f"~{ngram}" for ngram in [" ", " c", "c", "c ", " "]
    ]
    texts = random_texts(200)
    words = SentenceCorpus.from_sentences(texts).vocabulary
    both = SentenceCorpus.from_sentences(texts, analyzer=analyzer).vocabulary
    its_words = {word: count for word, count in zip(both.words, both.counts) if not word.startswith("~")}
    assert its_words == dict(zip(words.words, words.counts))


def test_a_corpus_is_saved_with_its_analyzer(tmp_path):
    analyzer = CharacterNgrams("char_wb", (2, 3), words=True)
    corpus = SentenceCorpus.from_sentences(S, analyzer=analyzer, to=tmp_path / "corpus")
    for again in (SentenceCorpus.load(tmp_path / "corpus"), pickle.loads(pickle.dumps(corpus))):
        assert again.tokenizer.analyzer == analyzer
        assert_same_corpus(again, corpus)


def test_files_and_columns_hold_text(tmp_path):
    texts = [text for text in random_texts(50) if text.strip() and text.isprintable()]
    (tmp_path / "text.txt").write_text("\n".join(texts), encoding="utf-8")
    expected = SentenceCorpus.from_sentences(texts, analyzer="char")
    found = SentenceCorpus.from_file(tmp_path / "text.txt", analyzer="char")
    assert found.vocabulary == expected.vocabulary
    pyarrow = pytest.importorskip("pyarrow")
    assert_same_corpus(SentenceCorpus.from_sentences(pyarrow.array(texts), analyzer="char"), expected)


@pytest.mark.parametrize("unknown", ["zero", "hash"])
@pytest.mark.parametrize(
    "analyzer",
    [
        CharacterNgrams("char", (1, 3)),
        CharacterNgrams("char_wb", (2, 5)),
        CharacterNgrams("char_wb", (6, 7), n_buckets=300),  # many words are shorter than that
    ],
)
def test_rows_are_those_of_the_analyzer_in_python(unknown, analyzer):
    params = {"n_components": 8, "min_count": 1, "max_sentence_length": None, "random_state": 0}
    emb = CBOSVectorizer(analyzer=analyzer, unknown=unknown, **params).fit(S)
    # N-grams stand for an unknown word, so it has no direction of its own.
    expected = CBOSVectorizer(analyzer=InPython(analyzer), unknown="zero", **params).fit(S)
    for texts in (S, NEW):
        assert np.array_equal(emb.transform(texts), expected.transform(texts))
    assert np.array_equal(emb.coverage(NEW), expected.coverage(NEW))


@pytest.mark.parametrize("analyzer", ["char_wb", "word+char_wb"])
def test_a_model_is_saved_with_its_analyzer(tmp_path, analyzer):
    emb = CBOSVectorizer(8, analyzer=analyzer, min_count=1, random_state=0).fit(S)
    save(emb, tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(emb))):
        assert again.analyzer == analyzer
        assert np.array_equal(again.transform(NEW), emb.transform(NEW))
    emb = CBOSVectorizer(8, analyzer=CharacterNgrams("char", (2, 2)), min_count=1, random_state=0).fit(S)
    save(emb, tmp_path / "other")
    assert load(tmp_path / "other").analyzer == emb.analyzer


@pytest.mark.parametrize("options", [{"analyzer": "char_wb"}, {"analyzer": "char"}])
def test_other_programs_are_told_apart(tmp_path, options):
    emb = CBOSVectorizer(8, **options, min_count=1, unknown="zero", random_state=0).fit(S)
    with pytest.raises(ValueError, match="n-grams of characters. Learn with analyzer='word'"):
        export_model(emb, tmp_path / "model")
    with pytest.raises(ValueError, match=r"fastText's models cannot express CBOSVectorizer with analyzer=Char"):
        export_model(emb, tmp_path / "model.bin")
    with pytest.raises(ValueError, match=r"The format cannot hold the word ' .*white space"):
        write_word_vectors(emb, tmp_path / "vectors.txt")
    words = ["tür", "türen"]
    write_word_vectors((words, emb.transform(words)), tmp_path / "vectors.txt")
    assert np.array_equal(read_word_vectors(tmp_path / "vectors.txt")[1], emb.transform(words))


@pytest.mark.parametrize("lowercase", [True, False])
def test_words_beside_ngrams_are_written_with_their_ngrams(tmp_path, lowercase):
    emb = CBOSVectorizer(8, analyzer="word+char_wb", lowercase=lowercase, random_state=0).fit(S, [0, 0, 1, 1, 2, 2] * 5)
    with pytest.warns(UserWarning, match=r"an unknown word, whose n-grams the estimator knows, has no vector there"):
        write_word_vectors(emb, tmp_path / "vectors.txt", counts_path=tmp_path / "counts.txt")
    words, vectors = read_word_vectors(tmp_path / "vectors.txt")
    assert words == [word for word in emb.vocabulary_ if word[0] != "~"]
    assert np.array_equal(vectors, emb.transform(words))
    counts = [f"{word} {emb.word_counts_[emb.vocabulary_[word]]}" for word in words]
    assert (tmp_path / "counts.txt").read_text("utf-8").splitlines() == counts


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("options", [{}, {"pooling": "sum", "weighting": None, "learning_rate": 1e-4}])
def test_shared_rows_are_those_of_a_model_of_fasttext(tmp_path, words, options):
    analyzer = CharacterNgrams("char_wb", (3, 6), words=words, n_buckets=3000)
    emb = CBOSVectorizer(8, analyzer=analyzer, random_state=0, **options).fit(S, [0, 0, 1, 1, 2, 2] * 5)
    (tmp_path / "model.bin").write_text("notes of mine")
    with pytest.raises(FileExistsError, match="is not an exported model"):
        export_model(emb, tmp_path / "model.bin")
    export_model(emb, tmp_path / "new" / "model.bin")
    (tmp_path / "new" / "model.bin").replace(tmp_path / "model.bin")  # which the next one replaces
    report = export_model(emb, tmp_path / "model.bin")
    assert report["words"] == sum(not name.startswith(("#", "~")) for name in emb.vocabulary_)
    assert report["smallest_cosine"] > 1 - 1e-6
    back = import_model(tmp_path / "model.bin")
    text = ["tür", "türen", "istanbul", "οδος", "türchen", "xqz"]
    found, expected = normalize(back.transform(text)), normalize(emb.transform(text))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert expected[4].any()


def test_lengths_that_fasttext_counts_otherwise_are_refused(tmp_path):
    for lengths in ((1, 4), (4, 5)):
        emb = CBOSVectorizer(8, analyzer=CharacterNgrams("char_wb", lengths, n_buckets=99), random_state=0)
        with pytest.raises(ValueError, match=rf"n-grams from {lengths[0]} characters on"):
            export_model(emb.fit(S, [0, 0, 1, 1, 2, 2] * 5), tmp_path / "model.bin")
    assert list(tmp_path.iterdir()) == []


def test_pairs_and_neighbours_take_characters():
    pairs = [("Die Tür ist zu.", "Das Tor ist zu."), ("ein Hund", "der Hund"), ("日本", "日本語")] * 4
    corpus = PairCorpus.from_pairs(pairs, analyzer="char")
    assert corpus.sentences.tokenizer.analyzer == CharacterNgrams("char")
    rows = ParaphraseVectorizer(4, analyzer="char", random_state=0).fit(pairs).transform(["Hunde"])
    assert np.abs(rows).max() > 0
    assert Word2VecVectorizer(4, analyzer="char", min_count=1, random_state=0).fit(S).transform(["Hunde"]).shape == (
        1,
        4,
    )
    with pytest.raises(TypeError, match="Row 1 is 3 of type int, not a string"):
        PairCorpus.from_pairs([("a", "b"), ("c", 3)], analyzer="char")


def test_a_corpus_of_other_ngrams_contradicts_a_model():
    corpus = SentenceCorpus.from_sentences(S, analyzer="char")
    assert CBOSVectorizer(4, min_count=1, random_state=0).fit(corpus).transform(["Hund"]).shape == (1, 4)
    assert CBOSVectorizer(4, analyzer="char", min_count=1, random_state=0).fit(corpus).vocabulary_
    with pytest.raises(ValueError, match="analyzer=.*contradicts X"):
        CBOSVectorizer(4, analyzer="char_wb").fit(corpus)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: CharacterNgrams("word"), 'must be "char" or "char_wb", got \'word\''),
        (lambda: CharacterNgrams("char", (0, 2)), r"from 1 on; got \(0, 2\)"),
        (lambda: CharacterNgrams("char", (3, 2)), r"got \(3, 2\)"),
        (lambda: CharacterNgrams("char", 3), "got 3"),
        (lambda: CharacterNgrams("char", (3, 4), n_buckets=0), "from 1 to 16777216, or None; got 0"),
        (lambda: CharacterNgrams("char", (3, 4), n_buckets=True), "or None; got True"),
        (lambda: CharacterNgrams("char", (1, 2), lowercase="no"), "lowercase must be True or False"),
        (lambda: CharacterNgrams("char", words=1), "words must be True or False, got 1"),
        (lambda: Tokenizer(analyzer="chars"), '"word", "char", "char_wb", "word\\+char_wb" or a callable'),
        (lambda: Tokenizer(analyzer="char", stemmer="english"), "stems words, not n-grams"),
        (lambda: SentenceCorpus.from_sentences(["", " "], analyzer="char_wb"), "The text has no words"),
        (lambda: SentenceCorpus.from_sentences(["ab", "b"], analyzer=CharacterNgrams("char", (3, 3))), "has no words"),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_row_that_is_no_string_is_named():
    with pytest.raises(TypeError, match="Row 1 is 5 of type int, not a string"):
        SentenceCorpus.from_sentences(["a", 5], analyzer="char")
    emb = CBOSVectorizer(4, analyzer="char", min_count=1, random_state=0).fit(S)
    with pytest.raises(TypeError, match="Row 2 is missing"):
        emb.transform(["a", "b", None])


def test_ngrams_share_rows_as_those_of_fasttext():
    n_buckets = 2000
    emb = CBOSVectorizer(8, analyzer=CharacterNgrams("char_wb", (3, 6), n_buckets=n_buckets), random_state=0)
    emb.set_params(pooling="mean", weighting=None, min_count=1).fit(S, [0, 0, 1, 1, 2, 2] * 5)
    rows = np.zeros((n_buckets, 8), np.float32)
    rows[[int(name[1:]) for name in emb.vocabulary_]] = emb.word_vectors_
    words = ["tür", "türen!", "日本語の文", "οδος"]
    expected = count_ngrams(words, (3, 6), n_buckets) @ rows
    np.testing.assert_allclose(normalize(emb.transform(words)), normalize(expected), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("words", [False, True])
def test_a_model_of_shared_rows_is_saved(tmp_path, words):
    analyzer = CharacterNgrams("char_wb", (3, 4), words=words, n_buckets=50)
    models = (CBOSVectorizer(8, analyzer=analyzer, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2))
    emb, others = (model.fit(S, [0, 0, 1, 1, 2, 2] * 5) for model in models)
    save(emb, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again._state.tokenizer.analyzer == analyzer
    assert np.array_equal(again.transform(NEW), emb.transform(NEW))
    assert sum(name.lstrip("~").startswith("#") for name in emb.vocabulary_) <= 50
    assert np.array_equal(others.transform(NEW), emb.transform(NEW))


def test_a_token_that_is_no_row_is_named():
    with pytest.raises(ValueError, match="'#50' is none of the 50 rows"):
        KnownNgrams(["#3", "#50"], CharacterNgrams("char", (3, 4), n_buckets=50))
