"""What does it cost to learn from long sentences whole, and what does splitting them bring?

    python benchmarks/quality/long_sentences.py --data DATA [--rounds SEEDS] [--out doc/_results/quality]

Each method learns from simplewiki of DATA/corpora with its defaults but for `max_sentence_length`: from its sentences,
and from its documents, each given as one sentence that is alone in its document. The score is the mean Pearson
correlation x 100 over the 14 development sets of STS, whose sentences are short; a mean over the seeds, with the least
and the most.
"""

import sys
from pathlib import Path

import numpy as np

from skembed import SentenceCorpus

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, public
from reporting import report
from yardsticks import mean_score, tfidf_note

METHODS = {"CBOS": "CBOSVectorizer", "Siamese CBOW": "SiameseCBOWVectorizer", "Sent2Vec": "Sent2VecVectorizer"}
LENGTHS = (None, 128, 64, 32, 16)


def documents_as_sentences(corpus):
    """The same words, a document a sentence."""
    sent_ptr = np.asarray(corpus.sent_ptr)[np.asarray(corpus.doc_ptr)]
    return SentenceCorpus(corpus.tokens, sent_ptr, np.arange(len(sent_ptr)), corpus.vocabulary)


def score(name, length, text, seed, data):
    model = public()[name](max_sentence_length=length, random_state=seed, n_jobs=2)
    try:
        model.fit(text)
    except ValueError as error:
        if "diverged" not in str(error):
            raise
        return np.nan
    return mean_score(model.transform, data)


def main():
    options = arguments(__doc__)
    corpus = SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")
    if options.quick:
        corpus = corpus[: corpus.n_sentences // 10]
    texts = {"sentences": corpus, "documents": documents_as_sentences(corpus)}
    rows = []
    for length in LENGTHS:
        row = {"max_sentence_length": str(length)}
        for text, of_text in texts.items():
            for method, name in METHODS.items():
                scores = [score(name, length, of_text, seed, options.data) for seed in range(options.rounds)]
                print(text, method, length, scores, flush=True)
                row[f"{text}, {method}"] = (
                    f"{np.mean(scores):.1f} ({min(scores):.1f} to {max(scores):.1f})"
                    if np.isfinite(scores).all()
                    else "diverged"
                )
        rows.append(row)
    lengths = {text: np.diff(of_text.sent_ptr) for text, of_text in texts.items()}
    notes = "; ".join(
        f"{text}: {len(of_text):,}, median {np.median(of_text):.0f} words, longest {of_text.max():,}, "
        f"{100 * np.mean(of_text > 32):.0f} % of more than 32"
        for text, of_text in lengths.items()
    )
    title = f"Mean of 14 sets, and the range of {options.rounds} seeds, by the longest sentence that is not split"
    report(options, "long_sentences", title, rows, notes=f"{notes[0].upper()}{notes[1:]}. {tfidf_note(options.data)}")


if __name__ == "__main__":
    main()
