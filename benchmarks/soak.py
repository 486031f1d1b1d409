"""Random valid settings of all estimators: each fit works, or says in a documented error why not.

    python benchmarks/soak.py [--trials 3000] [--first 0] [--seconds 600] [--out doc/_results]

A trial takes an estimator, draws each of its parameters from what its constraints allow, the extremes included, and
small or odd text. Then it fits, transforms, learns on, saves, loads and transforms again, and looks at the numbers.
Errors other than ValueError and TypeError, numbers that are not finite, and a loaded model with other rows are listed
with the seed that repeats them.
"""

import argparse
import faulthandler
import sys
import tempfile
import time
import warnings
from collections import Counter
from numbers import Integral
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the modules that all benchmarks share

import numpy as np
from measuring import public
from reporting import report
from sklearn.utils._param_validation import Interval, StrOptions

import skembed
from skembed._base.text import TextEstimator

WORDS = "cat dog mouse purr rain snow storm wind bread butter oven train station ticket the a and in".split()
ODD = ["", "...", "zebra", "ÄRGER naïve 北京", "x" * 500, "cat " * 300, "\x00 cat \x7f", "\ud800 dog", "1 2 3", "cat"]
HANG = 600  # seconds; a kernel may have to be compiled first
# Values that are wanted often; each is valid for every class that has the parameter.
USUAL = {
    "n_components": [1, 2, 3, 8, 17, 33],
    "word_components": [1, 5, 16],
    "n_filters": [1, 3, 8],
    "filter_widths": [(1,), (2, 3), (1, 4), [5]],
    "n_buckets": [1, 7, 1000],
    "ngram_range": [(1, 1), (1, 2), (1, 4)],
    "max_iter": [1, 2, 3],
    "batch_size": ["auto", 1, 2, 7, 64, 10**6],
    "window": [1, 2, 50],
    "negative": [1, 3, 200],
    "min_count": [1, 1, 1, 2, 10],
    "max_features": [None, None, 1, 5, 1000],
    "max_sentence_length": [None, 2, 16, 1000],
    "learning_rate": [1e-6, 1e-3, 0.05, 0.5, 30.0],
    "stop_words": [None, None, "english", ["the"], ("a", "cat"), {"dog"}],
    "stemmer": [None, None, None, str.lower],
    "token_pattern": [r"(?u)\b\w+\b", r"(?u)\b\w+\b", r"(?u)\b\w\w+\b", r"[a-z]+"],
    "analyzer": ["word", "word", "word", str.split],
    "n_jobs": [None, 1, 2, -1],
    "random_state": [0, 1, 2**31 - 1],
    "verbose": [0],
    "warm_start": [False, True],
    "corpus": [None],
    "half_count": [1, 20, 1000],
    "epsilon": [1e-3],
}
GIVEN = {word: np.random.default_rng(i).normal(size=4).astype(np.float32) for i, word in enumerate([*WORDS, "zebra"])}
OF_VECTORS = {
    "init": [None, None, GIVEN],
    "expand_with": [None, GIVEN],
    "embedding": [None],
    "word_vectors": [GIVEN, [GIVEN, GIVEN], (list(GIVEN), np.array(list(GIVEN.values())))],
}


def classes():
    return [cls for cls in public().values() if isinstance(cls, type) and issubclass(cls, TextEstimator)]


def drawn(name, constraints, random):
    """A value that the constraints of a parameter allow."""
    if name in USUAL or name in OF_VECTORS:
        values = USUAL.get(name) or OF_VECTORS[name]
        return values[random.integers(len(values))]
    if constraints == "no_validation":
        return None
    constraint = constraints[random.integers(len(constraints))]
    if isinstance(constraint, StrOptions):
        return sorted(constraint.options)[random.integers(len(constraint.options))]
    if isinstance(constraint, Interval):
        low = -10.0 if constraint.left is None else float(constraint.left)
        high = low + 10 if constraint.right is None else min(float(constraint.right), low + 1e3)
        ends = [low] * (constraint.closed in ("left", "both")) + [high] * (constraint.closed in ("right", "both"))
        value = random.choice([*ends, *random.uniform(low, high, 2), low + 1e-3 * (high - low)])
        return max(int(value), int(np.ceil(low))) if constraint.type is Integral else float(value)
    if constraint == "boolean":
        return bool(random.integers(2))
    return None  # only where None is allowed, or what is too special


def settings(cls, random):
    """Parameters of a class: half of them drawn, the others at their defaults."""
    required = {"word_vectors"} if cls.__name__ == "MetaEmbeddingVectorizer" else set()
    params = {}
    for name, constraints in cls._parameter_constraints.items():
        if name in required or name in ("n_components", "max_iter", "min_count", "n_buckets") or random.integers(2):
            value = drawn(name, constraints, random)
            if value is not None or constraints == "no_validation" or any(one is None for one in constraints):
                params[name] = value
    return params


def text_of(random):
    """Sentences of few words, with odd ones among them, and their documents."""
    n = int(random.choice([1, 2, 5, 40, 120]))
    text = [" ".join(random.choice(WORDS, random.integers(1, 9))) for _ in range(n)]
    for _ in range(random.integers(4)):
        text[random.integers(n)] = ODD[random.integers(len(ODD))]
    return text, np.arange(n) // int(random.choice([1, 3, 200]))


def rows_of(model, text):
    rows = model.transform(text)
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    if not np.isfinite(rows).all():
        raise ArithmeticError("rows that are not finite")
    return rows


def trial(seed, folder):
    """What happened: "works", or the step with a clear error; anything else is raised."""
    random = np.random.default_rng(seed)
    kinds = classes()
    cls = kinds[random.integers(len(kinds))]
    params, (text, groups), step = settings(cls, random), text_of(random), "fit"
    about = f"{cls.__name__}({params})"
    evidence = {"groups": groups} if random.integers(2) else {}
    if cls._learns_from == "targets":
        evidence["y"] = random.normal(size=(len(text), 5))
    elif cls._learns_from == "pairs":
        evidence = {"y": np.arange(len(text)) // 2}
    elif random.integers(3) == 0:
        evidence = {"y": np.arange(len(text)) % 3}
    try:
        model = cls(**params).fit(text, **evidence)
        step = "transform"
        expected = rows_of(model, ODD + text)
        if hasattr(model, "partial_fit") and random.integers(2):
            step = "partial_fit"
            model.partial_fit(text[::-1], **evidence)
            expected = rows_of(model, ODD + text)
        step = "save"
        skembed.save(model, folder)
        back = skembed.load(folder, mmap=bool(random.integers(2)), token_pattern=params.get("token_pattern"))
        if rows_of(back, ODD + text).tobytes() != expected.tobytes():
            raise ArithmeticError("the loaded model has other rows")
    except (ValueError, TypeError) as error:
        return cls.__name__, f"clear error in {step}", f"{type(error).__name__}: {error!s:.150}"
    except BaseException as error:
        return cls.__name__, "anything else", f"{seed} {about} in {step}: {type(error).__name__}: {error!s:.300}"
    return cls.__name__, "works", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--errors", action="store_true", help="print the messages of the clear errors")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    counts, messages, surprises, until = Counter(), Counter(), [], time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as parent:
        for seed in range(options.first, options.first + options.trials):
            if time.monotonic() > until:
                break
            faulthandler.dump_traceback_later(HANG, exit=False)
            start = time.monotonic()
            name, outcome, message = trial(seed, Path(parent) / "model")
            faulthandler.cancel_dump_traceback_later()
            if time.monotonic() - start > HANG:
                outcome, message = "anything else", f"{seed}: {time.monotonic() - start:.0f} s"
            counts[name, outcome.split(" in ")[0]] += 1
            if outcome == "anything else":
                surprises.append(message)
                print(message, flush=True)
            elif message:
                messages[f"{name}, {outcome}, {message}"] += 1
    outcomes = ("works", "clear error", "anything else")
    rows = [
        {"estimator": name, **{outcome: counts[name, outcome] for outcome in outcomes}}
        for name in sorted({name for name, _ in counts})
    ]
    rows.append({"estimator": "all", **{outcome: sum(row[outcome] for row in rows) for outcome in outcomes}})
    if options.errors:
        print("\n".join(f"{n} {message}" for message, n in messages.most_common()))
    report(options, "soak", "Random settings of all estimators", rows)
    return bool(surprises)


if __name__ == "__main__":
    sys.exit(main())
