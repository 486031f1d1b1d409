"""What do pairs bring to similarity: a lexicon of synonyms, then captions, from a start that learned from text?

    python benchmarks/quality/pairs_sts.py --data DATA --pairs PAIRS [--start FILE] [--aside PUBLISHED]
        [--out doc/_results/quality]

PAIRS is a folder with `ppdb_xl_lexical.tsv.gz`, a pair of words a line, and `flickr30k_captions.tsv.gz`, an image and
its captions a line, without images of evaluation sets. The start is CBOS and Sent2Vec of 300 dimensions, joined and
whitened, on stems, each word once, numbers hashed; it is kept in FILE. Scores are the mean Pearson correlation x 100 of
the cosine over the 14 sets of 2012 to 2014, over those of each year, and of SICK; and the adjusted mutual information x
100 of the topics of Opinosis with clusters. STS 2015 and 2016 are kept aside: with --aside they are reported, from the
published files in PUBLISHED/sts2015 and sts2016, and nothing is chosen by them.
"""

import gzip
import re
import sys
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import joblib
import numpy as np
from beat_tfidf import agreement, means_of_years, read_published
from measuring import arguments, cpu_seconds
from reporting import report
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import Normalizer
from yardsticks import TFIDF, pearson, read_labelled, tfidf_of_stems

from skembed import (
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    MetaEmbeddingVectorizer,
    ParaphraseVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
)

YEARS = ("2012", "2013", "2014")
COLUMNS = ("14 sets", *YEARS, "SICK trial", "SICK test", "Opinosis k-means", "Opinosis Ward")
ASIDE = ("2015", "2016")
NONE, BEST = "none: the start", "lexicon, then captions"
JOINED = "the start, and lexicon, then captions, side by side"
# start of the settings
COMMON = {"binary": True, "batch_size": 128, "random_state": 0}
WORDS = {"learn": "directions", "learning_rate": 3e-4, "max_iter": 12, **COMMON}
SENTENCES = {"learning_rate": 5e-4, "max_iter": 4, "word_dropout": 0.15, "temperature": 0.07, **COMMON}
SENTENCES |= {"interpolation": 0.7}
# end of the settings


def read_lexicon(path):
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t")[:2] for line in file]
    return [tuple(row) for row in rows if all(re.search(r"\w", side) for side in row)]


def read_captions(path, step=1):
    """Captions of every step-th image, and the image of each."""
    captions, images = [], []
    with gzip.open(path, "rt", encoding="utf8") as file:
        for line in islice(file, 0, None, step):
            image, *of_image = line.rstrip("\n").split("\t")
            captions += of_image
            images += [image] * len(of_image)
    return captions, images


def learn_start(data, n_sentences):
    paths = [data / "corpora" / name for name in ("simplewiki.txt.gz", "books_small.txt.gz")]
    corpus = SentenceCorpus.from_file([path for path in paths if path.exists()], stemmer="english", n_jobs=2)
    corpus = corpus[:n_sentences]
    common = {"n_jobs": 2, "random_state": 0}
    cbos = CBOSVectorizer(300, max_sentence_length=32, **common).fit(corpus)
    models = [
        MeanEmbeddingVectorizer(300, word_vectors=[cbos], weighting="sif").fit(corpus),
        Sent2VecVectorizer(300, **common).fit(corpus),
    ]
    joined = MetaEmbeddingVectorizer(models, 300, whiten=True)
    return MeanEmbeddingVectorizer(word_vectors=joined, binary=True, hash_numbers=True).fit(corpus)


def start_of(options):
    """The word vectors to start from, of the file if it is there."""
    if options.start is not None and options.start.exists():
        return joblib.load(options.start)
    start = learn_start(options.data, 50_000 if options.quick else None)
    if options.start is not None:
        joblib.dump(start, options.start)
    return start


def side_by_side(start, learned):
    """The rows of two fitted models of length one, those of the second of length 1.5, side by side."""
    parts = [(name, make_pipeline(model, Normalizer())) for name, model in (("start", start), ("learned", learned))]
    return FeatureUnion(parts, transformer_weights={"learned": 1.5})


START = {"type": Path, "help": "file of the word vectors to start from, which are learned where it is not there"}


def row_of(model, data, aside):
    sts = data / "eval" / "sts"
    years = [[pearson(model, path) for path in sorted((sts / year).glob("*.tsv"))] for year in YEARS]
    sentences, topics = read_labelled(data / "eval" / "clf" / "opinosis_topics.tsv")
    scores = [np.mean([score for year in years for score in year]), *map(np.mean, years)]
    scores += [pearson(model, sts / "sick" / f"{part}.tsv") for part in ("trial", "test")]
    scores += agreement(model.transform(sentences), topics, 0)
    row = {column: round(float(score), 1) for column, score in zip(COLUMNS, scores)}
    found = dict(zip(map(str, aside), means_of_years(model, aside))) if aside else {}
    return row | {year: round(found[year], 1) if year in found else "" for year in ASIDE}


def main():
    options = arguments(
        __doc__,
        pairs={"type": Path, "required": True, "help": "folder with the pairs"},
        start=START,
        aside={"type": Path, "metavar": "PUBLISHED", "help": "folder with sts2015 and sts2016, to report them too"},
    )
    aside = read_published(options.aside) if options.aside else {}
    start = start_of(options)
    lexicon = read_lexicon(options.pairs / "ppdb_xl_lexical.tsv.gz")
    captions, images = read_captions(options.pairs / "flickr30k_captions.tsv.gz")
    rows = [
        {"pairs": name, **row_of(model, options.data, aside), "CPU s": None}
        for name, model in ((TFIDF, tfidf_of_stems()), (NONE, start))
    ]

    def learn(name, init, settings, *pairs):
        began = cpu_seconds()
        model = ParaphraseVectorizer(init=init, **settings).fit(*pairs)
        seconds = round(cpu_seconds() - began)
        rows.append({"pairs": name, **row_of(model, options.data, aside), "CPU s": seconds})
        print(rows[-1], flush=True)
        return model

    learn("captions", start, SENTENCES, captions, images)
    words = learn("lexicon", start, WORDS, lexicon)
    model = learn(BEST, words, SENTENCES, captions, images)
    rows.append({"pairs": JOINED, **row_of(side_by_side(start, model), options.data, aside), "CPU s": None})
    print(rows[-1], flush=True)
    near = {"interpolation": 0.3}
    words = learn("lexicon, 0.3 of the way", start, WORDS | near, lexicon)
    learn("lexicon, then captions, each 0.3 of the way", words, SENTENCES | near, captions, images)
    notes = (
        "CPU s: learning from the pairs. One seed; the settings were chosen on the sets of 2012 to 2014 and SICK "
        "trial. 2015 and 2016, means over their sets, were kept aside."
    )
    report(options, "pairs_sts", "What pairs bring to similarity and clusters", rows, notes=notes)


if __name__ == "__main__":
    main()
