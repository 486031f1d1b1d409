"""A user's program, for type checkers: mypy (strict) and pyright agree with every `assert_type`, and it runs."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

import skembed
from skembed import (
    BOWPCA,
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    MetaEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
    Word2VecVectorizer,
)
from skembed.datasets import load_docstrings, load_paraphrase_groups, split_sentences
from skembed.evaluation import RelatednessRegressor, nested_classification, pair_features, sts_scores, sts_similarities
from skembed.metrics import paired_cosine_similarity, spearman_score

SENTENCES = ["The cat drinks milk.", "A cat sleeps.", "The bank lends money.", "A bank closes."] * 10
LABELS = [0, 0, 1, 1] * 10


def use_a_corpus() -> SentenceCorpus:
    corpus = SentenceCorpus.from_sentences(SENTENCES, groups=[i // 4 for i in range(40)])
    assert_type(corpus, SentenceCorpus)
    assert_type(corpus[0], list[str])
    assert_type(corpus[np.int64(-1)], list[str])
    assert_type(corpus[:8], SentenceCorpus)
    assert_type(corpus[[0, 1, 2]], SentenceCorpus)
    assert_type(corpus[np.flatnonzero(corpus.doc_of())], SentenceCorpus)
    assert_type([word for words in corpus for word in words], list[str])
    assert_type(corpus.tokens, NDArray[np.int32])
    assert_type(corpus.vocabulary.words, list[str])
    assert_type(corpus.vocabulary.counts, NDArray[np.int64])
    return corpus


def use_an_estimator(corpus: SentenceCorpus) -> CBOSVectorizer:
    # What `fit` returns is the estimator, with all that it has learned.
    emb = CBOSVectorizer(8, random_state=0).fit(SENTENCES, groups=corpus.doc_of())
    assert_type(emb, CBOSVectorizer)
    assert_type(emb.partial_fit(corpus), CBOSVectorizer)
    assert_type(emb.set_params(n_jobs=1).set_output(transform="default"), CBOSVectorizer)
    assert_type(emb.transform(["A cat."]), NDArray[np.float32])
    assert_type(emb.fit_transform(corpus), NDArray[np.float32])
    assert_type(emb.vocabulary_, dict[str, int])
    assert_type(emb.word_vectors_, NDArray[np.float32])
    assert_type(emb.word_counts_, NDArray[np.int64])
    assert_type(emb.word_weights_, NDArray[np.float32])
    assert_type(emb.loss_curve_, list[float])
    assert_type(emb.n_iter_, int)
    assert_type(emb.n_features_out_, int)
    assert_type(emb.get_feature_names_out(), NDArray[np.object_])
    assert_type(emb.most_similar("cat"), list[tuple[str, float]])
    assert_type(emb.most_similar(["cat", "bank"], 2), list[list[tuple[str, float]]])
    assert_type(emb.similarity("A cat.", "A bank."), float)
    assert_type(emb.similarity(SENTENCES, SENTENCES[::-1]), NDArray[np.float64])
    assert_type(emb.estimate_memory(corpus), dict[str, int])
    print(emb.explain("A cat.", "A bank.").contributions.shape)
    same: BaseEstimator = emb
    print(same)
    return emb


def use_the_others(corpus: SentenceCorpus) -> None:
    sent2vec = Sent2VecVectorizer(8, ngram_range=(1, 2), n_buckets=100, random_state=0).fit(corpus)
    assert_type(sent2vec.word_vectors_, NDArray[np.float32])
    assert_type(sent2vec.ngram_vectors_, NDArray[np.float32])
    assert_type(sent2vec.target_vectors_, NDArray[np.float32])
    assert_type(SiameseCBOWVectorizer(8, random_state=0).fit(corpus).transform(corpus), NDArray[np.float32])
    mean = MeanEmbeddingVectorizer(word_vectors=sent2vec, n_removed_components=1).fit(SENTENCES)
    assert_type(mean.components_, NDArray[np.float32])
    assert_type(mean.word2vec_, Word2VecVectorizer | None)
    assert_type(Word2VecVectorizer(8, random_state=0).fit(corpus).target_vectors_, NDArray[np.float32])
    joined = MetaEmbeddingVectorizer([sent2vec, mean], 8)
    assert_type(joined.fit_transform(SENTENCES), NDArray[np.float32])
    bags = BOWPCA(2).fit(SENTENCES)
    assert_type(bags, BOWPCA)
    assert_type(bags.transform(SENTENCES), NDArray[np.float32] | Any)  # without components a sparse array
    assert_type(bags.components_, NDArray[np.float32])
    assert_type(bags.mean_, NDArray[np.float32])


def use_a_pipeline(corpus: SentenceCorpus) -> None:
    pipeline = make_pipeline(CBOSVectorizer(8, corpus=corpus), LogisticRegression()).fit(SENTENCES, LABELS)
    print(pipeline.predict(["A cat."]))


def use_data_sets() -> None:
    assert_type(split_sentences("A cat. A dog."), list[str])
    assert_type(skembed.datasets.split_sentences("A cat. A dog."), list[str])
    assert_type(skembed.metrics.spearman_score([1.0, 2.0], [2.0, 3.0]), float)
    print(load_docstrings(packages=["joblib"]).target_names[:3])
    sentences, groups = load_paraphrase_groups(return_X_y=True)
    assert_type(sentences, list[str])
    assert_type(groups, NDArray[np.int64])


def evaluate(emb: CBOSVectorizer) -> None:
    print(nested_classification(BOWPCA(n_components=None), SENTENCES, LABELS, cv=2, inner_cv=2).accuracy)
    A, B = emb.transform(SENTENCES[:20]), emb.transform(SENTENCES[20:])
    cosine = paired_cosine_similarity(A, B)
    assert_type(cosine, NDArray[np.float64])
    scores = np.linspace(1.0, 5.0, 20)
    assert_type(spearman_score(scores, cosine), float)
    head = RelatednessRegressor(n_hidden=2, random_state=0).fit(pair_features(A, B), scores)
    assert_type(head, RelatednessRegressor)
    assert_type(head.loss_, float)
    pairs = Bunch(data=[("A cat.", "A bank."), ("A cat.", "A cat."), ("A bank.", "Milk.")], target=[1.0, 5.0, 2.0])
    similarities = sts_similarities(emb, {"mine": pairs})
    assert_type(similarities, list[Bunch])
    assert_type(sts_scores(similarities)[0]["pearson"], float)


def main() -> None:
    corpus = use_a_corpus()
    emb = use_an_estimator(corpus)
    use_the_others(corpus)
    use_a_pipeline(corpus)
    use_data_sets()
    evaluate(emb)


if __name__ == "__main__":
    main()
