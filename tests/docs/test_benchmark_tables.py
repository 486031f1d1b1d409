"""Tables of a paper beside ours, that benchmarks make from made-up rows, and rows that are kept in a file."""

from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    folder = Path(__file__).resolve().parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.syspath_prepend(folder / "quality")


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


def test_a_stopped_run_goes_on_from_its_rows(tmp_path):
    from reporting import KeptRows

    def rows():
        return KeptRows(tmp_path / "rows.csv", {"method": str, "size": int}, ["score", "seconds"])

    first = rows()
    first["a, b", 2000] = {"seconds": 1.5, "score": 70.25}
    first["c", 20] = {"score": 3.0, "seconds": float("nan")}
    again = rows()
    assert list(again) == [("a, b", 2000), ("c", 20)]
    assert again["a, b", 2000] == {"score": 70.25, "seconds": 1.5} and again["c", 20]["score"] == 3
    assert np.isnan(again["c", 20]["seconds"])


def test_each_method_that_learns_in_passes_is_found():
    from measuring import learners, public

    found = {name for name, _ in learners("text", "pairs", "targets").values()}
    assert found == {name for name, cls in public().items() if "max_iter" in getattr(cls, "_parameter_constraints", {})}
