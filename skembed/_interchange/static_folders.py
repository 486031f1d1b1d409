"""Folders of model2vec, and of sentence-transformers with a StaticEmbedding, as fitted estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
from .._text.piece_tokenizer import PieceTokenizer
from .._text.tokenizer import Tokenizer
from .._validation.json_text import parse_json
from .._validation.messages import brief
from .._validation.paths import describe_unreadable
from .fitted import with_fitted

VECTORS, TOKENIZER, CONFIG, MODULES = "model.safetensors", "tokenizer.json", "config.json", "modules.json"
_PROMPTS = "config_sentence_transformers.json"
_SUBFOLDER = "0_StaticEmbedding"
_LARGEST_JSON = 1 << 28  # bytes
_OF_MODEL2VEC, _OF_SENTENCE_TRANSFORMERS = "embeddings", "embedding.weight"
_OPTIONAL = ("mapping", "weights")


def is_static_folder(folder: Path) -> bool:
    """Whether a folder has the files of such a model."""
    return folder.is_dir() and any((inner / TOKENIZER).exists() for inner in (folder, folder / _SUBFOLDER))


def read_static_folder(folder: Path) -> MeanEmbeddingVectorizer:
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


def _read_json(file: Path) -> Any:
    _check_file(file)
    try:
        return parse_json(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is damaged: {error}") from None


def _setting(file: Path, name: str, kind: type, default: Any) -> Any:
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
