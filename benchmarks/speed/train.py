"""How long does a pass of training take on one core, beside the published C++ sent2vec and gensim's word2vec?

    python benchmarks/speed/train.py --data DATA --sent2vec-bin stock=PATH --sent2vec-bin native=PATH

The C++ program is no part of this project: build https://github.com/epfml/sent2vec twice, as its Makefile says and
with ``-Ofast -march=native -DNDEBUG``, and name the two binaries. All see the same text, already split and in lower
case, one sentence a line. A pass is the difference of two runs, over the difference of the real passes they made (the
goal of the C++ program counts line ends and rare words, so an -epoch is more than one), so it holds no dictionary, no
start-up and no saving; what a program reads again in every pass counts. "whole run" is all of it, with one pass.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from limits import describe, rows_of_limits, work_of_a_word
from measuring import Worker, arguments, learners, median, public, rounds_of, saved_corpus, spread, workers
from reporting import bars, report

METHODS = learners()
SCORE_PASSES = 5


def prepare_skembed(folder, cls, settings, data):
    from yardsticks import mean_score

    import skembed

    corpus = skembed.SentenceCorpus.load(f"{folder}/simplewiki", verify=False)
    make = public()[cls]
    make(max_iter=1, **settings).fit([" ".join(words) for words in corpus[:2000]])  # compiles

    def task(passes, whole=False, score=False):
        text = skembed.SentenceCorpus.from_file(f"{folder}/text.txt") if whole else corpus
        model = make(max_iter=passes, random_state=0, n_jobs=1, **settings).fit(text)
        return {"passes": passes, "score": mean_score(model.transform, data) if score else None}

    return task


def prepare_cpp(folder, binary, settings, real_passes, data):
    from sklearn.feature_extraction.text import CountVectorizer
    from yardsticks import mean_score

    ngrams = ["-wordNgrams", "2", "-bucket", "500000", "-dropoutK", "2"] if "ngram_range" in settings else []
    options = {"-dim": 100, "-neg": 10, "-t": 1e-4, "-minCount": 5, "-minn": 0, "-maxn": 0, "-lr": 0.2, "-thread": 1}
    options = [str(word) for item in options.items() for word in item]
    model = Path(tempfile.mkdtemp(dir=folder)) / "model"
    split = CountVectorizer(token_pattern=r"(?u)\b\w+\b").build_analyzer()

    def task(passes, whole=False, score=False):
        text = ["-input", f"{folder}/text.txt", "-output", str(model), "-epoch", str(passes)]
        # -wordNgrams 1 makes no n-gram rows; what follows it would undo that, so it stands last.
        subprocess.run(
            [binary, "sent2vec", *text, *options, *(ngrams or ["-wordNgrams", "1"])], check=True, capture_output=True
        )
        return {"passes": passes * real_passes, "score": mean_score(transform, data) if score else None}

    def transform(sentences):
        lines = "".join(" ".join(split(sentence)) + "\n" for sentence in sentences)
        embed = [binary, "print-sentence-vectors", f"{model}.bin"]
        found = subprocess.run(embed, input=lines, check=True, capture_output=True, text=True).stdout
        return np.array([line.split() for line in found.splitlines()], np.float64)

    return task


def prepare_gensim(folder, settings):
    from gensim.models import Word2Vec

    skipgram = settings["algorithm"] == "skipgram"
    options = {"vector_size": 100, "window": 5, "min_count": 5, "workers": 1, "seed": 0, "sg": int(skipgram)}
    options |= {"negative": 5, "sample": 1e-3, "alpha": 0.025 if skipgram else 0.05}

    def task(passes, whole=False):
        Word2Vec(corpus_file=f"{folder}/text.txt", epochs=passes, **options)
        return {"passes": passes, "score": None}

    return task


def seconds_of(worker, low, high):
    """CPU seconds of a pass, and of a whole run."""
    few, many = worker.run(passes=low), worker.run(passes=high)
    seconds = (many["cpu"] - few["cpu"]) / (many["value"]["passes"] - few["value"]["passes"])
    return {"pass": seconds, "whole": worker.run(passes=1, whole=True)["cpu"]}


def measure(method, folder, options, real_passes):
    """Rows of one method and its peers, which take turns, and what the machine could do meanwhile."""
    cls, settings = METHODS[method]
    settings_of_all = {"folder": str(folder), "settings": settings}
    wanted = {"skembed": ("prepare_skembed", settings_of_all | {"cls": cls, "data": str(options.data)})}
    if cls == "Sent2VecVectorizer":
        for item in options.sent2vec_bin:
            name, _, path = item.partition("=")
            more = {"binary": path, "real_passes": real_passes, "data": str(options.data)}
            wanted[f"C++ sent2vec, {name}"] = ("prepare_cpp", settings_of_all | more)
    if cls == "Word2VecVectorizer":
        wanted["gensim"] = ("prepare_gensim", settings_of_all)
    limits = Worker(Path(__file__).with_name("limits.py"), "prepare_limits", folder=f"{folder}/simplewiki")
    with workers(__file__, wanted) as found:
        runs = {name: lambda worker=worker: seconds_of(worker, 1, 3) for name, worker in found.items()}
        results = rounds_of(runs | {"limits": lambda: limits.run()["value"]}, options.rounds)
        scores = {}
        if cls == "Sent2VecVectorizer" and not options.quick:
            # Builds of one program learn the same: ours and the last one named.
            for name in dict.fromkeys(["skembed", list(found)[-1]]):
                scores[name] = found[name].run(passes=SCORE_PASSES, score=True)["value"]["score"]
    limits.close()
    return results, scores


def rows_of(method, results, scores, n_words):
    ours = median([r["pass"] for r in results["skembed"]])
    for name, found in results.items():
        if name == "limits":
            continue
        seconds = median([r["pass"] for r in found])
        score = scores.get(name)
        yield {
            "method": method,
            "program": name,
            "CPU s/pass": round(seconds, 2),
            "± %": spread([r["pass"] for r in found]),
            "M words/s": round(n_words / seconds / 1e6, 2),
            "whole run, CPU s": round(median([r["whole"] for r in found]), 1),
            "skembed is faster by": "" if name == "skembed" else round(seconds / ours, 1),
            "STS, 5 passes": "" if score is None else round(score, 1),
        }


def write_text(folder):
    """Write the corpus as text; returns its known words, the real passes of a C++ -epoch, and the work of a word."""
    from skembed import SentenceCorpus

    corpus = SentenceCorpus.load(folder / "simplewiki")
    with open(folder / "text.txt", "w", encoding="utf8") as file:
        file.writelines(" ".join(words) + "\n" for words in corpus)
    n_words = int(corpus.vocabulary.prune(5).counts.sum())
    return n_words, (corpus.n_tokens + corpus.n_sentences) / n_words, work_of_a_word(corpus)


def draw(rows):
    def fill(figure):
        figure.set_size_inches(8, 5.5)
        axes = figure.subplots()
        labels = [f"{row['method']}: {row['program']}" for row in rows]
        colours = ["C0" if row["program"] == "skembed" else "0.6" for row in rows]
        speeds = [row["M words/s"] for row in rows]
        bars(axes, labels, speeds, colours=colours, unit="million words a second, one core")

    return fill


def main():
    options = arguments(
        __doc__,
        sent2vec_bin={"action": "append", "default": [], "metavar": "NAME=PATH", "help": "a C++ binary; repeatable"},
        only={"nargs": "+", "choices": list(METHODS), "default": list(METHODS), "metavar": "METHOD"},
    )
    if not options.sent2vec_bin:
        print("skipped: C++ sent2vec (no --sent2vec-bin)")
    rows, raw = [], {}
    with saved_corpus(options) as folder:
        n_words, real_passes, work = write_text(folder)
        for method in options.only:
            raw[method], scores = measure(method, folder, options, real_passes)
            rows += rows_of(method, raw[method], scores, n_words)
            print(*rows[-len(raw[method]) + 1 :], sep="\n", flush=True)
    notes = (
        f"One thread, 100 dimensions, {n_words:,} known words a pass; ± is half the range of {options.rounds} rounds. "
        f"One -epoch of the C++ program makes {real_passes:.3f} real passes."
    )
    title = "A pass of training on one core"
    report(options, "train", title, rows, notes=notes, draw=draw(rows))
    limits = [found for results in raw.values() for found in results["limits"]]
    speeds = {row["method"]: 1e6 * row["M words/s"] for row in rows if row["program"] == "skembed"}
    report_limits(options, list(rows_of_limits(work, speeds, limits)), limits)


def report_limits(options, rows, limits):
    share = "of gather and update, %"

    def draw(figure):
        axes = figure.subplots()
        names = ["of copy bandwidth, %", "of peak, %", share]
        pandas.DataFrame(rows).set_index("method")[names].plot.barh(ax=axes, ylabel="", xlabel="% of the limit")
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)

    notes = describe(limits) + (
        " Bytes are what the method must move at the least if no row stays in a cache; frequent rows do stay, so more "
        "than 100 % is possible. The formulas stand in benchmarks/speed/limits.py."
    )
    title = "Training as a fraction of what the machine can do"
    report(options, "limits", title, rows, notes=notes, draw=draw)


if __name__ == "__main__":
    main()
