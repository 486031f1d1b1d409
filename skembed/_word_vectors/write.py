"""Word vectors for other programs: files in word2vec format, and gensim's KeyedVectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._storage.array_files import replacing
from .._text.character_ngrams import CharacterNgrams, are_ngrams
from .._validation.messages import brief, warn_at_user
from .._validation.values import PathLike
from .files import LARGEST, binary_row, text_row
from .matches import WordVectors
from .read import make_keyed_vectors, read_source


def write_word_vectors(
    source: WordVectors, path: PathLike, *, binary: bool = False, counts_path: PathLike | None = None
) -> None:
    """Write words and their vectors to a file in word2vec format, which gensim, spaCy and fastText read.

    The vectors are those of `word_vectors_`, without word weights. Of an estimator with words and n-grams of
    characters, they are the rows of `transform` of the words alone. A file that is there is replaced in one step.

    Parameters
    ----------
    source : fitted estimator, dict, (words, array), DataFrame, gensim KeyedVectors or model, or path
        As for the parameter `word_vectors` of :class:`~skembed.MeanEmbeddingVectorizer`.
    path : str or path-like
        Name of the file. A leading ``~`` is the home folder.
    binary : bool, default=False
        Whether to write the binary format. Both formats keep every bit of float32.
    counts_path : str, path-like or None, default=None
        Name of a second file, with a word and its count in each line: `fvocab` of gensim.

    Raises
    ------
    NotFittedError
        If the source is an estimator without `word_vectors_`.
    TypeError
        If the source is none of the above.
    ValueError
        If the format cannot hold a word, since it is empty, has white space or is not UTF-8; if `counts_path` is given,
        but the source has no counts; or, in the binary format, if a number is beyond 1e6.
    OSError
        If the file cannot be written.

    Warns
    -----
    UserWarning
        If the estimator has n-grams of characters beside words: an unknown word has no vector in the file.

    See Also
    --------
    read_word_vectors : Read such files.
    skembed.save : Save a whole estimator.
    to_gensim : The same without a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from skembed.formats import read_word_vectors, write_word_vectors
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "vectors.txt")
    ...     write_word_vectors({"cat": [1, 0.5], "dog": [0, 1]}, path)
    ...     print(path.read_text(), end="")
    ...     words, vectors = read_word_vectors(path)
    2 2
    cat 1 0.5
    dog 0 1
    >>> words
    ['cat', 'dog']
    """
    words, vectors, counts = _words_of(source)
    for word in words:
        if word.split() != [word] or "\x00" in word:
            raise ValueError(
                f"The format cannot hold the word {brief(word)}: it is empty or has white space. Leave such words out, "
                "or keep the whole estimator with skembed.save. Of n-grams of characters, a file can hold the words "
                "that are made of them: write_word_vectors((words, estimator.transform(words)), path)."
            )
    try:
        encoded = [word.encode("utf-8") for word in words]
    except UnicodeEncodeError as error:
        raise ValueError(f"The word {brief(error.object)} cannot be encoded in UTF-8: {error.reason}.") from None
    if binary and np.abs(vectors).max(initial=0) > LARGEST:
        raise ValueError(
            f"Numbers beyond {LARGEST:.0e} cannot be written in the binary format: readers take them as "
            "damage. Use binary=False, or scale the vectors."
        )
    if counts_path is not None and counts is None:
        raise ValueError("The source has no counts of its words, so counts_path must be None.")
    row_of: Callable[[np.ndarray], bytes] = binary_row if binary else text_row
    with replacing(path) as file, replacing(counts_path) if counts_path is not None else nullcontext() as of_counts:
        file.write(b"%d %d\n" % vectors.shape)
        file.writelines(b"%b %b\n" % (word, row_of(vector)) for word, vector in zip(encoded, vectors))
        if of_counts is not None and counts is not None:
            of_counts.writelines(b"%b %d\n" % entry for entry in zip(encoded, counts.tolist()))


def _words_of(source: Any) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Words, their vectors and counts; of words beside n-grams of characters, vectors that have the n-grams in them."""
    words, vectors, counts = read_source(source)
    tokenizer = getattr(getattr(source, "_state", None), "tokenizer", None)
    analyzer = getattr(tokenizer, "analyzer", None)
    if not isinstance(analyzer, CharacterNgrams) or not analyzer.words:
        return words, vectors, counts
    kept = np.flatnonzero(~are_ngrams(words))
    words = [words[i] for i in kept]
    warn_at_user(
        f"The {len(words)} words are written with their n-grams of characters in their vectors, as transform returns "
        "them; an unknown word, whose n-grams the estimator knows, has no vector there. Use skembed.save to keep all."
    )
    return words, source.transform(words), None if counts is None else counts[kept]


def to_gensim(source: WordVectors) -> Any:
    """Return word vectors as gensim's KeyedVectors, with the counts of the words where they are known.

    Parameters
    ----------
    source : fitted estimator, dict, (words, array), DataFrame, gensim KeyedVectors or model, or path
        As for :func:`~skembed.formats.write_word_vectors`.

    Returns
    -------
    vectors : gensim.models.KeyedVectors
        With a copy of the vectors, in the order of the vocabulary.

    Raises
    ------
    ImportError
        If gensim is not installed.
    NotFittedError
        If the source is an estimator without `word_vectors_`.
    TypeError, ValueError
        If the source is none of the above, or holds no vectors.

    See Also
    --------
    write_word_vectors : A file in word2vec format.

    Examples
    --------
    >>> from skembed.formats import to_gensim
    >>> vectors = to_gensim({"cat": [1.0, 0.0], "dog": [0.9, 0.1]})  # doctest: +SKIP
    >>> vectors.most_similar("cat")  # doctest: +SKIP
    [('dog', 0.9938837289810181)]
    """
    return make_keyed_vectors(*_words_of(source))
