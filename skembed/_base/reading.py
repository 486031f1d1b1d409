"""From what a user passes to the corpus that a fit learns from, and to its vocabulary."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .._text.character_ngrams import CharacterNgrams
from .._text.sources import iter_sentences
from .._text.tokenizer import Tokenizer, same_option
from .._training.state import FittedState
from .._validation.messages import brief, warn_at_user

_TOKENIZER_OPTIONS = ("analyzer", "token_pattern", "lowercase", "stop_words", "stemmer")


def tokenizer_options(source: Any) -> dict[str, Any]:
    """The options of a tokenizer, or of an estimator, that say how text becomes words."""
    return {name: getattr(source, name) for name in _TOKENIZER_OPTIONS}


def corpus_to_learn_from(estimator: Any, X: Any, groups: Any, y: Any, automatic: Any) -> SentenceCorpus:
    """The parameter `corpus` if it is given, else `X` if it is a corpus, else `X` encoded."""
    if not isinstance(X, SentenceCorpus):
        iter_sentences(X)  # checked here, so that errors call it X
    if estimator.corpus is not None:
        estimator._check_agreement(estimator.corpus, "corpus")
        return estimator.corpus
    if isinstance(X, SentenceCorpus):
        if groups is not None:
            raise ValueError("groups must be None when X is a SentenceCorpus, which knows its documents.")
        estimator._check_agreement(X, "X")
        return X
    if y is not None and groups is None and estimator._needs_order_for:
        name = type(estimator).__name__
        source, instead = estimator._needs_order_for, "Sent2VecVectorizer"
        if source != name:
            source, instead = f"{source}, which {name} uses,", f"{estimator._source_option}=Sent2VecVectorizer(...)"
        warn_at_user(
            f"{source} learns from neighbouring sentences, but sentences with labels y are seldom in reading "
            "order. If X is in reading order, pass groups. Otherwise pass text in reading order, without labels, "
            f"as corpus=SentenceCorpus.from_sentences(...); or use {instead}, which needs no order."
        )
    return encoded_with(estimator, estimator._tokenizer_of_options(automatic), X, groups)


def _has_words_to_join(estimator: Any, analyzer: CharacterNgrams) -> bool:
    return analyzer.words and estimator._joins_words_beside_characters


def encoded_with(estimator: Any, tokenizer: Tokenizer, X: Any, groups: Any = None) -> SentenceCorpus:
    """Sentences that are not encoded yet, as a corpus."""
    options = tokenizer_options(tokenizer)
    return SentenceCorpus.from_sentences(X, groups, missing=estimator.missing, n_jobs=estimator.n_jobs, **options)


def check_agreement(estimator: Any, corpus: SentenceCorpus, name: str) -> None:
    """Check that a corpus was made with each option of an estimator that is not at its default."""
    mine, theirs = estimator._tokenizer_of_options(), corpus.tokenizer
    defaults = {option: _default_of(type(estimator), option) for option in _TOKENIZER_OPTIONS}
    default = Tokenizer(**defaults | ({"analyzer": "word"} if defaults["analyzer"] == "auto" else {}))
    for option in _TOKENIZER_OPTIONS:
        value = getattr(mine, option)
        if value != getattr(default, option) and not same_option(value, getattr(theirs, option)):
            raise ValueError(
                f"{option}={brief(value)} contradicts {name}, which was made with {option}="
                f"{brief(getattr(theirs, option))}. Leave {option} at its default to use that of the corpus, "
                "or build the corpus again."
            )
    if estimator.min_count != _default_of(type(estimator), "min_count") and estimator.min_count < corpus.min_count:
        raise ValueError(
            f"min_count={estimator.min_count} contradicts {name}, which left out words that occur fewer than "
            f"{corpus.min_count} times."
        )


def _default_of(cls: type, option: str) -> Any:
    """Default of a parameter in the nearest class that has it, or the value of all estimators without it."""
    inits = (vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base))
    found = (signature(init).parameters.get(option) for init in inits)
    return next((parameter.default for parameter in found if parameter is not None), getattr(cls, option, None))


def learn_vocabulary(estimator: Any, corpus: SentenceCorpus, state: FittedState) -> FittedState:
    """The state with the words of a text, their counts and the tokenizer."""
    if corpus.n_sentences == 0:
        raise ValueError("The corpus has no sentence. Pass at least one.")
    n_grams = getattr(estimator, "ngram_range", (1, 1))
    analyzer = corpus.tokenizer.analyzer
    if n_grams[1] > 1 and isinstance(analyzer, CharacterNgrams) and not _has_words_to_join(estimator, analyzer):
        beside = ' or "word+char_wb"' if estimator._joins_words_beside_characters else ""
        raise ValueError(
            f"ngram_range={brief(n_grams)} makes n-grams of words, but the text is cut into n-grams of characters. "
            f'Leave ngram_range=(1, 1), or use analyzer="word"{beside}. The lengths of '
            "n-grams of characters are those of CharacterNgrams, as in analyzer=CharacterNgrams('char_wb', (2, 5))."
        )
    vocabulary = corpus.vocabulary.prune(estimator._option("min_count", state), estimator.max_features)
    return replace(
        state,
        vocabulary_=dict(vocabulary.index),
        word_counts_=np.array(vocabulary.counts),
        coverage_=float(vocabulary.counts.sum() / corpus.n_tokens),
        tokenizer=corpus.tokenizer,
    )
