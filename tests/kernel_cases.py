"""A tiny text with everything that goes wrong, and how to run one block of it through a kernel."""

import numba
import numpy as np
import reference

from skembed._compiled import sync
from skembed._compiled.sync import SYNC_SIZE, Team
from skembed._training import negatives, sentence_blocks
from skembed._training.encoded_text import Block, EncodedText, Plan
from skembed._training.learned_arrays import COUNT, Update
from skembed._training.negatives import ALIAS, CERTAIN, THRESHOLD, WORD
from skembed._training.state import FittedState
from skembed._training.trainer import Trainer
from skembed._validation.targets import NO_CLASS


def for_python(function):
    """Compile a function again that only compiled code may call, so that Python can."""
    if numba.config.DISABLE_JIT:
        return function
    return numba.jit(**{**function.targetoptions, "no_cpython_wrapper": False})(function.py_func)


below, draw_negative = for_python(sync.below), for_python(negatives.draw_negative)
random_bits, uniform = for_python(sync.random_bits), for_python(sync.uniform)
draw_targets = for_python(sentence_blocks.draw_targets)

# 21 numbers are one vector and five more, which overlap.
N_WORDS, N_BUCKETS, N_COMPONENTS, SEED = 9, 5, 21, 11
UNCAPPED = 10**6
# Ids from 9 on are unknown words: an empty sentence, a sentence of unknown words, a document of one sentence,
# sentences of one word, repeated words, and a long sentence before short ones.
DOCUMENTS = [
    [[0, 1, 2, 4, 7, 5], [3, 3, 4], [], [5, 9, 1], [2]],
    [[6, 7]],
    [[8, 0, 0], [1, 70000], [9, 9], [4, 5, 6, 7], [2, 8]],
    [[3, 2], [7, 1, 1, 5, 0]],
]
SENTENCES = [sentence for document in DOCUMENTS for sentence in document]
DOCUMENT = [d for d, document in enumerate(DOCUMENTS) for _ in document]
# Runs that are neighbours in the text share a block, and the last run is short.
RUN_STARTS, RUN_LENGTH, RUNS_PER_BLOCK = [4, 8, 12, 0], 4, 2
BLOCKS = [0, 1]


def word_weights(kind):
    if kind == "plain":
        return np.ones(N_WORDS, np.float32)
    return np.random.default_rng(2).uniform(0.2, 1.5, N_WORDS).astype(np.float32)


def encode(sentences, documents, weights):
    tokens = np.array([word for sentence in sentences for word in sentence], np.int32)
    sent_ptr = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    tokens.flags.writeable = sent_ptr.flags.writeable = False  # as in a fit, so that numba compiles once
    return EncodedText(tokens, sent_ptr, np.array(documents, np.int64), weights)


def tiny_text(kind="plain"):
    """The text as the kernels and as their twins see it."""
    weights = word_weights(kind)
    text, slow_text = encode(SENTENCES, DOCUMENT, weights), reference.Text(SENTENCES, DOCUMENT, weights.astype(float))
    if kind == "trigrams":
        return text, slow_text._replace(max_order=3, n_buckets=N_BUCKETS)
    if kind != "labelled":
        return text, slow_text
    # A sentence has two of four classes, one, or none.
    classes = np.array([(i % 4, (i * i) % 3 - 1) for i in range(len(SENTENCES) - 1)] + [(NO_CLASS, NO_CLASS)], np.int64)
    sets = [set(row) - {NO_CLASS} for row in classes.tolist()]
    return text._replace(annotations=(classes,)), slow_text._replace(classes=sets)


def counts_of(sentences, n_words):
    words = [word for sentence in sentences for word in sentence if word < n_words]
    return np.bincount(words, minlength=n_words).astype(np.int64)


def start(estimator, sentences=SENTENCES, n_words=N_WORDS, n_components=N_COMPONENTS):
    """The state before the first block: all weights random, some rows with a past."""
    rng = np.random.default_rng(SEED)
    n_source = n_words + (estimator.n_buckets if getattr(estimator, "ngram_range", (1, 1))[1] > 1 else 0)
    weights = [rng.uniform(-0.6, 0.6, (n, n_components)).astype(np.float32) for n in (n_source, n_words)]
    past = [np.where(rng.random(n) < 0.5, rng.random(n), 0.0) for n in (n_source, n_words)]
    past = [np.column_stack([squares, np.zeros(len(squares))]).astype(np.float32) for squares in past]
    of_sentences = rng.uniform(-0.6, 0.6, (len(sentences), n_components)).astype(np.float32)
    squares_of_sentences = np.column_stack([rng.random(len(sentences)), np.zeros(len(sentences))]).astype(np.float32)
    if getattr(estimator, "combine", None) == "concatenate":
        n_joined = (1 + 2 * estimator.window) * n_components
        weights[1] = rng.uniform(-0.6, 0.6, (n_words, n_joined)).astype(np.float32)
    arrays = {
        "word_vectors_": weights[0][:n_words],
        "_source_vectors": weights[0],
        "_word_vectors_accumulator": past[0][:n_words],
        "_source_vectors_accumulator": past[0],
        "target_vectors_": weights[1],
        "_target_vectors_accumulator": past[1],
        "training_vectors_": of_sentences,
        "_training_vectors_accumulator": squares_of_sentences,
    }
    counts = counts_of(sentences, n_words)
    return FittedState(word_counts_=counts, n_tokens=sum(map(len, sentences)), arrays=arrays)


def make_plan(objective, block=0):
    starts = np.array(RUN_STARTS, np.int64)
    length, per_block = (1, 6) if objective.blocks.border == 0 else (RUN_LENGTH, RUNS_PER_BLOCK)
    if objective.blocks.border == 0:
        starts = np.random.default_rng(4).permutation(len(SENTENCES))
    return Plan(starts, length, objective.blocks.border, per_block, block, block + 1, 12345)


def starts_of(plan):
    first = plan.first_block * plan.runs_per_block
    return plan.run_starts[first : first + plan.runs_per_block].tolist()


def draws_of(plan, negative):
    """With which targets each one of the block is compared."""
    block = block_of_targets(len(starts_of(plan)) * plan.run_length, plan.first_block)
    return draw_targets(plan, block, np.zeros(negative, np.int64))


def block_of_targets(n_targets, index=0):
    return Block(index, 0, 1, n_targets, n_targets)


def bits(*numbers):
    """64 random bits of four numbers; compiled, `random_bits` gives a Python int."""
    return np.uint64(random_bits(*map(np.uint64, numbers)))


def negative_probability(negatives):
    """How often each word is drawn, of all draws."""
    probability = np.zeros(len(negatives.table))
    halves = negatives.table[: negatives.middle], negatives.table[negatives.middle :]
    for table, fraction in zip(halves, (negatives.first, 1 - negatives.first)):
        row_of = {word: row for row, word in enumerate(table[:, WORD].tolist())}
        alias = [row_of[word] for word in table[:, ALIAS].tolist()]
        probability[table[:, WORD]] = fraction * reference.alias_probability(table[:, THRESHOLD] / CERTAIN, alias)
    return probability


def halves_of(negatives, plan):
    """The rows of the table from which each sentence of a block takes its negatives."""
    n = len(starts_of(plan)) * plan.run_length
    first_of_second = int(negatives.first * n + uniform(bits(plan.seed, 6, plan.first_block, 0)))
    halves = (0, negatives.middle), (negatives.middle, len(negatives.table))
    return [halves[i >= first_of_second] for i in range(n)]


def one_thread():
    return Team(np.zeros(SYNC_SIZE, np.int64), 0, 1)


def run_block(objective, text, plan, solver="sgd", rate=0.1, max_steps=UNCAPPED, learn=True):
    """One block of the kernel, in one thread; returns loss and number of targets. The objective's weights move."""
    trainer = Trainer(objective, solver, 8, 0, 1)
    scratch = objective.make_scratch(text, plan, 1)
    update = Update(rate, 0.0, solver == "adagrad", max_steps, learn)
    objective.train(text, trainer.rows, scratch, plan, update, one_thread())
    assert all(not rows.accumulator[:, COUNT].any() for rows in trainer.rows), "nothing is counted between blocks"
    return tuple(scratch.losses.total)


def doubles(objective):
    """Weights and accumulators of an objective in double precision, for the twin to move."""
    return [(m.weights.astype(np.float64), m.accumulator[:, 0].astype(np.float64)) for m in objective.matrices]


def assert_same_state(objective, expected):
    for matrix, (weights, accumulator) in zip(objective.matrices, expected):
        np.testing.assert_allclose(matrix.weights, weights, rtol=3e-5, atol=3e-6)
        np.testing.assert_allclose(matrix.accumulator[:, 0], accumulator, rtol=3e-5, atol=1e-9)


def kernel_gradients(objective, run):
    """The gradients that one plain step of rate 1 implies."""
    before = [matrix.weights.astype(np.float64) for matrix in objective.matrices]
    run(1.0)
    return [old - matrix.weights for old, matrix in zip(before, objective.matrices)]


def random_text(n_sentences=240, n_words=40, seed=0):
    """More than a thread can do before another starts."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, n_words + 3)
    sentences = [rng.choice(n_words + 2, n, p=p / p.sum()).tolist() for n in rng.integers(0, 12, n_sentences)]
    documents = np.cumsum(rng.random(n_sentences) < 0.1)
    return encode(sentences, documents, rng.uniform(0.5, 1, n_words).astype(np.float32)), sentences


def assert_large_block_is(estimator, twin):
    """A block with more targets than distances is that of the twin; for a window of 2."""
    text, sentences = random_text(266)  # the last run is short
    objective = estimator._make_objective(start(estimator, sentences, len(text.word_weight), 6))
    slow_text = reference.Text(sentences, text.document.tolist(), text.word_weight.astype(np.float64))
    starts = np.random.default_rng(1).permutation(np.arange(0, 266, RUN_LENGTH))
    plan = Plan(starts, RUN_LENGTH, objective.blocks.border, len(starts), 0, 1, 5)
    assert max(draws_of(plan, estimator.negative).offsets) < 134
    expected = doubles(objective)
    vectors, accumulator = expected[0]
    loss, n_targets, touches = twin(slow_text, vectors, plan, window=2)
    reference.take_steps(vectors, accumulator, touches, 0.1, "adagrad", 8)
    total = run_block(objective, text, plan, "adagrad", 0.1, 8)
    np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
    assert_same_state(objective, expected)


def assert_runs_are_their_sentences(estimator):
    """A block of runs has the bits of one with the same sentences in the same order, each a run of its own."""
    text, sentences = random_text(48)
    starts = np.random.default_rng(1).permutation(np.arange(0, 48, 4))
    results = []
    for run_starts, length in ((starts, 4), ((starts[:, None] + np.arange(4)).ravel(), 1)):
        objective = estimator._make_objective(start(estimator, sentences, len(text.word_weight), 6))
        plan = Plan(run_starts, length, objective.blocks.border, len(run_starts), 0, 1, 5)
        total = run_block(objective, text, plan, "adagrad", 0.1, 8)
        results.append((total, [matrix.weights.tobytes() for matrix in objective.matrices]))
    assert results[0][0][1] > 0 and results[0] == results[1]


def weights_after_passes(estimator, solver, n_threads, n_passes=2, n_components=6, n_sentences=240, batch_size="auto"):
    """Bytes of all weights and accumulators, and the losses, after some passes of a random text."""
    text, sentences = random_text(n_sentences)
    n_words = len(text.word_weight)
    objective = estimator._make_objective(start(estimator, sentences, n_words, n_components))
    trainer = Trainer(objective, solver, batch_size, 3, n_threads)
    assert trainer.n_threads == n_threads
    losses = [trainer.run_pass(text, epoch, rates=(0.05, 0.02)) for epoch in range(n_passes)]
    assert np.isfinite(losses).all()
    arrays = [array for matrix in objective.matrices for array in (matrix.weights, matrix.accumulator)]
    return losses, [array.tobytes() for array in (*arrays, *getattr(objective, "sentences", ()))]
