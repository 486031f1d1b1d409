"""How many words a second become ids, beside scikit-learn's vectorizers?

    python benchmarks/speed/tokenise.py --data DATA

Everything reads the same sentences, as a list of strings, as an Arrow column, or from a plain text file. The clock is
CPU seconds for one thread and the wall's for two. skembed counts the vocabulary too; the analyzer alone only splits.
What two threads should reach follows from what two processes do at the same time, which `threads.py` measures.

skembed does it several times in a row whenever its turn comes: once takes a tenth of a second, and of that the time to
get memory from a virtual machine that was idle before would be a third.
"""

import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, median, rounds_of, saved_corpus, spread, workers
from reporting import bars, report

ANALYZER = "CountVectorizer's analyzer"
TOKEN_PATTERN = r"(?u)\b\w+\b"
REPEATS = 8


def read_lines(path):
    with open(path, encoding="utf8") as file:
        return file.read().splitlines()


def prepare_skembed(path, kind, n_jobs):
    from skembed import SentenceCorpus

    if n_jobs != 1 and "n_jobs" not in inspect.signature(SentenceCorpus.from_sentences).parameters:
        raise ImportError("this version of skembed tokenises with one thread")
    options = {} if n_jobs == 1 else {"n_jobs": n_jobs}
    sentences = read_lines(path)
    if kind == "pandas":
        import pandas

        sentences = pandas.Series(sentences, dtype="string[pyarrow]")
    elif kind == "polars":
        import polars

        sentences = polars.Series(sentences)

    def task():
        if kind == "file":
            return SentenceCorpus.from_file(path, **options).n_tokens
        return SentenceCorpus.from_sentences(sentences, **options).n_tokens

    task()  # compiles
    return lambda: [task() for _ in range(REPEATS)][0]


def prepare_scikit_learn(path, kind):
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    sentences = read_lines(path)
    if kind == "analyzer":
        analyze = CountVectorizer(token_pattern=TOKEN_PATTERN).build_analyzer()
        return lambda: sum(len(analyze(sentence)) for sentence in sentences)
    if kind == "fit":
        return lambda: len(CountVectorizer(token_pattern=TOKEN_PATTERN).fit(sentences).vocabulary_)
    return lambda: HashingVectorizer(token_pattern=TOKEN_PATTERN).transform(sentences).shape


def prepare_gensim(path):
    from gensim.utils import simple_preprocess

    sentences = read_lines(path)
    return lambda: sum(len(simple_preprocess(sentence, min_len=1)) for sentence in sentences)


def main():
    options = arguments(__doc__)
    with saved_corpus(options, 500_000) as folder:
        path = str(folder / "text.txt")
        n_tokens = write_text(options, path, folder / "simplewiki")
        wanted = {
            ANALYZER: ("prepare_scikit_learn", {"path": path, "kind": "analyzer"}),
            "CountVectorizer.fit": ("prepare_scikit_learn", {"path": path, "kind": "fit"}),
            "HashingVectorizer.transform": ("prepare_scikit_learn", {"path": path, "kind": "hashing"}),
            "gensim.utils.simple_preprocess": ("prepare_gensim", {"path": path}),
        }
        for kind in ("list", "file", "pandas", "polars"):
            for n_jobs in (1, 2):
                name = f"skembed, {kind}" + (", two threads" if n_jobs == 2 else "")
                wanted[name] = ("prepare_skembed", {"path": path, "kind": kind, "n_jobs": n_jobs})
        with workers(__file__, wanted) as found:
            results = rounds_of({name: worker.run for name, worker in found.items()}, options.rounds)
    speed, rows = {}, []
    for name, measured in results.items():
        clock = "wall" if name.endswith("threads") else "cpu"
        seconds = median([result[clock] for result in measured]) / (REPEATS if name.startswith("skembed") else 1)
        speed[name] = n_tokens / seconds
        rows.append(
            {
                "what": name,
                "clock": clock,
                "seconds": round(seconds, 3),
                "± %": spread([result[clock] for result in measured]),
                "M words/s": round(speed[name] / 1e6, 2),
                "times the analyzer": round(speed[name] / speed[ANALYZER], 1),
            }
        )

    def draw(figure):
        colours = ["C0" if row["what"].startswith("skembed") else "0.6" for row in rows]
        labels, values = [row["what"] for row in rows], [row["M words/s"] for row in rows]
        bars(figure.subplots(), labels, values, colours=colours, unit="million words a second")

    notes = (
        f"{n_tokens:,} words, the first sentences of simplewiki. Seconds of skembed: the mean of {REPEATS} in a row."
    )
    report(options, "tokenise", "From text to word ids", rows, notes=notes, draw=draw)


def write_text(options, path, corpus_folder):
    """Write the raw lines that the corpus was made of, as they stand in the file; returns the number of words."""
    import gzip

    from skembed import SentenceCorpus

    corpus = SentenceCorpus.load(corpus_folder)
    with gzip.open(options.data / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf8") as source:
        lines = (line for line in source if line.strip())
        with open(path, "w", encoding="utf8") as file:
            file.writelines(line for _, line in zip(range(corpus.n_sentences), lines))
    return corpus.n_tokens


if __name__ == "__main__":
    main()
