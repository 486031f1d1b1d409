"""How much of a teacher's similarity does a student keep, that learned from the teacher's vectors of own sentences?

    python benchmarks/quality/teacher.py --data DATA [--quick] [--out doc/_results/quality]

The teacher is wordllama, which comes from the package index with its weights inside (``pip install wordllama``); it
embeds sentences of simplewiki. The students learn from these vectors and the same sentences: TargetVectorizer once from
CBOS and Sent2Vec of 300 dimensions, joined, once from random vectors; StudentVectorizer in closed form. Similarity is
the mean Pearson correlation over the 14 sets of STS 2012 to 2014, and SICK's test set. Embedding is timed on strings,
with one thread: the median of the rounds. --closed-form measures StudentVectorizer alone.
"""

import gzip
import os
import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

# One thread for the teacher's tokenizer too.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import ONE_THREAD, arguments, cpu_seconds, median

os.environ |= ONE_THREAD

from reporting import report
from wordllama import WordLlama
from yardsticks import TFIDF, mean_score, pearson, tfidf_of_stems

from skembed import (
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    MetaEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    StudentVectorizer,
    TargetVectorizer,
)

N_TIMED = 50_000
TEACHER, START, STUDENT = (
    "wordllama, the teacher",
    "MetaEmbedding of CBOS and Sent2Vec, SIF",
    "student, from MetaEmbedding",
)
CLOSED_FORM = "StudentVectorizer"


def read_sentences(path, n_sentences):
    """The first sentences, and the document of each."""
    sentences, groups, document = [], [], 0
    with gzip.open(path, "rt", encoding="utf8") as file:
        for line in file:
            if line.strip():
                sentences.append(line.rstrip("\n"))
                groups.append(document)
            else:
                document += 1
            if len(sentences) == n_sentences:
                break
    return sentences, groups


def load_teacher():
    """Wordllama with the interface of an estimator, 2,000 sentences at a time."""
    inside = Path(sys.modules["wordllama"].__file__).parent  # its tokenizer lies where it only looks for a cache
    model = WordLlama.load(cache_dir=inside, disable_download=True)

    def transform(sentences):
        sentences = iter(sentences)
        return np.concatenate([model.embed(batch) for batch in iter(lambda: list(islice(sentences, 2000)), [])])

    return SimpleNamespace(transform=transform)


def make_start(corpus):
    models = [CBOSVectorizer(300, random_state=0).fit(corpus), Sent2VecVectorizer(300, random_state=0).fit(corpus)]
    joined = MetaEmbeddingVectorizer(models, 300).fit(corpus)
    return MeanEmbeddingVectorizer(word_vectors=joined, weighting="sif").fit(corpus)


def sentences_per_second(model, sentences, n_rounds):
    model.transform(sentences[:1000])  # compiles
    seconds = []
    for _ in range(n_rounds):
        start = cpu_seconds()
        model.transform(sentences)
        seconds.append(cpu_seconds() - start)
    return len(sentences) / median(seconds)


def main():
    options = arguments(
        __doc__,
        sentences={"type": int, "default": 200_000, "help": "default 200,000"},
        closed_form={"action": "store_true", "help": "StudentVectorizer alone"},
    )
    n_sentences = 20_000 if options.quick else options.sentences
    sentences, groups = read_sentences(options.data / "corpora" / "simplewiki.txt.gz", n_sentences)
    corpus = SentenceCorpus.from_sentences(sentences, groups)
    rows, scores = [], {}

    def show(name, make):
        began = cpu_seconds()
        model = make()
        seconds = cpu_seconds() - began
        scores[name] = mean_score(model.transform, options.data)
        sick = pearson(model, options.data / "eval" / "sts" / "sick" / "test.tsv")
        speed = sentences_per_second(model, sentences[:N_TIMED], options.rounds)
        row = {"method": name, "STS": f"{scores[name]:.1f}", "SICK": f"{sick:.1f}"}
        row |= {"% of the teacher's STS": f"{100 * scores[name] / scores[TEACHER]:.1f}"}
        learning = "" if name == TEACHER else f"{seconds:.0f}"
        rows.append(row | {"CPU s to learn": learning, "sentences/CPU s": f"{speed:,.0f}"})
        print(rows[-1], flush=True)
        return model

    teacher = show(TEACHER, load_teacher)
    show(TFIDF, tfidf_of_stems)
    began = cpu_seconds()
    targets = teacher.transform(sentences)
    embedding = cpu_seconds() - began
    if options.closed_form:
        show(CLOSED_FORM, lambda: StudentVectorizer(random_state=0).fit(corpus, targets))
    else:
        start = show(START, lambda: make_start(corpus))
        show(STUDENT, lambda: TargetVectorizer(init=start, random_state=0).fit(corpus, targets))
        show("student, from random", lambda: TargetVectorizer(300, random_state=0).fit(corpus, targets))
    title = f"A student of a teacher: {n_sentences:,} sentences of simplewiki"
    notes = (
        f"The teacher took {embedding:.0f} CPU s to embed the sentences. One seed. Sentences/CPU s: one thread, from "
        f"strings, median of {options.rounds}."
    )
    name = "teacher_closed_form" if options.closed_form else "teacher"
    report(options, name, title, rows, notes=notes)


if __name__ == "__main__":
    main()
