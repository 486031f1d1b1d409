"""What does a pass over n-grams of characters cost, beside a pass over words?

    python benchmarks/speed/characters.py --data DATA [--quick] [--out doc/_results/speed]

CBOS learns from the labels of DATA/eval/clf and DATA/eval/lang, on one thread. A pass is the difference of two fits to
one corpus, over the passes between them, in CPU seconds; the analyzers take turns, and of each fit the least of the
rounds counts, since what another process does to the caches only adds. "Tokens" is how many times as many as words
there are. The notes have the time from text to n-grams, counted, beside scikit-learn's CountVectorizer, and what
composing accents (Unicode's form NFC) adds to the time from text to words and n-grams.
"""

import sys
import warnings
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, cpu_seconds, rounds_of
from reporting import report
from sklearn.feature_extraction.text import CountVectorizer
from yardsticks import read_labelled

from skembed import CBOSVectorizer, CharacterNgrams, SentenceCorpus
from skembed._text import character_spans

TASKS = {
    "TREC": "clf/TREC.train.tsv",
    "AG titles": "clf/ag_news_titles.test.tsv",
    "SUBJ": "clf/SUBJ.tsv",
    "German topics": "lang/sib200.deu_Latn.train.tsv",
}
ANALYZERS = {
    "word": "word",
    "word+char_wb, 3 and 4": "word+char_wb",
    "word+char_wb, 3": CharacterNgrams("char_wb", (3, 3), words=True),
    "word+char_wb, 4": CharacterNgrams("char_wb", (4, 4), words=True),
    "word+char_wb, 3 and 4, 2**14 rows": CharacterNgrams("char_wb", (3, 4), words=True, n_buckets=2**14),
    "char_wb, 1 to 4": "char_wb",
}
FEW, MANY = 1, 7  # passes
COMPOSED = {
    "English titles": "clf/ag_news_titles.test.tsv",
    "German": "lang/sib200.deu_Latn.train.tsv",
    "Russian": "lang/sib200.rus_Cyrl.train.tsv",
    "Chinese titles": "lang/thucnews_zh.train.tsv",
    "Hindi": "lang/sib200.hin_Deva.train.tsv",
}
LEAST_TEXTS = 5_000  # to compose; fewer are repeated


def seconds_of_fits(corpus, labels):
    """CPU seconds of a fit with few passes, and of one with many."""
    seconds = []
    for passes in (FEW, MANY):
        start = cpu_seconds()
        CBOSVectorizer(max_iter=passes, n_jobs=1, random_state=0).fit(corpus, labels)
        seconds.append(cpu_seconds() - start)
    return seconds


def seconds_of_a_pass(rounds):
    few, many = map(min, zip(*rounds))
    return (many - few) / (MANY - FEW)


def least_seconds(ways, rounds):
    """The least CPU seconds of each way; they take turns."""

    def seconds_of(way):
        start = cpu_seconds()
        way()
        return cpu_seconds() - start

    runs = {name: lambda way=way: seconds_of(way) for name, way in ways.items()}
    rounds_of(runs, 1)  # compiles
    return {name: min(found) for name, found in rounds_of(runs, rounds).items()}


def times_of_count_vectorizer(texts, rounds):
    """How many times as fast n-grams of two to five characters within words are counted."""
    analyzer = CharacterNgrams("char_wb", (2, 5))
    ways = {
        "skembed": lambda: SentenceCorpus.from_sentences(texts, analyzer=analyzer).sentence_frequencies(),
        "CountVectorizer": lambda: CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit_transform(texts),
    }
    least = least_seconds(ways, rounds)
    return least["CountVectorizer"] / least["skembed"]


def per_cent_of_composing(texts, rounds):
    """What composing the accents of n-grams adds to the time from text to words and n-grams."""

    def read():
        SentenceCorpus.from_sentences(texts, analyzer="word+char_wb", n_jobs=1)

    def read_as_it_is():
        with patch.object(character_spans, "compose", lambda text: text):
            read()

    least = least_seconds({"composed": read, "as it is": read_as_it_is}, rounds)
    return 100 * (least["composed"] / least["as it is"] - 1)


def main():
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    rows = {name: {"analyzer": name} for name in ANALYZERS}
    for task, file in list(TASKS.items())[: 2 if options.quick else None]:
        texts, labels = map(list, read_labelled(options.data / "eval" / file))
        corpora = {
            name: SentenceCorpus.from_sentences(texts, analyzer=analyzer) for name, analyzer in ANALYZERS.items()
        }
        runs = {
            name: lambda corpus=corpus, labels=labels: seconds_of_fits(corpus, labels)
            for name, corpus in corpora.items()
        }
        rounds_of(runs, 1)  # compiles
        least = {name: seconds_of_a_pass(found) for name, found in rounds_of(runs, max(3, options.rounds)).items()}
        for name, corpus in corpora.items():
            rows[name][f"{task}, tokens"] = round(corpus.n_tokens / corpora["word"].n_tokens, 1)
            rows[name][f"{task}, times"] = round(least[name] / least["word"], 1)
        print({name: row[f"{task}, times"] for name, row in rows.items()}, flush=True)
    table = list(rows.values())
    texts, _ = read_labelled(options.data / "eval" / TASKS["AG titles"])
    counting = times_of_count_vectorizer(list(texts), max(3, options.rounds))
    composing = []
    for name, file in COMPOSED.items():
        texts = list(read_labelled(options.data / "eval" / file)[0])
        texts *= -(-LEAST_TEXTS // len(texts))
        composing.append(f"{name} {per_cent_of_composing(texts, max(5, options.rounds)):.0f}")
    notes = (
        "CPU seconds of a pass of CBOS from labels over those of a pass over words. From text to counted n-grams of "
        f"two to five characters within words (AG titles): {counting:.1f} times as fast as CountVectorizer. Composing "
        "accents (NFC) adds to the time from text to words and n-grams, in per cent: " + ", ".join(composing) + "."
    )
    report(options, "characters", "A pass over n-grams of characters beside one over words", table, notes=notes)


if __name__ == "__main__":
    main()
