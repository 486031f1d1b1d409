"""A model of another program, learned on with own text, and back: the way of a static model through this package."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import normalize

import skembed
from skembed import CBOSVectorizer, ParaphraseVectorizer, Sent2VecVectorizer, SiameseCBOWVectorizer
from skembed.formats import import_model

FILES = Path(__file__).parent / "files"
TEXT = ["the cats sat on the mat", "a dog sits", "cats and dogs play", "the mat is warm"] * 30
LEARNERS = {
    "order": CBOSVectorizer,
    "labels": CBOSVectorizer,
    "alone": Sent2VecVectorizer,
    "siamese": SiameseCBOWVectorizer,
    "pairs": ParaphraseVectorizer,
}


def adapted(name, kind="order"):
    """A model of pieces or of words, learned on."""
    labels = ["cats", "dogs", "both", "mat"] * 30
    y = {"labels": labels, "pairs": np.arange(len(TEXT)) // 2}.get(kind)
    options = {} if kind in ("pairs", "alone") else {"context": "labels" if kind == "labels" else "order"}
    learner = LEARNERS[kind](init=import_model(FILES / name), unknown="zero", min_count=1, random_state=0, **options)
    return learner.fit(TEXT, y) if y is not None else learner.fit(TEXT)


@pytest.mark.parametrize(
    ("name", "kind"),
    [*(("model2vec", kind) for kind in LEARNERS), *(("model2vec_words", kind) for kind in LEARNERS if kind != "pairs")],
)
def test_an_imported_model_learns_on_and_goes_back(name, kind, tmp_path):
    start, model = import_model(FILES / name), adapted(name, kind)
    assert not np.allclose(normalize(model.transform(TEXT[:4])), normalize(start.transform(TEXT[:4])), atol=1e-3)
    report = skembed.formats.export_model(model, tmp_path / "folder")
    assert report["smallest_cosine"] > 1 - 1e-6
    back = import_model(tmp_path / "folder")
    for text in (*TEXT[:4], "The cats, sitting; unknownword DOGS!", "unaffable ##s"):
        cosine = (back.transform([text]) @ normalize(model.transform([text])).T).item()
        assert cosine == pytest.approx(1, abs=1e-6) or not model.transform([text]).any()


@pytest.mark.parametrize("name", ["model2vec", "model2vec_words"])
def test_words_that_own_text_lacks_are_kept(name):
    start, model = import_model(FILES / name), adapted(name)
    lacking = [word for word, count in zip(model.vocabulary_, model.word_counts_) if not count]
    assert len(lacking) > 3
    for word in lacking:
        before, after = start.word_vectors_[start.vocabulary_[word]], model.word_vectors_[model.vocabulary_[word]]
        if before.any():
            assert before @ after / np.linalg.norm(before) / np.linalg.norm(after) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", ["model2vec", "model2vec_words"])
def test_model2vec_opens_it(name, tmp_path):
    model2vec = pytest.importorskip("model2vec")
    model = adapted(name)
    skembed.formats.export_model(model, tmp_path / "folder")
    theirs = model2vec.StaticModel.from_pretrained(str(tmp_path / "folder")).encode(TEXT[:4])
    rows = normalize(model.transform(TEXT[:4]))
    assert rows.any()
    np.testing.assert_allclose((theirs * rows).sum(axis=1), rows.any(axis=1), atol=1e-6)


@pytest.mark.parametrize("name", ["model2vec", "model2vec_words"])
def test_sentence_transformers_opens_it(name, tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = adapted(name)
    skembed.formats.export_model(model, tmp_path / "folder")
    theirs = sentence_transformers.SentenceTransformer(str(tmp_path / "folder"), device="cpu").encode(TEXT[:4])
    rows = normalize(model.transform(TEXT[:4]))
    assert rows.any()
    np.testing.assert_allclose((theirs * rows).sum(axis=1), rows.any(axis=1), atol=1e-6)


def test_a_vector_of_unknown_pieces_cannot_be_expressed(tmp_path):
    model = adapted("sentence_transformers")
    with pytest.raises(ValueError, match="a vector of unknown pieces"):
        skembed.formats.export_model(model, tmp_path / "folder")
