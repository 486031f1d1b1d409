"""Regular expressions in saved folders: harmless ones are used, others only if the user gives them too."""

import numpy as np
import pytest
from estimators import TEXT, learned, make

import skembed


def test_a_special_pattern_comes_from_the_user_alone(tmp_path):
    pattern = r"[a-z]+|\d"
    model = make("CBOSVectorizer", token_pattern=pattern).fit(TEXT)
    skembed.save(model, tmp_path / "model")
    with pytest.raises(ValueError, match=r"model\.json was not loaded\. .*token_pattern='\[a-z\]\+\|.*pass it again"):
        skembed.load(tmp_path / "model")
    with pytest.raises(ValueError, match="does not fit it"):
        skembed.load(tmp_path / "model", token_pattern=r"\w+")
    back = skembed.load(tmp_path / "model", token_pattern=pattern)
    assert learned(back) == learned(model)
    corpus = skembed.SentenceCorpus.from_sentences(TEXT, token_pattern=pattern)
    corpus.save(tmp_path / "corpus")
    with pytest.raises(ValueError, match="pass it again"):
        skembed.SentenceCorpus.load(tmp_path / "corpus")
    assert skembed.SentenceCorpus.load(tmp_path / "corpus", token_pattern=pattern) == corpus


@pytest.mark.parametrize("pattern", [None, r"[a-z]+|\d"])
def test_the_pattern_of_trees_is_known_and_that_of_the_parameter_may_be_given(pattern, tmp_path):
    trees = ["(S (N the cat) (V sleeps))", "(S (N a dog) (V dreams))"] * 4
    options = {"trees": "bracketed", "min_count": 1} | ({} if pattern is None else {"token_pattern": pattern})
    model = make("RecursiveAutoencoderVectorizer", **options).fit(trees)
    skembed.save(model, tmp_path / "model")
    if pattern is not None:
        with pytest.raises(ValueError, match=r"model\.json was not loaded\. .*pass it again"):
            skembed.load(tmp_path / "model")
    back = skembed.load(tmp_path / "model", token_pattern=pattern)
    assert learned(back) == learned(model)
    np.testing.assert_array_equal(back.transform(trees), model.transform(trees))
