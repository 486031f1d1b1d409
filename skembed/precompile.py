"""Compile the kernels early, such as while an image is built, so that nobody waits for them.

    python -m skembed.precompile
    python -m skembed.precompile TextVectorizer SearchIndex

Prints a line for each part. The compiled code is kept in the folder that SKEMBED_CACHE_DIR names, else in the user's
cache folder, for processors of the same kind.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ._compiled.compile import cache_folder

skembed: Any = import_module(__package__)

__all__ = ["precompile"]

_SENTENCES = ["The cat sat on the mat.", "It slept there all day long.", "Ein Märchen, naïve 北京."]
_MANY = [f"{sentence} {i} of the long days" for i in range(100) for sentence in _SENTENCES]
_TEXT = _MANY[:60]
_GROUPS = [i // 10 for i in range(len(_TEXT))]
_QUICK = {"n_components": 16, "min_count": 1, "max_iter": 1, "random_state": 0}


def _class(name: str) -> Any:
    return getattr(skembed, name, None) or getattr(skembed.research, name)


def _embed(name: str, **options: Any) -> None:
    """Learn from ordered text, and embed."""
    model = _class(name)(**{**_QUICK, **options}).fit(_TEXT, groups=_GROUPS)
    model.transform(_TEXT[:10] + ["unknown"])


def _embed_pairs(name: str, **options: Any) -> None:
    pairs = skembed.PairCorpus.from_pairs(list(zip(_TEXT[::2], _TEXT[1::2])))
    _class(name)(**{**_QUICK, **options}).fit(pairs).transform(_TEXT[:10])


def _embed_targets(name: str, **options: Any) -> None:
    targets = np.random.default_rng(0).normal(size=(len(_TEXT), 16))
    _class(name)(16, random_state=0, **options).fit(_TEXT, targets).transform(_TEXT[:10])


def _adapted() -> None:
    vectors = {word: [float(i), 1.0] for i, word in enumerate(["the", "cat", "mat", "day", "long"])}
    skembed.AdaptedVectorizer(vectors, random_state=0).fit(_TEXT, groups=_GROUPS).transform(_TEXT[:10])


def _text() -> None:
    corpus = skembed.SentenceCorpus.from_sentences(_TEXT, _GROUPS)
    skembed.TextVectorizer(corpus=corpus, random_state=0).fit(_TEXT).transform(_TEXT[:10])


def _corpus() -> None:
    skembed.SentenceCorpus.from_sentences(_MANY)


def _index() -> None:
    index = skembed.SearchIndex(random_state=0).fit(_TEXT)
    index.search(["the cat", "unknown"], k=3)


def _search() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
    skembed.search.nearest(rows, rows, k=3)
    skembed.search.near_duplicates(rows, threshold=0.9)


PARTS: dict[str, Callable[[], None]] = {
    "SentenceCorpus": _corpus,
    "TextVectorizer": _text,
    "SearchIndex": _index,
    "nearest": _search,
    "CBOSVectorizer": partial(_embed, "CBOSVectorizer"),
    "Sent2VecVectorizer": partial(_embed, "Sent2VecVectorizer", n_buckets=100),
    "Word2VecVectorizer": partial(_embed, "Word2VecVectorizer"),
    "FastSentVectorizer": partial(_embed, "FastSentVectorizer"),
    "SiameseCBOWVectorizer": partial(_embed, "SiameseCBOWVectorizer"),
    "ParagraphVectorizer": partial(_embed, "ParagraphVectorizer"),
    "CPhraseVectorizer": partial(_embed, "CPhraseVectorizer"),
    "SkipThoughtVectorizer": partial(_embed, "SkipThoughtVectorizer", word_components=16),
    "SequentialDenoisingAutoencoder": partial(_embed, "SequentialDenoisingAutoencoder", word_components=16),
    "RecursiveAutoencoderVectorizer": partial(_embed, "RecursiveAutoencoderVectorizer"),
    "ParaphraseVectorizer": partial(_embed_pairs, "ParaphraseVectorizer"),
    "CSEVectorizer": partial(_embed_pairs, "CSEVectorizer", n_filters=16),
    "GRANVectorizer": partial(_embed_pairs, "GRANVectorizer", n_units=16),
    "TargetVectorizer": partial(_embed_targets, "TargetVectorizer", max_iter=1),
    "StudentVectorizer": partial(_embed_targets, "StudentVectorizer"),
    "AdaptedVectorizer": _adapted,
}


def precompile(names: Iterable[str] = (), *, verbose: bool = False) -> None:
    """Compile the kernels of some parts of skembed, or of all, and keep them for later processes.

    Each part runs once on a few sentences, with the parameters that most people use. Settings that need other kernels
    compile them at their first use.

    Parameters
    ----------
    names : iterable of str, default=()
        Names of estimators, or ``"nearest"`` for `nearest` and `near_duplicates`. All parts if empty.
    verbose : bool, default=False
        Print a line for each part.

    Examples
    --------
    >>> from skembed.precompile import precompile
    >>> precompile(["nearest"])
    """
    chosen = [names] if isinstance(names, str) else list(names) or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        raise ValueError(f"No such part: {', '.join(map(str, unknown))}. There are {', '.join(PARTS)}.")
    for i, name in enumerate(chosen, 1):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so little text may not converge
            PARTS[name]()
        if verbose:
            print(f"{i}/{len(chosen)} {name}: {time.perf_counter() - start:.1f} s", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser("python -m skembed.precompile", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", help="names of estimators, or nearest; all by default")
    chosen = parser.parse_args(arguments)
    try:
        precompile(chosen.parts, verbose=True)
    except ValueError as error:
        parser.error(str(error))
    folder = cache_folder()
    if not folder.is_dir():
        print(f"Nothing was kept: {folder} cannot be written. Set SKEMBED_CACHE_DIR to a folder that can.")
        return 1
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"Compiled code: {size / 1e6:.1f} MB in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
