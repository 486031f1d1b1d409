"""The table of methods on own text: what is learned from what, what is scored, and what the intervals hold."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import CBOSVectorizer, SentenceCorpus, TextVectorizer
from skembed._meta_estimators import text_blocks
from skembed.evaluation import compare
from skembed.evaluation._standard import OwnText, TfidfWithLSA, with_own_text

RNG = np.random.RandomState(0)
WORDS = {"animals": ["cat", "dog", "horse", "fur", "tail"], "money": ["shares", "stocks", "bank", "loan", "rate"]}
COMMON = ["the", "a", "of", "and", "old", "new", "very", "some", "good", "bad"]


def sentence(topic):
    return " ".join([*RNG.choice(COMMON, 3), RNG.choice(WORDS[topic]), *RNG.choice(COMMON, 2), RNG.choice(COMMON)])


y = np.array(["animals", "money"] * 20)
X = [f"{sentence(topic)} n{row}" for row, topic in enumerate(y)]
QUICK = {"cv": 2}


class Recorder(TransformerMixin, BaseEstimator):
    """Remembers the texts that it was fitted with, and those that it transformed after that."""

    seen: list = []

    def __init__(self, corpus=None):
        self.corpus = corpus

    def fit(self, X, y=None):
        self.seen.append(("fit", list(X), None if y is None else list(y)))
        self.fitted_ = True
        return self

    def transform(self, X):
        self.seen.append(("transform", list(X), None))
        return np.ones((len(X), 1))


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    return Recorder.seen


def characters():
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 5), sublinear_tf=True)


def row_of(result, method):
    return next(row for row in result.rows if row["method"] == method)


@pytest.fixture(scope="module")
def result():
    return compare(X, y, estimators={"counts": CountVectorizer()}, **QUICK)


def test_the_table_has_the_standard_methods_and_those_given_best_first(result):
    names = [row["method"] for row in result.rows]
    assert sorted(names) == ["CBOS", "TextVectorizer", "characters", "counts", "tf-idf", "tf-idf with LSA"]
    scores = [row["score"] for row in result.rows]
    assert scores == sorted(scores, reverse=True)
    simple = {name: row_of(result, name)["score"] for name in ("tf-idf", "characters")}
    assert simple[result.reference] == max(simple.values())
    assert row_of(result, result.reference)["lead"] is None
    for row in result.rows:
        if row["method"] != result.reference:
            assert row["lead"] == pytest.approx(row["score"] - simple[result.reference])
            assert row["low"] <= row["lead"] <= row["high"]
        assert row["fit_seconds"] > 0 and row["seconds_per_1000"] > 0 and row["megabytes"] > 0


def test_scores_are_those_of_cross_validation():
    result = compare(X, y, cv=KFold(4))
    for name, vectorizer in {"tf-idf": TfidfVectorizer(), "tf-idf with LSA": TfidfWithLSA(random_state=0)}.items():
        pipeline = make_pipeline(vectorizer, LinearSVC(random_state=0))
        predicted = cross_val_predict(pipeline, X, y, cv=KFold(4))
        assert row_of(result, name)["score"] == pytest.approx(accuracy_score(y, predicted), abs=0.03)
    assert result.about == "Accuracy in per cent, 4-fold cross-validation of 40 rows with LinearSVC."


def test_methods_that_answer_alike_have_an_interval_of_zero_width(result):
    twin = {"tf-idf": TfidfVectorizer(), "characters": characters()}[result.reference]
    row = row_of(compare(X, y, estimators={"twin": twin}, **QUICK), "twin")
    assert row["lead"] == row["low"] == row["high"] == 0


# -- own text and rows without a label ---------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, np.nan, -1])
def test_rows_without_a_label_are_own_text_and_never_tested(missing, seen):
    found = compare(X, [*y[:20], *[missing] * 20], estimators={"recorder": Recorder()}, **QUICK)
    assert {text for _, texts, _ in seen for text in texts} == set(X[:20])
    names = [row["method"] for row in found.rows]
    assert {"tf-idf", "tf-idf, all text", "tf-idf with LSA, all text", "characters", "CBOS"} < set(names)
    assert "of 20 rows" in found.about


def test_own_text_is_learned_from_by_those_that_are_named_so(monkeypatch):
    fitted = []
    fit = TfidfVectorizer.fit
    monkeypatch.setattr(TfidfVectorizer, "fit", lambda self, X, y=None: fitted.append(list(X)) or fit(self, X))
    monkeypatch.setattr(TfidfVectorizer, "fit_transform", lambda self, X, y=None: self.fit(X).transform(X))
    fit_words = text_blocks._fit_words
    monkeypatch.setattr(text_blocks, "_fit_words", lambda emb, X: fitted.append(list(X)) or fit_words(emb, X))
    own = ["own one", "own two"]
    compare(X, y, corpus=own, estimators={"CBOS": CountVectorizer()}, **QUICK)
    with_own = [texts for texts in fitted if texts[:2] == own]
    assert all(len(texts) == 22 for texts in with_own)
    # tf-idf and LSA on all text, and words of TextVectorizer; tf-idf and characters without
    assert (len(with_own), len(fitted)) == (2 * 3, 2 * 5)


def test_estimators_get_the_own_text_that_they_can_learn_from():
    texts = OwnText(["a b", "c d"], None)
    ordered = OwnText(["a b", "c d"], SentenceCorpus.from_sentences(["a b", "c d"]))
    pipeline = make_pipeline(TextVectorizer(), CountVectorizer())
    assert with_own_text(pipeline, texts).steps[0][1].corpus == texts.texts
    assert pipeline.steps[0][1].corpus is None
    assert with_own_text(CBOSVectorizer(), texts).corpus is None
    assert with_own_text(CBOSVectorizer(), ordered).corpus is ordered.corpus
    assert with_own_text(CBOSVectorizer(context="labels"), ordered).corpus is None
    assert with_own_text(TextVectorizer(corpus=["mine"]), ordered).corpus == ["mine"]
    assert with_own_text(Recorder(), ordered).corpus is ordered.corpus


def test_text_in_reading_order_gives_a_row_of_cbos_learned_from_order():
    text = [sentence(topic) for topic in np.repeat(["animals", "money"], 20)]
    corpus = SentenceCorpus.from_sentences(text, groups=np.repeat(np.arange(10), 4))
    result = compare(X, y, corpus=corpus, **QUICK)
    assert {"CBOS", "CBOS, all text"} < {row["method"] for row in result.rows}


# -- other targets and scores ------------------------------------------------------------------------------------------


def test_numbers_are_predicted_by_regression():
    numbers = np.where(y == "money", 10.5, 1.25) + RNG.standard_normal(40)
    result = compare(X, numbers, cv=KFold(4))
    assert result.measure == "R2" and "CBOS" not in {row["method"] for row in result.rows}
    predicted = cross_val_predict(make_pipeline(TfidfVectorizer(), Ridge()), X, numbers, cv=KFold(4))
    assert row_of(result, "tf-idf")["score"] == pytest.approx(r2_score(numbers, predicted))


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_several_labels_of_a_row_are_predicted_one_by_one(wrap):
    table = np.column_stack([y == "money", [" old" in text for text in X], np.zeros(40)]).astype(int)
    result = compare(X, wrap(table), cv=KFold(4))
    model = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LinearSVC(random_state=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the label that no row has
        predicted = cross_val_predict(model, X, table, cv=KFold(4))
    assert result.measure == "F1"
    expected = f1_score(table, predicted, average="samples", zero_division=1.0)
    assert row_of(result, "tf-idf")["score"] == pytest.approx(expected)


def test_a_score_of_the_user_is_that_of_the_folds_with_the_corrected_interval():
    result = compare(X, y, cv=KFold(4), scoring="f1_macro", estimators={"CBOS": CountVectorizer()})
    scores = {
        name: cross_val_score(
            make_pipeline(vectorizer, LinearSVC(random_state=0)), X, y, cv=KFold(4), scoring="f1_macro"
        )
        for name, vectorizer in {"tf-idf": TfidfVectorizer(), "characters": characters()}.items()
    }
    other = "tf-idf" if result.reference == "characters" else "characters"
    assert row_of(result, other)["score"] == pytest.approx(scores[other].mean())
    differences = scores[other] - scores[result.reference]
    row = row_of(result, other)
    single = stats.t.ppf(0.975, 3) * differences.std(ddof=1) * (1 / 4 + 1 / 3) ** 0.5
    assert single < (row["high"] - row["low"]) / 2 < 2.5 * single  # wider, as all intervals hold together
    assert " of f1_macro " in result.sentence


def test_a_classifier_takes_the_place_of_the_standard_one():
    assert "with LogisticRegression." in compare(X, y, classifier=LogisticRegression(), **QUICK).about


def test_a_whole_classifier_is_used_as_it_is():
    whole = make_pipeline(TfidfVectorizer(), RandomForestClassifier(random_state=0, n_estimators=5))
    result = compare(X, y, cv=KFold(4), estimators={"forest": whole})
    assert row_of(result, "forest")["score"] == pytest.approx(cross_val_score(whole, X, y, cv=KFold(4)).mean())


# -- folds -------------------------------------------------------------------------------------------------------------


def test_rows_of_a_group_are_in_one_fold(seen):
    groups = np.arange(40) // 4
    compare(X, y, groups=groups, estimators={"recorder": Recorder()})
    fits = [texts for kind, texts, _ in seen if kind == "fit"]
    assert len(fits) == 5
    for texts in fits:
        assert {groups[X.index(text)] for text in texts}.isdisjoint(
            groups[X.index(text)] for text in set(X) - set(texts)
        )


def test_repeated_texts_are_warned_of():
    repeated = [*X, X[0].upper() + " "]
    with pytest.warns(UserWarning, match="2 of 41 texts are both in a test fold and in its training folds"):
        compare(repeated, [*y, y[0]], cv=KFold(2))
    keys = [text.lower().strip() for text in repeated]
    compare(repeated, [*y, y[0]], groups=keys, **QUICK)


def test_few_rows_give_fewer_folds():
    with pytest.warns(UserWarning, match="There are 3 folds instead of 5, because the largest class has 3 rows"):
        result = compare(X[:6], y[:6])
    assert "3-fold cross-validation of 6 rows" in result.about
    with pytest.warns(UserWarning, match="There are 2 folds instead of 5, because groups has 2 groups"):
        compare(X, y, groups=np.arange(40) // 20)


def test_a_class_with_one_row_is_named():
    with pytest.warns(UserWarning, match="Classes with one row, which no model can predict: 'rare'"):
        compare(X, [*y[:-1], "rare"], **QUICK)


def test_results_repeat_for_any_number_of_processes():
    def scores(n_jobs):
        return [
            [row[name] for name in ("method", "score", "lead", "low", "high")]
            for row in compare(X, y, n_jobs=n_jobs, **QUICK).rows
        ]

    assert scores(None) == scores(2) == scores(1)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


class Failing(TfidfVectorizer):
    def fit(self, X, y=None):
        raise RuntimeError("no luck")

    fit_transform = fit


def test_an_estimator_of_the_user_that_fails_is_named():
    with pytest.raises(ValueError, match="mine of estimators failed: no luck"):
        compare(X, y, estimators={"mine": Failing()}, **QUICK)
    with pytest.raises(ValueError, match="mine of estimators failed: SVC must have fit, and transform or predict"):
        compare(X, y, estimators={"mine": type("SVC", (), {"fit": None})()}, **QUICK)


def test_a_standard_method_that_fails_is_left_out_with_a_warning(monkeypatch):
    monkeypatch.setattr(CBOSVectorizer, "fit", Failing.fit)
    with pytest.warns(UserWarning, match="CBOS is left out, because it failed: no luck"):
        result = compare(X, y, **QUICK)
    assert "CBOS" not in {row["method"] for row in result.rows}


def test_text_that_no_simple_method_can_use_is_refused():
    fault = pytest.raises(ValueError, match="No simple method could be fitted. tf-idf failed: empty vocabulary")
    with pytest.warns(UserWarning, match="8 of 8 texts"), fault:
        compare([" "] * 8, [0, 1] * 4, **QUICK)


def test_an_estimator_that_cannot_be_pickled_has_no_size():
    result = compare(X, y, estimators={"mine": CountVectorizer(analyzer=lambda text: text.split())}, **QUICK)
    assert row_of(result, "mine")["megabytes"] is None
    assert np.isnan(result.to_frame().set_index("method").loc["mine", "megabytes"])
    assert "None" not in str(result)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": y[1:]}, ValueError, "y has 39 values, but X has 40"),
        ({"y": [None] * 40}, ValueError, "y has no label. Pass y=None"),
        ({"y": ["a"] * 40}, ValueError, "y must have two labels or more, got only 'a'"),
        ({"y": np.arange(80).reshape(40, 2) % 3}, ValueError, "which is multiclass-multioutput"),
        ({"y": np.arange(80).reshape(40, 2) % 2 + 1}, ValueError, "y must have 0 and 1 in each column, got 1 and 2"),
        ({"y": np.random.RandomState(0).rand(40, 2)}, ValueError, "which is continuous-multioutput"),
        ({"y": range(40)}, ValueError, "Two folds need more: the largest class has 1 rows"),
        ({"X": [*X[:-1], None]}, TypeError, "Row 39 of X is missing"),
        ({"X": [*X[:-1], ["a"]]}, TypeError, "39"),
        ({"X": []}, ValueError, "X has no text"),
        ({"X": "text"}, ValueError, "X must be an iterable of sentences, got one str"),
        ({"groups": [0] * 40}, ValueError, "Two folds need more: groups has 1 groups with labels"),
        ({"groups": [0] * 39}, ValueError, "X and groups must have the same length"),
        ({"groups": y, "cv": 2}, ValueError, "The training rows of fold 0 have only the class"),
        ({"cv": 1}, ValueError, "cv == 1, must be >= 2"),
        ({"cv": [([0, 1, 2], [3])]}, ValueError, "cv must put each sentence into exactly one test fold"),
        ({"estimators": [CountVectorizer()]}, TypeError, "estimators must be a mapping of names"),
        ({"scoring": "luck"}, ValueError, "luck"),
        ({"y": None, "corpus": ["a"]}, ValueError, "corpus must be None where y is None: X is own text"),
        ({"y": None, "scoring": "accuracy"}, ValueError, "scoring must be None where y is None"),
        ({"y": None}, ValueError, "too few for n_candidates=20"),
        ({"y": None, "X": ["a b"]}, ValueError, "X must have two documents or more, got 1"),
        ({"y": None, "estimators": {"mine": TextVectorizer(corpus=["a"])}}, ValueError, "The model 'mine' has corpus"),
    ],
)
def test_input_that_cannot_be_compared_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        compare(**{"X": X, "y": y} | arguments)


# -- without labels ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents():
    topics = np.repeat([["animals", "money"][i % 2] for i in range(50)], 4)
    return [f"{sentence(topic)} d{row // 4}" for row, topic in enumerate(topics)], np.repeat(np.arange(50), 4)


def test_without_labels_the_next_sentence_is_found(documents):
    text, groups = documents
    result = compare(text, groups=groups, estimators={"counts": CountVectorizer()}, **QUICK)
    names = {row["method"] for row in result.rows}
    assert {"tf-idf", "tf-idf of the compared sentences", "characters", "TextVectorizer", "CBOS", "counts"} < names
    assert result.measure == "next sentence" and "150 questions, 2 folds of 50 documents" in result.about
    assert row_of(result, "tf-idf of the compared sentences")["score"] > 0.5  # the number of the document
    corpus = SentenceCorpus.from_sentences(text, groups=groups)
    again = compare(corpus, estimators={"counts": CountVectorizer()}, **QUICK)
    assert {row["method"]: row["score"] for row in again.rows} == pytest.approx(
        {row["method"]: row["score"] for row in result.rows}, abs=0.1
    )


def test_without_labels_documents_are_never_learned_from_and_tested(documents, seen):
    text, groups = documents
    compare(text, groups=groups, estimators={"recorder": Recorder()}, **QUICK)
    (_, first, _), (_, tested, _), (_, second, _), _ = seen
    assert {groups[text.index(s)] for s in first}.isdisjoint(groups[text.index(s)] for s in tested)
    assert len(first) == len(second) == 100 and not set(first) & set(second)


def test_texts_that_are_documents_each_are_cut_in_two(documents):
    result = compare(documents[0], **QUICK)
    assert result.measure == "second half" and "CBOS" not in {row["method"] for row in result.rows}
    assert "200 questions, 2 folds of 200 documents" in result.about


# -- what is shown -----------------------------------------------------------------------------------------------------


def test_the_table_is_printed_and_drawn_in_a_notebook(result):
    lines = str(result).splitlines()
    assert lines[0] == "Accuracy in per cent, 2-fold cross-validation of 40 rows with LinearSVC."
    assert [cell.strip() for cell in lines[2].split("|")[1:4]] == ["method", "accuracy", "lead"]
    assert [line.split("|")[1].strip() for line in lines[4:10]] == [row["method"] for row in result.rows]
    assert lines[-1] == result.sentence


def test_the_frame_has_numbers_in_all_columns_but_the_first(result):
    frame = result.to_frame()
    assert list(frame.columns) == list(result.rows[0]) and set(frame.dtypes[1:]) == {np.dtype(float)}
    assert frame["lead"].isna().sum() == 1


def test_the_plot_has_the_leads_with_their_intervals(result):
    ax = result.plot()
    assert [text.get_text().split("  ")[0] for text in ax.get_yticklabels()] == [row["method"] for row in result.rows]
    [drawn] = (line.get_xdata() for line in ax.lines if line.get_marker() == "o")
    assert drawn == pytest.approx([100 * (row["lead"] or 0) for row in result.rows])
    assert ax.get_xlabel() == f"points of accuracy: lead over {result.reference}"
    assert result.plot(ax=ax) is ax
