"""How many threads work: all of them, unless there is little to do."""

import multiprocessing
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from estimators import GROUPS, TEXT, make

import skembed._text.sources as sentences_module
from skembed import MeanEmbeddingVectorizer, SentenceCorpus
from skembed._compiled.threads import Threads, count_threads


@pytest.mark.parametrize("n_items", range(8))
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_few_items_are_done_without_threads(n_items, n_threads):
    threads = set()

    def work(item):
        threads.add(threading.current_thread())
        return 2 * item

    assert list(Threads(n_threads).in_order(work, iter(range(n_items)), 4)) == list(range(0, 2 * n_items, 2))
    alone = n_threads == 1 or n_items < 4
    assert threads <= {threading.main_thread()} if alone else len(threads) <= n_threads


@pytest.mark.parametrize("n_threads", [2, 3, 7])
def test_all_threads_work_at_once(n_threads):
    together = threading.Barrier(n_threads, timeout=60)
    threads = set()

    def work(item):
        together.wait()  # goes on when so many items are in work at once
        threads.add(threading.current_thread())
        return item

    assert list(Threads(n_threads).in_order(work, range(10 * n_threads))) == list(range(10 * n_threads))
    assert len(threads) == n_threads


def test_threads_stay_for_the_next_piece_of_work():
    def work(together):
        together.wait()
        return threading.current_thread()

    with Threads(3) as threads:
        first, second = (set(threads.in_order(work, [threading.Barrier(3, timeout=60)] * 3)) for _ in range(2))
        assert first == second and len(first) == 3
        assert all(thread.is_alive() for thread in first)
        with pytest.raises(ZeroDivisionError):
            list(threads.in_order(lambda item: 1 // item, range(3)))
        assert set(threads.in_order(work, [threading.Barrier(3, timeout=60)] * 3)) == first
    assert not any(thread.is_alive() for thread in first)
    assert sorted(threads.in_order(lambda item: item, range(3))) == [0, 1, 2], "outside they come and go"


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_an_error_comes_in_its_turn(n_threads):
    first_may_end = threading.Event()

    def work(item):
        if item == 0 and n_threads > 1:
            assert first_may_end.wait(timeout=60)
        if item == 2:
            first_may_end.set()
        if item in (1, 2):
            raise ValueError(f"item {item}")
        return item

    results = Threads(n_threads).in_order(work, range(100))
    assert next(results) == 0
    with pytest.raises(ValueError, match="item 1"):
        next(results)


def test_what_nobody_waits_for_any_more_is_not_begun(monkeypatch):
    begun, may_end = [], threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, *args, **options):
            may_end.set()
            super().shutdown(*args, **options)

    def work(item):
        begun.append(item)
        if item:
            assert may_end.wait(timeout=60)

    monkeypatch.setattr("skembed._compiled.threads.ThreadPoolExecutor", Pool)
    results = Threads(2).in_order(work, range(100))
    next(results)
    results.close()
    assert len(begun) <= 3, "two of five are left"


@pytest.mark.parametrize("n_threads", [1, 2])
def test_items_that_are_done_are_not_kept(n_threads):
    class Item:
        pass

    alive = weakref.WeakSet()

    def items():
        for _ in range(30):
            item = Item()
            alive.add(item)
            yield item
            del item

    counts = [len(alive) for _ in Threads(n_threads).in_order(lambda item: None, items(), 8)]
    assert counts[-1] <= 1 + n_threads, "the last ones, and not the first eight"


def test_small_texts_start_no_threads(monkeypatch):
    started = []

    class Pool:
        def __init__(self, *args, **options):
            started.append(args)
            raise RuntimeError("started")

    sentences = ["the cat", "a dog"] * 500
    model = MeanEmbeddingVectorizer(word_vectors={"cat": [1.0], "dog": [2.0]}).fit(sentences).set_params(n_jobs=2)
    one, rows = SentenceCorpus.from_sentences(sentences), model.transform(sentences)
    monkeypatch.setattr("skembed._compiled.threads.ThreadPoolExecutor", Pool)
    for module in ("_base.embedding", "_corpus.build"):
        monkeypatch.setattr(f"skembed.{module}.count_threads", lambda n_jobs: n_jobs or 1)  # whatever cores there are
    assert SentenceCorpus.from_sentences(sentences, n_jobs=2) == one
    assert model.transform(sentences).tobytes() == rows.tobytes()
    assert not started
    monkeypatch.setattr(sentences_module, "BATCH_SIZE", 50)
    for method in (lambda: SentenceCorpus.from_sentences(sentences, n_jobs=2), lambda: model.transform(sentences)):
        with pytest.raises(RuntimeError, match="started"):
            method()


# -- how many --------------------------------------------------------------------------------------------------------


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    monkeypatch.setattr("joblib._parallel_backends.cpu_count", lambda: 4)


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [
        (None, 1),
        (1, 1),
        (3, 3),
        (np.int64(2), 2),
        (True, 1),
        (9, 4),
        (10**20, 4),
        (-1, 4),
        (-2, 3),
        (-9, 1),
        (-(10**20), 1),
    ],
)
def test_n_jobs_counts_as_everywhere(n_jobs, expected, four_cores):
    assert count_threads(n_jobs) == expected


def test_cores_are_not_counted_for_one_thread(monkeypatch):
    def count():
        raise AssertionError("reads files, which takes a third of the time of a transform of one sentence")

    monkeypatch.setattr("joblib.cpu_count", count)
    assert count_threads(None) == count_threads(1) == 1


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", ()])
def test_what_is_no_number_of_threads(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a number of threads"):
        count_threads(n_jobs)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblibs_context_counts_where_there_is_no_n_jobs(backend, four_cores):
    with joblib.parallel_config(backend=backend, n_jobs=3):
        assert [count_threads(n_jobs) for n_jobs in (None, 2, -1)] == [3, 2, 4]
    with joblib.parallel_config(backend="sequential", n_jobs=3):
        assert [count_threads(n_jobs) for n_jobs in (None, 2, -1)] == [1, 1, 1]


def test_threads_in_workers_of_joblib(four_cores):
    def inside(n_jobs):
        return count_threads(n_jobs)

    def two_deep(n_jobs):
        return joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(inside)(n_jobs) for _ in range(2))

    parallel = joblib.Parallel(n_jobs=2, backend="threading")
    assert parallel(joblib.delayed(inside)(n_jobs) for n_jobs in (None, 2)) == [1, 2]
    assert parallel(joblib.delayed(two_deep)(n_jobs) for n_jobs in (None, 2)) == [[1, 1], [1, 1]]


def test_a_daemon_may_have_threads(four_cores, monkeypatch):
    monkeypatch.setattr(multiprocessing.process.current_process(), "_config", {"daemon": True})
    assert multiprocessing.current_process().daemon
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [count_threads(n_jobs) for n_jobs in (None, 2, -1)] == [1, 2, 4]
        make("CBOSVectorizer", n_jobs=2).fit(TEXT, groups=GROUPS)
