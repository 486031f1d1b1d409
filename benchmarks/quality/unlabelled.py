"""Without labels: from how many own texts do own text, a static model, a student and a transformer win?

    python benchmarks/quality/unlabelled.py --data DATA [--rows ROWS] [--out doc/_results/quality]

The models are those of pretrained.py, and so is ROWS, the folder of their stored rows. Similarity: Pearson's r times
100, mean of the 14 sets of STS 2012 to 2014. The own texts are short sentences of Simple Wikipedia in random order, as
in teacher_curve.py, which the transformer has embedded for the student. Search: nDCG@10 times 100 in documents drawn
from two collections, by the queries that have a relevant one among them; the mean of both. CPU seconds with one thread
are those of learning at the largest size; the transformer's are in student_costs.py.
"""

import sys
import time
from pathlib import Path

from pretrained import TRANSFORMER, load_models, load_static, stored_rows  # isort: skip, it pins the threads

import numpy as np
from scipy.sparse import csr_array
from search import DEPTH, FORMULAS, K, best, bm25_weights, plain_terms, read
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from teacher_curve import CORPUS, N_NEW
from teacher_curve import read as read_own

from skembed import PretrainedVectorizer, SearchIndex, SentenceCorpus, StudentVectorizer, TextVectorizer
from skembed.evaluation import retrieval
from skembed.search import nearest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table
from yardsticks import mean_score, read_pairs

SIZES = (1_000, 3_000, 10_000, 50_000)
N_DOCUMENTS = (100, 300, 1_000)
COLLECTIONS = ("cranfield", "med")


def transformer(options, *names):
    """The model, or its stored rows by text."""
    if options.rows is None:
        return load_models()[TRANSFORMER]
    return {text: row for name in names for text, row in stored_rows(options.rows, TRANSFORMER, name).items()}


def rows_of(model, texts):
    return PretrainedVectorizer(model).fit().transform(list(texts))


def similarity(options):
    """Rows of the table: own texts, score of each method; CPU seconds of the last."""
    own = read_own(options.data)[N_NEW:]
    model, static = transformer(options, CORPUS, "sts"), load_static()
    targets = rows_of(model, own)
    compared = [s for p in (options.data / "eval" / "sts").glob("201[234]/*.tsv") for s in sum(read_pairs(p)[1:], [])]
    words = list(SentenceCorpus.from_sentences(own + compared).vocabulary.words)
    given = words, np.asarray(static(words), np.float32)

    def own_text(n, pretrained=None):
        return TextVectorizer(pretrained=pretrained, random_state=0).fit(own[:n]).transform

    def student(n, word_vectors=None):
        return StudentVectorizer(word_vectors=word_vectors, random_state=0).fit(own[:n], targets[:n]).transform

    def alone(model):
        return lambda texts: rows_of(model, texts)

    methods = {
        "tf-idf": lambda n: TfidfVectorizer().fit(own[:n]).transform,
        "TextVectorizer": own_text,
        "with wordllama": lambda n: own_text(n, static),
        f"with {TRANSFORMER}": lambda n: own_text(n, model),
        "wordllama": lambda n: alone(static),
        "student": student,
        "student with wordllama": lambda n: student(n, given),
        TRANSFORMER: lambda n: alone(model),
    }
    rows, seconds = [], {}
    for n in SIZES[: 1 if options.quick else None]:
        rows.append([f"{n:,}"])
        for name, learn in methods.items():
            began = time.process_time()
            transform = learn(n)
            seconds[name] = time.process_time() - began
            rows[-1].append(f"{mean_score(transform, options.data):.1f}")
        print(*rows[-1], flush=True)
    note = ", ".join(f"{name} {seconds[name]:.0f}" for name in methods if seconds[name] >= 1)
    return [["own texts", *methods], *rows], f"CPU seconds to learn from {n:,} texts: {note}."


def searched(documents, queries, transformer, static):
    """The rankings of each system."""
    counter = CountVectorizer(analyzer=plain_terms("english"), dtype=np.float64)
    weights = bm25_weights(csr_array(counter.fit_transform(documents)), *FORMULAS["BM25 1.2, .75"])
    depth = min(DEPTH, len(documents))
    found = {"BM25": best(csr_array(csr_array(counter.transform(queries)) @ weights.T))}
    for name, pretrained in {"SearchIndex": None, "with wordllama": static, f"with {TRANSFORMER}": transformer}.items():
        index = SearchIndex(stemmer="english", pretrained=pretrained, random_state=0).fit(documents)
        found[name] = index.search(queries, k=depth)
    for name, model in {"wordllama": static, TRANSFORMER: transformer}.items():
        found[name] = nearest(rows_of(model, queries), rows_of(model, documents), depth)
    return found


def search(options):
    """Rows of the table: documents, nDCG of each system, mean of the collections."""
    static, rows = load_static(), []
    for n in N_DOCUMENTS[: 1 if options.quick else None]:
        scores = []
        for name in COLLECTIONS:
            texts, queries, judgements, ids = read(options.data / "eval" / "ir" / name)
            some = np.sort(np.random.default_rng(0).permutation(len(ids))[:n])
            kept = [ids[row] for row in some]
            judged = judgements[judgements["doc"].isin(kept)]
            asked = [query for query in queries if query in set(judged["query"][judged["relevance"] > 0])]
            documents = [" ".join(part for part in texts[row] if part) for row in some]
            systems = searched(documents, [queries[query] for query in asked], transformer(options, name), static)
            judged = judged[judged["query"].isin(asked)]
            of_asked = {query: queries[query] for query in asked}
            found = [retrieval(found, of_asked, judged, documents=kept, k=K, depth=K) for found in systems.values()]
            scores.append([100 * of_system.scores[0]["mean"] for of_system in found])
        rows.append([f"{n:,}", *(f"{score:.1f}" for score in np.mean(scores, axis=0))])
        print(*rows[-1], flush=True)
    return [["documents", *systems], *rows]


def main():
    options = arguments(__doc__, rows={"type": Path, "help": "folder with stored rows of the transformer"})
    title = "nDCG@10 by the number of documents"
    print_table(options, "unlabelled_search", title, search(options), "The mean of Cranfield and MED.")
    table, note = similarity(options)
    print_table(options, "unlabelled_similarity", "Similarity by the number of own texts", table, note)


if __name__ == "__main__":
    main()
