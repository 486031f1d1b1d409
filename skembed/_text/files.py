"""Sentences from text files; files in other formats are refused."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from .._validation.messages import brief
from .._validation.values import PathLike, describe_unreadable, files_below, listed_paths, user_path
from .sources import PADDING, Text
from .tokenizer import Tokenizer, reads_strings

READ_SIZE = 1 << 18  # characters, or bytes, of a file in a batch
_HEAD_SIZE = 1 << 18  # bytes at the beginning of a file that show what it is
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_NAMES = (".txt", ".txt.gz", ".txt.bz2", ".txt.xz", ".txt.zst")  # in a folder; .zst files raise an error
_COMPRESSED = {b"\x1f\x8b\x08": ".gz", b"BZh91AY&SY": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
BEGINNINGS = {  # of files that are not text
    b"\x93NUMPY": "a NumPy array",
    b"PAR1\x15": "a Parquet file",
    b"ARROW1\x00\x00": "an Arrow file",
    b"PK\x03\x04": "a zip archive (as .docx, .xlsx and .npz are)",
    b"%PDF-": "a PDF document",
    b"{\\rtf": "an RTF document",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office document (.doc, .xls)",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    **{bytes([0x80, protocol]): "a pickle" for protocol in range(2, 6)},
}
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # first: it begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FROM_SENTENCES = "pass its sentences to SentenceCorpus.from_sentences"


def iter_text(
    paths: PathLike | Iterable[PathLike], encoding: str, tokenizer: Tokenizer
) -> Iterator[tuple[list[str] | Text, list[int]]]:
    """Yield batches of sentences, with the indices in them at which a new document begins.

    If the tokenizer is compiled, a batch of UTF-8 is not split into lines yet, and [0] marks the first one of a file.
    """
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
        raise ValueError(f"There is no encoding called {brief(encoding)}.") from None
    as_bytes = codec.name == "utf-8" and tokenizer.is_compiled
    for file in _text_files(paths):
        _check_beginning(file, encoding, may_be_json=not reads_strings(tokenizer.analyzer))
        if as_bytes:
            starts = [0]
            for text in _iter_bytes(file):
                yield text, starts
                starts = []
            continue
        new_document = True
        for lines in _iter_lines(file, encoding):
            sentences: list[str] = []
            starts = []
            for line in lines:
                if line.isspace() or not line:
                    new_document = True
                    continue
                if new_document:
                    starts.append(len(sentences))
                    new_document = False
                sentences.append(line.rstrip("\r\n"))
            if sentences:
                yield sentences, starts


# -- paths -------------------------------------------------------------------------------------------------------------


def _text_files(paths: PathLike | Iterable[PathLike]) -> Iterator[Path]:
    found = [file for path in listed_paths(paths) for file in _files_at(user_path(path))]
    for file in found:  # before the first one is read
        if not file.exists():
            raise FileNotFoundError(f"There is no file or folder {file}.")
        if kind := describe_unreadable(file):
            raise ValueError(
                f"{file} is {kind}, not a regular file. Save its content to a file, or {_FROM_SENTENCES}: "
                "from_sentences(open(path)) or from_sentences(sys.stdin)."
            )
    return iter(found)


def _files_at(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [file for file in files_below(path, (".",)) if file.name.lower().endswith(_NAMES)]
    if not found:
        raise ValueError(f"The folder {path} has no file *.txt, *.txt.gz, *.txt.bz2 or *.txt.xz.")
    return sorted(found, key=Path.as_posix)  # as pandas and polars read a folder, and the same on every system


# -- contents ----------------------------------------------------------------------------------------------------------


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed; errors of damaged files name the file."""
    suffix = file.suffix.lower()
    if suffix == ".zst":
        raise ValueError(f"{file} is compressed with zstd, which is not supported. Decompress it first: zstd -d.")
    try:
        with cast(BinaryIO, _OPENERS.get(suffix, open)(file, "rb")) as raw:
            yield raw
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if getattr(error, "errno", None) is not None or suffix not in _OPENERS:
            raise  # an error of the disk, not of the content
        raise ValueError(f"{file} is damaged or not a complete {suffix} file: {error}") from error


def _check_beginning(file: Path, encoding: str, *, may_be_json: bool) -> None:
    """Refuse a file that is not text, has another encoding or has no line feeds, judging by its first bytes."""
    with _opened(file) as raw:
        head = raw.read(_HEAD_SIZE)
    for mark, suffix in _COMPRESSED.items():
        if head.startswith(mark):
            raise ValueError(f"{file} looks compressed. Decompress it, or give it a name that ends in {suffix}.")
    for mark, kind in BEGINNINGS.items():
        if head.startswith(mark):
            raise ValueError(
                f"{file} looks like {kind}, not text. Read it with a library for that format, and {_FROM_SENTENCES}."
            )
    try:
        text = head.decode(encoding, "ignore")
    except LookupError as error:  # a codec such as "hex" that is not for text
        raise ValueError(f"encoding={brief(encoding)} cannot be used: {error}") from None
    wide = _wide_encoding(head)
    if wide and "\n".encode(encoding) == b"\n":
        raise ValueError(f"{file} looks like {wide[:6].upper()}. Pass encoding={wide!r}.")
    if "\n" not in text and "\r" in text.rstrip("\r"):
        raise ValueError(
            f"{file} has carriage returns but no line feeds (old Mac line ends), so it would be one sentence. "
            "Convert its line ends first, for example with mac2unix."
        )
    if not may_be_json and _is_json(text):
        raise ValueError(
            f"{file} looks like JSON lines, not text. Read it with the module json, and {_FROM_SENTENCES}."
        )


def _wide_encoding(head: bytes) -> str:
    """Return the likely encoding of UTF-16 or UTF-32 text, else ""."""
    for mark, encoding in _WIDE_MARKS.items():
        if head.startswith(mark):
            return encoding
    zeros = np.flatnonzero(np.frombuffer(head, np.uint8) == 0)
    if 50 * len(zeros) < len(head) or not len(zeros):
        return ""  # too few zero bytes for UTF-16, where each line feed has one
    if 2 * len(zeros) > len(head):
        return "utf-32-le" if (zeros % 4 == 3).sum() > (zeros % 4 == 0).sum() else "utf-32-be"
    odd = (zeros % 2).mean()
    return "utf-16-le" if odd > 0.95 else "utf-16-be" if odd < 0.05 else ""


def _is_json(text: str) -> bool:
    """Whether the first line is a JSON object."""
    line, end, _ = text.lstrip("\ufeff\r\n").partition("\n")
    if not line.startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return not end and line.startswith('{"')  # the line is longer than `text`


def _iter_bytes(file: Path) -> Iterator[Text]:
    """Yield whole lines, not decoded."""
    chunks: list[bytes] = []  # of a line longer than READ_SIZE
    with _opened(file) as raw:
        chunk = raw.read(max(READ_SIZE, len(codecs.BOM_UTF8))).removeprefix(codecs.BOM_UTF8)
        while chunk or (chunk := raw.read(READ_SIZE)):
            if b"\0" in chunk:
                raise ValueError(decoding_message(file, "utf-8"))
            cut = chunk.rfind(b"\n") + 1
            if cut:
                yield _text_of([*chunks, chunk[:cut]], file)
                chunks = []
            chunks.append(chunk[cut:])
            chunk = b""
    if any(chunks):
        yield _text_of([*chunks, b"\n"], file)


def _text_of(chunks: list[bytes], file: Path) -> Text:
    return Text(np.frombuffer(b"".join([*chunks, PADDING]), np.uint8), file=file)


def _iter_lines(file: Path, encoding: str) -> Iterator[list[str]]:
    """Yield lists of lines that end only at a line feed; other Unicode line separators are text."""
    first = True
    try:
        with _opened(file) as raw, io.TextIOWrapper(raw, encoding=encoding, newline="\n") as stream:
            while lines := stream.readlines(READ_SIZE):
                if first:
                    lines[0] = lines[0].removeprefix("\ufeff")  # the byte order mark
                    first = False
                if any("\0" in line for line in lines):
                    raise ValueError(decoding_message(file, encoding))
                yield lines
    except UnicodeError as error:
        raise ValueError(decoding_message(file, encoding, error)) from None


def _check_whole(file: Path) -> None:
    """Read a compressed file to its end, where its checksum is; a damaged file raises an error here."""
    if file.suffix.lower() in _OPENERS:
        with _opened(file) as raw:
            while raw.read(READ_SIZE):
                pass


def decoding_message(file: Path, encoding: str, error: UnicodeError | None = None) -> str:
    """Return the message for the first bytes that cannot be decoded, or for the first NUL character."""
    _check_whole(file)
    advice = "If the text has another encoding, pass it, for example encoding='{}'."
    nul = "has a NUL character: the file is damaged or is not text. " + advice.format("utf-16-le")
    if "\n".encode(encoding) == b"\n":
        # The decoder counts from the start of its own buffer, so find the line by reading again.
        with _opened(file) as raw:
            for i, line in enumerate(raw, 1):
                if b"\0" in line:
                    return f"{file}, line {i} {nul}"
                try:
                    line.decode(encoding)
                except UnicodeDecodeError as found:
                    wrong = found.object[found.start : found.end]
                    return (
                        f"{file}, line {i}, byte offset {found.start} in the line: {wrong!r} is not valid "
                        f"{encoding}. {advice.format('latin-1')}"
                    )
    if error is None:
        with _opened(file) as raw, io.TextIOWrapper(raw, encoding, newline="\n") as stream:
            return f"{file}, line {next(n for n, line in enumerate(stream, 1) if chr(0) in line)} {nul}"
    return f"{file} is not valid {encoding}: {error}. {advice.format('latin-1')}"
