"""The same bits in every process, with any number of threads; and no way to hang."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import joblib
import numpy as np
import pytest
from estimators import GROUPS, KINDS, NAMES, OTHER_TEXT, TEXT, TRAINED_CLASSES, dense, fitted, learned, make

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# For what is common code: one for each way to learn. Each more costs the loading of its kernels in each process.
LEARNERS = [name for name in KINDS if name in TRAINED_CLASSES]


def digest_of(estimator):
    state = {
        key: value for key, value in learned(estimator).items() if key != "_tokenizer"
    }  # a function has an address
    rows = dense(estimator.transform(OTHER_TEXT))
    return hashlib.sha256(repr((sorted(state.items()), rows.tobytes())).encode()).hexdigest()


def fit_and_digest(name, **changes):
    return digest_of(make(name, **changes).fit(TEXT, groups=GROUPS))


# Far above what any of these takes, on a busy machine too: a process that is still there then hangs.
HANGS_AFTER = 900  # seconds


def run(code, **environment):
    """Run code in a fresh process, which says where it stands and ends if it should hang."""
    head = f"""
import faulthandler, sys
faulthandler.dump_traceback_later({HANGS_AFTER}, exit=True)
sys.path[:0] = {[str(HERE), str(HERE.parent), str(ROOT)]}
"""
    done = subprocess.run(
        [sys.executable, "-c", head + code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER + 60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_fresh_process_gives_the_same_bits():
    code = """
import json
from estimators import NAMES, TRAINED
from test_processes import fit_and_digest
options = {name: {"n_jobs": 3} if name in TRAINED else {} for name in NAMES}
print(json.dumps({name: fit_and_digest(name, **options[name]) for name in NAMES}))
"""
    found = json.loads(run(code, PYTHONHASHSEED="random"))
    assert found == {name: digest_of(fitted(name)) for name in NAMES}


def test_in_workers_of_joblib():
    parallel = joblib.Parallel(n_jobs=2, backend="loky")
    found = parallel(joblib.delayed(fit_and_digest)(name, n_jobs=2) for name in LEARNERS)
    assert found == [digest_of(fitted(name)) for name in LEARNERS]
    moved = parallel(joblib.delayed(digest_of)(fitted(name)) for name in NAMES)
    assert moved == [digest_of(fitted(name)) for name in NAMES]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_n_jobs_minus_one_inside_workers(backend):
    parallel = joblib.Parallel(n_jobs=2, backend=backend)
    found = parallel(joblib.delayed(fit_and_digest)(name, n_jobs=-1) for name in LEARNERS)
    assert found == [digest_of(fitted(name)) for name in LEARNERS]


def test_python_threads_that_fit_at_once():
    expected = {name: digest_of(fitted(name)) for name in TRAINED_CLASSES}
    found, errors = {}, []
    start = threading.Barrier(4)

    def work(thread, n_jobs):
        try:
            start.wait(60)
            for name in TRAINED_CLASSES if thread % 2 == 0 else TRAINED_CLASSES[::-1]:
                found[thread, name] = fit_and_digest(name, n_jobs=n_jobs)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i, 1 + i), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not errors
    assert not any(thread.is_alive() for thread in threads)
    assert found == {(thread, name): expected[name] for thread in range(4) for name in TRAINED_CLASSES}


def test_python_threads_that_transform_with_one_estimator():
    expected = {name: digest_of(fitted(name)) for name in NAMES}
    parallel = joblib.Parallel(n_jobs=4, backend="threading")
    names = NAMES * 2
    assert parallel(joblib.delayed(digest_of)(fitted(name)) for name in names) == [expected[name] for name in names]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_fork_after_a_fit_with_threads():
    code = """
import os, warnings
warnings.simplefilter("ignore")
from test_processes import LEARNERS, fit_and_digest
before = [fit_and_digest(name, n_jobs=3) for name in LEARNERS]
child = os.fork()
if child == 0:
    os._exit(17 if [fit_and_digest(name, n_jobs=3) for name in LEARNERS] == before else 1)
_, status = os.waitpid(child, 0)
assert [fit_and_digest(name, n_jobs=2) for name in LEARNERS] == before
print(os.waitstatus_to_exitcode(status))
"""
    assert run(code).strip() == "17"


# -- an error in one thread ends all ---------------------------------------------------------------------------------

BROKEN = """
import threading
import numpy as np
from estimators import GROUPS, TEXT, make

def break_one(make_objective, thread, error):
    n_calls = 0

    def make_broken(fitted):
        objective = make_objective(fitted)
        run = objective.train

        def broken(text, rows, scratch, plan, update, team):
            nonlocal n_calls
            if plan.last_block and team.thread == min(thread, team.n_threads - 1):  # no more threads than cores
                n_calls += 1
                if n_calls == 2:
                    raise error(f"in thread {thread}")
            run(text, rows, scratch, plan, update, team)

        objective.train = broken
        return objective

    return make_broken

for name in NAMES:
    for thread, kind in enumerate([MemoryError, RuntimeError, KeyboardInterrupt]):
        estimator = make(name, n_jobs=3, max_iter=5)
        estimator._make_objective = break_one(estimator._make_objective, thread, kind)
        try:
            estimator.fit(TEXT, groups=GROUPS)
        except kind as error:
            cause = error.__cause__ or error  # a lack of memory is explained
            assert str(cause) == f"in thread {thread}", error
            assert not hasattr(estimator, "vocabulary_")
            assert threading.active_count() == 1, threading.enumerate()
            del estimator._make_objective
            print("raised")
    assert np.isfinite(estimator.fit(TEXT, groups=GROUPS).loss_curve_).all()

start, n_started = threading.Thread.start, 0

def limited(self):
    global n_started
    n_started += 1
    if n_started == 3:
        raise RuntimeError("can't start new thread")
    start(self)

threading.Thread.start = limited
try:
    make("CBOSVectorizer", n_jobs=4).fit(TEXT, groups=GROUPS)
except RuntimeError as error:
    print(error)
"""
# The others have no threads of the trainer.
WITH_THREADS = [name for name in TRAINED_CLASSES if make(name)._learns_from == "text" and make(name).solver != "adam"]


@pytest.fixture(scope="module")
def errors():
    """What a process prints in which threads fail, and then one cannot start."""
    return run(BROKEN.replace("NAMES", repr(WITH_THREADS))).splitlines()


def test_error_in_one_thread_does_not_hang(errors):
    assert errors[:-1] == ["raised"] * 3 * len(WITH_THREADS)


def test_thread_that_cannot_start_does_not_hang(errors):
    assert errors[-1] == "can't start new thread"


# Ctrl-C half a second after the beginning of a block, and again until it has ended.
INTERRUPTED = """
import contextlib, os, signal, threading
from estimators import GROUPS, TEXT, make
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it

@contextlib.contextmanager
def pressed():
    done = threading.Event()
    def press():
        while not done.wait(0.5):
            os.kill(os.getpid(), signal.SIGINT)
    presser = threading.Thread(target=press, daemon=True)
    presser.start()
    try:
        yield
    except KeyboardInterrupt:
        done.set()
    presser.join()

# A pass long enough to be in the kernel nearly all the time: numba may drop an exception that comes while it looks
# up the types of a call, which is most of a pass over a few sentences.
text, groups = TEXT * 300, [f"{group} {copy}" for copy in range(300) for group in GROUPS]
for n_jobs in (1, 2):
    estimator = make("CBOSVectorizer", n_jobs=n_jobs, batch_size=5000).fit(text, groups=groups)
    before = estimator.word_vectors_.tobytes()
    with pressed():
        estimator.set_params(max_iter=10**7).fit(text, groups=groups)
    assert estimator.word_vectors_.tobytes() == before
    print("fit", n_jobs)

def endless():
    while True:
        yield from TEXT

for n_jobs in (1, 2):
    estimator = make("Sent2VecVectorizer", n_jobs=n_jobs).fit(TEXT)
    with pressed():
        estimator.transform(endless())
    assert estimator.transform(TEXT).shape[0] == len(TEXT)
    print("transform", n_jobs)
"""


@pytest.fixture(scope="module")
def interrupted():
    """What a process prints after each interrupt."""
    if os.name == "nt":
        pytest.skip("signals of another kind")
    return run(INTERRUPTED).splitlines()


def test_interrupt_ends_a_long_fit(interrupted):
    assert interrupted[:2] == ["fit 1", "fit 2"]


def test_interrupt_ends_a_long_transform(interrupted):
    assert interrupted[2:] == ["transform 1", "transform 2"]


def test_signals_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    make("CBOSVectorizer", n_jobs=2).fit(TEXT, groups=GROUPS)
    assert signal.getsignal(signal.SIGINT) is before
    assert np.geterr()["over"] == "warn"
