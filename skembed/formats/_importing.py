"""Open models of other programs: `import_model`."""

from __future__ import annotations

from typing import Any

from .._validation.values import PathLike, user_path
from . import _binary_models as binary_models
from . import _static_folders as static_folders

_FORMATS: tuple[Any, ...] = binary_models, static_folders  # each is a file with all that is known of its format


def import_model(path: PathLike) -> Any:
    r"""Open a model of another program as a fitted estimator.

    It transforms as the other program does, and does not learn further itself: pass it to an estimator that does, as in
    ``CBOSVectorizer(init=model)``. The format is recognised from the content. No code of a file runs, and all sizes
    are checked before memory is used.

    Parameters
    ----------
    path : str or path-like
        A binary model (.bin) of fastText or of epfml/sent2vec; or the folder of a model of model2vec, or of
        sentence-transformers with a StaticEmbedding.

    Returns
    -------
    estimator : MeanEmbeddingVectorizer or Sent2VecVectorizer
        For fastText, a :class:`~skembed.MeanEmbeddingVectorizer`: the mean of the vectors of all words, those of
        unknown words from their character n-grams. For sent2vec, a :class:`~skembed.Sent2VecVectorizer`. Both split
        text at white space alone and keep capitals. For a folder, a :class:`~skembed.MeanEmbeddingVectorizer` whose
        `analyzer` is the tokenizer of the folder.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If it is no model of these programs, is damaged, or is of a kind that is not supported; names the file.

    See Also
    --------
    read_word_vectors : Words and vectors of such files, and of files in word2vec and GloVe format.
    export_model : Write such a folder.
    skembed.load : Open a model that :func:`~skembed.save` wrote.

    Notes
    -----
    *fastText* divides each word vector by its length before it averages them to a sentence; this estimator does not.
    Classifiers are read as word vectors too, without their labels. *model2vec* cuts a text after 512 tokens unless its
    ``max_length`` is None; this estimator never does. Of tokenizers, WordPiece and WordLevel are read. *sent2vec* ends
    a sentence at a line end or at the word ``</s>``; here both are like any other space or word.

    Examples
    --------
    >>> import skembed
    >>> emb = skembed.formats.import_model("wiki_unigrams.bin")  # doctest: +SKIP
    >>> emb.transform(["the cat sits on the mat"]).shape  # doctest: +SKIP
    (1, 600)
    """
    file = user_path(path)
    if not file.exists():
        raise FileNotFoundError(f"There is no model at {file}.")
    for foreign in _FORMATS:
        if foreign.recognises(file):
            return foreign.read(file)
    raise ValueError(
        f"{file} is not a binary model of fastText or sent2vec, nor a folder of model2vec or sentence-transformers. "
        "Give a file of word vectors to MeanEmbeddingVectorizer(word_vectors=path), and a folder of skembed.save to "
        "skembed.load."
    )
