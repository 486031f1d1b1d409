"""Folders that several processes read and replace, and that processes leave as they were killed."""

import os
import pickle
import shutil
import subprocess
import sys

import pytest

from skembed import SentenceCorpus
from skembed._corpus import folders
from skembed._corpus.folders import FolderKind, new_folder, read_whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="starts processes by fork")
KIND = FolderKind("toy", "header", frozenset(["header", "array"]))
BEGIN = """
import os, signal, sys, time
from pathlib import Path
from skembed import SentenceCorpus
from skembed._corpus import folders
from skembed._corpus.folders import FolderKind, new_folder, read_whole

KIND = FolderKind("toy", "header", frozenset(["header", "array"]))
target = Path(sys.argv[1])

def write(text):
    with new_folder(target, KIND) as folder:
        (folder / "array").write_text(text * 1000)
        (folder / "header").write_text(text)

def read():
    def both(folder):
        header, array = (folder / "header").read_text(), (folder / "array").read_text()
        if array != header * 1000:
            raise ValueError("the files are of two saves")
        return header
    return read_whole(target, both)

def names():
    return sorted(os.listdir(target.parent))
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
        assert names() == [target.name], names()
        assert read() == "last"
print(n_events)
"""
TOGETHER = """
write("0")
until = time.monotonic() + 1.5
children = []
for process in range(6):
    child = os.fork()
    if not child:
        n = 0
        try:
            while time.monotonic() < until:
                read() if process % 2 else write(f"{process} {n};")
                n += 1
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0 if n > 3 else 2)
    children.append(child)
statuses = [os.waitpid(child, 0)[1] for child in children]
assert not any(statuses), statuses
assert names() == [target.name], names()
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
    with new_folder(target, KIND) as folder:
        (folder / "header").write_text(text)


@pytest.mark.parametrize("error", [OSError(5, "a broken disk"), KeyboardInterrupt()])
def test_what_was_there_comes_back_after_an_error(error, tmp_path, monkeypatch):
    target = tmp_path / "toy"
    write(target, "old")
    rename = type(target).rename

    def fail(self, other):
        if self.name.endswith(".new"):
            raise error
        return rename(self, other)

    monkeypatch.setattr(type(target), "rename", fail)
    with pytest.raises(type(error)):
        write(target)
    assert (target / "header").read_text() == "old" and os.listdir(tmp_path) == ["toy"]


def test_what_a_living_process_writes_is_not_swept(tmp_path):
    target = tmp_path / "toy"
    with new_folder(target, KIND) as folder:
        (folder / "header").write_text("outer")
        write(target, "inner")
        assert (folder / "header").exists()
    assert (target / "header").read_text() == "outer" and os.listdir(tmp_path) == ["toy"]
    for name in (".toy.mine.new", ".toy.0.old", ".other." + "0" * 32 + ".new"):
        (tmp_path / name).mkdir()
    write(target)
    assert len(os.listdir(tmp_path)) == 4


def test_a_folder_that_changes_all_the_time_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_MOST_READS", 3)
    target = tmp_path / "toy"
    write(target)

    def replace(folder):
        shutil.move(folder, tmp_path / "away")
        shutil.rmtree(tmp_path / "away")
        (tmp_path / "other").mkdir()
        (tmp_path / "other").rename(folder)
        raise ValueError("half of it")

    with pytest.raises(OSError, match="replace the folder too often"):
        read_whole(target, replace)


def test_a_streamed_corpus_is_its_own_text_although_another_process_replaces_it(tmp_path, monkeypatch):
    path, sync = tmp_path / "corpus", folders.sync
    other = SentenceCorpus.from_sentences(["other text"])

    def replace(folder):
        sync(folder)
        if folder == tmp_path:
            monkeypatch.setattr(folders, "sync", sync)
            other.save(path)

    monkeypatch.setattr(folders, "sync", replace)
    corpus = SentenceCorpus.from_sentences(["my text", "of two sentences"], to=path)
    assert SentenceCorpus.load(path) == other
    assert corpus[0] == ["my", "text"] and corpus.n_sentences == 2
    with pytest.raises(ValueError, match="was replaced by another"):
        len(pickle.loads(pickle.dumps(corpus)))
    corpus.save(path)
    assert SentenceCorpus.load(path) == corpus == pickle.loads(pickle.dumps(corpus))
