"""The readers give every row of the published files, as a second reading by other code has it."""

import csv

import numpy as np
import pytest

from skembed.datasets._archives import read_opinosis, read_paraphrase_groups
from skembed.datasets._pairs import read_msrp, read_sick
from skembed.datasets._senteval import read_senteval, read_trec
from skembed.datasets._sts import read_sts


def rows_of(path):
    """Return the rows of a tab-separated file with a header."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


@pytest.mark.parametrize("year", [2012, 2013, 2014])
def test_sts(data_dir, year):
    sts = read_sts(data_dir / "original", year=year)
    files = sorted((data_dir / "eval" / "sts" / str(year)).glob("*.tsv"))
    assert sorted(sts.subset_names) == [path.stem for path in files]
    for path in files:
        kept = np.flatnonzero(sts.subset == path.stem)
        assert np.all(np.diff(kept) == 1)
        expected = rows_of(path)
        assert [(float(score), first, second) for score, first, second in expected] == [
            (sts.target[row], *sts.data[row]) for row in kept
        ]


@pytest.mark.parametrize("subset", ["train", "trial", "test"])
def test_sick(data_dir, subset):
    sick = read_sick(data_dir / "original", subset=subset)
    found = [
        (score, *pair, sick.entailment_names[code])
        for score, pair, code in zip(sick.target, sick.data, sick.entailment)
    ]
    assert found == [(float(row[0]), *row[1:]) for row in rows_of(data_dir / "eval" / "sts" / "sick" / f"{subset}.tsv")]


@pytest.mark.parametrize("subset", ["train", "test"])
def test_msrp(data_dir, subset):
    msrp = read_msrp(data_dir / "original", subset=subset)
    found = [(label, *pair) for label, pair in zip(msrp.target, msrp.data)]
    assert found == [(int(row[0]), *row[1:]) for row in rows_of(data_dir / "eval" / "clf" / f"MSRP.{subset}.tsv")]


@pytest.mark.parametrize("name", ["MR", "CR", "SUBJ", "MPQA"])
def test_senteval(data_dir, name):
    senteval = read_senteval(data_dir / "original", name=name)
    labels = senteval.target_names if name == "SUBJ" else ["0", "1"]
    found = [[labels[code], text] for code, text in zip(senteval.target, senteval.data)]
    assert found == rows_of(data_dir / "eval" / "clf" / f"{name}.tsv")


@pytest.mark.parametrize("subset", ["train", "test"])
def test_trec(data_dir, subset):
    folder = data_dir / "original"
    trec = read_trec(folder, subset=subset)
    found = [[trec.target_names[code], text] for code, text in zip(trec.target, trec.data)]
    assert found == rows_of(data_dir / "eval" / "clf" / f"TREC.{subset}.tsv")
    fine = read_trec(folder, subset=subset, fine=True)
    assert len(fine.target_names) == 50
    assert [fine.target_names[code].split(":")[0] for code in fine.target] == [label for label, _ in found]


def test_trec_has_every_fine_label(data_dir):
    assert set(read_trec(data_dir / "original", subset="train", fine=True).target) == set(range(50))


def partition(labels, sentences):
    """Return the set of groups: their numbers do not matter."""
    groups = {}
    for group, text in zip(labels, sentences):
        groups.setdefault(group, set()).add(text)
    return {frozenset(texts) for texts in groups.values()}


@pytest.mark.parametrize(("name", "n_groups"), [("msrp", 274), ("opinosis", 89)])
def test_paraphrase_groups(data_dir, name, n_groups):
    groups = read_paraphrase_groups(data_dir / "original", name=name)
    expected = rows_of(data_dir / "eval" / "clf" / f"{name}_groups.tsv")
    assert len(groups.data) == len(expected) == len({text for _, text in expected})
    assert partition(groups.target, groups.data) == partition(*zip(*expected))
    assert len(groups.target_names) == n_groups
    assert np.array_equal(np.unique(groups.target), np.arange(n_groups))
    assert np.bincount(groups.target).min() == 3


def test_opinosis(data_dir):
    opinosis = read_opinosis(data_dir / "original")
    found = [[opinosis.target_names[code], text] for code, text in zip(opinosis.target, opinosis.data)]
    assert found == rows_of(data_dir / "eval" / "clf" / "opinosis_topics.tsv")
