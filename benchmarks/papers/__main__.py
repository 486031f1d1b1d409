"""Print the tables of the papers for methods that learn from a corpus, or for saved models.

    python -m benchmarks.papers --corpus books.txt.gz --preset quick --out results
    python -m benchmarks.papers --corpus books.txt.gz --methods "CBOS, defaults" model.joblib --tables sts,sick

The tables go to standard output and, as Markdown and CSV, to the folder --out; progress goes to standard error. Each
result is kept in results.jsonl in that folder: started again with the same options, a stopped run goes on.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from skembed import __version__
from skembed._corpus.corpus import SentenceCorpus
from skembed._validation.messages import brief
from skembed._validation.values import user_path

from .candidates import Candidate, report
from .data import EvaluationData
from .methods import ALL, DEFAULT_METHODS, METHODS
from .report import REMARK, Report
from .run import Evaluation
from .sources import PRESETS, Sources
from .store import ResultStore

DEFAULT_BASELINE = "CBOW mean, as published"


def local_path(text: str) -> Path:
    """Return the path of an option. argparse hides the message of a ValueError, so it becomes its own error."""
    try:
        return user_path(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def make_parser() -> argparse.ArgumentParser:
    """Describe the options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        epilog="Methods: " + "; ".join(METHODS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--corpus",
        type=local_path,
        required=True,
        help="text to learn from: a sentence a line, a blank line between documents, a file (.gz too) or a folder of "
        "files; or a corpus that SentenceCorpus.save wrote",
    )
    parser.add_argument(
        "--data",
        type=local_path,
        help="folder with the published files in sts2012, ..., sick, msrp, senteval, semantic; default: download them",
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="names of methods, or paths of saved models (.joblib, .pkl, .pickle; load only files that you trust); "
        "default: all that learn from what is given",
    )
    parser.add_argument(
        "--preset",
        choices=list(PRESETS),
        default="full",
        help="quick learns from the first 2 million words, slow methods from 100 thousand, and from the first 20 "
        "thousand pairs, slow methods from 5 thousand, and takes fewer folds and penalties (full)",
    )
    for kind, examples in (("phrase", "PPDB"), ("sentence", "two Wikipedias")):
        parser.add_argument(
            f"--{kind}-pairs",
            nargs="+",
            type=local_path,
            metavar="FILE",
            help=f"pairs of {kind}s that mean the same, of {examples} for example: a pair a line with a tab between, "
            ".gz too",
        )
    parser.add_argument("--tables", default=",".join(ALL), help="comma-separated, default: %(default)s")
    parser.add_argument(
        "--out", type=local_path, default=Path("skembed-evaluation"), help="folder of results (%(default)s)"
    )
    parser.add_argument("--baseline", help=f"one of the methods, for the Wilcoxon tests ({DEFAULT_BASELINE})")
    parser.add_argument("--folds", type=int, help="of the nested cross-validation (10, or 3 in the preset quick)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n-jobs", type=int, help="threads of the training and of the search of penalties (1)")
    return parser


def check_methods(candidates: Sequence[Candidate], tables: Sequence[str]) -> list[str]:
    """Names must differ, as results are kept by name. Return the tables that some method is made for."""
    origins: dict[str, str] = {}
    for candidate in candidates:
        origin = f"the method {candidate.name!r}" if candidate.path is None else str(candidate.path)
        if candidate.name in origins:
            raise ValueError(
                f"{origins[candidate.name]} and {origin} would both be called {candidate.name!r} in the tables. Rename "
                "one of the files, or give it once."
            )
        origins[candidate.name] = origin
        left_out = [table for table in tables if table not in candidate.tables]
        if left_out:
            report(f"{candidate.name}: not made for {', '.join(left_out)}, only for {', '.join(candidate.tables)}")
    filled = [table for table in tables if any(table in candidate.tables for candidate in candidates)]
    if not filled:
        raise ValueError(
            f"None of the methods {', '.join(map(repr, origins))} is made for the table {', '.join(tables)}. Choose "
            "other --methods or --tables."
        )
    for table in tables:
        if table not in filled:
            report(f"no table {table}: none of the methods is made for it")
    return filled


def choose_methods(names: Sequence[str] | None, sources: Sources) -> list[str]:
    """Return the methods that were named, or all that learn from what was given."""
    chosen = list(dict.fromkeys(DEFAULT_METHODS if names is None else names))
    lacking = {name: sources.lacking_options(name) for name in chosen}
    for name, needed in lacking.items():
        if needed and names is not None:
            raise ValueError(f"{name!r} learns from pairs: give {' and '.join(needed)}.")
    return [name for name in chosen if not lacking[name]]


def find_baseline(baseline: str | None, candidates: Sequence[Candidate], tables: Sequence[str]) -> str:
    """Give the baseline of the Wilcoxon tests, which are those of the table sts."""
    names = [candidate.name for candidate in candidates if "sts" in candidate.tables]
    if baseline is not None and baseline not in names:
        raise ValueError(
            f"--baseline {brief(baseline)} is not among the methods of the table sts in this run: "
            f"{', '.join(map(repr, names)) or 'there is none'}."
        )
    if baseline is None and "sts" in tables and DEFAULT_BASELINE not in names:
        report(f"no Wilcoxon tests: {DEFAULT_BASELINE!r} is not among --methods; choose one of them with --baseline")
    return DEFAULT_BASELINE if baseline is None else baseline


def make_sources(options: argparse.Namespace) -> Sources:
    """Read nothing yet."""
    pairs = {"phrases": options.phrase_pairs, "sentences": options.sentence_pairs}
    return Sources(lambda: load_corpus(options.corpus), pairs, PRESETS[options.preset])


def load_corpus(path: Path) -> SentenceCorpus:
    """Load a saved corpus, or encode text."""
    report(f"reading {path}")
    return SentenceCorpus.load(path) if (path / "corpus.json").is_file() else SentenceCorpus.from_file(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Options. None is for those of the process.

    Returns
    -------
    status : int
        0, or 1 after an error that the user can fix; its message goes to standard error. 130 after Ctrl-C, and 141 if
        standard output is closed early, as by ``| head``; the tables are in the folder all the same.
    """
    parser = make_parser()
    options = parser.parse_args(arguments)
    tables = [table.strip() for table in options.tables.split(",") if table.strip()]
    unknown = [table for table in tables if table not in ALL]
    if unknown or not tables:
        parser.error(f"--tables {options.tables}: choose from {', '.join(ALL)}")
    options.folds = PRESETS[options.preset].n_folds if options.folds is None else options.folds
    if options.folds < 2:
        parser.error("--folds must be 2 or more")
    if options.n_jobs == 0:
        parser.error("--n-jobs must be a number of threads, or -1 for one on each core")
    if options.out.exists() and not options.out.is_dir():
        parser.error(f"--out {options.out}: this is a file, give a folder")
    try:
        run(options, tables)
    except BrokenPipeError:
        # Python flushes standard output at exit and would raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on from {options.out / 'results.jsonl'}", file=sys.stderr)
        return 130
    return 0


def run(options: argparse.Namespace, tables: Sequence[str]) -> None:
    """Evaluate, then print and write the tables."""
    sources = make_sources(options)
    names = choose_methods(options.methods, sources)
    candidates = [Candidate(name, sources, options.seed, options.n_jobs) for name in names]
    tables = check_methods(candidates, tables)
    baseline = find_baseline(options.baseline, candidates, tables)
    data = EvaluationData(options.data)
    corpus = sources.corpus()
    settings = {
        "version": __version__,
        "corpus": {"digest": corpus.digest, "sentences": corpus.n_sentences, "words": corpus.n_tokens},
        "data": "downloaded" if options.data is None else str(options.data.resolve()),
        "seed": options.seed,
        "folds": options.folds,
        "alphas": list(sources.preset.alphas),
    }
    store = ResultStore(options.out / "results.jsonl", settings)
    if store.records:
        report(f"{store.path}: {len(store.records)} results are there already")
    evaluation = Evaluation(data, store, n_folds=options.folds, alphas=sources.preset.alphas, n_jobs=options.n_jobs)
    began = time.perf_counter()
    for number, candidate in enumerate(candidates, start=1):
        report(f"[{number}/{len(candidates)}, {(time.perf_counter() - began) / 60:.1f} min] {candidate.name}")
        for table in sorted(tables, key=lambda table: table != "training"):  # before anything can stop the run
            if table in candidate.tables:
                evaluation.run(candidate, table)
        candidate.forget()
    writer = Report(store, data, options.out, [candidate.name for candidate in candidates], baseline, options.seed)
    about = REMARK.format(sentences=corpus.n_sentences, words=corpus.n_tokens)
    fewer = {candidate.name: candidate.fewer() for candidate in candidates}
    written = writer.write_all(tables, about, fewer, sources.lacking_options)  # before printing, which may fail
    report(f"tables are in {options.out}")
    print(*written, sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
