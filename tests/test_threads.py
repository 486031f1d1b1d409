"""How many threads train: all of them, unless one is faster."""

import pytest

from skembed._threads import ThreadChoice


def use(choice, seconds, n_pieces):
    """What was used for some pieces of work, one after the other, on a machine on which each way takes so long."""
    used = []
    for _ in range(n_pieces):
        n_threads, part = choice.next_part()
        choice.took(n_threads, seconds[n_threads])
        used.append((n_threads, part))
    return used


@pytest.mark.parametrize("seconds", [{4: 1.0, 1: 2.0}, {4: 1.0, 1: 1.0}, {4: 1.0, 1: 0.95}])
def test_all_threads_stay_unless_one_is_clearly_faster(seconds):
    used = use(ThreadChoice(4), seconds, 200)
    assert [n for n, part in used if part == 1.0] == [4] * (200 - used.count((1, ThreadChoice.TRIAL)))
    assert 20 <= used.count((1, ThreadChoice.TRIAL)) <= 25, "one is tried now and then"


def test_one_thread_is_used_while_it_is_faster():
    choice = ThreadChoice(4)
    assert use(choice, {4: 1.0, 1: 0.5}, 3) == [(4, 1.0), (1, ThreadChoice.TRIAL), (1, 1.0)]
    used = use(choice, {4: 1.0, 1: 0.5}, 100)
    assert {n for n, part in used if part == 1.0} == {1} and choice.n_threads == 1
    # The other cores come back.
    used = use(choice, {4: 1.0, 1: 2.0}, 10)
    assert used[-5:] == [(4, 1.0)] * 5 and choice.n_threads == 4


def test_trials_take_little_of_the_work():
    used = use(ThreadChoice(2), {2: 1.0, 1: 2.0}, 1000)
    assert sum(part for n, part in used if n == 1) < 0.02 * sum(part for _, part in used)
    used = use(ThreadChoice(2), {2: 1.0, 1: 0.5}, 1000)
    assert sum(part for n, part in used if n == 2) < 0.07 * sum(part for _, part in used)


def test_where_there_is_one_thread_nothing_is_tried():
    assert use(ThreadChoice(1), {1: 1.0}, 50) == [(1, 1.0)] * 50
