"""Folders of model2vec, and of sentence-transformers with a StaticEmbedding: read as estimators, and written."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._base.pooled import PooledVectorizer
from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
from .._text.character_ngrams import CharacterNgrams
from .._text.piece_tokenizer import MARKED_WORDS, PieceTokenizer
from .._text.tokenizer import BETWEEN_SPACES, Tokenizer, reads_strings
from .._text.words import CAPITAL_DOTTED_I, DOTTED_I, UNSPACED_LETTER
from .._validation.messages import brief
from .._validation.values import JSON, describe_unreadable, parse_json
from ._fitted import check_is_sum, is_encodable, with_fitted

VECTORS, TOKENIZER, CONFIG, MODULES = "model.safetensors", "tokenizer.json", "config.json", "modules.json"
_PROMPTS = "config_sentence_transformers.json"
_SUBFOLDER = "0_StaticEmbedding"
_LARGEST_JSON = 1 << 28  # bytes
_OF_MODEL2VEC, _OF_SENTENCE_TRANSFORMERS = "embeddings", "embedding.weight"
_OPTIONAL = ("mapping", "weights")
_CARD = "README.md"
FILES = frozenset([VECTORS, TOKENIZER, CONFIG, MODULES, _CARD])  # that are written
_WORDS, _LONGER_WORDS = r"[\p{L}\p{N}_]+", r"[\p{L}\p{N}_]{2,}"  # as \w+ and \w\w+ of Python; their own \w is larger
_PATTERNS: dict[str | None, str] = {None: MARKED_WORDS, BETWEEN_SPACES: BETWEEN_SPACES}
_PATTERNS |= dict.fromkeys([r"(?u)\b\w+\b", r"\b\w+\b", r"(?u)\w+", r"\w+"], _WORDS)
_PATTERNS |= dict.fromkeys([r"(?u)\b\w\w+\b", r"\b\w\w+\b"], _LONGER_WORDS)
_COMPOSING: dict[str, JSON] = {"type": "NFC"}
_REPLACING: dict[str, JSON] = {"type": "Replace", "pattern": {"String": DOTTED_I}, "content": "i"}
_LOWERING: list[dict[str, JSON]] = [{"type": "Lowercase"}, _REPLACING, _COMPOSING]
_REPLACING_CAPITAL: dict[str, JSON] = _REPLACING | {"pattern": {"String": CAPITAL_DOTTED_I}}
_LOWERING_ALONE: list[dict[str, JSON]] = [_REPLACING_CAPITAL, {"type": "Lowercase"}]  # where there is a pattern
_TYPES = "sentence_transformers.models."
_N_TESTED = 2000  # words


def recognises(folder: Path) -> bool:
    """Whether a folder has the files of such a model."""
    return folder.is_dir() and any((inner / TOKENIZER).exists() for inner in (folder, folder / _SUBFOLDER))


def read(folder: Path) -> MeanEmbeddingVectorizer:
    """Return the fitted estimator; a ValueError names the file."""
    inner = folder if (folder / TOKENIZER).exists() else folder / _SUBFOLDER
    tokenizer = _read_tokenizer(inner / TOKENIZER)
    arrays = _read_arrays(inner / VECTORS)
    rows = _rows_of_tokens(arrays, len(tokenizer.tokens), inner / VECTORS)
    words = tokenizer.tokens
    if _OF_MODEL2VEC in arrays:
        is_unit = _setting(folder / CONFIG, "normalize", bool, False)
        kept = [i for i, word in enumerate(words) if word != tokenizer.unknown]  # which it leaves out of the mean
        words, rows = [words[i] for i in kept], rows[kept]
    else:
        is_unit = _ends_with_normalize(folder / MODULES)
        if tokenizer.cuts:
            raise ValueError(f"{inner / TOKENIZER} cuts long texts, which no estimator here does.")
        if (folder / _PROMPTS).exists() and _setting(folder / _PROMPTS, "default_prompt_name", str, None):
            raise ValueError(f"{folder / _PROMPTS} puts a prompt before each text, which no estimator here does.")
    return _fitted(tokenizer, words, rows, "l2" if is_unit else None, inner / VECTORS)


def _fitted(
    tokenizer: PieceTokenizer, words: list[str], rows: np.ndarray, norm: str | None, file: Path
) -> MeanEmbeddingVectorizer:
    rows.flags.writeable = False
    estimator = MeanEmbeddingVectorizer(
        rows.shape[1], word_vectors=(words, rows), unknown="zero", norm=norm, analyzer=tokenizer
    )
    fitted = {
        "vocabulary_": {word: row for row, word in enumerate(words)},
        "word_counts_": np.zeros(len(words), np.int64),
        "coverage_": 1.0,
        "_n_tokens": 0,
        "_tokenizer": Tokenizer(analyzer=tokenizer),
        "word_vectors_": rows,
        "ngram_vectors_": np.zeros((0, rows.shape[1]), np.float32),
        "_ngram_lengths": (1, 0),
    }
    try:
        return with_fitted(estimator, fitted)
    except ValueError as error:
        raise ValueError(f"{file} cannot be imported: {error}") from None


def _rows_of_tokens(arrays: dict[str, np.ndarray], n_tokens: int, file: Path) -> np.ndarray:
    """The vector of each token: its row, or the one that it shares, times its weight."""
    rows = arrays.get(_OF_MODEL2VEC, arrays.get(_OF_SENTENCE_TRANSFORMERS))
    if rows is None or rows.ndim != 2 or rows.dtype.kind not in "fi" or rows.shape[1] == 0:
        raise ValueError(f"{file} has no matrix of vectors named {_OF_MODEL2VEC} or {_OF_SENTENCE_TRANSFORMERS}.")
    mapping, weights = (arrays.get(name) for name in _OPTIONAL)
    if mapping is not None:
        if mapping.shape != (n_tokens,) or mapping.dtype.kind not in "iu":
            raise ValueError(f"{file}: mapping must have the row of each of the {n_tokens} tokens.")
        if n_tokens and not 0 <= mapping.min() <= mapping.max() < len(rows):
            raise ValueError(f"{file}: mapping has the row {mapping.max()} or {mapping.min()}, but {len(rows)} rows.")
        rows = rows[mapping]
    if len(rows) != n_tokens:
        raise ValueError(f"{file} has {len(rows)} vectors, but {TOKENIZER} has {n_tokens} tokens.")
    rows = np.ascontiguousarray(rows, np.float32)
    if weights is not None:
        if weights.shape != (n_tokens,) or weights.dtype.kind not in "fi":
            raise ValueError(f"{file}: weights must have one of each of the {n_tokens} tokens.")
        rows = (rows * weights[:, None]).astype(np.float32)
    if not np.isfinite(rows).all():
        raise ValueError(f"{file} has NaN or infinity.")
    return rows


def _read_arrays(file: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open

    _check_file(file)
    wanted = {_OF_MODEL2VEC, _OF_SENTENCE_TRANSFORMERS, *_OPTIONAL}
    try:
        with safe_open(file, framework="numpy") as opened:  # checks the offsets and sizes of all arrays
            return {name: opened.get_tensor(name) for name in opened.keys() if name in wanted}  # noqa: SIM118
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is damaged or has a type of numbers that NumPy has not: {error}") from None


def _read_tokenizer(file: Path) -> PieceTokenizer:
    _check_file(file)
    try:
        return PieceTokenizer(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} cannot be used: {error}") from None


def _check_file(file: Path) -> None:
    if not file.exists():
        raise ValueError(f"{file.parent} has no file {file.name}.")
    if kind := describe_unreadable(file):
        raise ValueError(f"{file} is {kind}.")
    if file.suffix == ".json" and file.stat().st_size > _LARGEST_JSON:
        raise ValueError(f"{file} is larger than that of any model.")


def _read_json(file: Path) -> JSON:
    _check_file(file)
    try:
        return parse_json(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is damaged: {error}") from None


def _setting(file: Path, name: str, kind: type, default: object) -> object:
    found = _read_json(file)
    value = found.get(name) if isinstance(found, dict) else None
    if value is not None and not isinstance(value, kind):
        raise ValueError(f"{file}: {name} is {brief(value)}.")
    return default if value is None else value


def _ends_with_normalize(file: Path) -> bool:
    """Whether the modules are a StaticEmbedding and what divides rows by their lengths; others are refused."""
    found = _read_json(file)
    entries = found if isinstance(found, list) else [found]
    names = [str(entry.get("type") if isinstance(entry, dict) else None).rpartition(".")[2] for entry in entries]
    if names not in (["StaticEmbedding"], ["StaticEmbedding", "Normalize"]):
        raise ValueError(f"{file} has the modules {brief(names)}, not a StaticEmbedding alone or with Normalize.")
    return len(names) == 2


# -- writing -----------------------------------------------------------------------------------------------------------


def write(estimator: PooledVectorizer, folder: Path) -> tuple[int, int, list[str]]:
    """Write the files of an estimator; a TypeError or ValueError says what they cannot express.

    Returns how many words were written and left out, and sentences to compare the rows of both.
    """
    _check_expressible(estimator)
    if isinstance(estimator._state.tokenizer.analyzer, PieceTokenizer):
        tokenizer, words, vectors = _with_pieces(estimator, estimator._state.tokenizer.analyzer)
        n_left_out = 0
    else:
        words, vectors, n_left_out = _words_and_vectors(estimator)
        tokenizer = _tokenizer_of(estimator, words)
    _write_files(folder, tokenizer, vectors)
    card = _CARD_TEXT.format(name=type(estimator).__name__, n_words=len(words), version=__version__)
    (folder / _CARD).write_text(card, encoding="utf-8")
    tested = words[:: 1 + len(words) // _N_TESTED]
    # At the end of a word, the other programs lower Σ in another way.
    capitals = [word if "Σ" in word.upper() else word.upper() for word in tested]
    sentences = tested + [f"{a}, {b} zzqqxx {a}!" for a, b in zip(tested, capitals[1:])] + ["", "zzqqxx"]
    return len(words), n_left_out, sentences


def _check_expressible(estimator: PooledVectorizer) -> None:
    """Raise an error that says what the other programs cannot do."""
    check_is_sum(estimator)
    name = type(estimator).__name__
    tokenizer, unknown = estimator._state.tokenizer, estimator._treats_unknown(estimator._state)
    faults = {
        f"ngram_range={getattr(estimator, 'ngram_range', None)}: there are no word n-grams": (
            estimator._longest_learned(estimator._state) > 1
        ),
        "binary=True: a repeated word counts each time": estimator.binary,
        f"unknown={unknown!r}: unknown words have no vector. Set unknown='zero' if you do not need theirs": (
            unknown != "zero"
        ),
        f"analyzer={brief(tokenizer.analyzer)}: a callable is code": not (reads_strings(tokenizer.analyzer)),
        "n-grams of characters. Learn with analyzer='word'; or write the words of a text with their rows: "
        "write_word_vectors((words, estimator.transform(words)), path); or, of n-grams that share rows, a model of "
        "fastText: export_model(estimator, 'model.bin')": isinstance(tokenizer.analyzer, CharacterNgrams),
        f"stemmer={brief(tokenizer.stemmer)}: words are looked up as they are": tokenizer.stemmer is not None,
        f"token_pattern={brief(tokenizer.token_pattern)}: its regular expressions have other rules": (
            tokenizer.token_pattern not in _PATTERNS
        ),
    }
    for fault, is_there in faults.items():
        if is_there:
            raise ValueError(f"The folder cannot express {name} with {fault}.")


def _with_pieces(estimator: PooledVectorizer, pieces: PieceTokenizer) -> tuple[dict[str, JSON], list[str], np.ndarray]:
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
    whole: Any = parse_json(pieces.text)
    return whole | {"truncation": None, "padding": None}, pieces.tokens, vectors


def _words_and_vectors(estimator: PooledVectorizer) -> tuple[list[str], np.ndarray, int]:
    """The words that can come out of the tokenizer, weighted vectors after a row of zeros, and how many were left."""
    analyze, vocabulary = estimator._state.tokenizer.analyze, estimator.vocabulary_
    words = [word for word in vocabulary if analyze(word) == [word] and is_encodable(word)]
    if estimator._state.tokenizer.token_pattern is None:
        unspaced, words = words, [word for word in words if not UNSPACED_LETTER.search(word)]
        if len(words) < len(unspaced):
            warnings.warn(
                "Letters of scripts without spaces between words, such as Chinese, are left out, since the other "
                "programs do not make pairs of them: a text of these has no vector there.",
                UserWarning,
                stacklevel=4,
            )
    if not words:
        raise ValueError("No word of the vocabulary comes out of the tokenizer, so no text would have a vector.")
    rows = [vocabulary[word] for word in words]
    vectors = np.zeros((len(words) + 1, estimator.n_features_out_), np.float32)
    np.multiply(estimator._summed_vectors(estimator._state)[rows], estimator.word_weights_[rows, None], out=vectors[1:])
    return words, vectors, len(vocabulary) - len(words)


def _tokenizer_of(estimator: PooledVectorizer, words: list[str]) -> dict[str, JSON]:
    """How the other programs find these words; the unknown token comes first."""
    unknown = "[UNK]"
    while unknown in estimator.vocabulary_:
        unknown += "_"
    options = estimator._state.tokenizer
    if options.token_pattern is None:
        normalizers = _LOWERING if options.lowercase else [_COMPOSING]
    else:
        normalizers = _LOWERING_ALONE if options.lowercase else []
    vocabulary = {token: index for index, token in enumerate([unknown, *words])}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": _PATTERNS[options.token_pattern]},
            "behavior": "Removed",
            "invert": True,
        },
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
    }


def _write_files(folder: Path, tokenizer: dict[str, JSON], vectors: np.ndarray) -> None:
    from safetensors.numpy import save_file

    save_file({"embeddings": vectors}, folder / VECTORS)
    contents: dict[str, JSON] = {
        TOKENIZER: tokenizer,
        CONFIG: {"model_type": "model2vec", "normalize": True, "max_length": None, "embedding_dtype": "float32"},
        MODULES: [
            {"idx": 0, "name": "0", "path": ".", "type": f"{_TYPES}StaticEmbedding"},
            {"idx": 1, "name": "1", "path": "1_Normalize", "type": f"{_TYPES}Normalize"},
        ],
    }
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


_CARD_TEXT = """\
---
library_name: model2vec
---
# {name}

Sentence vectors of {n_words:,} words, exported by skembed {version}. A sentence is the sum of the vectors of its
words, divided by its length.

```python
from model2vec import StaticModel  # or: from sentence_transformers import SentenceTransformer

rows = StaticModel.from_pretrained("this folder").encode(["A sentence."])
```
"""
