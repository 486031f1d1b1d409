"""The two tasks without labels, on documents kept aside: what is drawn, what is counted, and which text is learned."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.pipeline import make_pipeline

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus, TextVectorizer
from skembed._text.words import halves_of
from skembed.evaluation import document_scores
from skembed.evaluation._baselines import FittedOnCompared, tfidf_of_compared
from skembed.evaluation._documents import check_learns_from_fit, draw, learn

RNG = np.random.default_rng(0)
SIZES = [1, 5, 2, 9, 3, 1, 6, 4]
GROUPS = np.repeat(np.arange(len(SIZES)), SIZES).tolist()
TEXT = [f"w{g} {' '.join(RNG.choice(list('abcdefgh'), 3))} s{i}" for i, g in enumerate(GROUPS)]
LINES = [line for i, s in enumerate(TEXT) for line in ([" ", s] if i and GROUPS[i] != GROUPS[i - 1] else [s])]
OPTIONS = {"n_candidates": 6, "random_state": 3}


class Recorder(TransformerMixin, BaseEstimator):
    """Remembers what it was fitted with; rows tell documents apart."""

    seen: dict = {}

    def fit(self, X, y=None, **more):
        self.seen.update(text=list(X), more=more)
        self.fitted_ = True
        return self

    def transform(self, X):
        self.seen["tested"] = list(X)
        return np.ones((len(X), 2))


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", {})
    return Recorder.seen


def test_draws_are_of_the_kinds_that_they_should_be():
    documents = np.array(GROUPS)
    found = np.concatenate([draw(documents, 100, 6, seed) for seed in range(300)])
    first, following, same, others = found[:, 0], found[:, 1], found[:, 2], found[:, 3:]
    assert (following == first + 1).all() and (documents[following] == documents[first]).all()
    assert (same != first).all() and (documents[same] == documents[first]).all()
    assert (documents[others] != documents[first][:, None]).all()
    assert all(len(set(row)) == 5 for row in others.tolist())
    n = len(GROUPS)
    has_next = np.append(documents[1:] == documents[:-1], False)
    assert set(first.tolist()) == set(np.flatnonzero(has_next).tolist())
    for row in set(first.tolist()):  # each sentence that may be drawn is drawn
        rest = set(range(n)) - {row}
        assert set(same[first == row].tolist()) == {r for r in rest if GROUPS[r] == GROUPS[row]}
        assert set(others[first == row].ravel().tolist()) == {r for r in rest if GROUPS[r] != GROUPS[row]}


def test_few_questions_are_a_choice_of_distinct_sentences():
    found = draw(np.array(GROUPS), 4, 2, 0)
    assert found.shape == (4, 4) and len(set(found[:, 0].tolist())) == 4


@pytest.mark.parametrize("dense", [False, True])
def test_scores_are_those_of_a_plain_loop(dense):
    bag = CountVectorizer(vocabulary=list("abcd") + ["w3", "w6"], token_pattern=r"\w+")
    model = SimpleNamespace(transform=lambda X: bag.transform(X).toarray()) if dense else bag
    scores = document_scores(model, TEXT, groups=GROUPS, **OPTIONS)
    questions = draw(np.array(GROUPS), 2000, OPTIONS["n_candidates"], OPTIONS["random_state"])
    rows = bag.transform(TEXT)
    hits, positive, negative = [], [], []
    for first, following, same, *others in questions.tolist():
        cosine = np.round(cosine_similarity(rows[[first]], rows)[0], 9)
        candidates = cosine[[following, *others]]
        hits.append((cosine[following] == candidates.max()) / (candidates == candidates.max()).sum())
        positive.append(cosine[same])
        negative += cosine[others].tolist()
    assert 0 < scores.next_sentence < 1
    assert scores.next_sentence == pytest.approx(np.mean(hits))
    assert scores.same_document == pytest.approx(
        roc_auc_score([1] * len(positive) + [0] * len(negative), positive + negative)
    )
    assert scores.n_questions == len(questions) == sum(SIZES) - len(SIZES)
    compared = np.unique(questions)
    assert scores.n_unknown == (np.asarray(rows[compared].sum(axis=1)).ravel() == 0).sum() > 0


def test_equal_rows_have_the_scores_of_chance(seen):
    scores = document_scores(Recorder().fit(TEXT), TEXT, groups=GROUPS, **OPTIONS)
    assert scores.next_sentence == pytest.approx(1 / 6) and scores.same_document == 0.5


def test_documents_are_told_by_groups_by_blank_lines_or_by_a_corpus():
    model = CountVectorizer(token_pattern=r"\w+").fit(TEXT)
    by_groups = document_scores(model, TEXT, groups=GROUPS, **OPTIONS)
    for X in (LINES, ["", *LINES, "\n"], iter(LINES), SentenceCorpus.from_sentences(TEXT, GROUPS)):
        assert document_scores(model, X, **OPTIONS) == by_groups
    assert document_scores(model, TEXT, groups=[f"d{g}" for g in GROUPS], **OPTIONS) == by_groups
    other = document_scores(model, TEXT, groups=GROUPS, n_candidates=6, random_state=4)
    assert other != by_groups


def test_groups_that_come_back_begin_a_new_document(seen):
    scores = document_scores(Recorder().fit(TEXT), list("abcdef"), groups=[0, 0, 1, 1, 0, 0], n_candidates=2)
    assert scores.n_questions == 3


@pytest.mark.parametrize("wrap", [lambda m: m, make_pipeline, lambda m: make_pipeline(make_pipeline(m), "passthrough")])
def test_estimators_of_the_package_learn_the_documents(wrap, monkeypatch):
    found = []
    fit = CBOSVectorizer.fit
    monkeypatch.setattr(
        CBOSVectorizer,
        "fit",
        lambda self, X, y=None, *, groups=None: found.append(groups) or fit(self, X, groups=groups),
    )
    model = wrap(CBOSVectorizer(4, min_count=1, max_iter=1, random_state=0))
    learned = learn(model, TEXT, np.array(GROUPS))
    [groups] = found
    assert groups.tolist() == GROUPS
    corpus = SentenceCorpus.from_sentences(TEXT, GROUPS)
    assert np.array_equal(learn(model, corpus, np.array(GROUPS)).transform(TEXT), learned.transform(TEXT))
    assert not hasattr(model, "vocabulary_")


def test_estimators_of_the_package_that_need_no_order_learn_the_text():
    text, steps = (wrap(TextVectorizer(random_state=0)) for wrap in (lambda model: model, make_pipeline))
    rows = [learn(model, TEXT, np.array(GROUPS)).transform(TEXT) for model in (text, steps)]
    assert (rows[0] != rows[1]).nnz == 0


def test_other_estimators_learn_a_corpus_as_text(seen):
    corpus = SentenceCorpus.from_sentences(TEXT, GROUPS)
    learn(Recorder(), corpus, corpus.doc_of())
    assert len(seen["text"]) == len(TEXT) and all(isinstance(text, str) for text in seen["text"])


def test_models_of_other_text_are_used_as_they_are():
    class Fixed:
        def transform(self, X):
            return [[1.0, len(s) % 3] for s in X]

    model, fixed = CountVectorizer(token_pattern=r"\w+").fit(TEXT), Fixed()
    frozen = FrozenEstimator(model)
    assert learn(fixed, TEXT[:3], None) is fixed and learn(frozen, TEXT[:3], None) is frozen
    assert learn(model, TEXT[:3], None) is not model
    assert len(learn(model, TEXT[:3], None).vocabulary_) < len(model.vocabulary_)


def test_tfidf_row_is_that_of_scikit_learn_on_stems():
    stemmer = pytest.importorskip("snowballstemmer").stemmer("english")
    split = CountVectorizer(token_pattern=r"(?u)\b\w+\b").build_analyzer()
    sentences = ["Cats sat, cats slept.", "The cat sleeps", "", "A dog's dogs"]
    mine = tfidf_of_compared("english").fit(["other text"]).transform(sentences)
    theirs = TfidfVectorizer(binary=True, analyzer=lambda text: stemmer.stemWords(split(text))).fit_transform(sentences)
    assert np.allclose((mine @ mine.T).toarray(), (theirs @ theirs.T).toarray())
    assert np.allclose(np.sort(mine.toarray()), np.sort(theirs.toarray()))
    plain = tfidf_of_compared().transform(sentences)
    assert np.allclose(
        np.sort(plain.toarray()),
        np.sort(TfidfVectorizer(binary=True, analyzer=split).fit_transform(sentences).toarray()),
    )


def test_estimator_fitted_on_the_compared_sentences_leaves_its_estimator_alone():
    model = FittedOnCompared(CountVectorizer())
    assert model.transform(["a bird", "the bird"]).shape == (2, 2)
    assert not hasattr(model.estimator, "vocabulary_")


@pytest.mark.parametrize(
    "X, groups, options, message",
    [
        (TEXT, None, {}, "two documents or more, got 1. Pass groups"),
        ([], None, {}, "two documents or more, got 0"),
        (TEXT, GROUPS[1:], {}, "X and groups must have the same length, got 31 and 30"),
        (["a", "b", "c"], range(3), {}, "No sentence has a next one in its document. Give sentences"),
        (
            TEXT,
            GROUPS,
            {"n_candidates": 30},
            "31 sentences, 9 of them in the largest document. That leaves 22 of other",
        ),
        (TEXT, [*"ab" * 15, "a"], {}, "groups changes at every sentence, and repeats values. Sort X"),
        (TEXT, GROUPS, {"n_candidates": 1}, "n_candidates == 1, must be >= 2"),
        (TEXT, GROUPS, {"n_questions": 0}, "n_questions == 0, must be >= 1"),
        (TEXT, [None, *GROUPS[1:]], {}, "groups has no label in row 0"),
    ],
)
def test_what_cannot_be_tested_is_named(X, groups, options, message):
    model = CountVectorizer().fit(TEXT)
    options = OPTIONS | options
    with pytest.raises(ValueError, match=message):
        document_scores(model, X, groups=groups, **options)


def test_a_corpus_knows_its_documents_itself():
    corpus = SentenceCorpus.from_sentences(TEXT, GROUPS)
    model = CountVectorizer().fit(TEXT)
    with pytest.raises(ValueError, match="groups must be None when X is a SentenceCorpus"):
        document_scores(model, corpus, groups=GROUPS, **OPTIONS)


def test_models_must_learn_from_the_text():
    corpus = SentenceCorpus.from_sentences(TEXT, GROUPS)
    joined = MeanEmbeddingVectorizer(word_vectors=CBOSVectorizer(corpus=corpus))
    for model in (CBOSVectorizer(corpus=corpus), make_pipeline(joined)):
        with pytest.raises(ValueError, match="The model 'mine' has .*corpus=.*may hold documents that are kept aside"):
            check_learns_from_fit(model, "mine")


# -- documents of one sentence -----------------------------------------------------------------------------------------

TICKETS = ["the printer is on fire", "word", "login fails again", "", "where is my parcel now", "refund, please help"]


def test_texts_that_are_documents_each_are_cut_in_two(seen):
    scores = document_scores(Recorder(), TICKETS, groups=range(6), n_candidates=4)
    assert seen["tested"] == [
        *("the printer", "is on fire"), *("login", "fails again"), *("where is", "my parcel now"),
        *("refund,", "please help"),
    ]  # fmt: skip
    assert scores.n_questions == 4


def test_a_corpus_of_such_texts_is_cut_in_two(seen):
    corpus = SentenceCorpus.from_sentences(TICKETS, groups=range(6))
    document_scores(Recorder(), corpus, n_candidates=4)
    words = [text.split() for text in seen["tested"]]
    assert [len(half) for half in words] == [2, 3, 1, 2, 2, 3, 1, 2]
    assert [word for half in words for word in half] == [word for i in (0, 2, 4, 5) for word in corpus[i]]


def test_where_a_text_is_cut():
    text = {
        "": ("", ""),
        "ab ": ("", "ab"),
        "a\tb\nc  d": ("a b", "c d"),
        "a bbbbbbb c": ("a", "bbbbbbb c"),
        "\u6211\u4eec\u4eca\u5929": ("\u6211\u4eec", "\u4eca\u5929"),
    }
    assert {sentence: halves_of(sentence) for sentence in text} == text
    assert halves_of(["a", "b", "c"]) == (["a"], ["b", "c"])
