"""Folders of model2vec and sentence-transformers: the vectors of these programs, and errors for what is not read.

The folders, and what the programs made of some sentences, are by benchmarks/quality/interchange_files.py.
"""

import json
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.base import clone

import skembed
from skembed import MeanEmbeddingVectorizer
from skembed._text.piece_tokenizer import PieceTokenizer
from skembed.formats import import_model

FILES = Path(__file__).parent / "files"
# Whether rows have length one, and whether unknown tokens count.
FOLDERS = ["model2vec", "model2vec_words", "sentence_transformers", "sentence_transformers_words"]


def expected(name):
    found = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    return found["sentences"], np.array(found["vectors"])


def rows_of(model, sentences):
    """One by one, as there is a warning about a text with so many unknown words."""
    return np.vstack([model.transform([sentence]) for sentence in sentences])


@pytest.mark.parametrize("name", FOLDERS)
def test_vectors_are_those_of_the_program(name):
    sentences, vectors = expected(name)
    model = import_model(FILES / name)
    assert isinstance(model, MeanEmbeddingVectorizer)
    assert model.norm == ("l2" if name in ("model2vec_words", "sentence_transformers") else None)
    np.testing.assert_allclose(rows_of(model, sentences), vectors, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["model2vec", "sentence_transformers_words"])
def test_a_model_that_was_saved_or_pickled_is_the_same(name, tmp_path):
    model, sentences = import_model(FILES / name), expected(name)[0]
    skembed.save(model, tmp_path / "model", inference_only=True)
    for back in (skembed.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(rows_of(back, sentences), rows_of(model, sentences))


def test_a_clone_learns_word_weights_from_a_text():
    model = clone(import_model(FILES / "model2vec")).set_params(weighting="idf").fit(["the cats", "the dog", "the mat"])
    assert model.word_weights_[model.vocabulary_["the"]] < model.word_weights_[model.vocabulary_["##s"]]


@pytest.fixture
def folder(tmp_path):
    """Return a copy of a folder to change, and a function that changes an entry of one of its JSON files."""
    shutil.copytree(FILES / "sentence_transformers", tmp_path / "model")

    def change(file, *names, value):
        path = tmp_path / "model" / file
        entries = inner = json.loads(path.read_text(encoding="utf-8"))
        for name in names[:-1]:
            inner = inner[name]
        inner[names[-1]] = value
        path.write_text(json.dumps(entries), encoding="utf-8")
        return tmp_path / "model"

    return change


@pytest.mark.parametrize(
    ("file", "names", "value", "message"),
    [
        ("tokenizer.json", ["model", "type"], "BPE", "model BPE is not supported"),
        ("tokenizer.json", ["model"], [], "no entry model"),
        ("tokenizer.json", ["model", "unk_token"], "[NO]", "lacks the token '[NO]'"),
        ("tokenizer.json", ["model", "vocab", "cat"], 4, "must have the numbers from 0 on, each once"),
        ("tokenizer.json", ["model", "vocab", "cat"], "3", "must give each token a number"),
        ("tokenizer.json", ["model", "continuing_subword_prefix"], 3, "model {"),
        ("tokenizer.json", ["model", "max_input_chars_per_word"], 10**9, "model {"),
        ("tokenizer.json", ["model", "vocab", "more"], 29, "has 29 vectors, but tokenizer.json has 30 tokens"),
        ("tokenizer.json", ["normalizer"], {"type": "Precompiled"}, "normalizer {'type': 'Precompiled'} cannot be"),
        ("tokenizer.json", ["normalizer"], 3, "normalizer is 3, which has no type"),
        ("tokenizer.json", ["pre_tokenizer"], {"type": "Metaspace"}, "pre_tokenizer {'type': 'Metaspace'} cannot be"),
        ("tokenizer.json", ["pre_tokenizer"], {"type": "Split", "pattern": {"Regex": "(a+)+b"}}, "pre_tokenizer {"),
        ("tokenizer.json", ["added_tokens", 0, "lstrip"], True, "added token dict of length 7: {"),
        ("tokenizer.json", ["added_tokens", 0, "content"], "", "needs a content"),
        ("tokenizer.json", ["truncation"], {"max_length": 3}, "cuts long texts"),
        ("config_sentence_transformers.json", ["default_prompt_name"], "query", "puts a prompt before each text"),
        ("config_sentence_transformers.json", ["default_prompt_name"], 3, "default_prompt_name is 3"),
        ("modules.json", [0, "type"], "sentence_transformers.models.Transformer", "has the modules ['Transformer'"),
        ("modules.json", [1], "Normalize", "has the modules ['StaticEmbedding', 'None']"),
    ],
)
def test_what_cannot_be_expressed_is_refused(file, names, value, message, folder):
    changed = folder(file, *names, value=value)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        import_model(changed)
    assert str(changed) in str(error.value)


def test_damaged_folders(folder):
    path = folder("modules.json", 0, "idx", value=0)
    for file in ("tokenizer.json", "model.safetensors", "modules.json"):
        content = (path / file).read_bytes()
        for damage in (b"", content[:-1], content[: len(content) // 2], b"\xff" + content):
            (path / file).write_bytes(damage)
            with pytest.raises(ValueError, match=re.escape(str(path / file))):
                import_model(path)
        (path / file).unlink()
        with pytest.raises(ValueError, match=f"has no file {file}|nor a folder of"):
            import_model(path)
        (path / file).write_bytes(content)
    (path / "tokenizer.json").write_text('{"model": ' + "[" * 100_000)
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        import_model(path)
    (path / "tokenizer.json").write_text('{"model": {}, "model": {}}')
    with pytest.raises(ValueError, match="a name stands twice"):
        import_model(path)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("embeddings", np.zeros((29, 0), np.float32), "no matrix of vectors"),
        ("embeddings", np.zeros(29, np.float32), "no matrix of vectors"),
        ("embeddings", np.zeros((9, 4), np.float32), "has the row 9 or 0, but 9 rows"),
        ("embeddings", np.full((10, 4), np.nan, np.float32), "NaN or infinity"),
        ("mapping", np.full(29, -1), "has the row -1 or -1"),
        ("mapping", np.zeros(28, int), "mapping must have the row of each of the 29 tokens"),
        ("weights", np.zeros(28), "weights must have one of each of the 29 tokens"),
    ],
)
def test_wrong_arrays_are_named(name, array, message, tmp_path):
    shutil.copytree(FILES / "model2vec", tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    save_file(load_file(file) | {name: array}, file)
    with pytest.raises(ValueError, match=rf"model\.safetensors.*{message}"):
        import_model(tmp_path / "model")


# What the library tokenizers, version 0.23.3, makes of these texts.
BERT = [
    ("The CATS, sitcat", ["the", "cat", "##s", ",", "sit", "##cat"]),
    ("[UNK] cat[PAD]", ["[UNK]", "cat", "[PAD]"]),
    ("CAFÉ ca\u0301fe \u200bcat\x00\ufffd", ["cafe", "cafe", "cat"]),
    ("日本", ["日", "本"]),
    ("cat-sit_", ["cat", "[UNK]", "sit", "[UNK]"]),
    ("ca" * 60, ["[UNK]"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "tokens"), BERT)
def test_word_pieces(text, tokens):
    vocabulary = "[PAD] [UNK] the cat ##s ##cat sit cafe 日 本 ,".split()
    entry = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(vocabulary)}}
    added = [{"id": i, "content": content, "special": True} for i, content in enumerate(("[PAD]", "[UNK]"))]
    steps = {"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    assert PieceTokenizer(json.dumps({"model": entry, "added_tokens": added, **steps}))(text) == tokens


def words_tokenizer(**steps):
    entry = {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "σ": 2, "é": 3, "b²": 4, "e": 5}}
    return PieceTokenizer(json.dumps({"model": entry, **steps}))


@pytest.mark.parametrize(
    ("steps", "text", "tokens"),
    [
        ({}, "a", ["a"]),
        ({"normalizer": {"type": "Lowercase"}}, "Σ", ["σ"]),
        ({"normalizer": {"type": "NFC"}}, "e\u0301", ["é"]),
        ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}}, "é", ["e"]),
        ({"pre_tokenizer": {"type": "WhitespaceSplit"}}, "a\x85a\x1fa", ["a", "?"]),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "a!é b²", ["a", "?", "é", "?", "?"]),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}] * 2}},
            "a é",
            ["a", "é"],
        ),
    ],
)
def test_words(steps, text, tokens):
    assert words_tokenizer(**steps)(text) == tokens


def test_tokenizers_are_equal_if_their_text_is():
    mine, other = words_tokenizer(), words_tokenizer(normalizer={"type": "NFC"})
    assert mine == pickle.loads(pickle.dumps(mine)) != other
    assert hash(mine) == hash(words_tokenizer())
    assert repr(mine) == "<PieceTokenizer of 6 tokens>"


@pytest.mark.parametrize("steps", [{}, {"normalizer": {"type": "Lowercase"}}])
def test_a_missing_sentence_names_its_row(steps):
    """It is no word, as "None" and "nan" would be."""
    vectors = {"a": [1.0, 0.0], "é": [0.0, 1.0]}
    model = MeanEmbeddingVectorizer(word_vectors=vectors, analyzer=words_tokenizer(**steps)).fit(["a", "é"])
    for missing in (None, float("nan")):
        with pytest.raises(TypeError, match="Row 1 is missing"):
            model.transform(["a", missing])
