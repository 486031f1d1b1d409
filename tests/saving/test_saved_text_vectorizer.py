"""Folders of TextVectorizer: the same bits come back, small, and no forged one is accepted."""

import copy
import shutil
from functools import cache

import numpy as np
import pandas as pd
import pytest
from estimators import TEXT, bits
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from test_forged_folders import entry, forge, put, set_in

import skembed
from skembed import TextVectorizer
from skembed._meta_estimators.block_weights import BlockWeights

Y = np.arange(len(TEXT)) % 2
OTHERS = ["The cat and the dog.", "a zzz qqq", "", "Rain in the station!", "soup " * 9, "北京", TEXT[7]]
CHINESE = ["猫喝牛奶", "银行借钱", "狗吃肉和牛奶", "河很宽很冷", "猫吃肉", "银行有钱"]
THAI = ["วันนี้อากาศดีมาก", "พรุ่งนี้ฝนจะตกหนัก", "ราคาหุ้นขึ้นสูง", "ธนาคารขึ้นดอกเบี้ย"] * 3
SETTINGS = {
    "default": (TEXT, Y, {}),
    "dense": (TEXT, None, {"n_components": 4, "missing": "empty", "n_jobs": 2}),
    "few blocks": (TEXT, Y, {"blocks": {"words": "drop", "halves": "drop", "characters_lsa": "default"}}),
    "one block": (
        TEXT,
        Y,
        {"blocks": dict.fromkeys(["words", "bigrams", "characters", "words_lsa", "characters_lsa"], "drop")},
    ),
    "seed": (TEXT, Y, {"random_state": np.random.RandomState(0)}),
    "unsegmented": (CHINESE, None, {}),
    "Thai": (THAI, None, {}),
    "equal texts": (["a b"] * 3, None, {}),
    "little text": (["cat"], None, {}),
}


@cache
def learned_once(name):
    X, y, params = SETTINGS[name]
    return TextVectorizer(**{"random_state": 0, "corpus": X, **params}).fit(X, y)


def fitted(name="default"):
    """A model of a test's own, which may change it."""
    return copy.deepcopy(learned_once(name))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    skembed.save(fitted(), folder)
    return folder


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "seed"])
def test_what_comes_back_is_the_same(name, mmap, tmp_path):
    model = fitted(name)
    sizes = skembed.save(model, tmp_path / "model")
    assert sizes["written"] == sum(file.stat().st_size for file in (tmp_path / "model").iterdir())
    back, new = (
        skembed.load(tmp_path / "model", mmap=mmap),
        SETTINGS[name][0] if name in ("unsegmented", "Thai") else OTHERS,
    )
    assert type(back) is TextVectorizer
    assert bits(back.transform(new)) == bits(model.transform(new))
    assert str(back.block_weights_) == str(model.block_weights_)
    assert back.block_weights_ == model.block_weights_ and list(back.blocks_) == list(model.blocks_)
    assert list(back.get_feature_names_out()) == list(model.get_feature_names_out())
    assert back.get_params(deep=False) == model.get_params(deep=False) | {"corpus": None}
    assert back.n_features_out_ == model.n_features_out_
    skembed.save(back, tmp_path / "again")
    again = skembed.load(tmp_path / "again")
    assert bits(again.transform(new)) == bits(model.transform(new))


def test_numbers_that_need_more_bits_keep_them(tmp_path):
    model = fitted()
    model.blocks_["words_lsa"].components_ *= np.float32(1.2345678)
    skembed.save(model, tmp_path / "model")
    assert bits(skembed.load(tmp_path / "model").transform(TEXT)) == bits(model.transform(TEXT))


def test_a_block_may_weigh_nothing(tmp_path):
    model = fitted()
    weights = dict.fromkeys(model.block_weights_, 0.25) | {"words": 0.0}
    model.block_weights_ = BlockWeights(weights, 40)
    skembed.save(model, tmp_path / "model")
    rows = skembed.load(tmp_path / "model").transform(TEXT)
    n_words = len(model.blocks_["words"].vocabulary_)
    assert bits(rows) == bits(model.transform(TEXT)) and not rows[:, :n_words].nnz and rows.data.all()


def test_a_loaded_model_does_all_that_it_did(tmp_path):
    model = fitted()
    skembed.save(model, tmp_path / "model")
    back = skembed.load(tmp_path / "model")
    row = model.transform(["a cat"])
    assert back.top_terms(row, 3) == model.top_terms(row, 3)
    assert (back.blocks_["words_lsa"].singular_values_ == model.blocks_["words_lsa"].singular_values_).all()
    assert bits(back.fit_transform(TEXT, Y)) == bits(TextVectorizer(random_state=0).fit_transform(TEXT, Y))


@pytest.mark.parametrize(("dtype", "largest"), [("float16", 1e-3), ("int8", 0.02)])
def test_rounded_vectors(dtype, largest, tmp_path):
    model = fitted()
    whole = skembed.save(model, tmp_path / "whole")["written"]
    rounded = skembed.save(model, tmp_path / "model", inference_only=True, dtype=dtype)["written"]
    assert rounded < 0.95 * whole
    back = skembed.load(tmp_path / "model")
    np.testing.assert_allclose(back.transform(TEXT).toarray(), model.transform(TEXT).toarray(), atol=largest)


def test_what_only_training_needs_is_left_out(tmp_path):
    assert skembed.save(fitted(), tmp_path / "model")["left_out"] > 0


def test_the_card_says_what_the_model_is(tmp_path):
    model = fitted("few blocks")
    skembed.save(model, tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text()
    for fact in ("# TextVectorizer", f"{model.n_features_out_:,} dimensions a text", "characters 0.", "- `blocks="):
        assert fact in card, fact


# -- what is refused -------------------------------------------------------------------------------------------------


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(NotFittedError):
        skembed.save(TextVectorizer(), path)
    with pytest.raises(TypeError, match=r"blocks\['mine'\] is a transformer.*joblib"):
        skembed.save(TextVectorizer(blocks={"mine": TfidfVectorizer()}, random_state=0).fit(TEXT), path)
    with pytest.raises(TypeError, match=r"blocks\['mine'\] is a transformer.*joblib"):
        skembed.save(fitted().set_params(blocks__mine=TfidfVectorizer()), path)
    with pytest.raises(TypeError, match="random_state is a RandomState"):
        skembed.save(fitted("seed"), path)
    assert not path.exists()


def without(name):
    return lambda arrays: arrays.pop(name)


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        (set_in("parameters", "n_components", 0), None, "n_components"),
        (set_in("parameters", "extra", 1), None, "extra"),
        (set_in("parameters", "blocks", {"dict": {"words": 3}}), None, r"blocks\['words'\]"),
        (set_in("attributes", "extra", 1), None, "the attributes are"),
        (set_in("attributes", "n_texts", 0), None, "n_texts is 0"),
        (set_in("attributes", "n_labelled", -1), None, "n_labelled is -1"),
        (set_in("attributes", "n_labelled", "many"), None, "n_labelled is 'many'"),
        (set_in("attributes", "tfidf", {}), None, "there is tf-idf of"),
        (set_in("attributes", "tfidf", []), None, "the attributes are"),
        (set_in("attributes", "halves", None), None, "'halves' and its weight must be there together"),
        (set_in("attributes", "halves", {"model": {}}), None, "halves is no model"),
        (set_in("attributes", "halves", "model", "class", "CBOSVectorizer"), None, "'halves' is a 'CBOSVectorizer'"),
        (set_in("attributes", "halves", "model", "tokenizer", "dict", {}), None, "damaged or was not written"),
        (set_in("attributes", "block_weights_", {"dict": {"words": 1.0}}), None, "there is tf-idf of"),
        (set_in("attributes", "block_weights_", {"dict": {}}), None, "block_weights_ is"),
        (set_in("attributes", "block_weights_", "dict", "words", 0.9), None, "block_weights_ is"),
        (set_in("attributes", "block_weights_", "dict", "words", {"float": "nan"}), None, "block_weights_ is"),
        (set_in("attributes", "block_weights_", "dict", "others", 0.2), None, "block_weights_ is"),
        (set_in("attributes", "tfidf", "words", {"input": "filename"}), None, "the options of 'words' are"),
        (set_in("attributes", "tfidf", "characters", ["os.system", 2, 5]), None, "analyzer"),
        (set_in("attributes", "tfidf", "characters", ["char_wb", "a", 3]), None, "ngram_range"),
        (set_in("attributes", "tfidf", "characters", ["char_wb", 2, 4]), None, "The n-grams of characters"),
        (set_in("attributes", "tfidf", "characters", None), None, "are no options of CharacterNgrams"),
        (None, without("words.idf"), "'words' has no idf"),
        (None, put("words.idf", lambda idf: idf[1:]), "'words' has no idf"),
        (None, put("words.idf", entry(0, np.nan)), "not finite"),
        (None, put("words.offsets", lambda ptr: ptr[::-1]), "offsets of the words"),
        (None, without("characters.lengths"), "The n-grams of characters"),
        (None, put("characters.lengths", entry(1, 0)), "The n-grams of characters"),
        (None, put("characters.lengths", entry(1, 9)), "The n-grams of characters"),
        (None, put("characters.lengths", lambda lengths: lengths[1:]), "The n-grams of characters"),
        (None, put("characters.lengths", lambda lengths: lengths.astype(np.int64)), "The n-grams of characters"),
        (None, put("characters.text", entry(3, 0xFF)), "The n-grams of characters"),
        (None, put("characters.text", lambda text: text[::-1]), "The n-grams of characters"),
        (None, put("characters.text", lambda text: text[:-1]), "The n-grams of characters"),
        (None, put("characters.text", lambda text: text[:, None]), "The n-grams of characters"),
        (None, put("characters.idf", lambda idf: idf[1:]), "'characters' has no idf"),
        (None, put("words.text", lambda text: text * 0), "a word stands twice"),
        (None, without("words_lsa.components"), "words_lsa.components is None"),
        (None, put("words_lsa.components", lambda rows: rows[1:]), "words_lsa.components is"),
        (None, put("words_lsa.components", entry((0, 0), np.inf)), "not finite"),
        (None, put("words_lsa.components", lambda rows: rows[:, :0]), "words_lsa.components is"),
        (None, without("words_lsa.singular_values_"), "words_lsa.singular_values_ is None"),
        (None, put("halves.word_vectors_", lambda rows: rows[1:]), "word_vectors_ is ndarray of shape"),
        (None, lambda arrays: arrays.update({"more.text": np.zeros(1, np.float32)}), "'more' belongs to no block"),
        (None, lambda arrays: arrays.update({"words_lsa.x": np.zeros(1, np.float32)}), "words_lsa.x belongs to no"),
        (None, lambda arrays: arrays.update({"words.x": np.zeros(1, np.float32)}), "'words' has no idf"),
        (None, lambda arrays: arrays.update({"output.components": np.ones((3, 2), np.float32)}), "output.components"),
    ],
)
def test_a_forged_folder_is_refused(header, arrays, message, saved, tmp_path):
    shutil.copytree(saved, tmp_path / "model")
    forge(tmp_path / "model", header or (lambda header: None), arrays or (lambda arrays: None))
    with pytest.raises(ValueError, match=f"damaged or was not written by skembed.*{message}|{message}"):
        skembed.load(tmp_path / "model")


def test_missing_text_is_handled_as_it_was(tmp_path):
    skembed.save(fitted("dense"), tmp_path / "model")
    frame = pd.DataFrame({"text": ["a cat", None]})
    assert not skembed.load(tmp_path / "model").transform(frame)[1].any()
