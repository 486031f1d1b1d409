"""What a linear model behind TextVectorizer has learned: exact sums of its decisions, and its top terms."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC

from skembed import CBOSVectorizer, TextVectorizer
from skembed._text.words import words_of

S = ["The cat drinks milk.", "The bank lends money.", "A dog eats meat.", "The river is wide."] * 10
TWO, THREE = np.array(["animal", "thing"] * 20), np.array([0, 1, 2, 1] * 10)
TEXTS = ["A cat and a dog: cat!", "The bank of the river, zebra", "money", "", "zebra", "!!"]
BLOCKS = {
    "default": {},
    "dense output": {"n_components": 3},
    "added": {
        "blocks": {
            "mine": TfidfVectorizer(),
            "summed": CBOSVectorizer(5, min_count=1, max_iter=1, random_state=0),
            "number": FunctionTransformer(lambda texts: np.array([[len(text), 3.0] for text in texts])),
        }
    },
    "replaced": {"blocks": {"words_lsa": TfidfVectorizer(), "words": "drop", "halves": "drop"}},
}


def fitted(y=TWO, classifier=None, **params):
    emb = TextVectorizer(**{"random_state": 0, **params})
    rows = emb.fit_transform(S, y)
    return emb, (LinearSVC(random_state=0) if classifier is None else classifier).fit(rows, y)


# -- explain ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("params", BLOCKS.values(), ids=BLOCKS)
def test_contributions_sum_to_the_decision(params, y):
    emb, classifier = fitted(y, **params)
    decisions = classifier.decision_function(emb.transform(TEXTS)).reshape(len(TEXTS), -1)
    for text, decision in zip(TEXTS, decisions):
        found = emb.explain(text, classifier)
        np.testing.assert_allclose(found.contributions.sum(axis=0) + found.intercept, decision, atol=2e-6)
        np.testing.assert_allclose(found.decision, decision, atol=2e-6)
        assert found.contributions.shape == (len(found.terms), decisions.shape[1])
        assert len(found.blocks) == len(found.terms) == len(set(zip(found.blocks, found.terms)))
        assert list(found.classes) == (["thing"] if decisions.shape[1] == 1 else [0, 1, 2])


def test_each_block_sums_to_its_part_of_the_decision():
    emb, classifier = fitted(THREE)
    found, row = emb.explain(TEXTS[0], classifier), emb.transform(TEXTS[:1]).toarray()[0]
    of_column = np.array([name.split("__")[0] for name in emb.get_feature_names_out()])
    for name in emb.blocks_:
        expected = classifier.coef_[:, of_column == name] @ row[of_column == name]
        terms = np.array(found.blocks) == name
        np.testing.assert_allclose(found.contributions[terms].sum(axis=0), expected, atol=2e-6)
    assert {term for term, block in zip(found.terms, found.blocks) if block == "words_lsa"} == {"a", "cat", "dog"}
    assert {"cat", "and"} <= {term for term, block in zip(found.terms, found.blocks) if block == "halves"}
    largest = np.abs(found.contributions).max(axis=1)
    assert (largest[:-1] >= largest[1:]).all()


def test_a_word_speaks_for_its_class():
    emb, classifier = fitted()
    found = emb.explain("the cat", classifier)
    for block in ("words", "words_lsa", "halves"):
        (row,) = (i for i, pair in enumerate(zip(found.blocks, found.terms)) if pair == (block, "cat"))
        assert found.contributions[row, 0] < 0  # the one output is for "thing"


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier(), SGDClassifier(random_state=0)])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_linear_classifiers(model, y):
    emb, model = fitted(y, model)
    found = emb.explain(TEXTS[0], model)
    expected = model.decision_function(emb.transform(TEXTS[:1])).ravel()
    np.testing.assert_allclose(found.decision, expected, atol=2e-6 * np.abs(model.coef_).max())


@pytest.mark.parametrize("y", [THREE, np.c_[THREE, -THREE]], ids=["one", "two"])
def test_a_regression_has_no_classes(y):
    emb, model = fitted(y, Ridge())
    found = emb.explain(TEXTS[0], model)
    np.testing.assert_allclose(found.decision, model.predict(emb.transform(TEXTS[:1])).ravel(), atol=2e-6)
    assert found.classes is None
    top = emb.top_terms(model, 3)
    assert len(top if y.ndim == 1 else top[1]) == 3


def test_no_intercept():
    emb, model = fitted(THREE, LinearSVC(fit_intercept=False))
    assert (emb.explain("cat", model).intercept == 0).all()


# -- top_terms -------------------------------------------------------------------------------------------------------


def test_top_terms_of_classes():
    for y, expected in ((TWO, {"animal": {"cat", "dog"}, "thing": {"bank", "river"}}), (THREE, {2: {"dog"}})):
        top = fitted(y)[0].top_terms(fitted(y)[1], 8)
        assert list(top) == np.unique(y).tolist()
        for label, words in expected.items():
            assert words <= {word for word, _ in top[label]}
            assert [score for _, score in top[label]] == sorted((score for _, score in top[label]), reverse=True)


def test_a_score_is_the_decision_for_the_word():
    emb, classifier = fitted(THREE)
    top = emb.top_terms(classifier, 100)
    for label, column in enumerate(classifier.decision_function(emb.transform(["cat"]))[0] - classifier.intercept_):
        assert dict(top[label])["cat"] == pytest.approx(column, abs=1e-5)
    binary, classifier = fitted()
    top = binary.top_terms(classifier, 100)
    assert dict(top["animal"])["cat"] == -dict(top["thing"])["cat"] > 0


def test_top_terms_of_rows():
    emb = TextVectorizer(random_state=0)
    rows = emb.fit_transform(S)
    first, second = emb.top_terms(rows[:2], 3)
    assert first[0][0] in ("cat", "drinks", "milk") and second[0][0] in ("bank", "lends", "money")
    for form in (rows[:2].toarray(), csr_array(rows[:2]), rows[:2].toarray().tolist()):
        assert emb.top_terms(form, 3) == [first, second]
    assert emb.top_terms(rows[0].toarray().ravel(), 3) == first
    assert len(emb.top_terms(rows.mean(axis=0), 3)) == 1  # a matrix
    dense = TextVectorizer(n_components=3, random_state=0)
    kmeans = KMeans(2, n_init=1, random_state=0).fit(dense.fit_transform(S))
    assert len(dense.top_terms(kmeans.cluster_centers_)) == 2


def test_words_to_choose_from():
    emb, classifier = fitted(corpus=["the elephant cat"])
    assert "elephant" not in dict(emb.top_terms(classifier, 100)["animal"])  # one text has it
    phrases = ["a cat and a dog", "the river bank", "the river bank", "elephant"]
    top = emb.top_terms(classifier, terms=iter(phrases))
    assert top["animal"][0][0] == "a cat and a dog" and len(top["thing"]) == 3
    for terms in ("cat", [1, 2]):
        with pytest.raises(TypeError, match="terms must be a list of strings"):
            emb.top_terms(classifier, terms=terms)
    none = TextVectorizer(blocks={"words": "drop", "words_lsa": "drop"}, random_state=0)
    with pytest.raises(ValueError, match="no words to choose from. Pass terms"):
        none.top_terms(none.fit_transform(S)[:1])
    single = TextVectorizer(random_state=0)
    assert len(single.top_terms(single.fit_transform(["cat milk", "dog meat"])[:1])[0]) == 4


# -- what can go wrong -----------------------------------------------------------------------------------------------


def test_errors_say_what_to_do():
    emb, classifier = fitted(THREE)
    rows = emb.transform(S)
    for model, error, message in [
        (make_pipeline(emb, classifier), TypeError, "Pass its last step"),
        (KNeighborsClassifier(3).fit(rows, THREE), TypeError, "KNeighborsClassifier has no coef_"),
        (LinearSVC().fit(rows[:, :4], THREE), ValueError, "weights for 4 columns, but the rows have"),
        (SVC(kernel="linear").fit(rows[:], np.arange(40) % 4), ValueError, "6 rows of weights for 4 classes"),
        (LinearSVC(), NotFittedError, "LinearSVC"),
    ]:
        for call in (lambda of: emb.explain("cat", of), emb.top_terms):
            with pytest.raises(error, match=message):
                call(model)
    with pytest.raises(TypeError, match="text must be one text"):
        emb.explain(["cat"], classifier)
    with pytest.raises(TypeError, match="must be a fitted linear model"):
        emb.explain("cat", "dog")
    with pytest.raises(TypeError, match="of must be a fitted linear model, or rows"):
        emb.top_terms("animal")
    for wrong in (np.ones(3), np.full(emb.n_features_out_, np.nan)):
        with pytest.raises(ValueError, match=f"rows of {emb.n_features_out_} finite numbers"):
            emb.top_terms(wrong)
    for n_terms in (0, 1.5, True):
        with pytest.raises(ValueError, match="n_terms must be a positive integer"):
            emb.top_terms(classifier, n_terms)
    with pytest.raises(NotFittedError):
        TextVectorizer().explain("cat", classifier)
    with pytest.raises(NotFittedError):
        TextVectorizer().top_terms(classifier)


THAI = ["วันนี้อากาศดีมาก", "พรุ่งนี้ฝนจะตกหนัก", "ราคาหุ้นขึ้นสูง", "ธนาคารขึ้นดอกเบี้ย"] * 10


def test_letters_of_thai_keep_their_signs_and_their_neighbours_in_all_blocks():
    emb = TextVectorizer(random_state=0)
    classifier = LinearSVC(random_state=0).fit(emb.fit_transform(THAI, TWO), TWO)
    found = emb.explain(THAI[0], classifier)
    terms = {term for term, block in zip(found.terms, found.blocks) if block == "halves"}
    assert {"ดี", "นี้", "วั", "ศดี"} <= terms <= set(words_of(THAI[0]))
    learned = set(emb._built_in.blocks["halves"].vocabulary_)
    assert learned <= {word for text in THAI for word in words_of(text)}, "a pair is of letters that are neighbours"


def test_chinese_is_learned_by_characters_alone():
    emb = TextVectorizer(random_state=0).fit(["我们今天去北京", "他喜欢喝绿茶", "银行的利息很高", "股票今天下跌"] * 10)
    assert set(map(len, emb._built_in.blocks["halves"].vocabulary_)) == {1}
