"""What do pairs bring to similarity: a lexicon of synonyms, then captions, from a start that learned from text?

    python benchmarks/quality/pairs_sts.py --data DATA --pairs PAIRS

PAIRS is a folder with `ppdb_xl_lexical.tsv.gz`, a pair of words a line, and `flickr30k_captions.tsv.gz`, an image and
its captions a line. The start is CBOS and Sent2Vec of 300 numbers, joined and whitened, on stems, each word once. Mean
Pearson over the 14 sets of 2012 to 2014, those of each year, and SICK by plain cosine.
"""

import gzip
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments
from yardsticks import pearson

import skembed
from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, MetaEmbeddingVectorizer, ParaphraseVectorizer

OPTIONS = {"stemmer": "english", "n_jobs": 2}


def read_lexicon(path):
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t")[:2] for line in file]
    return [tuple(row) for row in rows if all(re.search(r"\w", side) for side in row)]


def read_captions(path):
    captions, images = [], []
    with gzip.open(path, "rt", encoding="utf8") as file:
        for line in file:
            image, *of_image = line.rstrip("\n").split("\t")
            captions += of_image
            images += [image] * len(of_image)
    return captions, images


def learn_start(data, n_sentences):
    paths = [data / "corpora" / name for name in ("simplewiki.txt.gz", "books_small.txt.gz")]
    corpus = skembed.SentenceCorpus.from_file([path for path in paths if path.exists()], **OPTIONS)
    corpus = corpus[:n_sentences]
    models = [
        CBOSVectorizer(300, max_sentence_length=32, n_jobs=2, random_state=0),
        skembed.Sent2VecVectorizer(300, n_jobs=2, random_state=0),
    ]
    joined = MetaEmbeddingVectorizer(models, 300, whiten=True)
    return MeanEmbeddingVectorizer(word_vectors=joined, weighting="sif", binary=True, hash_numbers=True).fit(corpus)


def row_of(model, data):
    years = {
        year: [pearson(model, path) for path in sorted((data / "eval" / "sts" / year).glob("*.tsv"))]
        for year in ("2012", "2013", "2014")
    }
    mean = np.mean([score for scores in years.values() for score in scores])
    sick = [pearson(model, data / "eval" / "sts" / "sick" / f"{part}.tsv") for part in ("trial", "test")]
    return [mean, *map(np.mean, years.values()), *sick]


def main():
    options = arguments(
        __doc__,
        pairs={"type": Path, "required": True, "help": "folder with the pairs"},
        sentences={"type": int, "help": "of the text to start from; default all"},
    )
    n_sentences = 50_000 if options.quick else options.sentences
    lexicon = read_lexicon(options.pairs / "ppdb_xl_lexical.tsv.gz")
    captions, images = read_captions(options.pairs / "flickr30k_captions.tsv.gz")

    def show(name, model, start):
        cells = "".join(f"{score:8.2f}" for score in row_of(model, options.data))
        print(f"{name:28}{cells}   {time.process_time() - start:6.1f} CPU s", flush=True)
        return model

    print(f"{'':28}{'14 sets':>8}{'2012':>8}{'2013':>8}{'2014':>8}{'trial':>8}{'test':>8}")
    began = time.process_time()
    start = show("start", learn_start(options.data, n_sentences), began)
    common = {"binary": True, "random_state": 0, "n_jobs": 2}
    began = time.process_time()
    words = ParaphraseVectorizer(init=start, learn="directions", learning_rate=3e-4, max_iter=12, **common)
    show("+ lexicon", words.fit(lexicon), began)
    began = time.process_time()
    sentences = ParaphraseVectorizer(init=words, learning_rate=5e-4, max_iter=4, word_dropout=0.3, **common)
    show("+ captions", sentences.fit(captions, images), began)
    began = time.process_time()
    alone = ParaphraseVectorizer(init=start, learning_rate=5e-4, max_iter=4, word_dropout=0.3, **common)
    show("captions without lexicon", alone.fit(captions, images), began)


if __name__ == "__main__":
    main()
