"""How accurate and how fast is TextVectorizer, compared with tf-idf and pretrained models?

    python benchmarks/quality/accuracy_and_speed.py doc/_results/quality --data DATA    # measures, and draws
    python benchmarks/quality/accuracy_and_speed.py doc/_results/quality                # draws the table that is there

With --keep-speed it measures the accuracy alone, which needs no model: the speeds are those of the table that is there.

The table and the figure are accuracy_and_speed.inc and accuracy_and_speed.png, which the README shows.
doc/_static/card.png is the figure with the name of the package, 1200 x 630 pixels: the picture beside a link to a page
of the documentation.

Tasks, draws of the labels and models are those of `pretrained.py`, whose table has the accuracy of tf-idf and of what
takes a model. Measured here: the other methods, and the CPU time of `transform` of each, from strings to rows, on the
test texts of all tasks (64 of each for the transformer).
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from pretrained import MOST_TEST, MOST_TRAINING, TASKS, draws, load_models, read_task  # isort: skip, it pins the threads

import numpy as np
from reporting import as_csv_table, how_measured, read_table, save_figure
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from skembed import TextVectorizer
from skembed.evaluation._standard import TfidfWithLSA

N_LABELS, N_TRANSFORMER = 50, 64
NAME = "accuracy_and_speed"  # of the table and of the figure
CARD = Path(__file__).parents[2] / "doc" / "_static" / "card.png"


def vectorizers(X, rows, seed):
    """Name -> vectorizer; all know every training text, and TextVectorizer the labels of `rows`."""
    others = list(X[np.setdiff1d(np.arange(len(X)), rows)])
    return {
        "tf-idf": TfidfVectorizer().fit(X),
        "tf-idf of characters": TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True).fit(X),
        "tf-idf with LSA": TfidfWithLSA(random_state=seed).fit(X),
        "TextVectorizer": TextVectorizer(corpus=others, random_state=seed),
    }


def measure(folder, data, keeps_speed):
    """Write the table: accuracy and sentences a second, by method."""
    models = {} if keeps_speed else load_models()
    found, seconds, counts = {}, {}, {}

    def clock(name, transform, texts, n_times=10):
        transform(list(texts[:8]))  # compiles, and fills the caches of the processor
        start = time.process_time()
        for _ in range(n_times):
            transform(list(texts))
        seconds[name] = seconds.get(name, 0) + time.process_time() - start
        counts[name] = counts.get(name, 0) + n_times * len(texts)

    for task in TASKS:
        X, y, X_test, y_test = read_task(data / "eval", task, MOST_TRAINING, MOST_TEST)
        for seed, rows in draws(y, N_LABELS):
            for name, vectorizer in vectorizers(X, rows, seed).items():
                if name == "TextVectorizer":
                    train = vectorizer.fit_transform(X[rows], y[rows])
                else:
                    train = vectorizer.transform(X[rows])
                svc = LinearSVC(random_state=0).fit(train, y[rows])
                right = 100 * np.mean(svc.predict(vectorizer.transform(X_test)) == y_test)
                found.setdefault(name, {}).setdefault(task, []).append(right)
                if seed == 0 and not keeps_speed:
                    clock(name, vectorizer.transform, X_test)
        if not keeps_speed:
            clock("wordllama", models["wordllama"], X_test)
            clock("MiniLM", lambda t: models["MiniLM"].encode(t, show_progress_bar=False), X_test[:N_TRANSFORMER], 1)
        print(task, {name: np.round(np.mean(of_task[task]), 1) for name, of_task in found.items()}, flush=True)
    accuracy = {name: np.mean([np.mean(values) for values in of_task.values()]) for name, of_task in found.items()}
    header, *lines = read_table(folder / "pretrained.inc")
    means = next(dict(zip(header, line)) for line in lines if line[:2] == ["mean", str(N_LABELS)])
    accuracy |= {name.removesuffix(" alone"): float(means[name]) for name in header[2:]}
    rate = {name: counts[name] / seconds[name] for name in counts}
    if keeps_speed:
        rate = {name: float(value.replace(",", "")) for name, _, value in read_table(folder / f"{NAME}.inc")[1:]}
    for name in models:  # each text is embedded by the model, and by the other blocks
        rate[f"TextVectorizer with {name}"] = 1 / (1 / rate["TextVectorizer"] + 1 / rate[name])
    rows = [[name, f"{accuracy[name]:.1f}", f"{rate[name]:.3g}"] for name in sorted(rate, key=accuracy.get)]
    rows = [[name, percent, f"{float(value):,.0f}"] for name, percent, value in rows]
    table = as_csv_table("Accuracy and speed", [["vectorizer", "accuracy, %", "sentences a second"], *rows])
    note = (
        f"Accuracy: mean of {len(TASKS)} tasks with {N_LABELS} labels per class. Speed: per CPU second, on one thread, "
        "from strings to rows."
    )
    note = how_measured(note)
    if keeps_speed:  # the note says where they were measured
        note = "Accuracy:" + (folder / f"{NAME}.inc").read_text(encoding="utf8").partition("\nAccuracy:")[2]
    (folder / f"{NAME}.inc").write_text(f"{table}\n{note}", encoding="utf8")
    print(f"{table}\n{note}")


def draw_card(figure, rows):
    figure.set_size_inches(12, 6.3)
    figure.get_layout_engine().set(rect=(0.02, 0.03, 0.96, 0.84))
    figure.text(0.03, 0.925, "skembed", fontsize=42, weight="bold", va="center")
    figure.text(
        0.285,
        0.915,
        "text to vectors in scikit-learn, learned from your own text",
        fontsize=20,
        color="0.35",
        va="center",
    )
    draw(figure, rows, fontsize=17)


def draw(figure, rows, fontsize=12):
    axes = figure.subplots()
    for name, percent, rate in rows:
        x, y, ours = float(rate.replace(",", "")), float(percent), name.startswith("TextVectorizer")
        color = "#0072B2" if ours else "0.35"
        axes.plot(x, y, "o" if ours else "s", color=color, markersize=9)
        right = x > 3_000 or len(name) < 10  # where there is no room for the name on the other side
        axes.annotate(
            name,
            (x, y),
            xytext=(-9 if right else 9, 0),
            textcoords="offset points",
            ha="right" if right else "left",
            va="center",
            color=color,
            fontsize=fontsize,
            weight="bold" if ours else "normal",
        )
    axes.set(xscale="log", xlim=(10, 200_000))
    axes.set_xlabel("sentences a second, one core, no GPU", fontsize=fontsize)
    axes.set_ylabel("accuracy, mean of six tasks (%)", fontsize=fontsize)
    axes.tick_params(labelsize=fontsize - 2)
    axes.margins(y=0.1)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of pretrained.inc and accuracy_and_speed.inc")
    parser.add_argument("--data", type=Path, help="folder with eval/: measure first")
    parser.add_argument("--keep-speed", action="store_true", help="measure the accuracy alone")
    options = parser.parse_args()
    if options.data is not None:
        measure(options.folder, options.data, options.keep_speed)
    rows = read_table(options.folder / f"{NAME}.inc")[1:]
    save_figure(options.folder / f"{NAME}.png", lambda figure: draw(figure, rows))
    save_figure(CARD, lambda figure: draw_card(figure, rows), dpi=100)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
