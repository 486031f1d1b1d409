"""TextVectorizer(teacher=...): a model embeds own texts once, and its student is a block."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import skembed
from skembed import PretrainedVectorizer, StudentVectorizer, TextVectorizer
from skembed._meta_estimators.student_block import _map_to
from skembed._training.ridge import ALPHAS

ANIMALS = "cat dog mouse purr bark tail kitten puppy paw".split()
WEATHER = "rain snow storm wind cloud thunder frost sun hail".split()


def texts(n, seed=0):
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(ANIMALS if row % 2 else WEATHER, 4)) for row in range(n)]


class Teacher:
    """Knows what is an animal; counts what it is asked."""

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += list(texts)
        known = [[sum(word in names for word in text.split()) for names in (ANIMALS, WEATHER)] for text in texts]
        return np.array(known, float) + 0.1

    def __deepcopy__(self, memo):
        raise AssertionError("the teacher was copied")


X = texts(60)
Y = np.array(["weather", "animals"] * 30)


def make(teacher, **params):
    return TextVectorizer(teacher=teacher, random_state=0, **params)


def test_the_student_is_a_block_and_the_teacher_is_not_asked_again():
    teacher = Teacher()
    model = make(teacher).fit(X, Y)
    assert isinstance(model.blocks_["student"], StudentVectorizer)
    assert sum(model.block_weights_.values()) == pytest.approx(1)
    assert model.block_weights_["student"] > 0
    n_asked = len(teacher.asked)
    rows = model.transform(texts(20, seed=5))
    assert len(teacher.asked) == n_asked
    names = model.get_feature_names_out()
    assert rows.shape[1] == len(names)
    columns = [row for row, name in enumerate(names) if name.startswith("student__")]
    expected = model.blocks_["student"].transform(texts(20, seed=5)) * model.block_weights_["student"] ** 0.5
    np.testing.assert_allclose(rows[:, columns].toarray(), expected, atol=1e-6)


def test_the_teacher_embeds_some_distinct_texts():
    teacher = Teacher()
    make(PretrainedVectorizer(teacher, cache=None), n_teacher=20, corpus=[*texts(100, seed=2), ""]).fit(
        [*X, *X], [*Y, *Y]
    )
    own = {*X, *texts(100, seed=2)}
    asked = [text for text in teacher.asked if text in own]
    assert len(asked) == len(set(asked)) == 20


def test_rows_of_fit_transform_are_halfway_from_those_of_new_texts_to_the_teachers():
    noise = dict(zip(X, np.random.default_rng(0).normal(size=(60, 50))))
    model = make(noise, blocks={"halves": "drop"})
    rows = model.fit_transform(X, Y)
    columns = [row for row, name in enumerate(model.get_feature_names_out()) if name.startswith("student__")]
    found = rows[:, columns].toarray() / model.block_weights_["student"] ** 0.5
    distinct = list(dict.fromkeys(X))
    student = model.blocks_["student"]
    left_out = clone(student).fit_left_out(distinct, np.stack([noise[text] for text in distinct]))
    halfway = normalize(left_out + student.transform_targets(np.stack([noise[text] for text in distinct])))
    np.testing.assert_allclose(found[[X.index(text) for text in distinct]], halfway, atol=1e-5)


def test_the_weight_of_the_student_is_found_on_rows_as_of_new_texts():
    rng = np.random.default_rng(0)
    distinct = list(dict.fromkeys(X))
    labels = rng.integers(2, size=len(distinct))  # the teacher knows them, its student cannot
    teacher = dict(zip(distinct, np.eye(2)[labels] + 0.1 * rng.normal(size=(len(distinct), 2))))
    assert make(teacher).fit(distinct, labels).block_weights_["student"] <= 0.5  # 0.9 on rows that the teacher tells


def test_a_mapping_may_have_some_texts_only():
    rows = dict(zip(X[:40], Teacher().encode(X[:40])))
    model = make(rows).fit(X, Y)
    assert model.blocks_["student"].word_counts_.sum() == 4 * len(set(X[:40]))
    with pytest.raises(ValueError, match="The teacher has rows of 1 texts"):
        make(dict(list(rows.items())[:1])).fit(X, Y)


def test_clones_share_the_teacher():
    teacher = Teacher()
    assert clone(make(teacher)).teacher is teacher


def test_it_is_saved_without_the_teacher(tmp_path):
    model = make(Teacher()).fit(X, Y)
    skembed.save(model, tmp_path / "model")
    back = skembed.load(tmp_path / "model")
    assert back.teacher is None
    assert (back.transform(X) != model.transform(X)).nnz == 0
    rows = model.fit_transform(X, Y)
    classifier = LinearSVC(random_state=0).fit(rows, Y)
    found = back.explain("cat zzz", classifier)
    assert "student" in found.blocks
    assert found.decision[0] == pytest.approx(classifier.decision_function(model.transform(["cat zzz"]))[0], abs=1e-5)


def lengths(texts):
    return np.array([[len(text), text.count("a"), text.count("o"), 1] for text in texts], float)


def test_beside_a_pretrained_model_the_rows_of_both_are_mapped_to_the_teachers(tmp_path):
    rng = np.random.default_rng(0)
    of_model = {text: rng.normal(size=6) for text in dict.fromkeys([*X, "zzz", "yyy"])}
    turn = rng.normal(size=(6, 4))
    teacher = {text: row @ turn for text, row in of_model.items() if text in X}  # words say nothing
    model = make(teacher, pretrained=of_model).fit(X, Y)
    rows = model._given["student"].rows(["zzz", "yyy"])  # words that the student lacks
    student = model.blocks_["student"].student
    expected = student.transform_targets([of_model[text] @ turn for text in ("zzz", "yyy")])
    assert (rows * expected).sum(axis=1).min() > 0.9
    assert (student.transform(["zzz"]) * expected[:1]).sum() < 0.5


@pytest.mark.parametrize(
    ("teacher", "error", "message"),
    [
        (lambda texts: np.ones((3, 2)), ValueError, "has turned 4 texts into shape"),
        (lambda texts: ["a"] * len(texts), TypeError, "into rows of numbers"),
        ("/nowhere", FileNotFoundError, "no pretrained model at /nowhere"),
        (7, TypeError, "got 7"),
        ({"!": [1, 0], "?": [0, 1]}, ValueError, "The text has no words"),
    ],
)
def test_errors_of_the_teacher_say_that_they_are_of_it(teacher, error, message):
    with pytest.raises(error, match=message) as found:
        make(teacher).fit([*X, "!", "?"], [*Y, "animals", "weather"])
    (note,) = found.value.__notes__
    assert note == "In the block 'student' of TextVectorizer, which learns from the parameter teacher."


@pytest.mark.parametrize("n_texts", [20, 150])
def test_it_warns_of_a_teacher_from_which_nothing_is_learned(n_texts):
    with pytest.warns(UserWarning, match="has learned nothing from teacher") as found:
        make(lambda texts: np.ones((len(texts), 3))).fit(texts(n_texts), ["weather", "animals"] * (n_texts // 2))
    assert len(found) == 1


@pytest.mark.parametrize("pretrained", [None, Teacher()])
def test_fit_needs_no_labels(pretrained):
    model, other = (make(Teacher(), pretrained=pretrained) for _ in range(2))
    rows = model.fit(X).transform(X)
    other.fit_transform(X)
    assert model.block_weights_["student"] > 0
    assert np.array_equal(other.transform(X).toarray(), rows.toarray())


def test_the_map_predicts_each_text_from_the_others():
    rng = np.random.default_rng(0)
    rows, targets = (rng.normal(size=(30, n)).astype(np.float32) for n in (5, 3))
    weights, left_out = _map_to(targets, rows, 0)
    losses = []
    for alpha in ALPHAS:
        ridge = Ridge(alpha=alpha, fit_intercept=False)
        others = [np.delete(np.arange(30), row) for row in range(30)]
        found = [ridge.fit(rows[some], targets[some]).predict(rows[[row]])[0] for row, some in enumerate(others)]
        losses.append((np.square(targets - found).sum(), alpha, found, ridge.fit(rows, targets).coef_.T))
    _, _, found, coefficients = min(losses, key=lambda loss: loss[0])
    np.testing.assert_allclose(left_out, found, atol=1e-4)
    np.testing.assert_allclose(weights, coefficients, atol=1e-4)


def test_the_map_is_saved(tmp_path):
    model = make(Teacher(), pretrained=lengths).fit(X, Y)
    skembed.save(model, tmp_path / "model")
    back = skembed.load(tmp_path / "model", pretrained=lengths)
    assert (back.transform(X) != model.transform(X)).nnz == 0
    rows = model.fit_transform(X, Y)
    classifier = LinearSVC(random_state=0).fit(rows, Y)
    found = back.explain("cat zzz", classifier)
    assert found.decision[0] == pytest.approx(classifier.decision_function(model.transform(["cat zzz"]))[0], abs=1e-5)
    of_both = model._given["student"].transformer
    for name, attribute in (("map", "weights"), ("landmarks", "landmarks")):
        whole = getattr(of_both, attribute)
        setattr(of_both, attribute, whole[:, :1])
        skembed.save(model, tmp_path / f"broken_{name}")
        with pytest.raises(ValueError, match=f"student.{name} is"):
            skembed.load(tmp_path / f"broken_{name}", pretrained=lengths)
        setattr(of_both, attribute, whole)


@pytest.mark.parametrize("name", ["pretrained", "student"])
def test_a_damaged_stretch_is_refused(name, tmp_path):
    model = make(Teacher(), pretrained=lengths).fit(X, Y)
    model._given[name] = model._given[name]._replace(stretch=np.eye(1, dtype=np.float32))
    skembed.save(model, tmp_path / "broken")
    with pytest.raises(ValueError, match=f"{name}.stretch is"):
        skembed.load(tmp_path / "broken", pretrained=lengths)


def test_a_pretrained_model_beside_the_student_embeds_a_text_once():
    beside = Teacher()
    model = make(Teacher(), pretrained=PretrainedVectorizer(beside, cache=None)).fit(X, Y)
    beside.asked.clear()
    rows = model.transform(["cat rain", "snow"])
    assert sorted(beside.asked) == ["cat rain", "snow"]
    weight = model.block_weights_["student"] ** 0.5
    columns = [row for row, name in enumerate(model.get_feature_names_out()) if name.startswith("student__")]
    student = model._given["student"].rows(["cat rain", "snow"])
    np.testing.assert_array_equal(rows[:, columns].toarray(), student * np.float32(weight))


def test_a_data_frame_as_the_output_of_all_transformers_changes_no_row():
    rows = make(Teacher(), n_components=4).fit_transform(X, Y)
    with config_context(transform_output="pandas"):
        frame = make(Teacher(), n_components=4).fit_transform(X, Y)
    np.testing.assert_array_equal(frame.to_numpy(), rows)


def test_bad_input():
    with pytest.raises(TypeError, match="A pretrained model must be"):
        make(3).fit(X, Y)
    with pytest.raises(ValueError, match="'n_teacher' parameter"):
        make(Teacher(), n_teacher=2).fit(X, Y)
    with pytest.raises(ValueError, match="'student' is the block"):
        make(Teacher(), blocks={"student": StudentVectorizer()}).fit(X, np.eye(2)[[0, 1] * 30])
    with pytest.raises(ValueError, match="NaN"):
        make(lambda texts: np.full((len(texts), 3), np.nan)).fit(X, Y)


def test_a_row_beside_a_pretrained_model_depends_on_its_text_alone():
    rng = np.random.default_rng(0)
    vectors = dict(zip([*X, *texts(60, seed=3)], rng.normal(size=(120, 100)).astype(np.float32)))
    noise = {text: rng.normal(size=40) for text in X}
    model = make(noise, pretrained=vectors).fit(X, Y)
    student, new = model.blocks_["student"], texts(60, seed=3)
    rows = student.transform(new)
    assert rows.any()
    assert np.array_equal(np.concatenate([student.transform([text]) for text in new]), rows)
