"""Tokenizers that corpora and models are saved with: a new one is one file."""

import pytest

from skembed import CBOSVectorizer, CharacterNgrams, SentenceCorpus, load, save
from skembed._text.piece_tokenizer import PieceTokenizer
from skembed._text.tokenizer import Tokenizer
from skembed._text.words import DataTokenizer

PIECES = PieceTokenizer(
    '{"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"},'
    ' "pre_tokenizer": {"type": "WhitespaceSplit"}}'
)


class Letters(DataTokenizer):
    """A tokenizer that only this file knows."""

    def __init__(self, kept):
        self.kept = kept

    def __call__(self, text):
        return [letter for letter in text if letter in self.kept]

    def to_json(self):
        return self.kept

    @classmethod
    def from_json(cls, value):
        return cls(value)


@pytest.mark.parametrize("analyzer", [CharacterNgrams("char", (2, 3), words=True), PIECES, Letters("ab")])
def test_a_tokenizer_brings_what_corpora_and_models_are_saved_with(analyzer, tmp_path):
    corpus = SentenceCorpus.from_sentences(["a b a", "b a"] * 9, analyzer=analyzer, to=tmp_path / "corpus")
    model = CBOSVectorizer(3, min_count=1, max_iter=1, random_state=0).fit(corpus)
    save(model, tmp_path / "model")
    back = load(tmp_path / "model")
    for tokenizer in (SentenceCorpus.load(tmp_path / "corpus").tokenizer, back._state.tokenizer):
        assert type(tokenizer.analyzer) is type(analyzer) and tokenizer.analyzer("b a") == analyzer("b a")
    assert (back.transform(["b a"]) == model.transform(["b a"])).all()


@pytest.mark.parametrize("value", [None, [], ["character_ngrams"], ["os", "x"], ["words", "x"], ["scan", []], [1, 2]])
def test_forged_tokenizers_are_refused(value):
    options = Tokenizer().options() | {"analyzer": {"tokenizer": value}}
    with pytest.raises(ValueError, match="is no tokenizer"):
        Tokenizer.from_options(options)
