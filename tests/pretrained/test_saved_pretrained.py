"""Saved folders hold the path or the name of a pretrained model, and know the model again."""

import numpy as np
import pytest
from estimators import bits
from test_pretrained_vectorizer import FILES, Model, nothing_kept, rows_of  # noqa: F401

import skembed
from skembed import CBOSVectorizer, PretrainedVectorizer, SearchIndex, TextVectorizer

S = ["the cat drinks milk", "the bank lends money", "a dog eats meat", "the river is wide and cold"] * 10
Y = np.array([0, 1, 0, 1] * 10)
STATIC = str(FILES / "model2vec")


class Vectorizer:
    """TextVectorizer, saved by the function `save`."""

    @staticmethod
    def fitted(pretrained):
        return TextVectorizer(pretrained=pretrained, random_state=0).fit(S, Y)

    save = staticmethod(skembed.save)
    load = staticmethod(skembed.load)

    @staticmethod
    def answers(model):
        return bits(model.transform([*S, "a new cat"]))


class Index:
    """SearchIndex, saved by its method."""

    @staticmethod
    def fitted(pretrained):
        return SearchIndex(8, pretrained=pretrained, random_state=0).fit(S)

    @staticmethod
    def save(model, path):
        model.save(path)

    load = staticmethod(SearchIndex.load)

    @staticmethod
    def answers(model):
        rows, scores = model.search(["a new cat", "the river"], k=40)
        return rows.tobytes(), scores.tobytes()


@pytest.fixture(params=[Vectorizer, Index])
def kind(request):
    return request.param


@pytest.mark.parametrize("pretrained", [STATIC, PretrainedVectorizer(STATIC, cache=None)])
def test_a_path_is_opened_again(kind, pretrained, tmp_path):
    model = kind.fitted(pretrained)
    kind.save(model, tmp_path / "model")
    back = kind.load(tmp_path / "model")
    assert back.pretrained == STATIC and kind.answers(back) == kind.answers(model)
    kind.save(back, tmp_path / "again")
    assert kind.answers(kind.load(tmp_path / "again", mmap=True)) == kind.answers(model)
    assert kind.answers(kind.load(tmp_path / "model", pretrained=STATIC)) == kind.answers(model)


def test_an_object_is_passed_again(kind, tmp_path):
    model = kind.fitted(Model())
    kind.save(model, tmp_path / "model")
    with pytest.raises(ValueError, match=r"does not hold, .*\.Model\. Pass it: load\(path, pretrained=model\)"):
        kind.load(tmp_path / "model")
    given = Model()
    back = kind.load(tmp_path / "model", pretrained=given)
    assert back.pretrained is given and kind.answers(back) == kind.answers(model)
    with pytest.raises(ValueError, match="gives other rows than that of the fit"):
        kind.load(tmp_path / "model", pretrained=Model(factor=2))
    with pytest.raises(ValueError, match=r"^The pretrained model cannot be used: .* is the class Model\. Pass an inst"):
        kind.load(tmp_path / "model", pretrained=Model)
    with pytest.raises(ValueError, match="rows of 8 numbers, and those were of 3"):
        own = CBOSVectorizer(8, random_state=0).fit(S)
        kind.load(tmp_path / "model", pretrained=own)


def test_rows_by_text_are_passed_again(kind, tmp_path):
    rows = dict(zip([*S, "a new cat", "the river"], rows_of([*S, "a new cat", "the river"])))
    model = kind.fitted(rows)
    kind.save(model, tmp_path / "model")
    assert kind.answers(kind.load(tmp_path / "model", pretrained=rows)) == kind.answers(model)
    assert kind.answers(kind.load(tmp_path / "model", pretrained=rows_of)) == kind.answers(model)
    with pytest.raises(ValueError, match="Pass it"):
        kind.load(tmp_path / "model")


def test_a_path_that_is_gone_is_named(kind, tmp_path):
    skembed.save(CBOSVectorizer(8, random_state=0).fit(S), tmp_path / "cbos")
    model = kind.fitted(str(tmp_path / "cbos"))
    kind.save(model, tmp_path / "model")
    (tmp_path / "cbos").rename(tmp_path / "moved")
    with pytest.raises(ValueError, match="no pretrained model at .*cbos.* If it was moved, pass its path"):
        kind.load(tmp_path / "model")
    back = kind.load(tmp_path / "model", pretrained=tmp_path / "moved")
    assert kind.answers(back) == kind.answers(model)


def test_a_model_that_is_not_needed_is_refused(kind, tmp_path):
    kind.save(kind.fitted(None), tmp_path / "model")
    with pytest.raises(ValueError, match="without a pretrained"):
        kind.load(tmp_path / "model", pretrained=rows_of)
    skembed.save(CBOSVectorizer(8, random_state=0).fit(S), tmp_path / "cbos")
    with pytest.raises(ValueError, match="is a CBOSVectorizer, which has no pretrained model"):
        skembed.load(tmp_path / "cbos", pretrained=rows_of)
