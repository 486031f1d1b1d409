"""What one core of this machine can do at the most: copy memory, multiply and add, gather rows, update rows."""

import time

import numpy as np
from numba import njit

FAST = {"nogil": True, "fastmath": True}


@njit(**FAST)
def gather(tokens, rows, total):
    """Sum rows in the order of the text."""
    for token in tokens:
        for j in range(total.shape[0]):
            total[j] += rows[token, j]


@njit(**FAST)
def update(tokens, rows, accumulator, step):
    """Touch rows in the order of the text, with one AdaGrad accumulator a row, as the estimators do."""
    for token in tokens:
        accumulator[token] += np.float32(1e-6)
        scale = np.float32(1e-6) / np.sqrt(accumulator[token])
        for j in range(step.shape[0]):
            rows[token, j] -= scale * step[j]


def prepare_limits(folder, n_components=100, min_count=5):
    """Worker: seconds a token of gather and update, bytes a second copied, multiplications and additions a second."""
    from threadpoolctl import threadpool_limits

    from skembed import SentenceCorpus

    corpus = SentenceCorpus.load(folder, verify=False)
    n_words = len(corpus.vocabulary.prune(min_count).words)
    tokens = np.array(corpus.tokens[corpus.tokens < n_words])
    generator = np.random.default_rng(0)
    rows = generator.standard_normal((n_words, n_components), dtype=np.float32)
    accumulator, step = np.ones(n_words, np.float32), rows[0].copy()
    source, square = np.ones(32 * 2**20, np.float32), generator.standard_normal((1536, 1536), dtype=np.float32)
    copy = np.zeros_like(source) + 1  # written to once, so that its pages exist
    gather(tokens[:9], rows, step.copy())
    update(tokens[:9], rows, accumulator, step)

    def seconds(function, *arguments):
        start = time.process_time()
        function(*arguments)
        return time.process_time() - start

    def measure():
        with threadpool_limits(1):
            return {
                "gather": seconds(gather, tokens, rows, step.copy()) / len(tokens),
                "update": seconds(update, tokens, rows, accumulator, step) / len(tokens),
                "bandwidth": 2 * source.nbytes / seconds(np.copyto, copy, source),
                "flops": 2 * len(square) ** 3 / seconds(np.matmul, square, square),
            }

    return measure


def work_of_a_word(corpus, n_components=100, min_count=5, subsample=1e-4, word2vec_subsample=1e-3):
    """Method -> bytes that a known word must move at the least, and multiplications and additions, as written below.

    A row that is learned is read once to be used, and read and written to be moved: 12 d bytes, and 2 d operations to
    be moved. L words a sentence, m or n negatives, q the fraction of words that are targets, k the fraction that
    word2vec keeps, 6 words in the mean window of 5.
    """
    d = 4 * n_components
    counts = corpus.vocabulary.prune(min_count).counts
    length = counts.sum() / corpus.n_sentences

    def share_kept(t):
        ratio = t * corpus.n_tokens / counts
        return float((np.minimum(1, np.sqrt(ratio) + ratio) * counts).sum() / counts.sum())

    q, k = share_kept(subsample), share_kept(word2vec_subsample)
    row, m, n, window = 3 * d, 10, 5, 6
    flop = n_components
    # Scores of 1 + m sentences, their gradients and those of contexts: 2 d each; sums and updates of words: 3 d.
    context = (row, flop * (3 + (6 * (1 + m) + 6) / length))
    # The mean without the target 2 d, 1 + m scores, their gradients for the sentence and for the targets 2 d each.
    sent2vec = (row * (1 + q + m / length), flop * (3 + q * (6 * (1 + m) + 4) + 2 * m / length))
    bigrams = (row * (2 + q + m / length), flop * (6 + q * (6 * (1 + m) + 12) + 2 * m / length))
    # Each kept word: its source row and its target row, and a sentence has n negatives; skip-gram scores each word of
    # the window, CBOW one.
    skipgram = (row * (2 * k + n / length), flop * (k * (6 * (window + n) + 4) + 2 * n / length))
    cbow = (row * (2 * k + n / length), flop * (k * (6 * (1 + n) + 4 * window + 4) + 2 * n / length))
    return {
        "CBOS": context,
        "Siamese CBOW": context,
        "Sent2Vec": sent2vec,
        "Sent2Vec, bigrams": bigrams,
        "skip-gram": skipgram,
        "CBOW": cbow,
    }


def rows_of_limits(work, speeds, limits):
    """Each method's speed as a fraction of what the machine does; `limits` are the rounds of `prepare_limits`."""
    best = {name: float(np.median([round_[name] for round_ in limits])) for name in limits[0]}
    bound = 1 / (best["gather"] + best["update"])
    for method, speed in speeds.items():
        if method not in work:  # nobody has counted it yet
            continue
        n_bytes, flops = work[method]
        yield {
            "method": method,
            "M words/s": round(speed / 1e6, 2),
            "bytes a word": round(n_bytes),
            "flops a word": round(flops),
            "of copy bandwidth, %": round(100 * speed * n_bytes / best["bandwidth"], 1),
            "of peak, %": round(100 * speed * flops / best["flops"], 1),
            "of gather and update, %": round(100 * speed * n_bytes / 1200 / bound, 1),
        }


def describe(limits):
    """The machine's limits in words."""
    best = {name: float(np.median([round_[name] for round_ in limits])) for name in limits[0]}
    return (
        f"One core copies {best['bandwidth'] / 1e9:.1f} GB a second (read and written bytes) and makes "
        f"{best['flops'] / 1e9:.0f} billion multiplications and additions (a matrix product). In the order of the text "
        f"it gathers a row of 100 dimensions in {1e9 * best['gather']:.0f} ns and updates one in "
        f"{1e9 * best['update']:.0f} ns: {1e-6 / (best['gather'] + best['update']):.1f} million rows a second for both."
    )
