"""Targets and tables of a paper beside ours, that benchmarks make from their rows: on made-up rows."""

from pathlib import Path

import pytest

pd = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    folder = Path(__file__).resolve().parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.syspath_prepend(folder / "quality")


def test_own_text_is_compared_with_tfidf_of_the_same_text_and_size():
    import own_text

    level = {"sts": 60.0, "next": 50.0, "document": 70.0}
    rows = [
        {"text": text, "size": size, "method": method} | {task: score + lead for task, score in level.items()}
        for text, leads in (("simplewiki", (-1, 0, 5)), ("books_small", (-2, -1, 4)))
        for size, lead_of_ours in zip(own_text.SIZES, leads)
        for method, lead in ((own_text.TFIDF, 0), (own_text.ADVISED, lead_of_ours))
    ]
    targets = own_text.targets_of(rows)
    assert len(targets) == 14
    missed = {(row["asked"], row["of"][-5:]) for row in targets if row["met"] == "no"}
    assert {text for _, text in missed} == {"books"}
    assert len(missed) == 6  # but for similarity at the largest size, where one point was asked


def test_the_worst_task_counts_not_the_mean():
    import labels

    tasks = (*labels.SPLIT, *labels.HELD_OUT)
    scores = {"tf-idf": 80.0, "CBOS": 90.0, "CBOS, bigrams": 70.0, "Siamese CBOW, bigrams": 90.0}
    rows = [{"labels per class": "all", "method": name} | dict.fromkeys(tasks, mean) for name, mean in scores.items()]
    rows[-1]["SUBJ"] = 77.5
    worst = labels.targets_of(rows, scores)[-1]
    assert (worst["of"], worst["measured"], worst["met"]) == ("Siamese CBOW, bigrams", "-2.50", "no")


def test_tables_of_cse_hold_every_published_figure_and_the_means_that_the_paper_prints():
    import cse_tables

    one = dict.fromkeys([*cse_tables.MEASURED, cse_tables.SICK], 50.0)
    found = {f"{name}: {pairs}": one for name in cse_tables.HERE for pairs in ("words", "words, then sentences")}
    published = cse_tables.published()
    for _, *columns in cse_tables.TABLES.values():
        table = pd.DataFrame(cse_tables.by_set(found, *columns)).set_index("set")
        for system in columns[1]:
            of_paper = table[f"paper: {system.split(' (')[0]}"]
            assert {name: of_paper[name] for name in published[system]} == {
                name: f"{score:.1f}" for name, score in published[system].items()
            }
        ours = table.filter(like="here: ")
        assert (ours.loc[["2014 mean", "14 sets"]] == "50.0").all(axis=None)
        assert (ours.loc[["2015 mean", "2015/belief", cse_tables.TOTAL]] == "").all(axis=None)
        if "paper: PP" in table:
            printed = ["58.7", "61.3", "70.9", "75.8", "67.7"]
            means = [f"{year} mean" for year in (2012, 2013, 2014, 2015)]
            assert table.loc[[*means, cse_tables.TOTAL], "paper: PP"].tolist() == printed


def test_table_of_relatedness_has_every_row_of_the_paper():
    import sick_supervised

    rows = {row["model"]: row for row in sick_supervised.published()}
    assert len(rows) == 11
    assert rows["CSE universal (the paper)"] | {"r": "0.8696", "MSE": "0.2480"} == rows["CSE universal (the paper)"]
    assert "rho" not in rows["ECNU (the paper)"]


def test_each_method_that_learns_in_passes_is_found():
    from measuring import learners, public

    found = {name for name, _ in learners("text", "pairs", "targets").values()}
    assert found == {name for name, cls in public().items() if "max_iter" in getattr(cls, "_parameter_constraints", {})}
