"""Learning in shards: whatever computes the tasks, in whichever order and how often, the bits are the same."""

import pickle
import random
from types import SimpleNamespace

import numpy as np
import pytest
from estimators import GROUPS, TEXT, TRAINED_CLASSES, corpus, learned, make

from skembed._shards import rounds
from skembed._shards.plan import MergeSchedule, Round, cut, deal, in_groups, reduce_in_tree, rounds_of_pass
from skembed._shards.rounds import RowChanges
from skembed._training.checkpoint import Checkpoint
from skembed._training.encoded_text import EncodedText

pytestmark = pytest.mark.filterwarnings("ignore:n_shards=.* leaves each shard")
SHARDED = [name for name in TRAINED_CLASSES if "n_shards" in make(name).get_params()]
VARIANTS = [*SHARDED, "CBOSVectorizer-given", "Sent2VecVectorizer-sgd-trigrams", "ParagraphVectorizer-dm"]


class Shuffled:
    """Workers that get pickles of tasks, end in any order, and fail once."""

    def __init__(self, n_workers):
        self.n_workers, self.random, self.failed = n_workers, random.Random(n_workers), False
        self.common = None  # as the workers have computed it

    def share_text(self, location):
        return location.cut_out() if self.n_workers % 2 else location

    def begin(self, advance):
        self.advance, self.common = advance, None

    def reduce(self, work, merge, common, make_tasks, n_tasks):
        common = self.common or pickle.dumps(common)
        tasks = [pickle.dumps(group) for group in in_groups(make_tasks(), n_tasks, self.n_workers)]
        of_workers = [list(range(worker, len(tasks), self.n_workers)) for worker in range(self.n_workers)]
        found = {}
        while len(found) < len(tasks):
            index = self.random.choice([own for own in of_workers if own]).pop()
            result = pickle.dumps(work(pickle.loads(common), pickle.loads(tasks[index])))
            if index and not self.failed:  # the worker is lost, and its results with it
                self.failed = True
                of_workers[0].append(index)
            else:
                found[index] = pickle.loads(result)
        merged = reduce_in_tree(merge, (found[index] for index in range(len(tasks))))
        self.common = merged and pickle.dumps(self.advance(pickle.loads(common), merged))
        return merged


@pytest.mark.parametrize("name", VARIANTS)
def test_workers_change_no_bit(name):
    expected = learned(make(name, n_shards=5).fit(TEXT, groups=GROUPS))
    assert expected != learned(make(name).fit(TEXT, groups=GROUPS))
    for n_workers in (1, 2, 3, 7):
        engine = Shuffled(n_workers)
        assert learned(make(name, n_shards=5).fit(TEXT, groups=GROUPS, engine=engine)) == expected
        assert engine.failed


@pytest.mark.parametrize("name", SHARDED)
def test_one_shard_is_one_trainer(name):
    assert learned(make(name, n_shards=1).fit(corpus())) == learned(make(name).fit(corpus()))


@pytest.mark.parametrize("n_workers", [1, 2, 3, 5, 16, 40])
@pytest.mark.parametrize("n_tasks", [1, 2, 7, 16, 64])
def test_groups_are_subtrees_and_as_good_as_single_tasks(n_tasks, n_workers):
    groups = list(in_groups(range(n_tasks), n_tasks, n_workers))
    assert [task for group in groups for task in group] == list(range(n_tasks))
    whole, last = {len(group) for group in groups[:-1]}, len(groups[-1])
    assert len(whole) <= 1 and all(size & (size - 1) == 0 and last <= size for size in whole)

    def tasks_until_the_end(groups):  # where each worker takes the next group when it is free
        busy = [0] * n_workers
        for group in groups:
            busy[busy.index(min(busy))] += len(group)
        return max(busy)

    assert tasks_until_the_end(groups) <= tasks_until_the_end([[task] for task in range(n_tasks)])


def test_tree_depends_on_the_number_of_results_alone():
    def level_by_level(results):
        while len(results) > 1:
            odd = results[len(results) // 2 * 2 :]
            results = [f"({one}{other})" for one, other in zip(results[::2], results[1::2])] + odd
        return results[0]

    for n in range(1, 40):
        names = [chr(ord("A") + index) for index in range(n)]
        assert reduce_in_tree(lambda one, other: f"({one}{other})", iter(names)) == level_by_level(names)
    assert reduce_in_tree(None, []) is None


def changes(rows, *, n_rows=6):
    """What a shard changes, and the same as arrays with all rows."""
    generator = np.random.default_rng(rows)
    before, old = generator.normal(size=(n_rows, 3)).astype(np.float32), np.ones((n_rows, 2), np.float32)
    before[0, 1], old[:, 1] = -0.0, 0
    after, new = before.copy(), rounds.working_copy(old)
    after[rows] += generator.normal(size=(len(rows), 3)).astype(np.float32)
    new[rows] += np.float32([1, 0])
    total = after - before
    found = rounds.take_changes(before, old, after, new)
    assert after.tobytes() == before.tobytes() and new.tobytes() == rounds.working_copy(old).tobytes()
    return found, total


@pytest.mark.kernel
@pytest.mark.parametrize("merge", [rounds.merge, rounds.merge_into])
@pytest.mark.parametrize("farthest", [1.0, 1.2, 4.0])
def test_a_row_moves_by_the_sum_scaled_by_the_agreement(farthest, merge):
    listed = [[0, 2, 5], [2, 3], [2, 5], [2, 5], []]
    found, dense = zip(*(changes(rows) for rows in listed))
    before = pickle.dumps(found)
    merged = reduce_in_tree(merge, [rounds.Changes(1.0, 2.0, {"a": one}, {}) for one in found])
    assert (pickle.dumps(found) == before) == (merge is rounds.merge)  # a task may be computed again from the same
    assert (merged.loss, merged.n_targets) == (5.0, 10.0)
    weights, accumulator = np.zeros((6, 3), np.float32), np.zeros((6, 2), np.float32)
    rounds.apply(merged.of["a"], weights, accumulator, farthest)
    for row, (total, *of_shards) in enumerate(zip(sum(dense), *dense)):
        squares = sum(np.square(change).sum() for change in of_shards)
        agreement = np.square(total).sum() / max(squares, 1e-30)
        expected = total * (min(1, min(np.sqrt(agreement), farthest) / agreement) if agreement else 1)
        np.testing.assert_allclose(weights[row], expected, rtol=1e-5)
    n_touched = np.bincount(np.concatenate(listed).astype(int), minlength=6)
    np.testing.assert_array_equal(accumulator, np.column_stack([n_touched, np.zeros(6)]))


@pytest.mark.kernel
@pytest.mark.parametrize("farthest", [1.0, 3.0])
@pytest.mark.parametrize("n_shards", [1, 4, 16])
def test_equal_changes_go_so_many_times_as_far_as_one_of_them(n_shards, farthest):
    changes = RowChanges(np.array([1]), np.float32([[3, 4]]), np.float32([1]), np.float32([12.5]))
    merged = reduce_in_tree(rounds.merge, [rounds.Changes(0.0, 0.0, {"a": changes}, {})] * n_shards)
    weights, accumulator = np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32)
    rounds.apply(merged.of["a"], weights, accumulator, farthest)
    times = min(farthest, np.sqrt(n_shards))
    np.testing.assert_allclose(weights, [[0, 0], [3 * times, 4 * times]], rtol=1e-6)
    np.testing.assert_array_equal(accumulator, [[0, 0], [n_shards, 0]])


@pytest.mark.parametrize("name", VARIANTS)
def test_tasks_leave_the_rows_as_they_were(name, monkeypatch):
    """Also those that no sum of squares shows to be touched, or tasks would depend on who computes them."""
    take, n_checked = rounds.take_changes, [0]

    def checked(before, old, after, new, memory):
        expected, untouched = after - before, np.signbit(new[:, 1]).any()
        found = take(before, old, after, new, memory)
        assert after.tobytes() == before.tobytes()
        if untouched:  # not the rows of sentences, which are one task's
            assert new.tobytes() == rounds.working_copy(old).tobytes()
        dense = np.zeros_like(before)
        dense[found.rows] = found.change
        np.testing.assert_array_equal(dense, expected)
        n_checked[0] += 1
        return found

    monkeypatch.setattr(rounds, "take_changes", checked)
    make(name, n_shards=3).fit(TEXT, groups=GROUPS)
    assert n_checked[0] > 10


def text_of(n_sentences, document):
    generator = np.random.default_rng(0)
    sent_ptr = np.concatenate([[0], np.cumsum(generator.integers(0, 9, n_sentences))])
    tokens = np.arange(sent_ptr[-1], dtype=np.int32)
    return EncodedText(tokens, sent_ptr, np.asarray(document), np.ones(3, np.float32), (np.arange(n_sentences),))


@pytest.mark.parametrize("n_shards", [2, 3, 64])
def test_shards_of_a_pass_are_the_text(n_shards):
    document = np.repeat(np.arange(70), np.random.default_rng(1).integers(1, 200, 70))
    text = text_of(len(document), document)
    extents = cut(text, n_shards)
    order = np.random.default_rng(2).permutation(len(extents) - 1)
    seen, seeds = [], []
    for plan in [Round(1, 0.0, 0.1), Round(n_shards, 0.1, 0.5), Round(n_shards, 0.5, 1.0)]:
        for place in deal(text, extents, order, plan, [len(seen)]):
            shard = place.cut_out()
            found = shard.as_text(text.word_weight)
            seen.append(shard.sentences)
            seeds.append(shard.seed)
            for i, sentence in enumerate(shard.sentences):
                words = found.tokens[found.sent_ptr[i] : found.sent_ptr[i + 1]]
                np.testing.assert_array_equal(words, text.tokens[text.sent_ptr[sentence] : text.sent_ptr[sentence + 1]])
            np.testing.assert_array_equal(found.annotations[0], shard.sentences)
            together = np.diff(found.document) == 0
            assert (np.diff(shard.sentences)[together] == 1).all()
            np.testing.assert_array_equal(np.diff(document[shard.sentences])[together], 0)
    np.testing.assert_array_equal(np.sort(np.concatenate(seen)), np.arange(len(document)))
    assert len(set(seeds)) == len(seeds)


def test_extents_are_whole_documents_unless_one_is_longer():
    document = np.repeat([0, 1, 2], [50, 1000, 50])
    borders = cut(text_of(len(document), document), 1)
    assert {0, 50, 1050, 1100} <= {*borders.tolist(), 50, 1050}
    assert np.diff(borders).max() <= 2 * (1100 // 64)


def test_equal_changes_go_farther_on_a_long_text():
    pace = MergeSchedule(64, farthest_of_long=4.0)
    assert [pace.farthest(n_tokens) for n_tokens in (1000, 19_999_999, 20_000_000, 10**12)] == [1, 1, 4, 4]
    assert MergeSchedule(4).farthest(10**12) == 1


def test_rounds_cover_a_pass():
    for n_tokens, n_shards, warm_up in [(100, 4, True), (10**7, 16, True), (10**11, 64, False), (10**11, 64, True)]:
        found = rounds_of_pass(n_tokens, n_shards, MergeSchedule(4), warm_up=warm_up)
        assert [one.first for one in found] == [0.0, *[one.last for one in found[:-1]]]
        assert found[-1].last == pytest.approx(1.0)
        assert [one.n_shards for one in found] == [1] * warm_up + [n_shards] * (len(found) - warm_up)


def test_short_texts_have_few_rounds():
    n_rounds = {n: len(rounds_of_pass(n, 4, MergeSchedule(16), warm_up=False)) for n in (100, 400_000, 10**6, 10**10)}
    assert n_rounds == {100: 4, 400_000: 6, 10**6: 16, 10**10: 125}


def test_long_texts_have_rounds_of_so_many_words():
    """As many for all shards together, however many there are, until each has few."""
    n_rounds = {n: len(rounds_of_pass(10**8, n, MergeSchedule(64, 125_000), warm_up=False)) for n in (4, 16, 64)}
    assert n_rounds == {4: 800, 16: 800, 64: 200}
    n_rounds = {n: len(rounds_of_pass(10**7, n, MergeSchedule(64, 125_000), warm_up=False)) for n in (4, 16)}
    assert n_rounds == {4: 64, 16: 40}


def test_labels_are_learned_in_shards():
    labels = [group[-1] for group in GROUPS]
    assert make("CBOSVectorizer", n_shards=2).fit(TEXT, labels).loss_curve_[-1] > 0


@pytest.mark.parametrize("name", ["CBOSVectorizer", "ParagraphVectorizer-dm"])
def test_a_fit_in_shards_goes_on_after_any_round(name, tmp_path, monkeypatch):
    """It writes before the first round, and after each: 5 in the first pass, with the warm-up, and 4 in others.

    A minute later each time, that is: sooner it does not write within a pass.
    """
    monkeypatch.setattr("skembed._training.checkpoint._SECONDS_BETWEEN_ROUNDS", 0)
    whole = make(name, n_shards=3, max_iter=2).fit(corpus())
    write = Checkpoint.write
    for n_writes in range(1, 11):
        left, folder = [n_writes], tmp_path / str(n_writes)

        def write_and_stop(self, *args, left=left):
            write(self, *args)
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt

        estimator = make(name, n_shards=3, max_iter=2)
        monkeypatch.setattr(Checkpoint, "write", write_and_stop)
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(corpus(), checkpoint=folder)
        monkeypatch.setattr(Checkpoint, "write", write)
        assert not hasattr(estimator, "vocabulary_")
        goes_on = estimator.fit(corpus(), checkpoint=folder, engine=Shuffled(2))
        assert learned(goes_on) == learned(whole)
        assert goes_on.loss_curve_ == whole.loss_curve_


def test_a_fit_writes_once_a_minute_within_a_pass(tmp_path, monkeypatch):
    """And after each pass. Here a round takes 20 seconds; 5 are a pass, then 4."""
    seconds, written, learn, write = [0], [], rounds.learn, Checkpoint.write

    def learn_slowly(*args):
        seconds[0] += 20
        return learn(*args)

    def noted(self, arrays, progress):
        written.append((progress.get("n_passes", 0), progress.get("part", [0])[0]))
        write(self, arrays, progress)

    monkeypatch.setattr("skembed._training.checkpoint.time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(rounds, "learn", learn_slowly)
    monkeypatch.setattr(Checkpoint, "write", noted)
    for every, expected in [(1, [(0, 0), (0, 3), (1, 0), (1, 3), (2, 0)]), (2, [(0, 0), (2, 0)])]:
        written.clear()
        make("CBOSVectorizer", n_shards=3, max_iter=2).fit(
            corpus(), checkpoint=tmp_path / str(every), checkpoint_every=every
        )
        assert written == expected
