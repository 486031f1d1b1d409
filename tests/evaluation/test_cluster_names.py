"""Names of clusters: what sets one apart is in, what all have in common is not, in any script."""

import re

import numpy as np
import pandas as pd
import pytest

from skembed import SentenceCorpus
from skembed.inspection import cluster_names

TEXTS = [
    "The battery life of the phone is good, and the battery is light.",
    "The battery life is short.",
    "The screen is bright and the colours are good.",
    "The screen of the phone is small.",
] * 3
LABELS = [0, 0, 1, 1] * 3


def test_names_are_the_terms_of_highest_weight():
    """The definition, term by term, with the names that the rule on repeated words leaves."""
    names = cluster_names(TEXTS, LABELS, n_terms=100)
    words = [re.findall(r"\w+", text.lower()) for text in TEXTS]
    own = [set(row) for row in words]
    for text, row, terms in zip(TEXTS, words, own):
        lower = text.lower()
        terms |= {f"{a} {b}" for a, b in zip(row, row[1:]) if f"{a} {b}" in lower}
    for cluster in (0, 1):
        members = [terms for terms, label in zip(own, LABELS) if label == cluster]
        weights = {}
        for term in set().union(*members):
            n, n_all = sum(term in terms for terms in members), sum(term in terms for terms in own)
            n_most = max(sum(word in terms for terms in own) for word in term.split())
            weights[term] = n * np.log((n / 6) / (n_all / 12)) * np.log(12 / n_most)
        found = [weights[term] for term in names[cluster]]
        assert found == sorted(found, reverse=True)
        assert min(found) > 0
        assert found[0] == pytest.approx(max(weights.values()))
        used = [word for term in names[cluster] for word in term.split()]
        assert len(used) == len(set(used))
        missed = {term for term, w in weights.items() if w > 1e-9} - set(names[cluster])
        assert all(set(term.split()) & set(used) for term in missed)


def test_words_of_all_clusters_are_no_names_in_any_language():
    english = cluster_names(TEXTS, LABELS)
    assert english[0][0] == "battery life"
    assert "screen" in english[1]
    assert not {"the", "is"} & {word for terms in english.values() for term in terms for word in term.split()}
    german = ["der Hund und die Katze", "die Katze, der Hund", "der Zug und die Bahn", "die Bahn, der Zug"]
    assert cluster_names(german, ["a", "a", "b", "b"]) == {"a": ["katze", "hund"], "b": ["bahn", "zug"]}


def test_scripts():
    chinese = ["猫喝牛奶", "银行借钱", "牛奶和猫", "银行有钱"]
    assert cluster_names(chinese, [0, 1, 0, 1], n_terms=2) == {0: ["牛奶", "猫"], 1: ["银行", "钱"]}
    hindi = ["हिन्दी भाषा", "हिन्दी पुस्तक", "ठंडा पानी", "पानी है"]
    assert [terms[0] for terms in cluster_names(hindi, [0, 0, 1, 1]).values()] == ["हिन्दी", "पानी"]
    thai = ["กินข้าว", "กินปลา", "ดูละคร", "ดูรถ"]
    assert cluster_names(thai, [0, 0, 1, 1], n_terms=1) == {0: ["กิน"], 1: ["ดู"]}
    assert cluster_names(["CAFE\u0301", "the", "\u0130zmir"], [0, 1, 2]) == {0: ["café"], 1: ["the"], 2: ["izmir"]}


def test_a_pair_has_only_space_between_its_words():
    texts = ["cats, dogs"] * 3 + ["milk  shake"] * 3
    assert cluster_names(texts, [0] * 3 + [1] * 3) == {0: ["cats", "dogs"], 1: ["milk shake"]}
    assert cluster_names(["red car", "blue ship"], [0, 1]) == {
        0: ["car", "red"],
        1: ["blue", "ship"],
    }  # one text has it


@pytest.mark.parametrize("noise", [-1, None, np.nan])
def test_noise_has_no_name_but_says_what_is_common(noise):
    labels = [0, 0, 1, 1] * 3 + [noise] * 6
    names = cluster_names([*TEXTS, *["The battery is flat."] * 6], labels)
    assert list(names) == [0, 1]
    assert names[0] != cluster_names(TEXTS, LABELS)[0]
    one = cluster_names(["a cat", "a cat", "a dog"], [0, 0, noise])
    assert one == {0: ["cat"]}


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, iter, SentenceCorpus.from_sentences, pd.DataFrame])
def test_every_container(kind):
    plain = ["cat sleeps", "cat eats", "bank lends", "bank pays"]
    assert cluster_names(kind(plain), pd.Series(list("xxyy")), n_terms=1) == {"x": ["cat"], "y": ["bank"]}


def test_labels_are_python_values_in_order():
    names = cluster_names(TEXTS, np.array(LABELS)[::-1] + 5)
    assert [type(label) for label in names] == [int, int]
    assert list(names) == [5, 6]
    assert cluster_names(TEXTS, LABELS) == cluster_names(TEXTS[::-1], LABELS[::-1])


def test_nothing_to_say():
    assert cluster_names(["a b"] * 3, [1, 1, 1]) == {1: []}
    assert cluster_names(["", "!"], [0, 1]) == {0: [], 1: []}
    assert cluster_names(["cat", None], [0, 1], missing="empty") == {0: ["cat"], 1: []}


@pytest.mark.parametrize(
    ("texts", "labels", "options", "error", "message"),
    [
        ("text", [0], {}, ValueError, r"Wrap it in a list: \[texts\]"),
        (TEXTS, LABELS[:3], {}, ValueError, "labels has 3 values, but there are 12 texts"),
        ([], [], {}, ValueError, "No text has a label"),
        (["a"], [-1], {}, ValueError, "No text has a label"),
        (["a", 3], [0, 1], {}, TypeError, "Row 1 is 3 of type int"),
        (["a", None], [0, 1], {}, TypeError, 'Row 1 is missing.*missing="empty"'),
        (["a", "b"], [0, "x"], {}, TypeError, "labels mixes"),
        (TEXTS, LABELS, {"n_terms": 0}, ValueError, "n_terms must be"),
        (TEXTS, LABELS, {"n_terms": 1.5}, ValueError, "n_terms must be"),
        (TEXTS, LABELS, {"missing": "drop"}, ValueError, "missing must be"),
    ],
)
def test_errors_say_what_to_do(texts, labels, options, error, message):
    with pytest.raises(error, match=message):
        cluster_names(texts, labels, **options)
