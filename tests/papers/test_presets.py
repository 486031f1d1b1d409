"""python -m benchmarks.papers on tiny sets: the preset quick, pairs, and the tables of the papers."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from evaluation_sets import draw_pairs, make_folder, options, write

from benchmarks.papers.__main__ import choose_methods, main
from benchmarks.papers.methods import METHODS
from benchmarks.papers.run import sentences_per_second
from benchmarks.papers.sources import PRESETS, Preset, Sources, read_pairs
from skembed import SentenceCorpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("evaluation"))


@pytest.fixture(scope="module")
def quick(folder, tmp_path_factory):
    """The preset quick, its limits even smaller, with methods that learn from pairs and one that is slow."""
    out = tmp_path_factory.mktemp("quick")
    generator = np.random.default_rng(1)
    for name in ("phrases", "sentences"):
        write(out / f"{name}.tsv", ["?\ta cat", *("\t".join(map(str, row)) for row in draw_pairs(generator, 40))])
    methods = ["CBOS, defaults", "CBOS, paper", "BOW", "skip-gram sum, defaults"]
    methods += ["PP from phrases, then sentences", "PP from phrases"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "quick", Preset(900, 300, 30, 10, 2, (3e-3,)))
        patch.setitem(METHODS, "CBOS, paper", METHODS["CBOS, defaults"]._replace(is_slow=True))
        patch.setitem(METHODS, "PP from phrases", METHODS["PP from phrases"]._replace(is_slow=True))
        more = ["--preset", "quick", "--phrase-pairs", out / "phrases.tsv", "--sentence-pairs", out / "sentences.tsv"]
        assert main(options(folder, out, "--methods", *methods, *more, tables="sts,sick,semantic,training")) == 0
    return out


def test_quick_learns_from_less_and_marks_what_learns_from_even_less(quick):
    with open(quick / "results.jsonl", encoding="utf-8") as file:
        settings = json.loads(next(file))
    assert settings["corpus"]["words"] == 900 and settings["alphas"] == [3e-3]
    text = (quick / "overview.md").read_text(encoding="utf-8")
    assert "| CBOS, paper* " in text and "* learned from the first 300 words." in text
    assert "| PP from phrases, then sentences** " in text and "** learned from the first 30 pairs of each kind." in text
    assert "| PP from phrases*** " in text and "*** learned from the first 10 pairs of each kind." in text
    assert "| CBOS, defaults " in text and "| BOW " in text


def test_the_tables_of_the_papers_have_ours_beside_the_published(quick):
    text = (quick / "papers.md").read_text(encoding="utf-8")
    assert "# CBOS, table I" in text and "# CSE, table 3" in text and "# Sent2Vec, table 1" not in text  # no senteval
    semantic = text[text.index("table 1: semantic classification") :]
    assert re.search(r"\| BOW +\| +the paper \| +98.37 \| +65.23 \|", semantic)
    assert re.search(r"\| BOW +\| +here, BOW \| +\d+.\d+ \| +\d+.\d+ \|", semantic)
    assert "figure 4: agreement of errors" in semantic
    universal = text[text.index("# CSE, table 3") :]
    assert re.search(r"here, PP from phrases, then sentences\*\* \| +-?\d+.\d+ \|", universal)


def test_pairs_that_nobody_gave_are_asked_for(folder, tmp_path, capsys):
    assert main(options(folder, tmp_path, "--methods", "PP from phrases, then sentences")) == 1
    assert "learns from pairs: give --phrase-pairs and --sentence-pairs" in capsys.readouterr().err
    sources = Sources(lambda: SentenceCorpus.from_sentences(["a b", "c"]))
    assert not any(METHODS[name].pairs for name in choose_methods(None, sources))
    write(tmp_path / "pairs.tsv", ["a cat\tone cat", "no tab"])
    with pytest.raises(ValueError, match=r"pairs\.tsv, line 2: no tab between two sentences"):
        read_pairs([tmp_path / "pairs.tsv"])


def test_speed_is_that_of_transform(monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr("benchmarks.papers.run.time", SimpleNamespace(perf_counter=lambda: seconds[0]))

    class Slow:
        def transform(self, X):
            seconds[0] += 1.0 if not seconds[0] else 0.001 * len(X)  # the first call compiles

    assert sentences_per_second(Slow(), ["a"] * 100) == pytest.approx(1000)
    assert sentences_per_second(Slow(), ["a"] * 10_000) == pytest.approx(1000)
