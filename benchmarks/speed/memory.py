"""How much memory does a fit take beside its weights, accumulators and 4 bytes a word of text?

    python benchmarks/speed/memory.py --data DATA

Each fit runs in a fresh process, which has compiled everything and fitted a small model before. Measured is the growth
of anonymous memory (what the process owns; pages of a memory-mapped corpus belong to the system) at its peak, sampled
every millisecond. Needs Linux, whose /proc it reads.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import Peaks, arguments, learners, public, resident_mebibytes, saved_corpus, workers
from reporting import report

MEBIBYTE = 2**20


def prepare_fit(folder, cls, settings, mapped):
    import skembed

    make = public()[cls]
    small = skembed.SentenceCorpus.load(f"{folder}/simplewiki", verify=False)[:200]
    make(max_iter=1, **settings).fit(small)

    def task():
        before = resident_mebibytes("self")["RssAnon"]
        corpus = skembed.SentenceCorpus.load(f"{folder}/simplewiki", mmap=mapped, verify=False)
        model = make(max_iter=1, random_state=0, **settings)
        estimated = model.estimate_memory(corpus) if hasattr(model, "estimate_memory") else {"total": None}
        with Peaks({"fit": "self"}, interval=1e-3) as peaks:
            model.fit(corpus)
        learned = sum(value.nbytes for value in model._state.values().values() if isinstance(value, np.ndarray))
        text = 0 if mapped else corpus.tokens.nbytes
        peak = (peaks.most["fit"]["RssAnon"] - before) * MEBIBYTE
        return {"peak": peak, "weights": learned, "text": text, "estimated": estimated["total"]}

    return task


def main():
    options = arguments(__doc__)
    rows = []
    with saved_corpus(options) as folder:
        for name, (cls, settings) in learners().items():
            for mapped in (False, True):
                settings_of_fit = {"folder": str(folder), "cls": cls, "settings": settings, "mapped": mapped}
                with workers(__file__, {name: ("prepare_fit", settings_of_fit)}) as found:
                    value = found[name].run()["value"]
                corpus = "memory-mapped" if mapped else "in memory"
                beside = (value["peak"] - value["weights"] - value["text"]) / MEBIBYTE
                row = {"method": name, "corpus": corpus, "peak, MiB": round(value["peak"] / MEBIBYTE)}
                row |= {"weights": round(value["weights"] / MEBIBYTE), "words": round(value["text"] / MEBIBYTE)}
                estimated = value["estimated"]
                row |= {
                    "rest of the peak, MiB": round(beside),
                    "estimate_memory": estimated and round(estimated / MEBIBYTE),
                }
                rows.append(row)
                print(row, flush=True)

    def draw(figure):
        axes = figure.subplots()
        labels = [f"{row['method']}, {row['corpus']}" for row in rows]
        left = np.zeros(len(rows))
        for kind in ("weights", "words", "rest of the peak, MiB"):
            values = np.array([row[kind] for row in rows])
            axes.barh(labels, values, left=left, label=kind.split(",")[0])
            left += values
        axes.invert_yaxis()
        axes.set_xlabel("MiB")
        axes.legend()

    notes = (
        "Weights are all fitted arrays, accumulators too; words are the 4 bytes a word of the corpus. The peak also "
        "holds what loading the corpus brings, its vocabulary above all, which `estimate_memory` takes as given."
    )
    report(options, "memory", "Peak memory of a fit", rows, notes=notes, draw=draw)


if __name__ == "__main__":
    main()
