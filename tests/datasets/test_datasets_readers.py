"""The readers on small files: every form that was published, and what they say about files that are wrong."""

import os
import re

import numpy as np
import pytest

from skembed.datasets._archives import read_opinosis, read_paraphrase_zip
from skembed.datasets._files import description
from skembed.datasets._pairs import read_msrp, read_sick
from skembed.datasets._senteval import read_senteval, read_trec
from skembed.datasets._sts import read_sts, read_sts_benchmark

STS_2015 = ["answers-forums", "answers-students", "belief", "headlines", "images"]
STS_2016 = ["answer-answer", "headlines", "plagiarism", "postediting", "question-question"]
SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
MSRP_HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"


def write(folder, files):
    """Write files, text as UTF-8, without touching line ends."""
    for name, content in files.items():
        content = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(content)
    return folder


def sts_files(names, pairs="A cat.\tA dog.\nIt rains.\tRain falls.\n", gold="1.25\n5\n", prefix="STS"):
    """Return the files of a year, the same content for each subset."""
    return {f"{prefix}.{kind}.{n}.txt": text for n in names for kind, text in (("input", pairs), ("gs", gold))}


def year_2013(**changes):
    """Return the files of 2013, and `changes` in those of one subset."""
    return {**sts_files(["headlines", "OnWN"]), **sts_files(["FNWN"], **changes)}


def test_sts(tmp_path):
    files = {**year_2013(), "STS.gs.OnWN.txt": "0\n3.8\n", "STS.input.OnWN.txt": "a\tb\r\n\u201cc \x85 \t d\x12s\r\n"}
    sts = read_sts(write(tmp_path, files), year=2013, complete=False)
    assert sts.data == [
        ("A cat.", "A dog."),
        ("It rains.", "Rain falls."),
        ("a", "b"),
        ("\u201cc \u2026", "d s"),  # byte 0x85 of Windows is an ellipsis; the other control character goes
        ("A cat.", "A dog."),
        ("It rains.", "Rain falls."),
    ]
    assert np.array_equal(sts.target, [1.25, 5, 0, 3.8, 1.25, 5])
    assert sts.target.dtype == np.float64
    assert sts.subset.tolist() == ["headlines"] * 2 + ["OnWN"] * 2 + ["FNWN"] * 2
    assert sts.subset_names == ["headlines", "OnWN", "FNWN"]
    assert sts.n_unscored == 0


def test_sts_set_that_is_not_free_is_read_where_it_is(tmp_path):
    write(tmp_path, year_2013())
    write(tmp_path, sts_files(["SMT"]))
    assert read_sts(tmp_path, year=2013, complete=False).subset_names == ["headlines", "OnWN", "FNWN", "SMT"]
    (tmp_path / "STS.gs.SMT.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"no file STS\.gs\.SMT\.txt, which cannot be downloaded") as error:
        read_sts(tmp_path, year=2013, complete=False)
    assert "downloads what is missing" not in str(error.value)


@pytest.mark.parametrize(
    ("year", "names", "prefix"), [(2015, STS_2015, "STS"), (2016, STS_2016, "STS2016"), (2016, STS_2016, "STS")]
)
def test_sts_pairs_without_gold_score(tmp_path, year, names, prefix):
    files = sts_files(
        names,
        pairs="A cat.\tA dog.\thttp://one\thttp://two\nIt rains.\tRain falls.\nIt snows.\tSnow falls.\t\t\n",
        gold="\n4.5\n \n",
        prefix=prefix,
    )
    sts = read_sts(write(tmp_path, files), year=year, complete=False)
    assert sts.data == [("It rains.", "Rain falls.")] * 5
    assert sts.target.tolist() == [4.5] * 5
    assert sts.subset.tolist() == sts.subset_names == names
    assert sts.n_unscored == 10


def test_sts_counts_of_2016(tmp_path):
    """A file as long as the published one with as many scores passes, and one score less does not."""
    published = {
        "answer-answer": (1572, 254),
        "headlines": (1498, 249),
        "plagiarism": (1271, 230),
        "postediting": (3287, 244),
        "question-question": (1555, 209),
    }
    for name, (n_pairs, n_scored) in published.items():
        gold = "\n" * (n_pairs - n_scored) + "3\n" * n_scored
        write(tmp_path, sts_files([name], pairs="a\tb\tc\td\n" * n_pairs, gold=gold, prefix="STS2016"))
    sts = read_sts(tmp_path, year=2016)
    assert (len(sts.data), sts.n_unscored) == (1186, 7997)
    path = tmp_path / "STS2016.gs.plagiarism.txt"
    path.write_bytes(b"\n" + path.read_bytes().removesuffix(b"3\n"))
    with pytest.raises(ValueError, match=r"gs\.plagiarism\.txt: found 229 gold scores, the published file has 230"):
        read_sts(tmp_path, year=2016)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pairs": "one\ttwo\nonly one\n"}, r"input\.FNWN\.txt, line 2: expected 2 columns between tabs, found 1"),
        ({"pairs": "one\ttwo\na\tb\tc\n"}, r"input\.FNWN\.txt, line 2: expected 2 columns between tabs, found 3"),
        ({"pairs": b"one\ttwo\na\t\xe9\n"}, r"input\.FNWN\.txt, line 2: byte 0xe9 is not UTF-8"),
        ({"gold": "1\nhigh\n"}, r"gs\.FNWN\.txt, line 2: the score must be a number, got 'high'"),
        ({"gold": "1\n\n"}, r"gs\.FNWN\.txt, line 2: the score must be a number, got ''"),
        ({"gold": "5.1\n1\n"}, r"gs\.FNWN\.txt, line 1: the score must lie between 0 and 5, got 5\.1"),
        ({"gold": "1\nnan\n"}, r"gs\.FNWN\.txt, line 2: the score must lie between 0 and 5, got nan"),
        ({"gold": "1\n"}, r"input\.FNWN\.txt has 2 lines, but .*gs\.FNWN\.txt has 1"),
    ],
)
def test_sts_errors(tmp_path, changes, reason):
    with pytest.raises(ValueError, match=reason):
        read_sts(write(tmp_path, year_2013(**changes)), year=2013, complete=False)


def test_sts_benchmark(tmp_path):
    rows = [
        'main-captions\tMSRvid\t2012test\t0001\t5.000\tA "plane.\tAn air plane.',
        "main-news\theadlines\t2016\t0002\t0.200\tOne.\tTwo.\thttp://one\thttp://two",
    ]
    path = write(tmp_path, {"sts-dev.csv": "\n".join(rows) + "\n"}) / "sts-dev.csv"
    sts = read_sts_benchmark(path)
    assert sts.data == [('A "plane.', "An air plane."), ("One.", "Two.")]
    assert sts.target.tolist() == [5, 0.2]
    assert sts.subset.tolist() == sts.subset_names == ["main-captions", "main-news"]
    assert sts.n_unscored == 0
    path.write_text("\n".join([rows[0]] * 1500))  # without a line feed at the end
    assert len(read_sts_benchmark(path).data) == 1500
    path.write_text("\n".join([*rows, "main-news\theadlines\t2016\t3\t1.0\tOne."]))
    with pytest.raises(ValueError, match=r"sts-dev\.csv, line 3: expected 7 to 20 columns between tabs, found 6"):
        read_sts_benchmark(path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sick(tmp_path, end):
    text = SICK_HEADER + "1\tA man runs \tA man walks\t3.5\tNEUTRAL\n2\ta\tb\t1\tCONTRADICTION\n"
    write(tmp_path, {"SICK_test_annotated.txt": text.replace("\n", end)})
    sick = read_sick(tmp_path, subset="test", complete=False)
    assert sick.data == [("A man runs", "A man walks"), ("a", "b")]
    assert sick.target.tolist() == [3.5, 1]
    assert [sick.entailment_names[code] for code in sick.entailment] == ["NEUTRAL", "CONTRADICTION"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: the header must be 'pair_ID.*', got ''"),
        ("1\ta\tb\t1\tNEUTRAL\n", "line 1: the header must be"),
        (SICK_HEADER + "1\ta\tb\t0.5\tNEUTRAL\n", "line 2: the score must lie between 1 and 5"),
        (SICK_HEADER + "1\ta\tb\t1\tMAYBE\n", "line 2: unknown label 'MAYBE'; the labels are CONTRADICTION, ENTAIL"),
        (SICK_HEADER + "1\ta\tb\t1\n", "line 2: expected 5 columns between tabs, found 4"),
        (SICK_HEADER + "1\ta\tb\t1\tNEUTRAL\n", r"found 1 rows, the published file has 4500; .* complete=False"),
    ],
)
def test_sick_errors(tmp_path, text, reason):
    write(tmp_path, {"SICK_train.txt": text})
    with pytest.raises(ValueError, match=r"SICK_train\.txt(, |: )" + reason):
        read_sick(tmp_path)


def test_msrp(tmp_path):
    train = "\ufeff" + MSRP_HEADER + '1\t1\t2\tHe said "yes.\tHe agreed.\r\n'
    write(tmp_path, {"msr-para-train.tsv": train.replace("String\n", "String\r\n")})
    with pytest.raises(FileNotFoundError, match=r"has no file msr-para-val\.tsv; skembed\.datasets\.fetch_msrp"):
        read_msrp(tmp_path, complete=False)
    write(tmp_path, {"msr-para-val.tsv": MSRP_HEADER + "0\t3\t4\ta\tb\n"})
    msrp = read_msrp(tmp_path, complete=False)
    assert msrp.data == [('He said "yes.', "He agreed."), ("a", "b")]
    assert [msrp.target_names[code] for code in msrp.target] == ["paraphrase", "no paraphrase"]
    with pytest.raises(ValueError, match=r"train\.tsv and .*val\.tsv: found 2 rows, the published file has 4076"):
        read_msrp(tmp_path)
    write(tmp_path, {"msr_paraphrase_test.txt": MSRP_HEADER + "2\t3\t4\ta\tb\n"})
    with pytest.raises(ValueError, match=r"msr_paraphrase_test\.txt, line 2: unknown label '2'; the labels are 0, 1"):
        read_msrp(tmp_path, subset="test")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_senteval(tmp_path, encoding):
    text = "caf\u00e9 \u2014 no \n\n \u2026 \n"  # an empty sentence is a sentence
    write(tmp_path, {"mpqa.neg": text.encode(encoding), "mpqa.pos": "good\n"})
    mpqa = read_senteval(tmp_path, name="MPQA", complete=False)
    assert mpqa.data == ["caf\u00e9 \u2014 no", "", "\u2026", "good"]
    assert [mpqa.target_names[code] for code in mpqa.target] == ["negative"] * 3 + ["positive"]
    assert mpqa.target.dtype == np.int64
    with pytest.raises(ValueError, match=r"mpqa\.neg: found 3 lines, the published file has 7294"):
        read_senteval(tmp_path, name="MPQA")


def test_senteval_bytes_that_mean_nothing(tmp_path):
    write(tmp_path, {"subj.objective": b"one\ntwo\x81\n", "subj.subjective": "three\n"})
    with pytest.raises(ValueError, match=r"subj\.objective, line 2: byte 0x81 is neither UTF-8 nor Windows-1252"):
        read_senteval(tmp_path, name="SUBJ", complete=False)


def test_trec(tmp_path):
    write(tmp_path, {"TREC.train": b"HUM:title Who is \xf0e man ?\nNUM:date When : now ?\nHUM:ind\n"})
    trec = read_trec(tmp_path, complete=False)
    assert trec.data == ["Who is \u00f0e man ?", "When : now ?", ""]
    assert [trec.target_names[code] for code in trec.target] == ["HUM", "NUM", "HUM"]
    assert trec.target_names == ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]
    fine = read_trec(tmp_path, fine=True, complete=False)
    assert [fine.target_names[code] for code in fine.target] == ["HUM:title", "NUM:date", "HUM:ind"]
    assert fine.target_names == sorted(fine.target_names)
    write(tmp_path, {"TREC.test": "HUM:ind Who ?\nHUM:age How old ?\n"})
    with pytest.raises(ValueError, match=r"TREC\.test, line 2: unknown label 'HUM:age'; the labels are ABBR:abb, "):
        read_trec(tmp_path, subset="test", complete=False)


@pytest.mark.parametrize(
    ("read", "files", "source"),
    [
        (read_sts, "STS.input.MSRpar.txt", "fetch_sts(year=2012)"),
        (read_sick, "SICK_train.txt", "fetch_sick(subset='train')"),
        (read_msrp, "msr-para-train.tsv or msr_paraphrase_train.txt", "fetch_msrp(subset='train')"),
        (read_senteval, "rt-polarity.neg", "fetch_senteval(name='MR')"),
        (read_trec, "TREC.train or train_5500.label", "fetch_trec(subset='train')"),
    ],
)
def test_missing_files(tmp_path, read, files, source):
    with pytest.raises(
        FileNotFoundError, match=re.escape(f"{tmp_path} has no file {files}; skembed.datasets.{source}")
    ):
        read(tmp_path)
    with pytest.raises(FileNotFoundError, match=re.escape(f"{tmp_path / 'none'} is not a folder")):
        read(tmp_path / "none")


@pytest.mark.parametrize("read", [read_sts_benchmark, read_paraphrase_zip, read_opinosis])
def test_missing_file(tmp_path, read):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match=re.escape(f"{tmp_path} is a folder; give the path of a file in it")):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
@pytest.mark.parametrize("read", [read_sts_benchmark, read_paraphrase_zip, read_opinosis, read_sick, read_trec])
def test_a_pipe_is_not_waited_for(tmp_path, read):
    for name in ("SICK_train.txt", "train_5500.label", "set"):
        os.mkfifo(tmp_path / name)
    path = tmp_path if read in (read_sick, read_trec) else tmp_path / "set"
    with pytest.raises((ValueError, FileNotFoundError), match="set is a pipe, not a regular file|has no file"):
        read(path)


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path, {"SICK_train.txt": SICK_HEADER + "1\tA cat.\tA dog.\t3.5\tNEUTRAL\n"})
    assert len(read_sick("~", subset="train", complete=False).data) == 1
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "nowhere"))):
        read_opinosis("~/nowhere")
    with pytest.raises(FileNotFoundError, match=re.escape(f"{tmp_path} has no file")):
        read_sts("~", year=2015)


@pytest.mark.parametrize(
    ("read", "option"),
    [
        (read_sts, {"year": "2012"}),
        (read_sick, {"subset": "dev"}),
        (read_msrp, {"subset": ["train"]}),
        (read_senteval, {"name": "mr"}),
        (read_trec, {"subset": None}),
    ],
)
def test_unknown_parts(tmp_path, read, option):
    name, value = next(iter(option.items()))
    with pytest.raises(ValueError, match=f"{name} must be one of .*, got {re.escape(repr(value))}"):
        read(tmp_path, **option)


@pytest.mark.parametrize(
    "name",
    ["cr", "mpqa", "mr", "msrp", "msrp_groups", "opinosis", "opinosis_groups", "sick", "sts", "sts_benchmark", "subj"]
    + ["trec", "image_captions", "ppdb_lexicon"],
)
def test_descriptions(name):
    text = description(name)
    for heading in ("**Figures**", "**Source.**", "**Licence.**", "**Citation"):
        assert heading in text
