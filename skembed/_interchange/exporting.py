"""Write models as folders that other programs open: `export_model`."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._base.pooled import PooledVectorizer
from .._corpus.folders import FolderKind, new_folder
from .._text.character_ngrams import CharacterNgrams
from .._text.piece_tokenizer import MARKED_WORDS, PieceTokenizer, lower_each
from .._text.tokenizer import BETWEEN_SPACES, Tokenizer, reads_strings
from .._text.words import CAPITAL_DOTTED_I, DOTTED_I, UNSPACED_LETTER, compose, lower, lower_letters
from .._validation.json_text import parse_json
from .._validation.messages import brief
from .._validation.paths import PathLike
from .static_folders import CONFIG, MODULES, TOKENIZER, VECTORS, read_static_folder

_CARD = "README.md"
_FOLDER = FolderKind("exported model", MODULES, frozenset([VECTORS, TOKENIZER, CONFIG, MODULES, _CARD]))
_WORDS, _LONGER_WORDS = r"[\p{L}\p{N}_]+", r"[\p{L}\p{N}_]{2,}"  # as \w+ and \w\w+ of Python; their own \w is larger
_PATTERNS: dict[str | None, str] = {None: MARKED_WORDS, BETWEEN_SPACES: BETWEEN_SPACES}
_PATTERNS |= dict.fromkeys([r"(?u)\b\w+\b", r"\b\w+\b", r"(?u)\w+", r"\w+"], _WORDS)
_PATTERNS |= dict.fromkeys([r"(?u)\b\w\w+\b", r"\b\w\w+\b"], _LONGER_WORDS)
_COMPOSING: dict[str, Any] = {"type": "NFC"}
_REPLACING: dict[str, Any] = {"type": "Replace", "pattern": {"String": DOTTED_I}, "content": "i"}
_LOWERING: list[dict[str, Any]] = [{"type": "Lowercase"}, _REPLACING, _COMPOSING]
_REPLACING_CAPITAL: dict[str, Any] = _REPLACING | {"pattern": {"String": CAPITAL_DOTTED_I}}
_LOWERING_ALONE: list[dict[str, Any]] = [_REPLACING_CAPITAL, {"type": "Lowercase"}]  # where there is a pattern
_TYPES = "sentence_transformers.models."
_LARGEST_DIFFERENCE = 1e-6  # of a cosine from 1
_N_TESTED = 2000  # words


def export_model(estimator: Any, path: PathLike) -> dict[str, Any]:
    """Write a model as a folder that model2vec, sentence-transformers and :func:`import_model` open.

    The rows of those programs have length one and the directions of the rows of this estimator: word weights, removed
    components and all else that follows from the vocabulary are in the vectors. In the end the folder is read again
    and its rows are compared with those of the estimator; only then does it take its place at `path`, in one step.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator whose sentence is a weighted sum or mean of word vectors, with ``unknown="zero"``. One that
        has learned on from an imported model keeps the tokenizer of that, with its pieces of words.
    path : str or path-like
        Name of the folder. A model that was exported there before is replaced.

    Returns
    -------
    report : dict
        "words", how many were written; "left_out", how many never come out of the tokenizer, such as stop words and
        words with capitals where text is lowered; and "smallest_cosine" of a row of the folder with that of the
        estimator, over single words and sentences of several words.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If its sentences are not sums of word vectors.
    ValueError
        If the folder cannot express the model; says why: word n-grams, ``binary=True``, vectors of unknown words, a
        stemmer, another `analyzer` than "word", or another `token_pattern` than those of scikit-learn and of
        `import_model`.
    FileExistsError
        If `path` exists and is not an exported model.

    Warns
    -----
    UserWarning
        If a word ends in a sigma: in capitals, the other programs read another word. If the model has text of a
        script without spaces, whose pairs of letters the other programs do not make.

    See Also
    --------
    import_model : Open the folder, or a model of another program.
    write_word_vectors : Word vectors alone, as many other programs read them.
    save : A folder for this package, of any model and with all of it.

    Notes
    -----
    model2vec opens the folder by ``StaticModel.from_pretrained(path)``, sentence-transformers by
    ``SentenceTransformer(path)``.

    Examples
    --------
    >>> import tempfile, skembed
    >>> text = ["A cat sleeps.", "It dreams."] * 50
    >>> emb = skembed.CBOSVectorizer(20, unknown="zero", random_state=0).fit(text)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = skembed.export_model(emb, f"{folder}/model")
    ...     back = skembed.import_model(f"{folder}/model")
    >>> report["words"], report["smallest_cosine"] > 1 - 1e-6
    (5, True)
    """
    check_is_fitted(estimator)
    _check_expressible(estimator)
    if isinstance(estimator._state.tokenizer.analyzer, PieceTokenizer):
        tokenizer, words, vectors = _with_pieces(estimator, estimator._state.tokenizer.analyzer)
        n_left_out = 0
    else:
        words, vectors, n_left_out = _words_and_vectors(estimator)
        tokenizer = _tokenizer_of(estimator, words)
    with new_folder(path, _FOLDER) as folder:
        _write_files(folder, tokenizer, vectors)
        smallest = _smallest_cosine(estimator, folder, words)
        card = _CARD_TEXT.format(name=type(estimator).__name__, n_words=len(words), version=__version__)
        (folder / _CARD).write_text(card, encoding="utf-8")
    return {"words": len(words), "left_out": n_left_out, "smallest_cosine": smallest}


def _check_expressible(estimator: Any) -> None:
    """Raise an error that says what the other programs cannot do."""
    name = type(estimator).__name__
    if not isinstance(estimator, PooledVectorizer) or type(estimator)._vectors_of is not PooledVectorizer._vectors_of:
        raise TypeError(f"{name} cannot be exported: its sentence is not a weighted sum of word vectors. Use save.")
    tokenizer, unknown = estimator._state.tokenizer, estimator._treats_unknown(estimator._state)
    faults = {
        f"ngram_range={getattr(estimator, 'ngram_range', None)}: there are no word n-grams": (
            getattr(estimator, "ngram_range", (1, 1))[1] > 1
        ),
        "binary=True: a repeated word counts each time": estimator.binary,
        f"unknown={unknown!r}: unknown words have no vector. Set unknown='zero' if you do not need theirs": (
            unknown != "zero"
        ),
        f"analyzer={brief(tokenizer.analyzer)}: a callable is code": not (
            reads_strings(tokenizer.analyzer) or isinstance(tokenizer.analyzer, PieceTokenizer)
        ),
        f"analyzer={brief(tokenizer.analyzer)}: there are no n-grams of characters": isinstance(
            tokenizer.analyzer, CharacterNgrams
        ),
        f"stemmer={brief(tokenizer.stemmer)}: words are looked up as they are": tokenizer.stemmer is not None,
        f"token_pattern={brief(tokenizer.token_pattern)}: its regular expressions have other rules": (
            tokenizer.token_pattern not in _PATTERNS
        ),
    }
    for fault, is_there in faults.items():
        if is_there:
            raise ValueError(f"The folder cannot express {name} with {fault}.")


def _with_pieces(estimator: Any, pieces: PieceTokenizer) -> tuple[dict[str, Any], list[str], np.ndarray]:
    """The tokenizer that the model was imported with, its tokens, and a weighted vector of each."""
    if estimator.vocabulary_.get(pieces.unknown) is not None:
        raise ValueError(
            f"The folder cannot express {type(estimator).__name__} with a vector of unknown pieces, "
            f"{pieces.unknown!r}: model2vec leaves them out."
        )
    rows = np.array([estimator.vocabulary_.get(token, -1) for token in pieces.tokens])
    vectors = np.zeros((len(rows), estimator.n_features_out_), np.float32)
    known = rows >= 0
    vectors[known] = (
        estimator._summed_vectors(estimator._state)[rows[known]] * estimator.word_weights_[rows[known], None]
    )
    return parse_json(pieces.text) | {"truncation": None, "padding": None}, pieces.tokens, vectors


def _words_and_vectors(estimator: Any) -> tuple[list[str], np.ndarray, int]:
    """The words that can come out of the tokenizer, weighted vectors after a row of zeros, and how many were left."""
    analyze, vocabulary = estimator._state.tokenizer.analyze, estimator.vocabulary_
    words = [word for word in vocabulary if analyze(word) == [word] and _is_utf8(word)]
    if estimator._state.tokenizer.token_pattern is None:
        unspaced, words = words, [word for word in words if not UNSPACED_LETTER.search(word)]
        if len(words) < len(unspaced):
            warnings.warn(
                "Letters of scripts without spaces between words, such as Chinese, are left out, since the other "
                "programs do not make pairs of them: a text of these has no vector there.",
                UserWarning,
                stacklevel=3,
            )
    if not words:
        raise ValueError("No word of the vocabulary comes out of the tokenizer, so no text would have a vector.")
    if other := next((word for word in words if not _is_lowered_alike(estimator, word)), None):
        warnings.warn(
            f"Words such as {other!r} end in a sigma. Of a text in capitals, {type(estimator).__name__} makes ς at the "
            "end and the other programs σ, so they do not find the word there.",
            UserWarning,
            stacklevel=3,
        )
    rows = [vocabulary[word] for word in words]
    vectors = np.zeros((len(words) + 1, estimator.n_features_out_), np.float32)
    np.multiply(estimator._summed_vectors(estimator._state)[rows], estimator.word_weights_[rows, None], out=vectors[1:])
    return words, vectors, len(vocabulary) - len(words)


def _is_lowered_alike(estimator: Any, word: str) -> bool:
    """Whether the estimator and the other programs make the same of a word in capitals."""
    capitals = word.upper()
    tokenizer = estimator._state.tokenizer
    if not tokenizer.lowercase:
        return True
    if tokenizer.token_pattern is None:
        return compose(lower_each(capitals).replace(DOTTED_I, "i")) == lower(capitals)
    return lower_each(capitals.replace(CAPITAL_DOTTED_I, "i")) == lower_letters(capitals)


def _normalizers(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    if tokenizer.token_pattern is None:
        return _LOWERING if tokenizer.lowercase else [_COMPOSING]
    return _LOWERING_ALONE if tokenizer.lowercase else []


def _is_utf8(word: str) -> bool:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _tokenizer_of(estimator: Any, words: list[str]) -> dict[str, Any]:
    """How the other programs find these words; the unknown token comes first."""
    unknown = "[UNK]"
    while unknown in estimator.vocabulary_:
        unknown += "_"
    normalizers = _normalizers(estimator._state.tokenizer)
    pattern = _PATTERNS[estimator._state.tokenizer.token_pattern]
    vocabulary = {token: index for index, token in enumerate([unknown, *words])}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
    }


def _write_files(folder: Path, tokenizer: dict[str, Any], vectors: np.ndarray) -> None:
    from safetensors.numpy import save_file

    save_file({"embeddings": vectors}, folder / VECTORS)
    contents: dict[str, Any] = {
        TOKENIZER: tokenizer,
        CONFIG: {"model_type": "model2vec", "normalize": True, "max_length": None, "embedding_dtype": "float32"},
        MODULES: [
            {"idx": 0, "name": "0", "path": ".", "type": f"{_TYPES}StaticEmbedding"},
            {"idx": 1, "name": "1", "path": "1_Normalize", "type": f"{_TYPES}Normalize"},
        ],
    }
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _smallest_cosine(estimator: Any, folder: Path, words: list[str]) -> float:
    """Compare rows of the folder with those of the estimator; a ValueError if they differ."""
    step = 1 + len(words) // _N_TESTED
    tested = words[::step]
    capitals = [
        word.upper() if _is_lowered_alike(estimator, word) else word for word in tested
    ]  # else there is a warning
    sentences = tested + [f"{a}, {b} zzqqxx {a}!" for a, b in zip(tested, capitals[1:])] + ["", "zzqqxx"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown words
        own, theirs = normalize(estimator.transform(sentences)), read_static_folder(folder).transform(sentences)
    cosines = np.einsum("ij,ij->i", own, theirs, dtype=np.float64)
    lengths = np.linalg.norm(own.astype(np.float64), axis=1)
    wrong = np.flatnonzero(
        ~(np.abs(cosines - lengths) <= _LARGEST_DIFFERENCE) | (theirs.any(axis=1) != own.any(axis=1))
    )
    if len(wrong):
        raise ValueError(
            f"The folder was not written: its vector of {brief(sentences[wrong[0]])} would have the cosine "
            f"{cosines[wrong[0]]:.7f} with that of {type(estimator).__name__}. Please report this."
        )
    return float(cosines[lengths > 0].min(initial=1.0))


_CARD_TEXT = """\
---
library_name: model2vec
---
# {name}

Sentence vectors of {n_words:,} words, exported by skembed {version}. A sentence is the sum of the vectors of its
words, divided by its length.

```python
from model2vec import StaticModel

rows = StaticModel.from_pretrained("this folder").encode(["A sentence."])
```

```python
from sentence_transformers import SentenceTransformer

rows = SentenceTransformer("this folder").encode(["A sentence."])
```

```python
import skembed

rows = skembed.import_model("this folder").transform(["A sentence."])
```
"""
