"""The tables of the five papers: which systems they compare on which sets, and which methods here are those systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

YUAN, KENTER = "Yuan and Zhang 2017", "Kenter et al. 2016"
PAGLIARDINI, JIAO, WHITE = "Pagliardini et al. 2018", "Jiao et al. 2018", "White et al. 2015"


class System(NamedTuple):
    """A system: its name in each paper, the methods here that are it, or the reason why there is none."""

    published: Mapping[str, str]
    as_published: str | None = None  # the method with the paper's setting
    here: str | None = None  # the method with settings of this package
    reason: str = ""


class ScoreColumn(NamedTuple):
    """A figure of a table; `ours` is the set in a run where it has another name."""

    title: str
    table: str
    set: str
    metric: str
    ours: str | None = None


class PaperTable(NamedTuple):
    """A table of a paper. Its rows are systems, or sets with `by_set`."""

    title: str
    source: str
    columns: tuple[ScoreColumn, ...]
    systems: tuple[str, ...]
    by_set: bool = False
    note: str = ""


_TWEETS = "learns from tweets, and the text of a run is another"
_OTHERS = "a system of others, with features or networks that are not of this package"


def _from_pairs(name: str, kinds: str, published: str) -> System:
    return System({JIAO: published}, f"{name} from {kinds}, paper", f"{name} from {kinds}")


_BOTH = "phrases, then sentences"
SYSTEMS: dict[str, System] = {
    "skip-gram": System(
        {KENTER: "skip-gram", PAGLIARDINI: "Skipgram"}, "skip-gram mean, as published", "skip-gram mean, defaults"
    ),
    "CBOW": System({KENTER: "CBOW", PAGLIARDINI: "C-BOW"}, "CBOW mean, as published", "CBOW mean, defaults"),
    "SkipThought": System(
        {KENTER: "skip-thought", PAGLIARDINI: "SkipThought"}, "SkipThought, paper", "SkipThought, defaults"
    ),
    "Siamese CBOW": System(
        {KENTER: "Siamese CBOW", PAGLIARDINI: "Siamese C-BOW"}, "Siamese CBOW, paper", "Siamese CBOW, defaults"
    ),
    "CBOS": System({YUAN: "CBOS"}, "CBOS, paper", "CBOS, defaults"),
    "SAE": System({PAGLIARDINI: "SAE"}, "SAE, paper"),
    "SAE + embs.": System({PAGLIARDINI: "SAE + embs."}, "SAE + embs., paper"),
    "SDAE": System({PAGLIARDINI: "SDAE"}, "SDAE, paper", "SDAE, defaults"),
    "SDAE + embs.": System({PAGLIARDINI: "SDAE + embs."}, "SDAE + embs., paper"),
    "ParagraphVec DBOW": System(
        {PAGLIARDINI: "ParagraphVec DBOW", WHITE: "PV-DBOW"}, "PV-DBOW, paper", "PV-DBOW, defaults"
    ),
    "ParagraphVec DM": System({PAGLIARDINI: "ParagraphVec DM", WHITE: "PV-DM"}, "PV-DM, paper", "PV-DM, defaults"),
    "tf-idf": System({PAGLIARDINI: "Unigram TF-IDF"}, "tf-idf cosine", "tf-idf of the compared sentences"),
    "Sent2Vec uni.": System(
        {PAGLIARDINI: "Sent2Vec uni."}, "Sent2Vec, paper (wiki unigrams, d=100)", "Sent2Vec, defaults"
    ),
    "Sent2Vec uni. + bi.": System({PAGLIARDINI: "Sent2Vec uni. + bi."}, "Sent2Vec, paper (wiki uni+bi, d=100)"),
    "FastSent": System({KENTER: "FastSent", PAGLIARDINI: "FastSent"}, "FastSent, paper", "FastSent, defaults"),
    "FastSent+AE": System({PAGLIARDINI: "FastSent+AE"}, "FastSent+AE, paper", "FastSent+AE, defaults"),
    "Sent2Vec uni. (Wikipedia)": System(
        {PAGLIARDINI: "Sent2Vec uni. (Wikipedia)"}, "Sent2Vec, paper (wiki unigrams, d=100)"
    ),
    "Sent2Vec uni. + bi. (Wikipedia)": System(
        {PAGLIARDINI: "Sent2Vec uni. + bi. (Wikipedia)"}, "Sent2Vec, paper (wiki uni+bi, d=100)"
    ),
    "Sent2Vec uni. (Twitter)": System({PAGLIARDINI: "Sent2Vec uni. (Twitter)"}, reason=_TWEETS),
    "Sent2Vec uni. + bi. (Twitter)": System({PAGLIARDINI: "Sent2Vec uni. + bi. (Twitter)"}, reason=_TWEETS),
    "C-PHRASE": System({PAGLIARDINI: "C-PHRASE"}, "C-PHRASE, paper, on balanced trees", "C-PHRASE on balanced trees"),
    "DictRep BOW + embs.": System({PAGLIARDINI: "DictRep BOW + embs."}, reason="needs the definitions of a dictionary"),
    "PP (PPDB)": _from_pairs("PP", "phrases", "PP (PPDB)"),
    "CSE (PPDB)": _from_pairs("CSE", "phrases", "CSE (PPDB)"),
    "CSE (sentences)": _from_pairs("CSE", "sentences", "CSE (sentences)"),
    "CSE (SimpWiki)": _from_pairs("CSE", _BOTH, "CSE (SimpWiki)"),
    "GRAN (SimpWiki)": _from_pairs("GRAN", _BOTH, "GRAN (SimpWiki)"),
    "ATT-CCG (SimpWiki)": System(
        {JIAO: "ATT-CCG (SimpWiki)"}, reason="needs the supertags of its text, which no package brings"
    ),
    "PP universal": _from_pairs("PP", _BOTH, "PP universal"),
    "GRAN universal": _from_pairs("GRAN", _BOTH, "GRAN universal"),
    "CSE random": _from_pairs("CSE", _BOTH, "CSE random"),
    "CSE universal": _from_pairs("CSE", _BOTH, "CSE universal"),
    **{
        name: System({JIAO: name}, reason=_OTHERS)
        for name in (
            "Illinois-LH",
            "UNAL-NLP",
            "Meaning Factory",
            "ECNU",
            "Constituency Tree-LSTM",
            "Dependency Tree-LSTM",
            "CNN",
        )
    },
    "URAE": System({WHITE: "URAE"}, "URAE, paper", "URAE, defaults"),
    "MOWE": System({WHITE: "MOWE"}, "skip-gram mean, as published", "skip-gram mean, defaults"),
    "SOWE": System({WHITE: "SOWE"}, None, "skip-gram sum, defaults"),
    "BOW": System({WHITE: "BOW"}, "BOW"),
    "PCA BOW": System({WHITE: "PCA BOW"}, "BOWPCA"),
}

STS_SETS = {
    "2012": ("MSRpar", "MSRvid", "OnWN", "SMTeuroparl", "SMTnews"),
    "2013": ("FNWN", "OnWN", "SMT", "headlines"),
    "2014": ("OnWN", "deft-forum", "deft-news", "headlines", "images", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "2016": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}


def _sts(*years: str, metrics: tuple[str, ...] = ("pearson",), means: bool = False) -> tuple[ScoreColumn, ...]:
    signs = {"pearson": "", "spearman": " rho"}
    columns = []
    for year in years:
        sets = [f"{year}/{name}" for name in STS_SETS[year]] + ([f"{year} mean"] if means else [])
        columns += [ScoreColumn(f"{set_}{signs[metric]}", "sts", set_, metric) for set_ in sets for metric in metrics]
    return tuple(columns)


_CORRELATIONS = ("spearman", "pearson")
_SICK_ALL = tuple(
    ScoreColumn(f"SICK test + train{' rho' if metric == 'spearman' else ''}", "sick", "test + train", metric)
    for metric in _CORRELATIONS
)
_SICK_TEST = (ScoreColumn("SICK test", "sick", "test", "pearson"),)
_ACCURACIES = (
    ScoreColumn("MSRP", "senteval", "MSRP", "accuracy"),
    ScoreColumn("MSRP F1", "senteval", "MSRP", "f1"),
    *(ScoreColumn(name, "senteval", name, "accuracy") for name in ("MR", "CR", "SUBJ", "MPQA", "TREC")),
    ScoreColumn("average", "senteval", "average", "accuracy"),
)


def _tuned(start: str) -> tuple[ScoreColumn, ...]:
    names = {"pearson": "r", "spearman": "rho", "mse": "MSE"}
    return tuple(
        ScoreColumn(name, "sick", "test, trained", metric, f"test, {start} fine-tuned")
        for metric, name in names.items()
    )


_UNIVERSAL = ("PP universal", "GRAN universal", "CSE universal")
_SEMANTIC = tuple(ScoreColumn(name, "semantic", name, "accuracy") for name in ("msrp", "opinosis"))
_UNORDERED = ("SAE", "SAE + embs.", "SDAE", "SDAE + embs.", "ParagraphVec DBOW", "ParagraphVec DM", "skip-gram", "CBOW")
_HILL = (*_UNORDERED, "tf-idf", "Sent2Vec uni.", "Sent2Vec uni. + bi.", "SkipThought", "FastSent", "FastSent+AE")
_RELATED = (
    "Illinois-LH",
    "UNAL-NLP",
    "Meaning Factory",
    "ECNU",
    "Constituency Tree-LSTM",
    "Dependency Tree-LSTM",
    "CNN",
)

PAPER_TABLES = (
    PaperTable(
        "CBOS, table I: similarity, Pearson's r times 100",
        YUAN,
        _sts("2012", "2013", "2014", "2015", means=True),
        ("skip-gram", "CBOW", "SkipThought", "Siamese CBOW", "CBOS"),
        by_set=True,
        note="The paper takes the figures of all but CBOS from the paper on Siamese CBOW.",
    ),
    PaperTable(
        "Sent2Vec, table 1: classification, accuracy in per cent",
        PAGLIARDINI,
        _ACCURACIES,
        (*_HILL, "C-PHRASE"),
        note="Averages are computed from the columns. The paper prints 78.3 for SDAE and 78.5 for Skipgram.",
    ),
    PaperTable(
        "Sent2Vec, table 2: similarity, Spearman's rho and Pearson's r times 100",
        PAGLIARDINI,
        (*_sts("2014", metrics=_CORRELATIONS), *_SICK_ALL),
        (*_HILL, "Siamese CBOW", "C-PHRASE"),
    ),
    PaperTable(
        "Sent2Vec, table 3: averages and hours of training",
        PAGLIARDINI,
        (
            ScoreColumn("supervised average", "training", "supervised", "average"),
            ScoreColumn("unsupervised average", "training", "unsupervised", "average"),
            ScoreColumn("macro average", "training", "macro", "average"),
            ScoreColumn("hours", "training", "corpus", "hours"),
        ),
        (
            "Sent2Vec uni. + bi. (Twitter)",
            "Sent2Vec uni. (Twitter)",
            "Sent2Vec uni. + bi. (Wikipedia)",
            "Sent2Vec uni. (Wikipedia)",
            "Sent2Vec uni.",
            "Sent2Vec uni. + bi.",
            "DictRep BOW + embs.",
            "C-PHRASE",
            "CBOW",
            "FastSent",
            "SkipThought",
        ),
        note="The unsupervised average is over both correlations of the sets of table 2, the macro average over both "
        "averages. The paper's hours are for 900 million words or more, on 30 threads or a graphics card.",
    ),
    PaperTable(
        "Siamese CBOW, table 1: similarity, Pearson's r and Spearman's rho times 100",
        KENTER,
        _sts("2012", "2013", "2014", "2015", metrics=("pearson", "spearman")),
        ("skip-gram", "CBOW", "SkipThought", "Siamese CBOW"),
        by_set=True,
    ),
    PaperTable(
        "Siamese CBOW, table 2: similarity, beside FastSent",
        KENTER,
        _sts("2014", metrics=("pearson", "spearman")),
        ("FastSent", "Siamese CBOW"),
        by_set=True,
        note="The paper on Sent2Vec prints the same figures of FastSent with r and rho exchanged.",
    ),
    PaperTable(
        "CSE, table 1: similarity learned from phrases, Pearson's r times 100",
        JIAO,
        (*_sts("2012", "2013", "2014", "2015", means=True), *_SICK_TEST),
        ("PP (PPDB)", "CSE (PPDB)"),
        by_set=True,
    ),
    PaperTable(
        "CSE, table 2: similarity learned from phrases and sentences, Pearson's r times 100",
        JIAO,
        (*_sts("2012", "2013", "2014", "2015", "2016", means=True), *_SICK_TEST),
        ("GRAN (SimpWiki)", "ATT-CCG (SimpWiki)", "CSE (SimpWiki)"),
        by_set=True,
    ),
    PaperTable("CSE, table 3: relatedness of SICK, learned", JIAO, _tuned("universal"), (*_RELATED, *_UNIVERSAL)),
    PaperTable("CSE, table 3, from word vectors", JIAO, _tuned("random"), ("CSE random",)),
    PaperTable(
        "CSE, table 4: similarity by what was learned from, Pearson's r times 100",
        JIAO,
        tuple(
            ScoreColumn(f"{year} mean", "sts", f"{year} mean", "pearson") for year in ("2012", "2013", "2014", "2015")
        ),
        ("CSE (PPDB)", "CSE (sentences)", "CSE (SimpWiki)"),
    ),
    PaperTable(
        "How well sentence embeddings capture meaning, table 1: semantic classification, accuracy in per cent",
        WHITE,
        _SEMANTIC,
        ("ParagraphVec DM", "ParagraphVec DBOW", "URAE", "MOWE", "SOWE", "BOW", "PCA BOW"),
        note="The agreement of errors is in the table of semantic classification. The paper shows its own as a figure, "
        "without the numbers in its text.",
    ),
)
