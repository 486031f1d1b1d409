"""Tables of the papers: every system has a method or a reason, and ours stand beside the published."""

import numpy as np
import pytest

from benchmarks.papers.methods import METHODS
from benchmarks.papers.paper_tables import Figures, fill, overview
from benchmarks.papers.sections import Section, as_markdown
from benchmarks.papers.systems import PAPER_TABLES, SYSTEMS, ScoreColumn
from benchmarks.papers.tables import OURS, by_method, by_set, published_results, tidy, with_sts_means

CBOS, SENT2VEC_2 = PAPER_TABLES[0], PAPER_TABLES[2]
ALL_TABLES = ("sts", "sick", "senteval", "semantic", "training")


def ours(method, table, name, metric, value):
    return {"source": OURS, "method": method, "table": table, "set": name, "metric": metric, "value": value}


def figures(*rows, methods=("CBOS, paper", "BOW"), tables=ALL_TABLES, lacks=lambda name: []):
    return Figures([*rows, *published_results()], methods, tables, lacks)


def row_of(section, *names):
    table = next(block for block in section.blocks if not isinstance(block, str))
    return next(dict(zip(table[0], row)) for row in table if row[: len(names)] == list(names))


@pytest.mark.parametrize("table", PAPER_TABLES, ids=lambda table: table.title)
def test_each_row_has_a_published_figure_and_a_method_or_a_reason(table):
    filled = fill(table, figures(methods=list(METHODS)), {})
    notes = " ".join(block for block in filled.blocks if isinstance(block, str))
    for name in table.systems:
        system = SYSTEMS[name]
        assert any(figures().published(system, column, table.source) is not None for column in table.columns), name
        methods = {system.as_published, system.here} & set(METHODS)
        assert methods or system.reason in notes or "skembed has no such estimator" in notes, name
    header, *rows = filled.blocks[0]
    assert all(len(row) == len(header) for row in rows)
    assert all(all(cell for cell in row) for row in rows)


def test_published_names_are_those_of_the_figures():
    known = {(row["source"], row["method"]) for row in published_results()}
    named = {(source, name) for system in SYSTEMS.values() for source, name in system.published.items()}
    assert named == known


def test_every_system_of_text_that_is_an_estimator_is_in_a_table():
    used = {name for table in PAPER_TABLES for name in table.systems}
    assert used == set(SYSTEMS)


def test_ours_stand_beside_the_published():
    filled = fill(CBOS, figures(ours("CBOS, paper", "sts", "2012/MSRpar", "pearson", 44.444)), {"CBOS, paper": "*"})
    row = row_of(filled, "2012/MSRpar")
    assert row["CBOS: the paper"] == "45.30" and row["CBOS: here, CBOS, paper*"] == "44.44"
    assert row["skip-gram: the paper"] == "37.40"  # of the paper from which this one takes it


def test_an_empty_cell_says_why():
    run = figures(
        ours("CBOS, paper", "sts", "2012/MSRpar", "pearson", 44.444),
        methods=["CBOS, paper"],
        tables=["sts"],
        lacks=lambda name: ["--phrase-pairs"] if name.startswith("PP") else [],
    )
    column = ScoreColumn("", "sts", "2014/images", "pearson")
    reasons = {
        run.reason("CBOS, paper", column): "the set is not among the data",
        run.reason("CBOS, defaults", column): "not among the methods of this run",
        run.reason("PP from phrases", column): "learns from pairs: give --phrase-pairs",
        run.reason(None, column, SYSTEMS["ATT-CCG (SimpWiki)"]): "needs the supertags",
        run.reason("no method", column): "skembed has no such estimator",
        run.reason("CBOS, paper", column._replace(table="sick")): "the table sick is not of this run",
    }
    assert all(expected in reason for reason, expected in reasons.items())
    filled = fill(CBOS, run, {})
    cell = row_of(filled, "2014/images")["CBOS: here, CBOS, defaults"]
    assert f"{cell} not among the methods of this run." in filled.blocks


def test_means_are_over_the_same_sets():
    """The published mean of 2013 has no SMT where the run has none."""
    run = figures(ours("CBOS, paper", "sts", "2013/OnWN", "pearson", 1.0))
    column = ScoreColumn("", "sts", "2013 mean", "pearson")
    assert run.published(SYSTEMS["CBOS"], column) == pytest.approx(63.47)
    column = column._replace(set="2012 mean")  # the run has no set of that year
    assert run.published(SYSTEMS["CBOS"], column) == pytest.approx(53.59, abs=0.01)


def test_averages_of_the_table_of_times():
    rows = [ours("BOW", column.table, column.set, column.metric, 60.0) for column in SENT2VEC_2.columns]
    rows += [ours("BOW", "senteval", "average", "accuracy", 80.0), ours("BOW", "training", "corpus", "seconds", 1800.0)]
    run = figures(*rows)
    found = {name: run.values[OURS, "BOW", "training", name, "average"] for name in ("unsupervised", "macro")}
    assert found == {"unsupervised": 60, "macro": 70}
    assert run.values[OURS, "BOW", "training", "corpus", "hours"] == 0.5
    sent2vec = SYSTEMS["Sent2Vec uni."]
    assert run.published(sent2vec, ScoreColumn("", "training", "macro", "average")) == 74.0


def test_overview_has_ours_the_published_and_what_is_missing():
    run = figures(
        ours("CBOS, paper", "sts", "2012 mean", "pearson", 50.0),
        ours("CBOS, paper", "training", "corpus", "seconds", 1234.5),
        ours("CBOS, paper", "training", "corpus", "sentences_per_second", 250_000.0),
    )
    section = overview(run, {"CBOS, paper": "*"})
    row = row_of(section, "CBOS, paper*")
    assert row["STS 2012"] == "50.0 (53.6)" and row["training, s"] == "1,234" and row["sentences/s"] == "250,000"
    assert row_of(section, "BOW")["MSRP groups"].endswith("(98.4)")
    missing = row_of(section, "C-PHRASE")
    assert missing["TREC"].startswith("[") and missing["TREC"].endswith("(78.8)")


def test_sections_as_markdown():
    section = Section("A & B", ["Some <text>.", [["method", "x"], ["m", "1"]]])
    assert as_markdown(section) == "# A & B\n\nSome <text>.\n\n| method | x |\n|--------|--:|\n| m      | 1 |\n"


def test_published_figures_are_those_of_the_papers():
    rows = published_results()
    figures = {(row["source"], row["method"], row["set"], row["metric"]): row["value"] for row in rows}
    assert len(figures) == len(rows)
    assert figures["Yuan and Zhang 2017", "CBOS", "2014/images", "pearson"] == 77.22
    assert figures["Kenter et al. 2016", "CBOW", "2014/tweet-news", "spearman"] == 66.15
    assert figures["Pagliardini et al. 2018", "Sent2Vec uni. + bi.", "TREC", "accuracy"] == 86.4
    assert figures["Jiao et al. 2018", "CSE universal", "test, trained", "mse"] == 0.248
    # The means that the papers print are those of their rows.
    cbos = [
        figures["Yuan and Zhang 2017", "CBOS", f"2014/{name}", "pearson"]
        for name in ("OnWN", "deft-forum", "deft-news", "headlines", "images", "tweet-news")
    ]
    assert np.mean(cbos) == pytest.approx(66.14, abs=0.01)
    sent2vec = [
        figures["Pagliardini et al. 2018", "Sent2Vec uni. + bi.", name, "accuracy"]
        for name in ("MSRP", "MR", "CR", "SUBJ", "MPQA", "TREC")
    ]
    assert np.mean(sent2vec) == pytest.approx(82.0, abs=0.05)


def record(method, name, pearson, n_pairs=10):
    return {"method": method, "table": "sts", "set": name, "pearson": pearson, "n_pairs": n_pairs, "n_unknown": 1}


def test_means_compare_over_the_same_sets():
    """A published column is averaged over the sets that we have, and left out where it lacks one."""
    ours = tidy(
        [record("m", "2013/OnWN", 50.0, 30), record("m", "2013/headlines", 60.0, 10), record("n", "2013/OnWN", 1.0, 30)]
    )
    rows = with_sts_means([*ours, *published_results("sts")])
    means = {(row["source"], row["method"], row["set"]): row["value"] for row in rows if row["metric"] == "pearson"}
    assert means["this run", "m", "2013 mean"] == 55 and means["this run", "m", "2013 weighted mean"] == 52.5
    assert ("this run", "n", "2013 mean") not in means
    assert means["Yuan and Zhang 2017", "CBOS", "all mean"] == pytest.approx((63.47 + 64.86) / 2)
    assert not any(name.startswith("2014") or name == "2013/SMT" for _, _, name in means)


def test_layouts():
    rows = [
        {"source": "paper", "method": "p", "set": "a", "metric": "pearson", "value": 2.0},
        {"source": "this run", "method": "m", "set": "a", "metric": "pearson", "value": 1.0},
        {"source": "this run", "method": "m", "set": "b", "metric": "mse", "value": 0.5},
    ]
    columns = [("a", "pearson"), ("b", "mse"), ("c", "pearson")]
    assert by_method(rows, columns) == [["method", "a r", "b MSE"], ["m", "1.00", "0.500"], ["p (paper)", "2.00", ""]]
    table = by_set(rows, "pearson", [("m", "a")])
    assert table[:2] == [["set", "m", "p (paper)"], ["a", "1.00†", "2.00"]]
