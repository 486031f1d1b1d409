"""The readers of zip archives: paraphrase groups and Opinosis, and archives that are damaged or too large."""

import zipfile

import pytest

from skembed.datasets._archives import read_opinosis, read_paraphrase_zip

GROUPS_HEADER = "phrase_index,paraphrase_group_index\n"


def pack(path, members):
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_paraphrase_groups(tmp_path):
    phrases = "".join(f"sentence {number}\n" for number in range(7))
    order = [(0, 30), (2, 30), (1, 7), (3, 30), (6, 9), (4, 9), (5, 9)]  # as rows stand in no order
    table = GROUPS_HEADER + "".join(f"{row},{group}\n" for row, group in order)
    path = pack(tmp_path / "own.zip", {"own/phrases.txt": phrases, "own/phrase_groups.csv": table})
    groups = read_paraphrase_zip(path)
    assert groups.data == [f"sentence {number}" for number in (0, 2, 3, 4, 5, 6)]
    assert [groups.target_names[code] for code in groups.target] == ["30"] * 3 + ["9"] * 3
    assert "own.zip" in groups.DESCR
    assert len(read_paraphrase_zip(path, min_group_size=1).data) == 7
    assert read_paraphrase_zip(path, min_group_size=4).data == []
    with pytest.raises(ValueError, match="min_group_size"):
        read_paraphrase_zip(path, min_group_size=0)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"a/readme.txt": ""}, "must hold one file phrases.txt, found 0"),
        ({"a/phrases.txt": "", "b/phrases.txt": ""}, "must hold one file phrases.txt, found 2"),
        ({"a/phrases.txt": "x\n"}, "has no file a/phrase_groups.csv beside a/phrases.txt"),
        ({"a/phrases.txt": "x\n", "a/phrase_groups.csv": "0,0\n"}, "phrase_groups.csv, line 1: the header must be"),
        ({"a/phrases.txt": "x\n", "a/phrase_groups.csv": GROUPS_HEADER + "0;0"}, "line 2: expected two numbers"),
        ({"a/phrases.txt": "x\n", "a/phrase_groups.csv": GROUPS_HEADER + "1,0"}, "line 2: sentence 1 does not exist"),
        ({"a/phrases.txt": "x\n", "a/phrase_groups.csv": GROUPS_HEADER + "0,0\n0,1"}, "line 3: sentence 0 .* twice"),
        ({"a/phrases.txt": "x\ny\n", "a/phrase_groups.csv": GROUPS_HEADER + "0,0"}, "1 of 2 sentences have no group"),
        (
            {"msrp_distribute/phrases.txt": "x\n", "msrp_distribute/phrase_groups.csv": GROUPS_HEADER + "0,0"},
            "phrases.txt: found 1 sentences, the published file has 859",
        ),
    ],
)
def test_paraphrase_group_errors(tmp_path, members, reason):
    with pytest.raises(ValueError, match=rf"groups\.zip.*{reason}"):
        read_paraphrase_zip(pack(tmp_path / "groups.zip", members))


def test_opinosis(tmp_path):
    members = {
        "topics/": "",
        "topics/room_inn.txt.data": b" It\x92s small . \r\n\r\n, and clean .\r\n",
        "topics/food_inn.txt.data": "Good .",
        "summaries-gold/room_inn/room_inn.1.gold": "It is small.",
    }
    path = pack(tmp_path / "part.zip", members)
    opinosis = read_opinosis(path)
    assert opinosis.data == ["Good .", "It\u2019s small .", ", and clean ."]
    assert [opinosis.target_names[code] for code in opinosis.target] == ["food_inn", "room_inn", "room_inn"]
    with pytest.raises(ValueError, match=r"other\.zip has no files topics/\*\.txt\.data"):
        read_opinosis(pack(tmp_path / "other.zip", {"a.txt": "b"}))


def damage(content, how):
    """Return an archive cut off, or with a byte changed in a name, or at the head of the stream inside or within it."""
    if how == "cut":
        return content[: len(content) // 2]
    if how == "name":
        return content.replace("é".encode(), b"\xff\xff")
    position = content.index(b"topics/a.txt.data") + len("topics/a.txt.data") + {"head": 0, "within": 6}[how]
    return content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :]


@pytest.mark.parametrize("how", ["cut", "name", "head", "within"])
def test_damaged_archives(tmp_path, how):
    path = pack(tmp_path / "a.zip", {"topics/a.txt.data": "The room was small .\n" * 9, "é": ""})
    assert len(read_opinosis(path).data) == 9
    path.write_bytes(damage(path.read_bytes(), how))
    with pytest.raises(ValueError, match=r"a\.zip is no complete zip archive: .*; get it again"):
        read_opinosis(path)


def test_archives_that_python_cannot_unpack_or_that_are_too_large(tmp_path, monkeypatch):
    files = {"topics/a.txt.data": "The room was small .\n" * 9, "else.bin": "x" * 1000}
    path = pack(tmp_path / "a.zip", files)
    content = path.read_bytes()
    first = content.index(b"PK\x01\x02")
    for at, value, message in (
        (first + 10, 99, "is encrypted or not compressed with deflate"),  # the method
        (first + 8, 1, "is encrypted or not compressed with deflate"),  # a flag
        (first + 6, 99, "no complete zip archive: zip file version 9.9"),  # the version that it needs
    ):
        path.write_bytes(content[:at] + bytes([value]) + content[at + 1 :])
        with pytest.raises(ValueError, match=rf"a\.zip.*({message})"):
            read_opinosis(path)
    path.write_bytes(content)
    monkeypatch.setattr("skembed.datasets._files._MOST_BYTES", 500)
    assert len(read_opinosis(path).data) == 9  # what is not read may be large
    monkeypatch.setattr("skembed.datasets._files._MOST_BYTES", 100)
    with pytest.raises(ValueError, match=r"a\.zip unpacks to 189 bytes, more than the limit of 100"):
        read_opinosis(path)
