"""How much of a text a model knows: the attribute, the method, and what is said where they do not meet."""

import warnings

import numpy as np
import pytest
from estimators import CLASSES, NAMES, SPELLING, TEXT, corpus, default, fitted, make
from sklearn.pipeline import make_pipeline

from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus
from skembed._base.embedding import CoverageCounter

FRENCH = [
    "Le chat dort sur le tapis de la cuisine.",
    "Demain les enfants partent en train.",
    "Nous avons vu une exposition magnifique.",
    "Il pleut depuis trois jours.",
    "Ma soeur travaille dans une banque.",
    "Cette route traverse un village.",
]
TOPICS = ["The cat sits on the mat.", "A dog and a cat in the house.", "The houses stand near the sea."]


def vectors(words, seed=0):
    return dict(zip(words, np.random.default_rng(seed).normal(size=(len(words), 5))))


def words_of(sentences):
    return sorted({word.strip(".").lower() for sentence in sentences for word in sentence.split()})


# -- fractions of known words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_coverage_counts_the_known_words_of_each_sentence(name):
    model = fitted(name)
    tokens = list(SentenceCorpus.from_sentences(TEXT, stemmer=model.stemmer, stop_words=model.stop_words))
    expected = [np.mean([word in model.vocabulary_ for word in words]) if words else 0.0 for words in tokens]
    fractions = model.coverage(TEXT)
    assert fractions.dtype == np.float64
    np.testing.assert_allclose(fractions, expected, rtol=1e-12)
    n_known = sum(word in model.vocabulary_ for words in tokens for word in words)
    assert model.coverage_ == pytest.approx(n_known / sum(map(len, tokens)), rel=1e-12)
    assert model.coverage([]).shape == (0,)
    if model.stemmer is None and model.stop_words is None:
        np.testing.assert_array_equal(model.coverage(corpus()), fractions)
    assert fractions[13] == 0  # an empty sentence


@pytest.mark.filterwarnings("ignore:.*found nothing to predict")
def test_coverage_is_of_the_text_of_the_vocabulary():
    model = CBOSVectorizer(5, min_count=2, max_iter=1).partial_fit(["a b a", "b c"] * 2 + ["zebra"])
    assert model.coverage_ == 10 / 11
    model.partial_fit(["zebra a"], new_words="ignore")
    assert model.coverage_ == 10 / 11
    model.partial_fit(["quagga a"])  # counts and coverage follow, but "quagga" is too rare to be appended
    assert model.coverage_ == 11 / 13
    model.partial_fit(["zebra a"])  # the second one: both of them are known now
    assert model.coverage_ == 14 / 15


@pytest.mark.parametrize("cls", CLASSES)
def test_coverage_needs_a_fit(cls):
    with pytest.raises(ValueError, match="not fitted"):
        default(cls).coverage(["a cat"])


# -- vectors that do not meet the text ---------------------------------------------------------------------------------

STRANGERS = {
    "capitals": (str.title, {}, "The vectors are of words with capitals, .* lowercase=False"),
    "ConceptNet": ("/c/en/{}".format, {}, "Remove the prefix '/c/en/'"),
    "parts of speech": ("/c/en/{}/n".format, {}, "Remove the prefix '/c/en/'"),
    "BERT": ("##{}".format, {}, "are of word pieces, with marks such as '##'"),
    "SentencePiece": ("\u2581{}".format, {}, "are of word pieces"),
    "tags": ("{}_NOUN".format, {}, "Remove the part of speech"),
    "stemmed text": (str, {"stemmer": lambda word: word[:3] + "*"}, "The text is stemmed: give vectors of stems"),
    "small letters": (str, {"lowercase": False, "analyzer": lambda text: text.upper().split()}, "lowercase=True"),
    "another language": (lambda word: word[::-1] + "x", {}, "Both must be of one language and prepared alike"),
}


@pytest.mark.parametrize("change, options, reason", STRANGERS.values(), ids=STRANGERS)
def test_vectors_that_share_no_word_with_the_text(change, options, reason):
    words = [word for word in words_of(TOPICS) if len(word) > 3 or not options]
    given = vectors(list(map(change, words)))
    for source in (given, [given, given]):
        model = MeanEmbeddingVectorizer(word_vectors=source, **options)
        for learn in (model.fit, model.fit_transform):
            with pytest.raises(ValueError, match=rf"^None of the words of the text has a vector.*{reason}") as caught:
                learn(TOPICS)
            assert len(str(caught.value)) < 600
        assert not hasattr(model, "vocabulary_")


def test_the_error_shows_what_words_look_like():
    model = MeanEmbeddingVectorizer(word_vectors=vectors(["Boat", "x" * 1000]))
    expected = "Words without one: 'the', 'boat'. Words of word_vectors, 2 in all: 'Boat', 'xxxxxxxxxxxxxxxxxxxx'[.]"
    with pytest.raises(ValueError, match=expected):
        model.fit(["the boat the"])


def test_vectors_of_stems():
    with pytest.raises(ValueError, match="The vectors seem to be of stems: set stemmer"):
        MeanEmbeddingVectorizer(word_vectors=vectors(["hous", "sail", "walk"])).fit(["houses sailing walked"])


@pytest.mark.parametrize("joined", [False, True])
def test_few_words_with_a_vector(joined):
    source = vectors([*map(str.title, words_of(TOPICS)), "cat"])
    model = MeanEmbeddingVectorizer(word_vectors=[source] if joined else source)
    with pytest.warns(
        UserWarning, match=r"^Only 10% of the words of the text have a vector.*lowercase=False"
    ) as caught:
        model.fit(TOPICS)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert model.coverage_ == 0.1


def test_enough_words_with_a_vector():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MeanEmbeddingVectorizer(word_vectors=vectors(["the", "a", "cat"])).fit(TOPICS)
        assert model.coverage_ > 1 / 3


# -- text that a model does not know -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SPELLING])
def test_transform_of_another_language_warns_once(name):
    model = fitted(name)
    expected = (
        rf"^Only [0-9]% of the words of X are in the vocabulary of {type(model).__name__}; .* 'chat', .* language"
    )
    for embed in (model.transform, make_pipeline(model, "passthrough").transform):
        with pytest.warns(UserWarning, match=expected) as caught:
            embed(FRENCH)
        assert len(caught) == 1 and caught[0].filename == __file__
        assert len(str(caught[0].message)) < 600


@pytest.mark.parametrize("name", NAMES)
def test_transform_of_little_or_like_text_does_not_warn(name):
    model = fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(FRENCH[:1])
        model.transform([FRENCH[0] * 20])
        model.transform(["zzz"] * 20)
        model.transform([*FRENCH, *TEXT])
        model.transform([])
        model.transform([""] * 100)


def test_other_kinds_of_text_warn_too():
    model = fitted("CBOSVectorizer")
    for X in (SentenceCorpus.from_sentences(FRENCH), iter(FRENCH), np.array(FRENCH * 50)):
        with pytest.warns(UserWarning, match="of the words of X are in the vocabulary"):
            model.transform(X)
    learned_elsewhere = make("CBOSVectorizer", corpus=corpus())
    with pytest.warns(UserWarning, match="of the words of X are in the vocabulary"):
        learned_elsewhere.fit_transform(FRENCH)


def test_threads_count_together():
    text = TEXT * 400
    model = make("CBOSVectorizer", n_jobs=2).fit(TEXT)
    with pytest.warns(UserWarning, match="Only 0% of the words of X") as caught:
        model.transform(["xxx yyy zzz"] * 40_000)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(text)


def test_a_small_vocabulary_may_know_less():
    # A third of the words of the first text occur once: of another one like it, a third of the words will be new.
    text = [f"the word{i} and thing{i} in a" for i in range(20)]
    model = BOWPCA(n_components=None).fit(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform([f"the noun{i} and verb{i} x{i}" for i in range(20)])
    with pytest.warns(UserWarning, match="Only 20% of"):
        model.transform([f"the noun{i} verb{i} x{i} y{i}" for i in range(20)])


class Counted:
    """A vocabulary of which is counted how often it is read."""

    def __init__(self, values):
        self.values, self.n_read = np.asarray(values), 0

    def __getitem__(self, key):
        found = self.values[key]
        self.n_read += np.size(found)
        return found


def test_a_tally_looks_at_a_sample():
    class Batch:
        ids = np.zeros(1_000_000, np.int32)
        ptr = np.arange(0, 1_000_001, 10)
        rows = Counted([0])

        @staticmethod
        def words_of(ids):
            return ["a"] * len(ids)

    tally = CoverageCounter()
    tally.add(Batch)
    assert Batch.rows.n_read <= 2000  # of words, and of sentences
    assert tally.batches == [(100_000, pytest.approx(1_000_000, rel=0.01), pytest.approx(1_000_000, rel=0.01))]


# -- going on to learn -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*found nothing to predict")
def test_partial_fit_of_another_language_warns():
    model = CBOSVectorizer(5, min_count=1, max_iter=1).partial_fit(TEXT)
    expected = "of the words of this text are in the vocabulary of CBOSVectorizer; .* 100% are.* language"
    with pytest.warns(UserWarning, match=expected):
        model.partial_fit(FRENCH, new_words="ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.partial_fit(TEXT, new_words="ignore")
        model.partial_fit(FRENCH)  # its words are appended


@pytest.mark.filterwarnings("ignore:.*found nothing to predict")
def test_a_warm_start_in_another_language_warns():
    model = CBOSVectorizer(5, min_count=1, max_iter=1, warm_start=True).fit(TEXT)
    with pytest.warns(UserWarning, match="of the words of this text are in the vocabulary"):
        model.fit(FRENCH)


@pytest.mark.filterwarnings("ignore:.*their script has no spaces between")
@pytest.mark.parametrize("name", ["CBOSVectorizer", "BOWPCA"])
def test_rows_of_zeros_are_named_where_each_word_of_the_first_text_occurs_once(name):
    """By its counts nothing about such a text lets one expect that words are known."""
    generator = np.random.default_rng(0)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    text, other = ([" ".join("".join(generator.choice(letters, 6)) for _ in range(2)) for _ in range(60)] for _ in "ab")
    y = np.arange(60) % 2 if name == "CBOSVectorizer" else None
    options = {} if y is None else {"analyzer": "word"}
    model = make(name, n_components=2, **options).fit(
        text, y, **({} if y is not None else {"groups": np.arange(60) // 6})
    )
    with pytest.warns(UserWarning, match="100% of the sentences of X have no word of the vocabulary of"):
        model.transform(other)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(text)
        model.transform(other[:4])
        model.transform(text[:31] + other[:29])
