"""A corpus and tiny evaluation sets in the published formats, for tests of python -m skembed.evaluation."""

import zipfile

import numpy as np

TOPICS = [
    "cat dog mouse purr bark tail whisker kitten",
    "rain snow storm wind cloud thunder frost hail",
    "bread butter oven flour cheese soup recipe spoon",
]
STS_2012 = ["MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"]
STS_2013 = ["headlines", "OnWN", "FNWN"]


def draw(generator, topic, n=4):
    return " ".join(generator.choice(TOPICS[topic].split(), n)) + "."


def draw_pairs(generator, n):
    """Pairs and how alike they are: the same sentence, the same topic, other topics."""
    rows = []
    for i in range(n):
        first = draw(generator, i % 3)
        second = [first, draw(generator, i % 3), draw(generator, (i + 1) % 3)][i % 4 if i % 4 < 3 else 1]
        rows.append((first, second, {0: 5.0, 1: 3.0, 2: 1.0, 3: 3.5}[i % 4]))
    return rows


def write(path, lines, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)


def make_folder(folder):
    """Write a corpus, and sets as they are published."""
    generator = np.random.default_rng(0)
    write(folder / "corpus.txt", [draw(generator, d % 3, 6) if s else "" for d in range(60) for s in range(6)])
    data = folder / "data"
    for year, names in ((2012, STS_2012), (2013, STS_2013)):
        for name in names:
            rows = draw_pairs(generator, 16)
            write(data / f"sts{year}" / f"STS.input.{name}.txt", [f"{a}\t{b}" for a, b, _ in rows])
            write(data / f"sts{year}" / f"STS.gs.{name}.txt", [score for _, _, score in rows])
    for name in ("SICK_train", "SICK_trial", "SICK_test_annotated"):
        header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
        rows = draw_pairs(generator, 24)
        write(
            data / "sick" / f"{name}.txt",
            [header, *(f"{i}\t{a}\t{b}\t{s}\tNEUTRAL" for i, (a, b, s) in enumerate(rows))],
        )
    for part, n in (("train", 24), ("val", 12), ("test", 16)):
        header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
        rows = [f"{int(s > 2)}\t{i}\t{i}1\t{a}\t{b}" for i, (a, b, s) in enumerate(draw_pairs(generator, n))]
        write(data / "msrp" / f"msr-para-{part}.tsv", [header, *rows])
    for name in ("rt-polarity.neg", "custrev.neg", "subj.objective", "mpqa.neg"):
        write(data / "senteval" / name, [draw(generator, 0) for _ in range(12)])
    for name in ("rt-polarity.pos", "custrev.pos", "subj.subjective", "mpqa.pos"):
        write(data / "senteval" / name, [draw(generator, 1) for _ in range(12)])
    labels = ["NUM:date", "LOC:city", "HUM:ind"]
    for part in ("train", "test"):
        write(data / "senteval" / f"TREC.{part}", [f"{labels[i % 3]} {draw(generator, i % 3)}" for i in range(18)])
    (data / "semantic").mkdir()
    for name in ("msrp", "opinosis"):
        with zipfile.ZipFile(data / "semantic" / f"{name}_paraphrase_grouped.zip", "w") as archive:
            archive.writestr(
                f"{name}_distribute/phrases.txt", "".join(f"{draw(generator, i % 3)} {i}\n" for i in range(18))
            )
            archive.writestr(
                f"{name}_distribute/phrase_groups.csv",
                "\n".join(["phrase_index,paraphrase_group_index", *(f"{i},{i % 3}" for i in range(18))]),
            )
    return folder


def options(folder, out, *more, tables="sts,sick,senteval,semantic"):
    paths = ["--corpus", folder / "corpus.txt", "--data", folder / "data", "--out", out]
    return [str(option) for option in [*paths, "--folds", 2, "--tables", tables, *more]]
