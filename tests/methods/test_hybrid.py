"""HybridVectorizer against its twin, and what happens to words that only one of the two texts has."""

import sys

import numpy as np
import pytest
from estimators import GROUPS, TEXT, stem
from reference import hybrid_sentence
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import (
    BOWPCA,
    CBOSVectorizer,
    HybridVectorizer,
    MeanEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
)

X = [
    *("the cat purrs in the kitchen", "a dog barks", "rain and storms", "kaleidoscope of rain", "", "cat cat cat"),
    *("the train is late", "cheese soup and bread", "the ticket of the train", "dogs in the rain"),
]
PATTERN = r"(?u)\b\w+\b"


@pytest.fixture(scope="module")
def text():
    return SentenceCorpus.from_sentences(TEXT, GROUPS)


@pytest.fixture(scope="module")
def embedding(text):
    return SiameseCBOWVectorizer(8, random_state=0).fit(text)


@pytest.fixture(scope="module")
def model(text):
    return HybridVectorizer(8, half_count=20, corpus=text, random_state=0).fit(X)


def row_of(model, sentence):
    """Row of a sentence: a dict of the word columns that are not zero, and the learned columns."""
    row, names = model.transform([sentence]).toarray()[0], list(model.vocabulary_)
    own = {names[i]: row[i] for i in np.flatnonzero(row[: len(names)])}
    return own, row[len(names) :]


# -- what it computes ------------------------------------------------------------------------------------------------


def test_rows_are_those_of_the_twin(model, text, embedding):
    counter = CountVectorizer(token_pattern=PATTERN, binary=True).fit([*X, *TEXT])
    both = [TfidfTransformer().fit(counter.transform(sentences)).idf_ for sentences in (X, TEXT)]
    idfs = [{word: idf[column] for word, column in counter.vocabulary_.items()} for idf in both]
    counts = dict(zip(text.vocabulary.words, text.vocabulary.counts.tolist()))
    vectors = {word: embedding.word_vectors_[row].astype(float) for word, row in embedding.vocabulary_.items()}
    for sentence in [*X, *TEXT[:20], "the cat zzz", "purrs kaleidoscope"]:
        words = [word for word in CountVectorizer(token_pattern=PATTERN).build_analyzer()(sentence) if word in idfs[0]]
        own, learned = row_of(model, sentence)
        if not words:
            assert not own and not learned.any()
            continue
        expected_own, expected_learned = hybrid_sentence(words, idfs, counts, vectors, half_count=20)
        assert own == pytest.approx(expected_own, rel=1e-5)
        np.testing.assert_allclose(learned, expected_learned, rtol=1e-4, atol=1e-6)


def test_without_own_text_and_weights_it_is_tf_idf(text):
    model = HybridVectorizer(half_count=1e15, sif_power=0.0, embedding=CBOSVectorizer(4, max_iter=1)).fit(text)
    tfidf = TfidfTransformer().fit_transform(BOWPCA(None).fit(text).transform(text).astype(bool).astype(float))
    rows = model.transform(text)[:, : len(model.vocabulary_)]
    np.testing.assert_allclose(rows.toarray(), tfidf.toarray(), atol=1e-5)


def test_rows_have_length_one(model):
    lengths = sparse.linalg.norm(model.transform([*X, *TEXT]), axis=1)
    assert set(lengths.round(5)) == {0.0, 1.0}


def test_half_count_is_where_half_of_the_squared_length_is_learned(text):
    counts = text.vocabulary.counts
    model = HybridVectorizer(8, half_count=float(counts[3]), corpus=text, random_state=0).fit(X)
    squared = (model.learned_vectors_[:4] ** 2).sum(axis=1)
    assert squared[3] == pytest.approx(0.5, rel=1e-5)
    assert squared[0] >= squared[1] >= squared[2] >= squared[3]
    assert model.word_counts_[: len(counts)].tolist() == counts.tolist()


# -- words that only one of the texts has -----------------------------------------------------------------------------


def test_a_word_of_either_text_is_no_row_of_zeros(model, text):
    only_at_hand = set(model.vocabulary_) - set(text.vocabulary.words)
    only_own = set(text.vocabulary.words) - {word for sentence in X for word in sentence.split()}
    assert "kaleidoscope" in only_at_hand and "underscore" not in only_own and len(only_own) > 20
    words = sorted(only_at_hand | only_own)
    rows = model.transform(words)
    assert (np.diff(rows.indptr) > 0).all()
    assert np.isfinite(rows.data).all()
    own, learned = row_of(model, "kaleidoscope")
    assert own == {"kaleidoscope": pytest.approx(1.0)} and not learned.any()
    assert not model.transform(["zzz qqq"]).nnz


def test_unseen_words_have_the_highest_idf(text):
    model = HybridVectorizer(8, corpus=text, sif_power=0.0).fit(X)
    highest = [np.log(1 + n) + 1 for n in (len(X), len(TEXT))]
    unseen = [index for word, index in model.vocabulary_.items() if word not in " ".join(X).split()]
    frequencies = text.sentence_frequencies()[text.vocabulary.ids_of([list(model.vocabulary_)[i] for i in unseen])]
    own = np.log((1 + len(TEXT)) / (1 + frequencies)) + 1
    np.testing.assert_allclose(model.word_weights_[unseen], np.sqrt(highest[0] * own), rtol=1e-5)
    (only_at_hand,) = model.word_weights_[[model.vocabulary_["kaleidoscope"]]]
    assert only_at_hand == pytest.approx(np.sqrt((np.log((1 + len(X)) / 2) + 1) * highest[1]))


def test_too_little_text_for_the_embedding_is_tf_idf():
    model = HybridVectorizer(8).fit(["a cat", "the cat", ""])
    assert model.learned_vectors_.shape == (0, 8)
    rows = model.transform(["a cat", ""])
    assert rows.shape == (2, 3 + 8) and np.diff(rows.indptr).tolist() == [2, 0]
    assert np.isfinite(rows.data).all()


def test_vectors_of_zeros_leave_a_word_its_column():
    given = MeanEmbeddingVectorizer(word_vectors={"cat": [0.0, 0.0], "dog": [1.0, 2.0]})
    model = HybridVectorizer(embedding=given, half_count=1).fit(["cat dog", "cat"])
    assert row_of(model, "cat") == ({"cat": pytest.approx(1.0)}, pytest.approx([0.0, 0.0]))
    assert row_of(model, "dog")[1].any()


# -- who learns ------------------------------------------------------------------------------------------------------


def test_a_fitted_embedding_is_used_as_it_is(model, text, embedding):
    before = embedding.word_vectors_.copy()
    for given in (embedding, FrozenEstimator(embedding)):
        other = HybridVectorizer(embedding=given, half_count=20, corpus=text).fit(X)
        np.testing.assert_array_equal(other.transform(X).toarray(), model.transform(X).toarray())
    assert (embedding.word_vectors_ == before).all()


def test_the_text_of_an_embedding_is_asked_for(text, embedding):
    for given in (embedding, FrozenEstimator(embedding), SiameseCBOWVectorizer(8, corpus=text)):
        with pytest.raises(ValueError, match="embedding has a text of its own.* Pass that text as corpus"):
            HybridVectorizer(embedding=given).fit(X)


def test_only_the_words_of_an_embedding_with_ngrams_count(text):
    bigrams = Sent2VecVectorizer(8, ngram_range=(1, 2), n_buckets=50, min_count=2, max_iter=1, random_state=0).fit(text)
    model = HybridVectorizer(embedding=bigrams, corpus=text).fit(X)
    assert model.learned_vectors_.shape == (len(bigrams.vocabulary_), 8)


def test_stems(text):
    stems = SentenceCorpus.from_sentences(TEXT, GROUPS, stemmer=stem)
    model = HybridVectorizer(8, corpus=stems, random_state=0).fit(X)
    assert model.similarity("dog", "dogs") == pytest.approx(1.0)
    encoded = SentenceCorpus.from_sentences(X, stemmer=stem)
    other = HybridVectorizer(8, corpus=stems, random_state=0).fit(encoded)
    np.testing.assert_array_equal(model.transform(X).toarray(), other.transform(encoded).toarray())
    with pytest.raises(ValueError, match=r"^X was made with stemmer=None, but corpus with stemmer="):
        HybridVectorizer(8, corpus=stems).fit(text)
    with pytest.raises(ValueError, match="stemmer"):
        HybridVectorizer(embedding=SiameseCBOWVectorizer(8, min_count=1).fit(stems), corpus=text).fit(X)


def test_a_language_without_the_library_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ImportError, match=r"pip install skembed\[stem\]"):
        HybridVectorizer(8, stemmer="english").fit(X)


@pytest.mark.parametrize("value", [CountVectorizer(), BOWPCA(), "sif", FrozenEstimator(BOWPCA()), CBOSVectorizer])
def test_an_embedding_that_sums_no_word_vectors_is_refused(value):
    with pytest.raises(ValueError, match="must be an estimator of this package that sums word vectors"):
        HybridVectorizer(embedding=value).fit(X)


@pytest.mark.parametrize("sentences", [[], [""], ["", "?!"]])
def test_nothing_to_learn_from(sentences):
    with pytest.raises(ValueError, match="no sentence|no words"):
        HybridVectorizer(8).fit(sentences)


def test_no_sentences_at_hand(text):
    with pytest.raises(ValueError, match="no sentence"):
        HybridVectorizer(8, corpus=text).fit([])


def test_labels_without_order_are_warned_of():
    with pytest.warns(UserWarning, match="SiameseCBOWVectorizer, which HybridVectorizer uses, learns from"):
        HybridVectorizer(8).fit(TEXT, np.arange(len(TEXT)) % 2)


# -- questions -------------------------------------------------------------------------------------------------------


def test_similar_words_are_those_of_the_rows(model):
    rows = model.transform(list(model.vocabulary_)).toarray()
    cat = model.vocabulary_["cat"]
    cosines = rows @ rows[cat]
    found = dict(model.most_similar("cat", len(rows)))
    assert set(found) == set(model.vocabulary_) - {"cat"}
    for word, cosine in found.items():
        assert cosine == pytest.approx(cosines[model.vocabulary_[word]], abs=1e-5)
        assert cosine == pytest.approx(model.similarity("cat", word), abs=1e-5)
    (by_row,) = model.most_similar(model.transform(["cat purrs"]).toarray())
    assert {word for word, _ in by_row[:2]} == {"cat", "purrs"}
    by_text = model.most_similar("cat purrs", 3)
    assert not {"cat", "purrs"} & {word for word, _ in by_text}
    assert model.most_similar(np.zeros(model.n_features_out_)) == []
    assert model.most_similar(positive=["cat", "rain"], negative=["rain"], n_words=1)


def test_explanation_adds_up_to_the_similarity(model):
    found = model.explain("the cat and the kaleidoscope zzz", "a cat in the rain")
    assert found.words_a == ["the", "cat", "and", "kaleidoscope"] and found.words_b == ["a", "cat", "in", "the", "rain"]
    assert found.contributions.shape == (4, 5)
    assert found.contributions.sum() == pytest.approx(found.similarity)
    expected = model.similarity("the cat and the kaleidoscope zzz", "a cat in the rain")
    assert found.similarity == pytest.approx(expected, abs=1e-5)
    assert found.contributions[1, 1] == found.contributions.max()
    nothing = model.explain("zzz", "")
    assert nothing.similarity == 0 and nothing.contributions.shape == (0, 0)


def test_names_of_the_columns(model):
    names = model.get_feature_names_out()
    assert names.tolist() == [*model.vocabulary_, *(f"hybridvectorizer{i}" for i in range(8))]
    assert model.transform(X).shape == (len(X), len(names))


# -- with scikit-learn -----------------------------------------------------------------------------------------------


def test_pipelines_and_a_grid(text):
    labels = [group[-1] in "0246" for group in GROUPS]
    pipeline = make_pipeline(HybridVectorizer(8, corpus=text, random_state=0), LinearSVC())
    grid = GridSearchCV(pipeline, {"hybridvectorizer__half_count": [20, 2000]}, cv=3).fit(TEXT, labels)
    assert grid.best_score_ > 0.6
    rows = HybridVectorizer(8, corpus=text, random_state=0).fit_transform(TEXT)
    neighbours = NearestNeighbors(n_neighbors=1).fit(rows[60:])
    by_cosine = NearestNeighbors(n_neighbors=1, metric="cosine").fit(rows[60:])
    known = [i for i in range(30) if rows[[i]].nnz]
    for search in (neighbours, by_cosine):
        nearest = search.kneighbors(rows[known], return_distance=False)[:, 0]
        cosines = (rows[known] @ rows[60:].T).toarray()
        np.testing.assert_allclose(cosines[np.arange(len(known)), nearest], cosines.max(axis=1), atol=1e-5)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_no_bit(n_jobs):
    texts = TEXT * 200
    one, more = (HybridVectorizer(8, random_state=0, n_jobs=n).fit(TEXT, groups=GROUPS) for n in (None, n_jobs))
    rows, others = one.transform(texts), more.transform(texts)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(others, name))
