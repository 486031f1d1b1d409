"""The readers on small files, in every form that was published."""

import gzip
import zipfile
from itertools import combinations

import numpy as np
import pytest

from skembed.datasets import _training_pairs
from skembed.datasets._archives import read_opinosis, read_paraphrase_groups
from skembed.datasets._download import sources
from skembed.datasets._files import description
from skembed.datasets._pairs import read_msrp, read_sick
from skembed.datasets._senteval import read_senteval, read_trec
from skembed.datasets._sts import read_sts, read_sts_benchmark
from skembed.datasets._training_pairs import read_image_captions, read_ppdb_lexicon

SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
MSRP_HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"


def write(folder, files):
    """Write files, text as UTF-8, without touching line ends."""
    for name, content in files.items():
        content = content if isinstance(content, bytes) else content.encode()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def pack(path, members):
    """Write a zip archive."""
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def sts_files(year, pairs="A cat.\tA dog.\nIt rains.\tRain falls.\n", gold="1.25\n5\n"):
    """Return the files of a year, the same content for each subset."""
    return {file: pairs if ".input." in file else gold for file in sources() if file.startswith(f"sts{year}/")}


def test_sts(tmp_path):
    files = sts_files(2013)
    files |= {"sts2013/STS.gs.OnWN.txt": "0\n3.8\n", "sts2013/STS.input.OnWN.txt": "a\tb\r\n\u201cc \x85 \t d\x12s\r\n"}
    sts = read_sts(write(tmp_path, files), year=2013)
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


@pytest.mark.parametrize(
    ("year", "names"),
    [
        (2012, ["MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"]),
        (2014, ["deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"]),
        (2015, ["answers-forums", "answers-students", "belief", "headlines", "images"]),
        (2016, ["answer-answer", "headlines", "plagiarism", "postediting", "question-question"]),
    ],
)
def test_sts_sets_in_the_order_of_the_reports(tmp_path, year, names):
    pairs = "A cat.\tA dog.\thttp://one\thttp://two\nIt rains.\tRain falls.\nIt snows.\tSnow falls.\t\t\n"
    sts = read_sts(write(tmp_path, sts_files(year, pairs, gold="\n4.5\n \n")), year=year)
    assert sts.data == [("It rains.", "Rain falls.")] * len(names)  # pairs without a gold score are left out
    assert sts.target.tolist() == [4.5] * len(names)
    assert sts.subset.tolist() == sts.subset_names == names


def test_sts_benchmark(tmp_path):
    rows = [
        'main-captions\tMSRvid\t2012test\t0001\t5.000\tA "plane.\tAn air plane.',
        "main-news\theadlines\t2016\t0002\t0.200\tOne.\tTwo.\thttp://one\thttp://two",
    ]
    write(tmp_path, {"stsb/sts-dev.csv": "\n".join(rows) + "\n"})
    sts = read_sts_benchmark(tmp_path, subset="dev")
    assert sts.data == [('A "plane.', "An air plane."), ("One.", "Two.")]
    assert sts.target.tolist() == [5, 0.2]
    assert sts.subset.tolist() == sts.subset_names == ["main-captions", "main-news"]
    write(tmp_path, {"stsb/sts-test.csv": "\n".join([rows[0]] * 1379)})  # without a line feed at the end
    assert len(read_sts_benchmark(tmp_path, subset="test").data) == 1379


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sick(tmp_path, end):
    text = SICK_HEADER + "1\tA man runs \tA man walks\t3.5\tNEUTRAL\n2\ta\tb\t1\tCONTRADICTION\n"
    write(tmp_path, {"sick/SICK_test_annotated.txt": text.replace("\n", end)})
    sick = read_sick(tmp_path, subset="test")
    assert sick.data == [("A man runs", "A man walks"), ("a", "b")]
    assert sick.target.tolist() == [3.5, 1]
    assert [sick.entailment_names[code] for code in sick.entailment] == ["NEUTRAL", "CONTRADICTION"]


def test_msrp(tmp_path):
    train = "\ufeff" + MSRP_HEADER + '1\t1\t2\tHe said "yes.\tHe agreed.\r\n'
    files = {"msrp/msr-para-train.tsv": train, "msrp/msr-para-val.tsv": MSRP_HEADER + "0\t3\t4\ta\tb\n"}
    msrp = read_msrp(write(tmp_path, files), subset="train")
    assert msrp.data == [('He said "yes.', "He agreed."), ("a", "b")]
    assert [msrp.target_names[code] for code in msrp.target] == ["paraphrase", "no paraphrase"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_senteval(tmp_path, encoding):
    text = "caf\u00e9 \u2014 no \n\n \u2026 \n"  # an empty sentence is a sentence
    write(tmp_path, {"senteval/mpqa.neg": text.encode(encoding), "senteval/mpqa.pos": "good\n"})
    mpqa = read_senteval(tmp_path, name="MPQA")
    assert mpqa.data == ["caf\u00e9 \u2014 no", "", "\u2026", "good"]
    assert [mpqa.target_names[code] for code in mpqa.target] == ["negative"] * 3 + ["positive"]
    assert mpqa.target.dtype == np.int64


def test_trec(tmp_path):
    write(tmp_path, {"senteval/TREC.train": b"HUM:title Who is \xf0e man ?\nNUM:date When : now ?\nHUM:ind\n"})
    trec = read_trec(tmp_path, subset="train")
    assert trec.data == ["Who is \u00f0e man ?", "When : now ?", ""]
    assert [trec.target_names[code] for code in trec.target] == ["HUM", "NUM", "HUM"]
    assert trec.target_names == ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]
    fine = read_trec(tmp_path, subset="train", fine=True)
    assert [fine.target_names[code] for code in fine.target] == ["HUM:title", "NUM:date", "HUM:ind"]
    assert fine.target_names == sorted(fine.target_names)


def test_paraphrase_groups(tmp_path):
    phrases = "".join(f"sentence {number}\n" for number in range(7))
    order = [(0, 30), (2, 30), (1, 7), (3, 30), (6, 9), (4, 9), (5, 9)]  # as rows stand in no order
    table = "phrase_index,paraphrase_group_index\n" + "".join(f"{row},{group}\n" for row, group in order)
    members = {"msrp_distribute/phrases.txt": phrases, "msrp_distribute/phrase_groups.csv": table}
    pack(tmp_path / "semantic" / "msrp_paraphrase_grouped.zip", members)
    groups = read_paraphrase_groups(tmp_path, name="msrp")
    assert groups.data == [f"sentence {number}" for number in (0, 2, 3, 4, 5, 6)]
    assert [groups.target_names[code] for code in groups.target] == ["30"] * 3 + ["9"] * 3


def test_opinosis(tmp_path):
    members = {
        "topics/": "",
        "topics/room_inn.txt.data": b" It\x92s small . \r\n\r\n, and clean .\r\n",
        "topics/food_inn.txt.data": "Good .",
        "summaries-gold/room_inn/room_inn.1.gold": "It is small.",
    }
    pack(tmp_path / "opinosis" / "OpinosisDataset1.0_0.zip", members)
    opinosis = read_opinosis(tmp_path)
    assert opinosis.data == ["Good .", "It\u2019s small .", ", and clean ."]
    assert [opinosis.target_names[code] for code in opinosis.target] == ["food_inn", "room_inn", "room_inn"]


def test_ppdb_lexicon(tmp_path):
    text = "film movie picture\nmovie film cinema\nfilm picture film\nalone\n\nsoir\u00e9e evening\n"
    pairs = [("film", "movie"), ("film", "picture"), ("movie", "cinema"), ("soir\u00e9e", "evening")]
    assert read_ppdb_lexicon(write(tmp_path, {"ppdb/ppdb-xl.txt": text})).data == pairs


def test_image_captions(tmp_path, monkeypatch):
    monkeypatch.setattr(_training_pairs, "_evaluation_images", lambda: np.array([1, 28_999]))
    texts = ["A dog.\nA cat.\nA cow.\n", "Dog\nCat\nCow\n", "d\nc\nw\n", "D\nC\nW\n", "1\n2\n3\n"]
    files = {f"image_captions/train.{i}.en.gz": gzip.compress(text.encode()) for i, text in enumerate(texts, 1)}
    whole = read_image_captions(write(tmp_path, files), remove_evaluation=False)
    assert whole.data[:6] == ["A dog.", "Dog", "d", "D", "1", "A cat."]
    assert whole.target.dtype == np.int64
    assert whole.target.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    kept = read_image_captions(tmp_path, remove_evaluation=True)
    assert kept.target.tolist() == [0] * 5 + [2] * 5
    assert kept.data == whole.data[:5] + whole.data[10:]
    # The pairs are those of the groups.
    assert kept.pairs == [*combinations(kept.data[:5], 2), *combinations(kept.data[5:], 2)]


def test_evaluation_images():
    images = _training_pairs._evaluation_images()
    assert len(images) == 7956
    assert np.all(np.diff(images) > 0)
    assert 0 <= images[0] and images[-1] < 29_000


def test_converted_captions_leave_out_these_images(data_dir):
    path = data_dir / "pairs" / "flickr30k_captions.tsv.gz"
    if not path.is_file():
        pytest.skip("the converted captions are not among the data")
    kept = [int(line.split("\t", 1)[0]) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert np.array_equal(kept, np.setdiff1d(np.arange(29_000), _training_pairs._evaluation_images()))


@pytest.mark.parametrize(
    "name",
    ["cr", "mpqa", "mr", "msrp", "msrp_groups", "opinosis", "opinosis_groups", "sick", "sts", "sts_benchmark", "subj"]
    + ["trec", "image_captions", "ppdb_lexicon"],
)
def test_descriptions(name):
    text = description(name)
    for heading in ("**Figures**", "**Source.**", "**Licence.**", "**Citation"):
        assert heading in text
