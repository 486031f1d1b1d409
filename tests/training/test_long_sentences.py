"""Long sentences are split before they are learned from."""

import re
import warnings

import numpy as np
import pytest
from estimators import CLASSES, GROUPS, PUBLIC, RECURRENT, TEXT, bits, learned, make
from hypothesis import given
from hypothesis import strategies as st

from skembed import SentenceCorpus
from skembed._training.encoded_text import EncodedText, encode_text, split_long_sentences

SPLITTING = [cls.__name__ for cls in CLASSES if "max_sentence_length" in cls._get_param_names()]
splitting = pytest.mark.parametrize("name", SPLITTING)
NEEDS_ORDER = pytest.mark.parametrize("name", [name for name in SPLITTING if PUBLIC[name]._needs_order])
# Whole documents as rows, of nine sentences each.
TEXT = [sentence.replace("北京", "beijing") for sentence in TEXT]  # which gives more than one word
ROWS = [" ".join(sentence for sentence, of in zip(TEXT, GROUPS) if of == group) for group in dict.fromkeys(GROUPS)]


def in_pieces(rows, longest):
    """The words of each row in as few pieces as there can be, and the document of each: two rows make one."""
    pieces, groups = [], []
    for index, row in enumerate(rows):
        words = re.findall(r"\w+", row.lower())
        n_pieces = max(1, -(-len(words) // longest))
        borders = [len(words) * piece // n_pieces for piece in range(n_pieces + 1)]
        pieces += [" ".join(words[first:last]) for first, last in zip(borders, borders[1:])]
        groups += [index // 2] * n_pieces
    return pieces, groups


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 45), st.integers(1, 3))
def test_parts_are_few_and_of_about_equal_length(lengths, longest, sentences_a_document):
    sent_ptr = np.append(0, np.cumsum(lengths))
    document = np.arange(len(lengths)) // sentences_a_document
    text = EncodedText(np.arange(sent_ptr[-1], dtype=np.int32), sent_ptr, document, np.ones(1, np.float32))
    pieces = split_long_sentences(text, longest)
    starts, documents = [], []
    for start, length, of in zip(sent_ptr, lengths, document):
        n_pieces = max(1, -(-length // longest))
        starts += [start + length * piece // n_pieces for piece in range(n_pieces)]
        documents += [of] * n_pieces
    assert pieces.sent_ptr.tolist() == [*starts, sent_ptr[-1]]
    assert pieces.document.tolist() == documents
    assert pieces.tokens is text.tokens
    assert split_long_sentences(text, None) is text


@splitting
def test_long_sentences_are_learned_from_as_their_parts(name):
    rows = ROWS + TEXT[:20]  # long and short ones
    options = {"min_count": 2, "max_sentence_length": 8}
    whole = make(name, **options).fit(rows, groups=np.arange(len(rows)) // 2)
    pieces, groups = in_pieces(rows, 8)
    options["max_sentence_length"] = None
    assert bits(learned(whole)) == bits(learned(make(name, **options).fit(pieces, groups=groups)))
    unsplit = make(name, **options).fit(rows, groups=np.arange(len(rows)) // 2)
    assert bits(whole.word_vectors_) != bits(unsplit.word_vectors_)


@splitting
def test_kernels_are_not_compiled_anew_for_parts(name):
    def kinds(rows):
        model = make(name, max_sentence_length=8)
        corpus = SentenceCorpus.from_sentences(rows)
        text = encode_text(model, corpus, model._start(corpus, (), None))
        return len(text.document), [(array.dtype, array.flags.writeable) for array in text[:4]]

    (n_pieces, of_pieces), (n_sentences, of_sentences) = kinds(ROWS), kinds(["A cat sat.", "The cat slept."] * 20)
    assert n_pieces > len(ROWS) and n_sentences == 40
    assert of_pieces == of_sentences


@splitting
def test_sentences_that_are_short_enough_stay_whole(name):
    longest = max(len(sentence.split()) for sentence in TEXT)
    limits = (None, longest, 10 * longest)
    fits = [make(name, max_sentence_length=limit).fit(TEXT, groups=GROUPS) for limit in limits]
    assert len({str(bits(learned(fit))) for fit in fits}) == 1


@splitting
def test_transform_never_splits(name):
    options = {"unknown": "zero"} if "unknown" in make(name).get_params() else {}
    model = make(name, max_sentence_length=8, **options).fit(ROWS)
    before = model.transform(ROWS)
    assert before.shape[0] == len(ROWS)
    assert bits(model.set_params(max_sentence_length=None).transform(ROWS)) == bits(before)


@splitting
def test_partial_fit_and_early_stopping_split_too(name):
    pieces, groups = in_pieces(ROWS, 8)
    rows = make(name, max_sentence_length=8).partial_fit(ROWS, groups=np.arange(len(ROWS)) // 2)
    same = make(name, max_sentence_length=None).partial_fit(pieces, groups=groups)
    assert bits(rows.word_vectors_) == bits(same.word_vectors_)
    options = {"early_stopping": True, "validation_fraction": 0.2, "max_iter": 3}
    model = make(name, max_sentence_length=8, **options).fit(ROWS * 3, groups=np.arange(3 * len(ROWS)))
    # A row that is held out alone in its document is something to predict, since it is split.
    assert len(model.validation_loss_curve_) == model.n_iter_ and min(model.validation_loss_curve_) > 0


@NEEDS_ORDER
def test_rows_that_are_documents_of_their_own_have_context(name):
    groups = np.arange(len(ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(name, max_sentence_length=20).fit(ROWS, groups=groups)
    assert min(model.loss_curve_) > 0
    with pytest.warns(UserWarning, match="10 of 10 sentences are alone in their document"):
        with pytest.warns(UserWarning, match="nothing to predict"):
            make(name, max_sentence_length=None).fit(ROWS, groups=groups)


@pytest.mark.parametrize("name", [name for name in SPLITTING if name not in RECURRENT])
def test_defaults_learn_from_sentences_of_thousands_of_words(name):
    """Sums of many vectors make scores that run away; sums over pieces do not."""
    generator = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(2000)])
    topics = generator.integers(0, 20, 300)
    rows = [" ".join(words[100 * topic + generator.integers(0, 100, 2000)]) for topic in topics]
    model = PUBLIC[name](random_state=0, max_iter=2).fit(rows, groups=np.arange(300))
    assert np.isfinite(model.word_vectors_).all()
    assert model.similarity("w1 w2 w3", "w4 w5 w6") > model.similarity("w1 w2 w3", "w101 w102 w103") + 0.1


@splitting
def test_memory_of_the_parts_is_counted(name):
    pieces, groups = in_pieces(ROWS, 8)
    rows = make(name, max_sentence_length=8).estimate_memory(
        SentenceCorpus.from_sentences(ROWS, np.arange(len(ROWS)) // 2)
    )
    same = make(name, max_sentence_length=None).estimate_memory(SentenceCorpus.from_sentences(pieces, groups))
    assert rows["scratch"] == same["scratch"] + 8 * (len(pieces) + 1)  # the offsets of the pieces
    assert rows["corpus"] < same["corpus"]
