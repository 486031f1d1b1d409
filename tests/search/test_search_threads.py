"""An index that several threads use at once: searches see one state, and no change is lost."""

import pickle
import threading

import pytest
from collections_of_documents import make_documents

from skembed import SearchIndex


@pytest.fixture(scope="module")
def plain():
    return SearchIndex(n_components=None).fit(make_documents(120))


def test_searches_during_add_see_the_old_index_or_the_new_one(plain):
    index, wrong = pickle.loads(pickle.dumps(plain)), []
    known = {tuple(index.search(["kitten"], k=3)[0][0])}

    def search():
        while not done.is_set():
            wrong.append(tuple(index.search(["kitten"], k=3)[0][0]))

    done, thread = threading.Event(), threading.Thread(target=search)
    thread.start()
    for _ in range(5):
        index.add([("kitten kitten", "kitten")])
        known.add(tuple(index.search(["kitten"], k=3)[0][0]))
    done.set()
    thread.join()
    assert set(wrong) <= known


def test_changes_of_several_threads_at_once_are_all_there(plain):
    index = pickle.loads(pickle.dumps(plain))

    def change(word):
        together.wait()
        for row in range(4):
            index.add([(word, f"{word} {row}")]).remove(row if word == "ozelot" else row + 4)

    together = threading.Barrier(2)
    threads = [threading.Thread(target=change, args=(word,)) for word in ("ozelot", "quagga")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows, _ = index.search(["ozelot", "quagga"], k=9)
    assert sorted(rows[rows >= 0]) == list(range(120, 128)) and index.n_documents_ == 120


def test_add_to_an_index_that_is_fitted_meanwhile(plain):
    index = pickle.loads(pickle.dumps(plain))

    def documents():
        index.fit(["a cat"])
        yield "a", "b"

    with pytest.raises(RuntimeError, match="Add them to the new one"):
        index.add(documents())
    assert index.n_documents_ == 1
