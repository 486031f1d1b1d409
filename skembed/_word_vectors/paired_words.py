"""Base of the methods that learn word vectors from pairs of sentences, the direction and the weight of a word apart."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.coverage import check_given, known_share
from .._base.paired import EVIDENCE, PairedVectorizer
from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._encoders.word_sums import Moves, WordSums
from .._objectives.paraphrase import HingeLoss, SoftmaxLoss
from .._text.tokenizer import Tokenizer
from .._training.learned_arrays import LearnedArray, start_uniform
from .._training.pairs import Loss
from .._validation.limits import integers
from .join import counts_of
from .start import read_start, tokenizer_of, with_new_words

MOVES = {
    "both": Moves(directions=True, scales=True, keeps_length=True),
    "directions": Moves(directions=True, scales=False, keeps_length=True),
    "weights": Moves(directions=False, scales=True, keeps_length=True),
    "vectors": Moves(directions=True, scales=False, keeps_length=False),
}


class PairedWords(PairedVectorizer):
    """Base of the methods whose sentence is made of word vectors, with the options of a loss and of what moves."""

    _parameter_constraints: dict[str, Any] = {
        "init": "no_validation",  # checked when it is read
        "learn": [StrOptions(set(MOVES))],
        "loss": [StrOptions({"softmax", "hinge"})],
        "temperature": [Interval(Real, 1e-4, 1e4, closed="both")],
        "margin": [Interval(Real, 0.0, 2.0, closed="right")],
        "alpha": [Interval(Real, 0.0, 1e6, closed="both")],
        "interpolation": [Interval(Real, 0.0, 1.0, closed="both")],
        "word_dropout": [Interval(Real, 0.0, 1.0, closed="left")],
        "batch_size": [integers(2), StrOptions({"auto"})],
        "corpus": [EVIDENCE, None],
    }
    init: Any
    learn: str
    temperature: float
    margin: float
    alpha: float
    interpolation: float
    word_dropout: float

    def _tokenizer_to_encode(self) -> Tokenizer:
        mine, theirs = super()._tokenizer_to_encode(), tokenizer_of(self.init)
        if theirs is None or mine == theirs:
            return mine
        if mine != Tokenizer():
            raise ValueError(
                f"init was made with {theirs.difference(mine)}, not with {mine.difference(theirs)}. Leave these "
                "options at their defaults to use those of init."
            )
        return theirs

    def _check_corpus_options(self, sentences: SentenceCorpus, name: str) -> None:
        theirs = tokenizer_of(self.init)
        if theirs is None:
            super()._check_corpus_options(sentences, name)
        elif sentences.tokenizer != theirs:
            raise ValueError(
                f"{name} was made with {sentences.tokenizer.difference(theirs)}, init with "
                f"{theirs.difference(sentences.tokenizer)}. Build {name} with the same options."
            )

    def _learn_vocabulary(self, corpus: SentenceCorpus, *others: Any) -> dict[str, Any]:
        fitted = super()._learn_vocabulary(corpus, *others)
        if self.init is None:
            return fitted | {"_length_of_new_words": None}
        start = read_start(self.init)
        check_given(corpus, start.words, "init")
        words, vectors = with_new_words(start, corpus, len(fitted["word_counts_"]))
        return fitted | {
            "vocabulary_": {word: row for row, word in enumerate(words)},
            "word_counts_": counts_of(words, corpus),
            "coverage_": known_share(corpus, words),
            "_vectors_of_init": vectors,
            "_length_of_new_words": np.float32(start.length_of_unknown),
        }

    def _start(self, corpus: SentenceCorpus, *others: Any) -> dict[str, Any]:
        fitted = super()._start(corpus, *others)
        fitted.pop("_vectors_of_init", None)
        return fitted | {"_n_steps": 0}

    def _word_arrays(self, fitted: dict[str, Any]) -> list[LearnedArray]:
        """What is learned of each word."""
        n_words, given = len(fitted["word_counts_"]), fitted.get("_vectors_of_init")
        n_components = self.n_components if given is None else given.shape[1]
        if given is None and fitted["word_counts_"] is vars(self).get("word_counts_"):  # learning goes on
            n_components = self._directions.shape[1]
        uniform = start_uniform((3 / n_components) ** 0.5)  # lengths of about one

        def start(array: np.ndarray, seed: int) -> None:
            if given is None:
                uniform(array, fitted["_seed"])
            else:
                array[:] = given

        moves = MOVES[self.learn]
        options = ("n_components", "learn")
        return [
            LearnedArray("_directions", (n_words, n_components), start, options=options, frozen=not moves.directions),
            LearnedArray(
                "_scales", (n_words,), lambda array, seed: array.fill(1), options=options, frozen=not moves.scales
            ),
            LearnedArray("_start_vectors", (n_words, n_components), start, options=(), frozen=True),
        ]

    def _encoder_of_words(self, fitted: dict[str, Any], word_dropout: float) -> WordSums:
        return WordSums(fitted, MOVES[self.learn], self.alpha, word_dropout)

    def _make_loss(self) -> Loss:
        return HingeLoss(self.margin) if self.loss == "hinge" else SoftmaxLoss(self.temperature)

    def _learned_words(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """Vectors and weights of the words, as far on the way from the start as `interpolation` says."""
        vectors, weights = fitted["_directions"], fitted["_scales"]
        if self.interpolation < 1:
            start, share = fitted["_start_vectors"], np.float32(self.interpolation)
            vectors, weights = start + share * (vectors - start), 1 + share * (weights - 1)
            if MOVES[self.learn].keeps_length:
                vectors *= (row_norms(start) / np.maximum(row_norms(vectors), np.finfo(np.float32).tiny))[:, None]
        return {"word_vectors_": vectors, "word_weights_": weights}
