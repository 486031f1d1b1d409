"""Folders for model2vec and sentence-transformers: they hold the model, or it is refused with the reason."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from estimators import with_state
from safetensors.numpy import load_file
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import normalize

from skembed import BOWPCA, MeanEmbeddingVectorizer
from skembed._text.piece_tokenizer import lower_each
from skembed._text.tokenizer import Tokenizer
from skembed.formats import _static_folders as static_folders
from skembed.formats import export_model, import_model

WORDS = ["the", "cat", "café", "1914", "x", "кошка", "_id", "½", "Capital", "two words", "hot-dog", "\udcc3"]
TEXT = ["The cat, the café in 1914.", "кошка x _id ½", "x cat"]
SENTENCES = [*TEXT, "CAFÉ, unknown CAT!", "Capital hot-dog e\u0301 кошка\u0301", "", "unknown", "a\x85cat\u200bx²"]


def mean(**options):
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 6)).astype(np.float32)
    options = {"unknown": "zero", **options}
    return MeanEmbeddingVectorizer(word_vectors=(WORDS, vectors), **options).fit(TEXT)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pooling": "sum", "weighting": "sif", "n_removed_components": 1},
        {"weighting": "idf", "hash_numbers": True, "spelling_weight": 0.4, "stop_words": ["the"]},
        {"token_pattern": r"(?u)\b\w\w+\b", "lowercase": False},
        {"token_pattern": r"[^\0\t-\r ]+"},
    ],
)
def test_the_folder_has_the_directions_of_the_rows(options, tmp_path):
    emb = mean(**options)
    report = export_model(emb, tmp_path / "model")
    assert report["smallest_cosine"] > 1 - 1e-6
    assert report["words"] + report["left_out"] == len(WORDS)
    back = import_model(tmp_path / "model")
    np.testing.assert_allclose(back.transform(SENTENCES), normalize(emb.transform(SENTENCES)), rtol=0, atol=1e-6)
    assert {path.name for path in (tmp_path / "model").iterdir()} == static_folders.FILES


@pytest.mark.parametrize("options", [{}, {"token_pattern": r"(?u)\b\w\w+\b", "lowercase": False}])
def test_the_library_of_the_other_programs_splits_text_alike(options, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    emb = mean(**options)
    export_model(emb, tmp_path / "model")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "model" / "tokenizer.json"))
    for sentence in SENTENCES:
        found = [token for token in theirs.encode(sentence).tokens if token != "[UNK]"]
        assert found == [word for word in emb._state.tokenizer.analyze(sentence) if word in emb.vocabulary_]


def test_the_other_programs_open_the_folder(tmp_path):
    model2vec, transformers = pytest.importorskip("model2vec"), pytest.importorskip("sentence_transformers")
    emb = mean(weighting="sif")
    export_model(emb, tmp_path / "model")
    rows = normalize(emb.transform(SENTENCES))
    for program in (
        model2vec.StaticModel.from_pretrained(tmp_path / "model"),
        transformers.SentenceTransformer(str(tmp_path / "model"), device="cpu"),
    ):
        theirs = program.encode(SENTENCES)
        np.testing.assert_allclose(theirs, rows, rtol=0, atol=1e-6)
        assert np.einsum("ij,ij->i", theirs, rows, dtype=np.float64)[rows.any(axis=1)].min() > 1 - 1e-6


def test_what_comes_out_of_the_tokenizer_is_written(tmp_path):
    export_model(mean(), tmp_path / "model")
    content = json.loads((tmp_path / "model" / "tokenizer.json").read_text(encoding="utf-8"))
    assert list(content["model"]["vocab"]) == ["[UNK]", "the", "cat", "café", "1914", "x", "кошка", "_id", "½"]
    assert not load_file(tmp_path / "model" / "model.safetensors")["embeddings"][0].any()


def test_a_word_that_looks_like_the_unknown_token(tmp_path):
    vectors = {"[UNK]": [1.0, 0.0], "cat": [0.0, 1.0]}
    options = {"token_pattern": r"[^\0\t-\r ]+", "lowercase": False, "unknown": "zero"}
    emb = MeanEmbeddingVectorizer(word_vectors=vectors, **options).fit(["[UNK] cat"])
    export_model(emb, tmp_path / "model")
    np.testing.assert_array_equal(import_model(tmp_path / "model").transform(["[UNK]", "x"]), [[1, 0], [0, 0]])


def stem(word):
    return word[:3]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"unknown": "hash"}, "unknown='hash': unknown words have no vector"),
        ({"binary": True}, "binary=True: a repeated word counts each time"),
        ({"stemmer": stem}, "words are looked up as they are"),
        ({"analyzer": str.split}, "a callable is code"),
        ({"token_pattern": r"[a-z]+"}, "token_pattern='[a-z]+': its regular expressions have other rules"),
    ],
)
@pytest.mark.filterwarnings("ignore:Only .* of the words of the text")
def test_what_a_folder_cannot_express(options, reason, tmp_path):
    with pytest.raises(ValueError, match=rf"cannot express MeanEmbeddingVectorizer with .*{re.escape(reason)}"):
        export_model(mean(**options), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_models_that_are_no_sums_of_words(tmp_path):
    with pytest.raises(NotFittedError):
        export_model(MeanEmbeddingVectorizer(), tmp_path / "model")
    with pytest.raises(TypeError, match="BOWPCA cannot be exported: its sentence is not a weighted sum"):
        export_model(BOWPCA(2, min_count=1).fit(TEXT), tmp_path / "model")
    emb = import_model(Path(__file__).parent / "files" / "sent2vec.bin")
    with pytest.raises(ValueError, match=r"ngram_range=\(1, 2\): there are no word n-grams"):
        export_model(emb, tmp_path / "model")
    vectors = {"Cat": [1.0], "CAT": [1.0]}  # which no lowercased text has
    emb = MeanEmbeddingVectorizer(word_vectors=vectors, lowercase=False, unknown="zero").fit(["Cat"])
    with_state(emb, tokenizer=Tokenizer())
    with pytest.raises(ValueError, match="No word of the vocabulary comes out"):
        export_model(emb, tmp_path / "model")


@pytest.mark.parametrize("word", ["οδος", "οδοσ", "ος_", "ας2"])
def test_a_final_sigma_in_capitals_is_lowered_as_there(word, tmp_path):
    emb = MeanEmbeddingVectorizer(word_vectors={word: [1.0, 3.0], "cat": [2.0, 1.0]}, unknown="zero").fit(["cat"])
    export_model(emb, tmp_path / "model")
    capitals = import_model(tmp_path / "model").transform([word.upper(), word])
    assert capitals[0].any() == (lower_each(word.upper()) == word)


def _is_cased(c):
    return c.isprintable() and len({c, c.upper(), c.lower(), c.title(), c.casefold()}) > 1


def test_words_with_every_cased_letter(tmp_path):
    """As ß, ŉ, ﬁ, İ and ı, many become other letters, or more than one, in capitals."""
    cased = filter(_is_cased, map(chr, range(0x110000)))
    around = ("{}", "a{}", "{}a", "a{}b", "{}σ", "aς{}", "a{}2", "{}_", "a{}ʰ")
    texts = (form.format(c) for c in cased for form in around)
    words = sorted({word for text in texts for word in Tokenizer().analyze(text)})
    assert len(words) > 10_000
    numbers = np.random.default_rng(0).normal(size=(len(words), 4)).astype(np.float32)
    for start in range(0, len(words), static_folders._N_TESTED - 1):  # as many as are all tested
        chosen = slice(start, start + static_folders._N_TESTED - 1)
        vectors = dict(zip(words[chosen], numbers[chosen]))
        emb = MeanEmbeddingVectorizer(word_vectors=vectors, unknown="zero").fit(words[chosen])
        assert export_model(emb, tmp_path / "model")["words"] == len(vectors)


def test_a_folder_that_would_differ_is_not_written(tmp_path, monkeypatch):
    export_model(mean(), tmp_path / "model")
    monkeypatch.setitem(static_folders._PATTERNS, None, static_folders._LONGER_WORDS)
    before = (tmp_path / "model" / "tokenizer.json").read_bytes()
    with pytest.raises(ValueError, match=r"was not written: its vector of 'x' would have the cosine 0\.0000000"):
        export_model(mean(), tmp_path / "model")
    assert (tmp_path / "model" / "tokenizer.json").read_bytes() == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        export_model(mean(), tmp_path / "other")
