"""What `paper_figures.py` learns: the lines and values of each figure, and the settings that they come from."""

from typing import NamedTuple

YEARS = (2012, 2013, 2014)
SEEDS = (0, 1, 2)
OTHER_TEXTS = {"books": ("books_small.txt.gz", {}), "stems": ("simplewiki.txt.gz", {"stemmer": "english"})}
MEAN = "mean of 14 sets"
PAPER, DEFAULTS, EVEN = "paper's setting", "our defaults", "words move as far with any"
FAINT = ", a tenth of the text"


class Line(NamedTuple):
    """One line of a figure: a method by its name in skembed.evaluation, changed, and the text it learns from."""

    method: str
    changes: dict = {}
    text: str = "all"
    seed: int = 0


class Curve(NamedTuple):
    """A figure: what varies, over which values, which lines, which sets are named, and what the paper has."""

    title: str
    parameter: str
    label: str
    values: list
    base: float
    lines: dict
    shown: tuple  # lines whose single sets are drawn
    named_sets: list
    published: tuple | None = None
    log: bool = False

    def changes(self, label, value):
        """Parameters of a point."""
        if label == EVEN:  # rows begin with a squared length of d / 10,000, and longer ones turn less by a step
            return {"n_components": value, "learning_rate": 1e-4 * value / 300}
        return {self.parameter: value}


SETS_OF_2014 = [f"2014/{name}" for name in ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")]
NAMED_SETS = ["2012/MSRvid", "2013/OnWN", "2013/FNWN", "2014/deft-news", "2014/deft-forum"]
WORDS = f"{PAPER}, words instead of stems"
COLOURS = {PAPER: "C3", DEFAULTS: "C0", WORDS: "C1"}
# The paper's blocks of 10 are too short for 5 neighbours on each side and 20 strangers; blocks of 60 are not.
CBOS = {
    PAPER: Line("CBOS, paper", {"batch_size": 60}, "stems"),
    DEFAULTS: Line("CBOS, defaults"),
    WORDS: Line("CBOS, paper", {"batch_size": 60}),
}
CBOS |= {name + FAINT: CBOS[name]._replace(text="tenth") for name in (DEFAULTS, WORDS)}
SIAMESE = {PAPER: Line("Siamese CBOW, paper"), DEFAULTS: Line("Siamese CBOW, defaults")}
SIAMESE |= {name + FAINT: line._replace(text="tenth") for name, line in SIAMESE.items()}
TO_MOVE_EVENLY = SIAMESE | {EVEN: SIAMESE[PAPER]}
TEMPERATURES = {
    "temperature 1, as the paper": Line("Siamese CBOW, paper"),
    "temperature 0.1": Line("Siamese CBOW, paper", {"temperature": 0.1}),
    "temperature 1, a tenth of the text": Line("Siamese CBOW, paper", text="tenth"),
}
OF_CBOS = (CBOS, (PAPER, DEFAULTS), SETS_OF_2014, ("Yuan and Zhang 2017", "CBOS"))
OF_SIAMESE = (SIAMESE, (PAPER, DEFAULTS), NAMED_SETS, ("Kenter et al. 2016", "Siamese CBOW"))
OF_RATES = (TEMPERATURES, tuple(TEMPERATURES)[:2], NAMED_SETS)
SENTENCES, RATES = "random sentences", [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]
CURVES = {
    "cbos_context": Curve("CBOS: sentences of context", "window", "sentences on each side", [1, 2, 3, 5], 1, *OF_CBOS),
    "cbos_negatives": Curve("CBOS: negatives", "negative", SENTENCES, [1, 2, 3, 5, 10, 20], 2, *OF_CBOS, log=True),
    "siamese_passes": Curve("Siamese CBOW: passes", "max_iter", "passes", [1, 2, 3, 4, 5], 1, *OF_SIAMESE),
    "siamese_negatives": Curve(
        "Siamese CBOW: negatives", "negative", SENTENCES, [1, 2, 5, 10, 20], 2, *OF_SIAMESE, log=True
    ),
    "siamese_dimensions": Curve(
        "Siamese CBOW: dimensions",
        "n_components",
        "dimensions",
        [50, 100, 200, 300],
        300,
        TO_MOVE_EVENLY,
        *OF_SIAMESE[1:],
    ),
    "siamese_rates": Curve(
        "Siamese CBOW: rate of one pass of SGD", "learning_rate", "learning rate", RATES, 1e-4, *OF_RATES, log=True
    ),
}
STEPS = {
    "paper's setting": {},
    "... one pass": {"max_iter": 1},
    "... blocks of 60": {"batch_size": 60},
    "... 10 negatives, blocks of 60": {"negative": 10, "batch_size": 60},
    "... AdaGrad, rate 0.1, 5 passes": {"solver": "adagrad", "learning_rate": 0.1, "max_iter": 5, "batch_size": "auto"},
}
# Figure 1 of Pagliardini et al. shows words of the Toronto books, learned from words alone.
BOOKS = {"max_iter": 13, "min_count": 5, "min_target_count": 8}
SENT2VEC = {
    PAPER: Line("Sent2Vec, paper (wiki unigrams, d=100)", BOOKS),
    DEFAULTS: Line("Sent2Vec, defaults"),
    PAPER + FAINT: Line("Sent2Vec, paper (wiki unigrams, d=100)", BOOKS, text="tenth"),
    f"{PAPER}, AdaGrad": Line(
        "Sent2Vec, paper (wiki unigrams, d=100)", {**BOOKS, "solver": "adagrad", "learning_rate": 0.5}
    ),
}
BANDS = (5, 10, 30, 100, 300, 1000, 10_000, 100_000, 10_000_000)  # how often words occur
LOWEST = "to of and the a in that with on as".split()
HIGHEST = "had they we me my he her you she i".split()
SOWE_C = "SOWE, C=0.01"
FOLDS_OF = {
    "BOW": Line("BOW"),
    "PCA BOW": Line("BOWPCA"),
    "MOWE": Line("skip-gram mean, defaults"),
    "SOWE": Line("skip-gram mean, defaults"),
    SOWE_C: Line("skip-gram mean, defaults"),
    "Sent2Vec": Line("Sent2Vec, defaults"),
    "Siamese": Line("Siamese CBOW, defaults"),
    "CBOS": Line("CBOS, defaults"),
}
