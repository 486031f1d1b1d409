"""python -m benchmarks.papers, on tiny sets in the published formats: tables, files, and going on after a kill."""

import csv
import inspect
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import joblib
import pytest
from evaluation_sets import STS_2012, STS_2013, TOPICS, make_folder, options, write

from benchmarks.papers.__main__ import main, make_parser
from benchmarks.papers.candidates import Candidate
from benchmarks.papers.data import EvaluationData
from benchmarks.papers.report import Report
from benchmarks.papers.store import ResultStore
from benchmarks.papers.tables import write_csv
from skembed import BOWPCA, SentenceCorpus, datasets

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("evaluation"))


def results(out):
    """The settings, and the results but for the times, which are never the same."""
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    return lines[0], {(r["method"], r["table"], r["set"]): r for r in lines[1:] if r["table"] != "training"}


THREE = ["--methods", "CBOS, defaults", "BOW", "tf-idf cosine"]


@pytest.fixture(scope="module")
def finished(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("finished")
    assert main(options(folder, out, *THREE, "--baseline", "BOW")) == 0
    return out


def test_every_row_is_there(finished):
    header, rows = results(finished)
    assert header["seed"] == 0 and header["corpus"]["words"] == 60 * 5 * 6
    sets = {
        "sts": [f"2012/{name.removeprefix('surprise.')}" for name in STS_2012] + [f"2013/{name}" for name in STS_2013],
        "sick": ["trial", "train", "test", "test + train", "test, trained"],
        "senteval": ["MR", "CR", "SUBJ", "MPQA", "TREC", "MSRP"],
        "semantic": ["msrp", "opinosis"],
    }
    everywhere = {(table, name) for table, names in sets.items() for name in names}
    found = {
        method: {key[1:] for key in rows if key[0] == method} for method in ("CBOS, defaults", "BOW", "tf-idf cosine")
    }
    assert found["CBOS, defaults"] == found["tf-idf cosine"] == everywhere
    assert rows["BOW", "sick", "test, trained"]["skipped"]  # sparse rows are no input for the head
    assert rows["CBOS, defaults", "sick", "test, trained"]["mse"] < 3
    assert found["BOW"] == {key for key in everywhere if key[0] != "senteval"}
    for row in rows.values():
        for metric in ("pearson", "spearman", "accuracy", "f1"):
            assert -100 <= row.get(metric, 0) <= 100
    assert rows["BOW", "sick", "test + train"]["pearson"] > 50  # the same words twice score 5


def test_tables_have_the_published_figures_beside_ours(finished):
    text = (finished / "sts.md").read_text(encoding="utf-8")
    assert "1,800 words" in text and "a billion words" in text
    assert ("2015/belief" in text) == ("In 2015 the papers" in text)
    by_set_table = text[text.index("| set ") :].splitlines()
    assert "CBOS (Yuan and Zhang 2017)" in by_set_table[0] and "Siamese CBOW (Kenter et al. 2016)" in by_set_table[0]
    onwn = next(line for line in by_set_table if line.startswith("| 2012/OnWN"))
    assert " 64.43 " in onwn and " 64.44 " in onwn  # CBOS and Siamese CBOW, as their papers print them
    assert "98.37" in (finished / "semantic.md").read_text(encoding="utf-8")
    assert "80.80" in (finished / "senteval.md").read_text(encoding="utf-8")  # F1 of Sent2Vec on MSRP
    assert "0.248" in (finished / "sick.md").read_text(encoding="utf-8")
    with open(finished / "sts.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ours = [row for row in rows if row["source"] == "this run" and row["set"] == "2012/MSRpar"]
    assert {row["method"] for row in ours} == {"CBOS, defaults", "BOW", "tf-idf cosine"} and ours[0]["n_pairs"] == "16"
    for name in ("sts_intervals.csv", "sts_wilcoxon.csv", "semantic_agreement_msrp.csv"):
        assert (finished / name).stat().st_size > 100


def test_a_finished_run_is_not_run_again(folder, finished, capsys):
    before = (finished / "results.jsonl").read_bytes()
    assert main(options(folder, finished, *THREE, "--baseline", "BOW")) == 0
    shown = capsys.readouterr()
    assert "learned" not in shown.err and "results are there already" in shown.err
    assert (finished / "results.jsonl").read_bytes() == before
    assert "# Semantic classification" in shown.out and "CBOS, defaults" in shown.out


def test_a_run_that_was_stopped_goes_on(folder, finished, tmp_path, capsys, monkeypatch):
    add, count = ResultStore.add, 0

    def stop_after_12(self, *args, **values):
        nonlocal count
        count += 1
        if count > 12:
            raise KeyboardInterrupt
        add(self, *args, **values)

    with monkeypatch.context() as patch:
        patch.setattr(ResultStore, "add", stop_after_12)
        assert main(options(folder, tmp_path, *THREE)) == 130
    assert "goes on from" in capsys.readouterr().err
    assert len(results(tmp_path)[1]) == 12
    with open(tmp_path / "results.jsonl", "ab") as file:
        file.write(b'{"method": "CBOS, defaults", "tab')  # what a kill in the middle of writing leaves
    assert main(options(folder, tmp_path, *THREE, "--baseline", "BOW")) == 0
    assert capsys.readouterr().err.count("CBOS, defaults: sts") == 0  # those eight were there
    assert results(tmp_path) == results(finished)
    assert (tmp_path / "sts.md").read_text() == (finished / "sts.md").read_text()


KILLER = """
import os, signal
from pathlib import Path

class Killer:
    def __init__(self, model, marker):
        self.model, self.marker, self.calls = model, marker, 0
    def transform(self, X):
        self.calls += 1
        if self.calls == 2 and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.model.transform(X)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of another kind")
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_nobody_reads(folder, tmp_path, closed):
    joblib.dump(BOWPCA(n_components=None).fit(TOPICS), tmp_path / "mine.joblib")
    command = [sys.executable, "-m", "benchmarks.papers"]
    command += options(folder, tmp_path / "out", "--methods", tmp_path / "mine.joblib", tables="sts,semantic")
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: writer}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, text=True, check=False, **streams)
    os.close(writer)
    assert done.returncode == (141 if closed == "stdout" else 0), done.stderr
    assert "Traceback" not in (done.stderr or "") and "rror" not in (done.stderr or "")
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"sts.md", "semantic.md"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_process_goes_on(folder, tmp_path, monkeypatch, capsys):
    write(tmp_path / "killer.py", KILLER.splitlines())
    monkeypatch.syspath_prepend(tmp_path)
    from killer import Killer

    joblib.dump(Killer(BOWPCA(n_components=None).fit(TOPICS), str(tmp_path / "marker")), tmp_path / "mine.joblib")
    arguments = options(folder, tmp_path / "out", "--methods", tmp_path / "mine.joblib", tables="sts")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.papers", *arguments]
    killed = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(results(tmp_path / "out")[1]) == 5  # 2012 was done
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert "2012" not in shown.err and shown.err.count("mine: sts 2013") == 3
    assert len(results(tmp_path / "out")[1]) == 8
    assert "| mine " in shown.out


def test_other_settings_are_refused(folder, finished, capsys, tmp_path):
    assert main(options(folder, finished, *THREE, "--seed", 1)) == 1
    message = capsys.readouterr().err
    assert "seed was 0, is 1" in message and "results.jsonl" in message and "--out" in message
    out = tmp_path / "out"
    for n_components in (None, 2):
        joblib.dump(BOWPCA(n_components=n_components).fit(TOPICS), tmp_path / "mine.joblib")
        arguments = options(folder, out, "--methods", tmp_path / "mine.joblib", tables="sts")
        assert main(arguments) == (0 if n_components is None else 1)
    assert "result of 'mine' (sts, 2012/MSRpar) made with file sha256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--methods", "BOWL"], "'BOWL' is neither a method nor the path of a saved model"),
        (["--methods", "none.joblib"], "There is no saved model none.joblib"),
        (["--data", "nowhere", "--methods", "BOW"], "There is no folder nowhere"),
        (["--corpus", "nowhere.txt", "--methods", "BOW"], "nowhere.txt"),
        (["--data", "empty", "--methods", "BOW"], "empty has no folder sts2012, sts2013, sts2014, sts2015, sts2016."),
        (["--data", "empty", "--methods", "tf-idf cosine", "--tables", "senteval"], "rt-polarity.neg"),
        (["--methods", "BOW", "--tables", "senteval"], "None of the methods 'BOW' is made for the table senteval."),
        (["--methods", "BOW", "--baseline", "BOWL"], "--baseline 'BOWL' is not among the methods of the table sts"),
        (["--methods", "BOW", "BOWPCA", "--baseline", "BOWPCA"], "in this run: 'BOW'."),
        (["--methods", "a/m.joblib", "b/m.joblib"], "m.joblib would both be called 'm' in the tables. Rename one"),
        (["--methods", "BOW", "a/BOW.pkl"], "the method 'BOW' and "),
    ],
)
def test_what_cannot_be_run_is_said_before(folder, tmp_path, capsys, monkeypatch, more, message):
    monkeypatch.chdir(tmp_path)
    for name in ("a/m.joblib", "b/m.joblib", "a/BOW.pkl"):
        write(tmp_path / name, ["never loaded"])
    (tmp_path / "empty").mkdir()
    assert main(options(folder, tmp_path / "out", *more)) == 1
    shown = capsys.readouterr()
    assert message in shown.err and "learned" not in shown.err
    assert not shown.out


def test_what_is_left_out_is_said(folder, tmp_path, capsys):
    assert main(options(folder, tmp_path, "--methods", "BOW", tables="sts,senteval")) == 0
    shown = capsys.readouterr()
    assert "BOW: not made for senteval, only for sts, sick, semantic, training" in shown.err
    assert "no table senteval: none of the methods is made for it" in shown.err
    assert "no Wilcoxon tests: 'CBOW mean, as published' is not among --methods" in shown.err
    assert shown.out.startswith("# Semantic textual similarity") and not shown.out.endswith("\n\n\n")
    assert not (tmp_path / "senteval.md").exists()


def test_a_table_without_results_is_refused(tmp_path):
    store = ResultStore(tmp_path / "results.jsonl", {"seed": 0})
    with pytest.raises(ValueError, match="no result for the table senteval: none of the methods 'BOW'"):
        Report(store, EvaluationData(), tmp_path, ["BOW"], "BOW", 0).section("senteval", "")


def test_without_a_folder_the_sets_are_downloaded(monkeypatch):
    asked = []

    def recorder(name):
        signature = inspect.signature(getattr(datasets, name))  # options that it does not have raise an error
        return lambda **options: asked.append((name, *signature.bind(**options).arguments.values()))

    for name in [name for name in dir(datasets) if name.startswith("fetch_")]:
        monkeypatch.setattr(datasets, name, recorder(name))
    data = EvaluationData()
    assert data.years() == [2012, 2013, 2014, 2015, 2016]
    data.sts(2012)
    data.sick("trial"), data.msrp("test"), data.trec("train"), data.senteval("MPQA"), data.semantic("opinosis")
    data.sts(2012)  # read once
    expected = [("sts", 2012), ("sick", "trial"), ("msrp", "test"), ("trec", "train"), ("senteval", "MPQA")]
    assert asked == [(f"fetch_{name}", option) for name, option in expected] + [("fetch_semantic_groups", "opinosis")]


@pytest.mark.parametrize("more", [["--tables", "sts,stss"], ["--tables", ","], ["--folds", "1"], ["--n-jobs", "0"]])
def test_options_that_are_wrong(folder, tmp_path, capsys, more):
    with pytest.raises(SystemExit) as stop:
        main(options(folder, tmp_path / "out", *more))
    assert stop.value.code == 2
    assert f"error: {more[0]}" in capsys.readouterr().err


def test_a_file_where_the_results_should_go(folder, tmp_path, capsys):
    (tmp_path / "out").write_text("notes")
    with pytest.raises(SystemExit) as stop:
        main(options(folder, tmp_path / "out"))
    assert stop.value.code == 2
    assert "this is a file, give a folder" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "notes"


def test_files_that_are_no_models(folder, tmp_path, capsys):
    write(tmp_path / "text.joblib", ["no pickle"])
    joblib.dump([1, 2], tmp_path / "list.pkl")
    for name, message in (
        ("text.joblib", "cannot be loaded as a model"),
        ("list.pkl", "a list, which has no transform"),
    ):
        assert main(options(folder, tmp_path / "out", "--methods", tmp_path / name)) == 1
        assert message in capsys.readouterr().err


def test_a_saved_corpus_is_loaded(folder, tmp_path):
    SentenceCorpus.from_file(folder / "corpus.txt").save(tmp_path / "corpus")
    arguments = options(folder, tmp_path / "out", "--methods", "random vectors", tables="sts")
    arguments[1] = str(tmp_path / "corpus")
    assert main(arguments) == 0
    assert "random vectors" in (tmp_path / "out" / "sts.md").read_text(encoding="utf-8")


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    options = make_parser().parse_args(["--corpus", "~/text", "--data=~/data", "--out=~/out"])
    assert (options.corpus, options.data, options.out) == tuple(tmp_path / name for name in ("text", "data", "out"))
    (tmp_path / "data").mkdir()
    assert EvaluationData("~/data").folder == tmp_path / "data"
    assert ResultStore("~/out/results.jsonl", {"seed": 0}).path == tmp_path / "out" / "results.jsonl"
    with pytest.raises(FileNotFoundError, match=f"no saved model {re.escape(str(tmp_path))}"):
        Candidate("~/model.joblib", lambda: None, 0, None)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full disk to try")
def test_a_full_disk_is_named(tmp_path):
    store = ResultStore(tmp_path / "results.jsonl", {})
    store.path = Path("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_csv(Path("/dev/full"), [{"a": 1}])
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        store.add("method", "table", "set", "made_with")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": "other"}\n', "holds results of another run: seed was None, is 0; format was 'other', is None"),
        ("one line of mine, without an end", "is not a file of results"),
        ("two of mine\nwithout an end", "is not a file of results"),
        ("[1, 2]\n", "is not a file of results"),
        ("[" * 100_000 + "\n", "is not a file of results"),
        ('{"seed": 0}\n{"method": "a"}\n', "is not a file of results"),
    ],
)
def test_files_that_hold_no_results(tmp_path, content, message):
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        ResultStore(path, {"seed": 0})
    assert str(path) in str(error.value)
    assert path.read_text() == content  # nothing is lost


def test_a_first_line_that_was_not_finished_is_written_again(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultStore(path, {"seed": 0})
    whole = path.read_text()
    path.write_text(whole[:30])
    ResultStore(path, {"seed": 0})
    assert path.read_text() == whole


def test_results_round_trip(tmp_path):
    store = ResultStore(tmp_path / "new" / "results.jsonl", {"seed": 0})
    store.add("m", "sts", "2012/x", "made", cosine=[0.1 + 0.2], pearson=1 / 3)
    again = ResultStore(tmp_path / "new" / "results.jsonl", {"seed": 0}).get("m", "sts", "2012/x", "made")
    assert again["cosine"] == [0.1 + 0.2] and again["pearson"] == 1 / 3
    with pytest.raises(ValueError, match="JSON"):
        store.add("m", "sts", "2012/y", "made", pearson=float("nan"))
