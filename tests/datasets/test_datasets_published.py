"""The readers give every row of the published files, as a second reading by other code has it."""

import csv
import shutil

import numpy as np
import pytest

from skembed.datasets._archives import read_opinosis, read_paraphrase_zip
from skembed.datasets._pairs import read_msrp, read_sick
from skembed.datasets._senteval import read_senteval, read_trec
from skembed.datasets._sts import read_sts


def rows_of(path):
    """Return the rows of a tab-separated file with a header."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


@pytest.mark.parametrize("year", [2012, 2013, 2014])
def test_sts(data_dir, year):
    sts = read_sts(data_dir / "original" / f"sts{year}", year=year)
    assert sts.n_unscored == 0
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
    sick = read_sick(data_dir / "original" / "sick", subset=subset)
    found = [
        (score, *pair, sick.entailment_names[code])
        for score, pair, code in zip(sick.target, sick.data, sick.entailment)
    ]
    assert found == [(float(row[0]), *row[1:]) for row in rows_of(data_dir / "eval" / "sts" / "sick" / f"{subset}.tsv")]


@pytest.mark.parametrize("subset", ["train", "test"])
def test_msrp(data_dir, subset, tmp_path):
    folder = data_dir / "original" / "msrp"
    msrp = read_msrp(folder, subset=subset)
    found = [(label, *pair) for label, pair in zip(msrp.target, msrp.data)]
    assert found == [(int(row[0]), *row[1:]) for row in rows_of(data_dir / "eval" / "clf" / f"MSRP.{subset}.tsv")]
    # The corpus as first published: one file for the training part.
    parts = ["train", "val"] if subset == "train" else ["test"]
    texts = [(folder / f"msr-para-{part}.tsv").read_bytes().removeprefix(b"\xef\xbb\xbf") for part in parts]
    whole = texts[0] + b"".join(text.split(b"\n", 1)[1] for text in texts[1:])
    (tmp_path / f"msr_paraphrase_{subset}.txt").write_bytes(b"\xef\xbb\xbf" + whole)
    again = read_msrp(tmp_path, subset=subset)
    assert again.data == msrp.data
    assert np.array_equal(again.target, msrp.target)


@pytest.mark.parametrize("name", ["MR", "CR", "SUBJ", "MPQA"])
def test_senteval(data_dir, name, tmp_path):
    folder = data_dir / "original" / "senteval"
    senteval = read_senteval(folder, name=name)
    labels = senteval.target_names if name == "SUBJ" else ["0", "1"]
    found = [[labels[code], text] for code, text in zip(senteval.target, senteval.data)]
    assert found == rows_of(data_dir / "eval" / "clf" / f"{name}.tsv")
    for path in folder.iterdir():  # the same files after a conversion to UTF-8, as other collections have them
        (tmp_path / path.name).write_bytes(path.read_bytes().decode("cp1252").encode())
    assert read_senteval(tmp_path, name=name).data == senteval.data


@pytest.mark.parametrize("subset", ["train", "test"])
def test_trec(data_dir, subset, tmp_path):
    folder = data_dir / "original" / "senteval"
    trec = read_trec(folder, subset=subset)
    found = [[trec.target_names[code], text] for code, text in zip(trec.target, trec.data)]
    assert found == rows_of(data_dir / "eval" / "clf" / f"TREC.{subset}.tsv")
    fine = read_trec(folder, subset=subset, fine=True)
    assert len(fine.target_names) == 50
    assert [fine.target_names[code].split(":")[0] for code in fine.target] == [label for label, _ in found]
    name = {"train": "train_5500.label", "test": "TREC_10.label"}[subset]
    shutil.copy(folder / f"TREC.{subset}", tmp_path / name)
    assert read_trec(tmp_path, subset=subset).data == trec.data


def test_trec_has_every_fine_label(data_dir):
    folder = data_dir / "original" / "senteval"
    assert set(read_trec(folder, fine=True).target) == set(range(50))


def partition(labels, sentences):
    """Return the set of groups: their numbers do not matter."""
    groups = {}
    for group, text in zip(labels, sentences):
        groups.setdefault(group, set()).add(text)
    return {frozenset(texts) for texts in groups.values()}


@pytest.mark.parametrize(("name", "n_groups"), [("msrp", 274), ("opinosis", 89)])
def test_paraphrase_groups(data_dir, name, n_groups):
    groups = read_paraphrase_zip(data_dir / "original" / "semantic" / f"{name}_paraphrase_grouped.zip")
    expected = rows_of(data_dir / "eval" / "clf" / f"{name}_groups.tsv")
    assert len(groups.data) == len(expected) == len({text for _, text in expected})
    assert partition(groups.target, groups.data) == partition(*zip(*expected))
    assert len(groups.target_names) == n_groups
    assert np.array_equal(np.unique(groups.target), np.arange(n_groups))
    assert np.bincount(groups.target).min() == 3


def test_paraphrase_groups_of_any_size(data_dir):
    path = data_dir / "original" / "semantic" / "opinosis_paraphrase_grouped.zip"
    groups = read_paraphrase_zip(path, min_group_size=1)
    assert (len(groups.data), len(groups.target_names)) == (669, 163)


def test_opinosis(data_dir):
    opinosis = read_opinosis(data_dir / "original" / "opinosis" / "OpinosisDataset1.0_0.zip")
    found = [[opinosis.target_names[code], text] for code, text in zip(opinosis.target, opinosis.data)]
    assert found == rows_of(data_dir / "eval" / "clf" / "opinosis_topics.tsv")
