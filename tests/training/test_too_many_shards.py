"""How many shards a text bears, as far as that was measured, and the warning of more."""

import warnings

import pytest
from estimators import PUBLIC, corpus, make

from skembed._shards.plan import MergeSchedule

# Rounds of a pass; tokens of a round, if the text is long; the fewest tokens of a shard; kappa, if the text is long.
PACES = {
    "CBOSVectorizer": (4, None, 10**6, 1),
    "SiameseCBOWVectorizer": (16, None, 10**6, 1),
    "Sent2VecVectorizer": (16, None, 250_000, 1),
    "FastSentVectorizer": (128, 250_000, 10**6, 1),
    "Word2VecVectorizer": (64, 125_000, 10**6, 4),
    "ParagraphVectorizer": (64, 125_000, 250_000, 1),
}


def test_paces_are_those_of_the_tables_of_the_page():
    found = {name: getattr(value, "_pace", None) for name, value in PUBLIC.items()}
    expected = {
        name: MergeSchedule(fewest, most or MergeSchedule().most_tokens, least, farthest)
        for name, (fewest, most, least, farthest) in PACES.items()
    }
    assert {name: pace for name, pace in found.items() if pace is not None} == expected


@pytest.mark.parametrize(
    ("least", "expected"), [(10**6, [1, 1, 2, 15, 16, 16, 16, 16]), (250_000, [1, 7, 8, 63, 64, 64, 16, 16])]
)
def test_most_shards_are_those_that_were_measured(least, expected):
    """64 of a quarter of a million words were on 16 million words, and no more than 16 on a long text."""
    lengths = 999, 2 * 10**6 - 1, 2 * 10**6, 16 * 10**6 - 1, 16 * 10**6, 2 * 10**7 - 1, 2 * 10**7, 10**10
    assert [MergeSchedule(least_of_shard=least).shards_of(n) for n in lengths] == expected


def test_a_fit_warns_of_short_shards():
    match = r"n_shards=3 leaves each shard 2.. words .* fewer than 1,000,000, CBOS.* use at most n_shards=1\.$"
    with pytest.warns(UserWarning, match=match):
        make("CBOSVectorizer", n_shards=3).fit(corpus())


@pytest.mark.parametrize("name", PACES)
@pytest.mark.parametrize("n_tokens", [10**6, 16 * 10**6, 19 * 10**6, 10**8])
def test_a_warning_says_which_limit_it_is(name, n_tokens):
    model, least = make(name), PACES[name][2]
    most = model._pace.shards_of(n_tokens)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model._pace.warn_of(name, n_tokens, most)
    for n_shards in {most + 1, 4 * most, n_tokens // least, n_tokens // least + 1} - {most}:
        is_short = n_tokens < n_shards * least
        problem = "leaves each shard .* With fewer than" if is_short else f"is more than was tried .*: {most}, of"
        with pytest.warns(UserWarning, match=f"n_shards={n_shards} {problem} .*use at most n_shards={most}"):
            model._pace.warn_of(name, n_tokens, n_shards)
