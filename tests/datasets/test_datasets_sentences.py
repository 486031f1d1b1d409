"""The sentence splitter."""

import pytest

from skembed.datasets import load_docstrings, split_sentences


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        (" \n\t ", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("It took 3.5 s. Good.", ["It took 3.5 s.", "Good."]),
        (
            "Use a solver, e.g. Newton. It works, i.e. It ends.",
            ["Use a solver, e.g. Newton.", "It works, i.e. It ends."],
        ),
        ("See Fig. 2 and Eq. (3). Cf. Smith.", ["See Fig. 2 and Eq. (3).", "Cf. Smith."]),
        ("Pears vs. Apples. Dr. No is late.", ["Pears vs. Apples.", "Dr. No is late."]),
        ("By Smith et al. (2001). By Lee et al. The rest.", ["By Smith et al. (2001).", "By Lee et al.", "The rest."]),
        (
            "Lists, arrays, etc. are fine. Sets, etc. Not more.",
            ["Lists, arrays, etc. are fine.", "Sets, etc.", "Not more."],
        ),
        ("The answer is no. 5 came.", ["The answer is no. 5 came."]),  # the price of "No. 5"
        ("The answer is no. They left.", ["The answer is no.", "They left."]),
        ("J. K. Rowling wrote it. Ask J. Smith.", ["J. K. Rowling wrote it.", "Ask J. Smith."]),
        ("The inverse of A. The rank of B. It ends.", ["The inverse of A.", "The rank of B.", "It ends."]),
        ("The U.S. Army came. It left the U.S. The end.", ["The U.S. Army came.", "It left the U.S.", "The end."]),
        ("It works (see below. Or not). Good.", ["It works (see below. Or not).", "Good."]),
        ("It works. (See below.) Good.", ["It works.", "(See below.)", "Good."]),
        ("In [0, 1). Open (0, 1]. Done.", ["In [0, 1).", "Open (0, 1].", "Done."]),
        ('He said "Stop." Then "Go!" came.', ['He said "Stop."', 'Then "Go!" came.']),
        ("The default is 1. `x` is kept. -1 means all.", ["The default is 1.", "`x` is kept.", "-1 means all."]),
        ("Read a.b.c first. numpy is next.", ["Read a.b.c first. numpy is next."]),
        ("Wait... Done. From a ... Z in order.", ["Wait...", "Done.", "From a ... Z in order."]),
        ("1. Open it. 2. Close it.", ["1. Open it.", "2. Close it."]),
        ("Line one\ncontinues here.\n\nno mark\n \nNext", ["Line one continues here.", "no mark", "Next"]),
        ("Österreich wins. Älter ist er.", ["Österreich wins.", "Älter ist er."]),
        ("今天天气好。去北京！你呢？好", ["今天天气好。", "去北京！", "你呢？", "好"]),
        ("彼は「何？」と言った。帰った。", ["彼は「何？」と言った。", "帰った。"]),
        ("「行く。来る。", ["「行く。", "来る。"]),  # a quote that is not closed hides nothing
        ("यह बिल्ली है। वह सोती है॥ हाँ", ["यह बिल्ली है।", "वह सोती है॥", "हाँ"]),
        ("هل أنت بخير؟ نعم. شكرا", ["هل أنت بخير؟", "نعم.", "شكرا"]),
        ("ฉันรักแมว แมวชอบนม 2 ตัว", ["ฉันรักแมว", "แมวชอบนม 2 ตัว"]),
    ],
)
def test_split_sentences(text, expected):
    assert split_sentences(text) == expected


def test_split_sentences_loses_no_word():
    text = " ".join(load_docstrings(packages=["joblib"]).data)
    assert " ".join(split_sentences(text)).split() == text.split()


def test_split_sentences_takes_linear_time():
    assert len(split_sentences("A line (with brackets) ends here. " * 20_000)) == 20_000
    for text in ("." * 50_000, "word" * 50_000 + ". Next", "(" * 50_000, "Dr. " * 20_000):
        assert " ".join(split_sentences(text)) == text.strip()


@pytest.mark.parametrize("text", [None, b"Bytes.", ["A list."]])
def test_split_sentences_rejects_what_is_no_text(text):
    with pytest.raises(TypeError, match="text must be a string"):
        split_sentences(text)
