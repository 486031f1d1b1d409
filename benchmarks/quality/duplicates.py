"""How many pairs of near-duplicates does a threshold find, and which?

    python benchmarks/quality/duplicates.py doc/_results/quality

Draws duplicates.png, the figure of the task page, with the text and the settings of that page: the docstrings of
scipy.optimize, without exact copies. The pairs that are written beside the curve are those of scipy 1.17.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from reporting import save_figure

from skembed import TextVectorizer
from skembed.datasets import load_docstrings
from skembed.search import near_duplicates

LOWEST = 0.8
SHOWN = {  # the first sentence of a pair: how its other sentence begins, and whether both say the same
    "The default is scipy.sparse.linalg.lgmres.": ("By default this is", True),
    "New value for the control parameter C": ("New value for the control parameter Q", False),
    "The maximum number of iterations of the algorithm to perform.": ("The maximum number of iterations to", True),
    "Lower bounds on independent variables.": ("Upper bounds on independent", False),
    "Set the maximum number of function evaluations.": ("Maximum number of function evaluation.", True),
    "Solution to the problem.": ("Solution of the EQP", False),
}


def find_pairs():
    """The sentences of each pair, and its cosine, the highest first."""
    docs = load_docstrings(packages=["scipy"])
    names = [docs.document_names[row] for row in docs.groups]
    texts = [text for text, name in zip(docs.data, names) if name.startswith("scipy.optimize")]
    sentences = list(dict.fromkeys(texts))
    vectors = TextVectorizer(random_state=0).fit_transform(sentences)
    pairs, cosines = near_duplicates(vectors, threshold=LOWEST)
    order = np.argsort(-cosines, kind="stable")
    return [(sentences[a], sentences[b]) for a, b in pairs[order]], cosines[order]


def draw(figure, pairs, cosines):
    """The threshold falls from top to bottom; beside it, what it finds there."""
    ax, beside = figure.subplots(1, 2, sharey=True, width_ratios=(2, 3))
    ax.plot(np.arange(1, len(cosines) + 1), cosines, color="0.2", lw=2)
    for count, ((first, second), cosine) in enumerate(zip(pairs, cosines), 1):
        begin, same = SHOWN.get(first, ("\n", False))
        if second.startswith(begin):
            colour = "#0072B2" if same else "#B34700"
            ax.plot(count, cosine, "o" if same else "s", color=colour, markersize=8)
            text = f"{first}\n{'=' if same else '≠'} {second}"
            beside.text(0, cosine, text, color=colour, fontsize=11, va="center")
    ax.set_ylabel("threshold of the cosine", fontsize=12)
    ax.set_xlabel("pairs that are found", fontsize=12)
    ax.set(ylim=(LOWEST, 1), xlim=(0, None))
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    beside.set_axis_off()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the figure")
    pairs, cosines = find_pairs()
    save_figure(parser.parse_args().folder / "duplicates.png", lambda figure: draw(figure, pairs, cosines))
    for threshold in (0.99, 0.97, 0.95, 0.9, 0.85, 0.8):
        print(threshold, np.count_nonzero(cosines >= threshold))


if __name__ == "__main__":
    main()
