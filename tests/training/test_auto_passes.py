"""`max_iter="auto"`: the number of passes follows from the words of the text, and changes nothing else of a fit."""

import inspect
import re

import numpy as np
import pytest
from estimators import GROUPS, PUBLIC, TEXT, TRAINED_CLASSES, corpus, default, learned, make
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from test_checkpoints import killed_after

from skembed import SiameseCBOWVectorizer, TargetVectorizer
from skembed._training.passes import AutoPasses
from skembed.datasets import load_docstrings

OF_A_NUMBER = ["CBOSVectorizer", "RecursiveAutoencoderVectorizer"]  # more passes over a short text gained nothing
AUTOMATIC = [name for name in TRAINED_CLASSES if default(type(make(name))).max_iter == "auto"]
automatic = pytest.mark.parametrize("name", AUTOMATIC)


@pytest.fixture
def one_to_four(monkeypatch):
    """Let "auto" be three passes over TEXT, four over a shorter text and one over a longer one."""
    n_words = 3 * corpus().n_tokens - 1
    for name in AUTOMATIC:
        monkeypatch.setattr(type(make(name)), "_auto_passes", AutoPasses(n_words, least=1, most=4))


def fit(estimator, **options):
    return estimator.fit(TEXT, groups=GROUPS, **options)


def test_it_is_the_default_of_all_that_gained_by_it():
    assert len(AUTOMATIC) == 12 and not set(OF_A_NUMBER) & set(AUTOMATIC)


@automatic
def test_the_docstring_says_how_many(name):
    cls = PUBLIC[name]
    text = " ".join(
        re.search(r'max_iter : int or "auto", default="auto"\n(.*?)\n\w', inspect.getdoc(cls), re.DOTALL)[1].split()
    )
    n_words = cls._auto_passes.n_words // 1_000_000
    words = f"{n_words} million words" if n_words > 1 else "a million words"
    passes = cls._auto_passes
    assert f'"auto" reads {words} in all, in {passes.least} to {passes.most} passes' in text


@pytest.mark.parametrize(
    ("n_tokens", "n_passes"), [(0, 20), (157_894, 20), (157_895, 19), (311_000, 10), (599_999, 6), (600_000, 5)]
)
def test_short_texts(n_tokens, n_passes):
    assert AutoPasses().over(n_tokens) == n_passes


@automatic
def test_over_long_text_it_is_what_it_was_tuned_for(name):
    """A text of 160,000 sentences, and one of 16 million words."""
    least = {"TargetVectorizer": 8, "ParagraphVectorizer": 10}.get(name, 5)
    assert {PUBLIC[name]._auto_passes.over(n) for n in (2_500_000, 16_000_000)} == {least}


@automatic
def test_a_shorter_text_has_more_passes(name, one_to_four):
    estimator = fit(make(name, max_iter="auto"))
    assert estimator.n_iter_ == len(estimator.loss_curve_) == 3
    assert learned(estimator) == learned(fit(make(name, max_iter=3)))
    assert make(name, max_iter="auto").fit(TEXT[:45], groups=GROUPS[:45]).n_iter_ == 4
    assert make(name, max_iter="auto").fit(TEXT * 4, groups=GROUPS * 4).n_iter_ == 1


@automatic
def test_the_rest_of_a_fit_hears_of_the_passes(name, one_to_four, capsys, tmp_path):
    expected = fit(make(name, max_iter="auto", verbose=1))
    assert "pass 1/3" in capsys.readouterr().out
    broken = make(name, max_iter="auto")
    with killed_after(2):
        fit(broken, checkpoint=tmp_path / "state")
    assert learned(fit(broken, checkpoint=tmp_path / "state")) == learned(expected)
    assert fit(make(name, max_iter="auto", early_stopping=True, n_iter_no_change=9)).n_iter_ == 3
    again = fit(fit(make(name, max_iter="auto", warm_start=True)))
    assert again.n_iter_ == 6 and again.partial_fit(TEXT, groups=GROUPS).n_iter_ == 7
    assert clone(again).max_iter == "auto"
    assert again.estimate_memory(TEXT)["total"] == again.set_params(max_iter=3).estimate_memory(TEXT)["total"]


def test_classes_need_no_more():
    y = np.arange(len(TEXT)) % 3
    assert SiameseCBOWVectorizer(6, min_count=1).fit(TEXT, y).n_iter_ == 5
    assert SiameseCBOWVectorizer(6, min_count=1).fit(TEXT, groups=GROUPS).n_iter_ == 20


@pytest.mark.parametrize(("name", "value"), [*((name, "auto") for name in OF_A_NUMBER), ("Sent2VecVectorizer", "all")])
def test_other_words_are_refused(name, value):
    with pytest.raises(ValueError, match=f"'max_iter' parameter of {name} must be"):
        make(name, max_iter=value).fit(TEXT)


def test_a_student_of_few_sentences_comes_close_to_its_teacher():
    text = load_docstrings(packages=("sklearn",)).data
    sentences = [text[i] for i in np.random.default_rng(0).permutation(len(text))[:2000]]
    teacher = make_pipeline(TfidfVectorizer(min_df=3), TruncatedSVD(50, random_state=0))
    targets = teacher.fit_transform(sentences)
    known = np.linalg.norm(targets, axis=1) > 1e-6
    sentences, targets = [s for s, is_known in zip(sentences, known) if is_known], targets[known]

    def agreement(**options):
        student = TargetVectorizer(50, random_state=0, **options).fit(sentences[300:], targets[300:])
        return np.corrcoef(cosines(student.transform(sentences[:300])), cosines(targets[:300]))[0, 1]

    assert agreement() > agreement(max_iter=8) + 0.15


def cosines(rows):
    """Cosines of all pairs of rows."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return (rows @ rows.T)[np.triu_indices(len(rows), 1)]
