"""The search of the defaults runs on a tiny text, measures no row twice, and judges made-up rows by its rule."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from estimators import GROUPS, TEXT

pd = pytest.importorskip("pandas")
SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks" / "quality"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import search_defaults

    return search_defaults


@pytest.fixture
def data(tmp_path):
    """The folder that the script reads, in small."""
    lines = [text.replace("\n", " ") for text in TEXT if text]
    blank = "\n".join(line + ("\n" if group else "") for line, group in zip(lines, np.arange(len(lines)) % 9 == 8))
    (tmp_path / "corpora").mkdir()
    for name in ("simplewiki", "books_small"):
        (tmp_path / "corpora" / f"{name}.txt.gz").write_bytes(gzip.compress(blank.encode()))
    pairs = "".join(f"{i % 6}\t{lines[i]}\t{lines[i + 1]}\n" for i in range(20))
    labelled = "".join(f"{group}\t{line}\n" for line, group in zip(TEXT, GROUPS) if line)
    files = {
        "sts/2012/a.tsv": pairs,
        "sts/sick/trial.tsv": pairs,
        "clf/MR.tsv": labelled,
        "clf/TREC.train.tsv": labelled,
    }
    for name, text in files.items():
        path = tmp_path / "eval" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("header\n" + text, encoding="utf8")
    return tmp_path


def test_rows_are_measured_once_and_shown(script, data, monkeypatch):
    small = {"min_count": 1, "n_components": 8}
    settings = [{"max_iter": 1}, {script.START: 2.0}, {"learning_rate": 1e30}]
    method = script.METHODS["CBOS"]._replace(fixed=small, settings=settings)
    monkeypatch.setitem(script.METHODS, "CBOS", method)
    search = script.Search(data / "rows.csv", data)
    search.run("CBOS")
    assert len(search.rows) == 2 * (3 + 3)
    ran_away = search.rows.setting == "learning_rate=1e+30"
    assert search.rows.loc[ran_away, "sts"].isna().all()
    assert search.rows.loc[~ran_away, list(script.TASKS)].notna().all(axis=None)
    assert (search.rows[search.rows.setting == "start values x 4"].sts != search.rows.sts[0]).all()
    monkeypatch.setattr("reporting.machine", lambda: "here")  # it knows the load
    table = script.as_rst(search.rows)
    assert "**the defaults**" in table and "max_iter=1," in table
    ran_away = next(line for line in table.splitlines() if "learning_rate=1e+30," in line)
    assert ran_away.split(",")[1:10] == ["diverges"] + [""] * 8
    without = script.as_rst(search.rows[search.rows.setting != "max_iter=1"])
    assert without.splitlines() == [line for line in table.splitlines() if "max_iter=1," not in line]
    # A second run finds every row in the file.
    monkeypatch.setattr(script, "measure", None)
    again = script.Search(data / "rows.csv", data)
    again.run("CBOS")
    pd.testing.assert_frame_equal(again.rows, search.rows)


def rows_of(script, changes, longer=1.0, seeds=(0,)):
    """Rows of the defaults, with a deviation of one between seeds in every task, and of a setting beside them."""
    rows = []
    for text in script.TEXTS:
        for seed, shift in enumerate((-1.0, 0.0, 1.0)):
            rows.append(["CBOS", script.DEFAULTS, text, seed, *(60.0 + shift,) * 4, 10.0])
        rows += [["CBOS", "other", text, seed, *(60.0 + np.array(changes)), 10.0 * longer] for seed in seeds]
    return pd.DataFrame(rows, columns=script.COLUMNS)


# The noise is one, so the standard error of a gain is sqrt((1 / 3 + 1 / seeds) / 2): 0.816 for one seed.
@pytest.mark.parametrize(
    ("changes", "more", "verdict"),
    [
        ((1.7, 1.7, 1.7, 1.7), {}, "better"),
        ((1.6, 1.6, 1.6, 1.6), {}, ""),
        ((1.6, 1.6, 1.6, 1.6), {"seeds": (0, 1, 2)}, "better"),
        ((5.0, 5.0, 5.0, -1.7), {}, "mixed"),
        ((5.0, 5.0, 5.0, -1.6), {}, "better"),
        ((-1.7, -1.7, -1.7, -1.7), {}, "worse"),
        ((1.9, 1.9, 1.9, 1.9), {"longer": 4.0}, "costs"),
        ((2.1, 2.1, 2.1, 2.1), {"longer": 4.0}, "better"),
        ((np.nan,) * 4, {}, "diverges"),
    ],
)
def test_rule(changes, more, verdict, script):
    rows = rows_of(script, changes, **more)
    another = rows.assign(method="BOWPCA", setting=rows.setting.replace("other", "a setting"))
    judged = script.judge(pd.concat([rows, another], ignore_index=True))
    assert judged.index.tolist() == [("CBOS", "other"), ("BOWPCA", "a setting")]
    assert judged.verdict.tolist() == [verdict, verdict]


def test_a_setting_measured_on_one_text_is_not_judged(script):
    rows = rows_of(script, (9.0,) * 4)
    rows = rows[(rows.setting == script.DEFAULTS) | (rows.text == "wiki")]
    assert script.judge(rows).empty


def test_what_is_better_gets_the_other_seeds(script, data, monkeypatch):
    rows_of(script, (5.0,) * 4).to_csv(data / "rows.csv", index=False)
    wanted = []
    search = script.Search(data / "rows.csv", data)
    monkeypatch.setattr(search, "want", lambda *row: wanted.append(row))
    search.confirm("CBOS")
    assert wanted == [("CBOS", "other", 1), ("CBOS", "other", 2)]
