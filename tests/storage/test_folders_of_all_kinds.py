"""Folders that several processes read and replace, and that processes leave as they were killed."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from skembed import SentenceCorpus
from skembed._storage import folders
from skembed._storage.folders import FolderKind, new_folder, open_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="starts processes by fork")
KIND = FolderKind("toy", "toy.json", {"text": str})
BEGIN = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
import safetensors.numpy
from skembed._storage.folders import FolderKind, new_folder, open_folder

KIND = FolderKind("toy", "toy.json", {"text": str})
target = Path(sys.argv[1])

def write(text):
    with new_folder(target, KIND) as new:
        new.write({"text": text}, {"array": np.frombuffer((text * 1000).encode(), np.uint8)})

def read():
    stored = open_folder(target, KIND, mmap=os.getpid() % 2 == 0)
    if bytes(stored.arrays["array"]) != (stored.header["text"] * 1000).encode():
        raise ValueError("the files are of two saves")
    return stored.header["text"]

def names():
    return sorted(name.partition("-")[0] for name in os.listdir(target))
"""
# Each child dies before another one of the events that Python audits: every rename, open and removal.
KILLED = """
n_events = 0
while True:
    n_events += 1
    write("old")
    child = os.fork()
    if not child:
        def die(event, arguments, left=[n_events]):
            if event.startswith(("os.", "open", "shutil.", "fcntl.")):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(die)
        write("new")
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert read() in ("old", "new"), names()
    if status == 0:
        break
    assert os.WIFSIGNALED(status), status
    if n_events % 2:
        write("last")
        assert names() == ["arrays", "toy.json"], names()
        assert read() == "last"
print(n_events)
"""
TOGETHER = """
write("0")
until = time.monotonic() + 0.5
children = []
for process in range(6):
    child = os.fork()
    if not child:
        n = 0
        try:
            while n < 4 or time.monotonic() < until:
                read() if process % 2 else write(f"{process} {n};")
                n += 1
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    children.append(child)
statuses = [os.waitpid(child, 0)[1] for child in children]
assert not any(statuses), statuses
assert names() == ["arrays", "toy.json"], names()
read()
"""


def run(script, path):
    done = subprocess.run([sys.executable, "-c", BEGIN + script, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_killed_at_any_moment_the_old_or_the_new_is_there(tmp_path):
    assert int(run(KILLED, tmp_path / "toy")) > 20


def test_readers_find_a_whole_folder_while_others_replace_it(tmp_path):
    run(TOGETHER, tmp_path / "toy")


def write(target, text="new"):
    with new_folder(target, KIND) as new:
        new.write({"text": text}, {"array": np.arange(3)})


def text_of(target):
    return open_folder(target, KIND, mmap=False).header["text"]


@pytest.mark.parametrize("has_locks", [True, False])
@pytest.mark.parametrize("error", [OSError(5, "a broken disk"), KeyboardInterrupt()])
def test_what_was_there_stays_after_an_error(error, has_locks, tmp_path, monkeypatch):
    if not has_locks:
        monkeypatch.setattr(folders, "fcntl", None)
    target = tmp_path / "toy"
    write(target, "old")

    def fail(source, place):
        raise error

    monkeypatch.setattr(os, "replace", fail)
    for place in (target, tmp_path / "first"):
        with pytest.raises(type(error)):
            write(place)
    assert text_of(target) == "old" and os.listdir(tmp_path) == ["toy"] and len(os.listdir(target)) == 2


@pytest.mark.parametrize("n_calls", [1, 2])
def test_interrupted_at_the_end_the_old_or_the_new_is_there(tmp_path, monkeypatch, n_calls):
    """Before the header is replaced, and after."""
    target, sync, calls = tmp_path / "toy", folders._sync, []
    write(target, "old")

    def interrupt(folder):
        calls.append(folder)
        if len(calls) == n_calls:
            raise KeyboardInterrupt
        sync(folder)

    monkeypatch.setattr(folders, "_sync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(target)
    assert text_of(target) == ("old", "new")[n_calls - 1] and len(os.listdir(target)) == 2


def test_files_and_their_names_are_written_through(tmp_path, monkeypatch):
    """A power cut leaves the old ones or the new ones."""
    synced, fsync = set(), os.fsync

    def noted(descriptor):
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write(tmp_path / "toy")
    places = [tmp_path, tmp_path / "toy", *(tmp_path / "toy").iterdir()]
    assert {os.stat(place).st_ino for place in places} <= synced


def test_a_system_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "fcntl", None)
    for text in ("old", "new"):
        write(tmp_path / "toy", text)
        assert text_of(tmp_path / "toy") == text and len(os.listdir(tmp_path / "toy")) == 2
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "other", KIND):
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["toy"]


def test_what_a_living_process_writes_is_not_swept(tmp_path):
    target = tmp_path / "toy"
    with new_folder(target, KIND) as new:
        new.write({"text": "outer"}, {"array": np.arange(3)})
        write(target, "inner")
        assert text_of(target) == "inner"
    assert text_of(target) == "outer" and len(os.listdir(target)) == 2


def test_what_a_dead_process_has_left_is_swept_and_nothing_else(tmp_path):
    target = tmp_path / "toy"
    write(target, "old")
    (target / f"tokens-{'0' * 12}.safetensors").write_text("half")
    (target / f"partitions-{'0' * 12}").mkdir()
    assert text_of(target) == "old"
    write(target)
    assert len(os.listdir(target)) == 2
    (target / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not a saved toy"):
        write(target)
    assert (target / "notes.txt").exists() and text_of(target) == "new"


def test_the_order_of_entries_changes_no_digest():
    header = {"text": "new", "arrays": {"a": "1", "b": "2"}}
    assert folders.digest_of(header) == folders.digest_of({"arrays": {"b": "2", "a": "1"}, "text": "new"})


def test_a_damaged_header_is_replaced(tmp_path):
    write(tmp_path / "toy", "old")
    (tmp_path / "toy" / "toy.json").write_text("{")
    write(tmp_path / "toy")
    assert text_of(tmp_path / "toy") == "new"


def test_a_folder_that_changes_all_the_time_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_MOST_READS", 3)
    target, check = tmp_path / "toy", folders._check_readable
    write(target)

    def replace(file, kind):
        if file.suffix == ".safetensors":
            with monkeypatch.context() as patch:
                patch.setattr(folders, "_check_readable", check)
                write(target)
        check(file, kind)

    monkeypatch.setattr(folders, "_check_readable", replace)
    with pytest.raises(OSError, match="replace the folder too often"):
        text_of(target)


def test_a_streamed_corpus_is_its_own_text_although_another_process_replaces_it(tmp_path, monkeypatch):
    path, remove = tmp_path / "corpus", folders._remove
    other = SentenceCorpus.from_sentences(["other text"])

    def replace(folder, save):
        monkeypatch.setattr(folders, "_remove", remove)
        remove(folder, save)
        other.save(path)

    monkeypatch.setattr(folders, "_remove", replace)
    corpus = SentenceCorpus.from_sentences(["my text", "of two sentences"], to=path)
    assert SentenceCorpus.load(path) == other
    assert corpus[0] == ["my", "text"] and corpus.n_sentences == 2
    with pytest.raises(ValueError, match="was replaced by another"):
        len(pickle.loads(pickle.dumps(corpus)))
    corpus.save(path)
    assert SentenceCorpus.load(path) == corpus == pickle.loads(pickle.dumps(corpus))
