"""Slow twins of the kernels, written from the papers' equations: plain loops, double precision.

The twin of a training kernel gives the loss of a block, its number of targets, and the sparse gradient of each matrix:
entries (row, gradient) in the order of the block. `take_steps` is the update rule, the same for all methods. Random
choices come in as arguments.
"""

import math
from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np


class Text(NamedTuple):
    """Sentences as lists of word ids, the document of each, the weight of each word; other ids are unknown words.

    `classes` are sets of the classes of each sentence, where there are labels.
    """

    sentences: list
    documents: list
    weights: np.ndarray
    classes: list | None = None
    max_order: int = 1  # of n-grams, hashed to n_buckets rows
    n_buckets: int = 1

    def words(self, i):
        return [word for word in self.sentences[i] if word < len(self.weights)]

    def features(self, i):
        """Rows and weights of what a sentence is made of."""
        found = features_of(self.words(i), self.weights, self.max_order, self.n_buckets)
        return [(row, weight) for _, row, weight in found]

    def share_a_class(self, i, j):
        return self.classes is not None and bool(self.classes[i] & self.classes[j])


def sigmoid(x):
    return math.exp(x) / (1 + math.exp(x)) if x < 0 else 1 / (1 + math.exp(-x))


def logistic_loss(x):
    """l(x) = log(1 + exp(-x)) (Sent2Vec, section 2.1)."""
    return math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x)) - x


def softmax(scores):
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def take_steps(rows, accumulator, entries, rate, solver, max_steps, penalty=0.0):
    """SGD or row-wise AdaGrad; the steps of a row with c entries are scaled by min(1, max_steps / c).

    A gradient of zeros is no step, unless the L1 norm shrinks the row at each of them. An entry is (row, gradient,
    multiple of the L1 norm, what AdaGrad adds up), the last two where they are not 1 and the mean square.
    """
    entries = [entry for entry in entries if penalty or np.any(entry[1])]
    count = Counter(entry[0] for entry in entries)
    for row, gradient, *more in entries:
        step = rate * min(1, max_steps / count[row])
        factor = step
        if solver == "adagrad":
            accumulator[row] += more[1] if len(more) > 1 else np.mean(gradient**2)
            factor = step / math.sqrt(accumulator[row]) if accumulator[row] > 1e-30 else 0.0
        rows[row] -= factor * gradient
        if penalty:
            rows[row] = np.sign(rows[row]) * np.maximum(np.abs(rows[row]) - step * penalty * more[0], 0.0)


def numeric_gradient(loss, rows, h=1e-5):
    """Central differences of `loss()`, which reads `rows`."""
    gradient = np.zeros_like(rows)
    for index in np.ndindex(rows.shape):
        value = rows[index]
        rows[index] = value + h
        above = loss()
        rows[index] = value - h
        gradient[index] = (above - loss()) / (2 * h)
        rows[index] = value
    return gradient


# -- CBOS and Siamese CBOW: sentences among sentences ------------------------------------------------------------------


def sentence_vector(text, vectors, i, pooling):
    """CBOS, eq. 4, or the mean of Siamese CBOW; with weights where there are any."""
    total = np.zeros(vectors.shape[1])
    for row, weight in text.features(i):
        total += weight * vectors[row]
    return total / max(1, len(text.features(i))) if pooling == "mean" else total


def neighbours(text, i, window, alive):
    """Sentences at most `window` sentences from i, in its document."""
    near = [j for j in range(i - window, i + window + 1) if j != i and 0 <= j < len(text.sentences)]
    return [j for j in near if text.documents[j] == text.documents[i] and alive[j]]


def targets_of(text, starts, run_length):
    """The targets of a block, run by run, as (run, sentence); a run that goes past the end has some of no sentence."""
    n = len(text.sentences)
    return [(r, i if i < n else None) for r, start in enumerate(starts) for i in range(start, start + run_length)]


def random_sentences(text, targets, t, draws, near, alive):
    """S-: the targets at the drawn distances, less those that are neighbours or of a class of target t, or empty."""
    _, i = targets[t]
    drawn = [targets[(t + offset) % len(targets)] for offset in draws.offsets[: draws.n_random]]
    drawn = [(r, j) for r, j in drawn if j is not None and alive[j] and j not in near]
    return [(r, j) for r, j in drawn if not text.share_a_class(i, j)]


def word_entries(text, starts, run_length, window, gradients, pooling):
    """Each sentence of the block, border included, hands its gradient to its words."""
    entries = []
    for r, start in enumerate(starts):
        for i in range(start - window, start + run_length + window):
            if np.any(gradients.get((r, i), 0.0)):
                divisor = len(text.features(i)) if pooling == "mean" else 1
                entries += [(row, weight / divisor * gradients[r, i]) for row, weight in text.features(i)]
    return entries


def cbos_block(text, vectors, starts, run_length, draws, window, pooling):
    """CBOS, eq. 5 to 7, where 2k is the number of neighbours that there are."""
    s = [sentence_vector(text, vectors, i, pooling) for i in range(len(text.sentences))]
    alive = [len(text.words(i)) > 0 for i in range(len(text.sentences))]
    targets = targets_of(text, starts, run_length)
    gradients = defaultdict(lambda: np.zeros(vectors.shape[1]))
    loss, n_targets = 0.0, 0
    for t, (run, i) in enumerate(targets):
        if i is None or not alive[i] or not neighbours(text, i, window, alive):
            continue
        near = neighbours(text, i, window, alive)
        context = sum(s[j] for j in near) / len(near)
        candidates = [(run, i), *random_sentences(text, targets, t, draws, near, alive)]
        p = softmax([s[j] @ context for _, j in candidates])
        loss -= math.log(p[0])
        n_targets += 1
        for c, (r, j) in enumerate(candidates):
            error = p[c] - (1.0 if c == 0 else 0.0)
            gradients[r, j] += error * context
            for k in near:
                gradients[run, k] += error * s[j] / len(near)
    return loss, n_targets, word_entries(text, starts, run_length, window, gradients, pooling)


def cosine(a, b):
    return a @ b / math.sqrt(a @ a) / math.sqrt(b @ b)


def cosine_gradient(a, b):
    """With respect to a."""
    return b / math.sqrt((a @ a) * (b @ b)) - cosine(a, b) * a / (a @ a)


def siamese_block(text, vectors, starts, run_length, draws, window, temperature, pooling):
    """Siamese CBOW, eq. 1 and the cross-entropy with 1 / |S+|; the paper's temperature is 1."""
    s = [sentence_vector(text, vectors, i, pooling) for i in range(len(text.sentences))]
    alive = [bool(np.any(vector)) for vector in s]
    targets = targets_of(text, starts, run_length)
    gradients = defaultdict(lambda: np.zeros(vectors.shape[1]))
    loss, n_targets = 0.0, 0
    for t, (run, i) in enumerate(targets):
        if i is None or not alive[i] or not neighbours(text, i, window, alive):
            continue
        positive = neighbours(text, i, window, alive)
        candidates = [(run, j) for j in positive] + random_sentences(text, targets, t, draws, positive, alive)
        wanted = [1 / len(positive)] * len(positive) + [0.0] * (len(candidates) - len(positive))
        p = softmax([cosine(s[i], s[j]) / temperature for _, j in candidates])
        loss -= sum(wanted[c] * math.log(p[c]) for c in range(len(candidates)))
        n_targets += 1
        for c, (r, j) in enumerate(candidates):
            error = (p[c] - wanted[c]) / temperature
            gradients[run, i] += error * cosine_gradient(s[i], s[j])
            gradients[r, j] += error * cosine_gradient(s[j], s[i])
    return loss, n_targets, word_entries(text, starts, run_length, window, gradients, pooling)


# -- Sent2Vec and word2vec: words among words --------------------------------------------------------------------------


def features_of(words, weights, max_order, n_buckets):
    """R(S) of Sent2Vec with its hashing: (positions, row, weight) of the words, then the n-grams of each order."""
    features = []
    for order in range(1, max_order + 1):
        for start in range(len(words) - order + 1):
            hashed = words[start]
            for word in words[start + 1 : start + order]:
                hashed = (hashed * 116049371 + word) % 2**64
            row = words[start] if order == 1 else len(weights) + hashed % n_buckets
            weight = np.mean([weights[word] for word in words[start : start + order]])
            features.append((range(start, start + order), row, weight))
    return features


def sent2vec_sentence(words, source, target, weights, max_order, dropped, is_target, negatives, pooling):
    """Sent2Vec, eq. 2 and 3. `dropped` holds indices of n-grams with n > 1; negatives are those of the whole sentence.

    Returns loss, number of targets, entries of the source vectors, entries of the target vectors (negatives first).
    The third value of an entry is the multiple of the soft threshold of the L1 norm: 1 for each update of a
    target vector, 1 / |R| for each update of a source vector.
    """
    features = features_of(words, weights, max_order, len(source) - len(weights))
    kept = [f for f in range(len(features)) if f - len(words) not in dropped]
    of_feature = {f: np.zeros(source.shape[1]) for f in kept}
    of_negative = [np.zeros(source.shape[1]) for _ in negatives]
    threshold_of_feature, threshold_of_negative = Counter(), Counter()
    of_target = []
    loss = 0.0
    for t, word in enumerate(words):
        rest = [f for f in kept if t not in features[f][0]]
        if not is_target[t] or not rest:
            continue
        divisor = len(rest) if pooling == "mean" else 1
        v = sum(features[f][2] * source[features[f][1]] for f in rest) / divisor
        loss += logistic_loss(target[word] @ v)
        error = sigmoid(target[word] @ v) - 1
        of_target.append((word, error * v, 1))
        of_v = error * target[word]
        for j, negative in enumerate(negatives):
            if negative != word:
                loss += logistic_loss(-(target[negative] @ v))
                error = sigmoid(target[negative] @ v)
                of_negative[j] += error * v
                threshold_of_negative[j] += 1
                of_v = of_v + error * target[negative]
        for f in rest:
            of_feature[f] += features[f][2] * of_v / divisor
            threshold_of_feature[f] += 1 / len(rest)
    if not of_target:
        return 0.0, 0, [], []
    entries = [(features[f][1], of_feature[f], threshold_of_feature[f]) for f in kept]
    of_negatives = [(word, of_negative[j], threshold_of_negative[j]) for j, word in enumerate(negatives)]
    return loss, len(of_target), entries, of_negatives + of_target


def word2vec_sentence(words, source, target, near, negatives, algorithm):
    """Skip-gram and CBOW with negative sampling (Mikolov et al., 2013); `near` is the window of each position.

    The negatives are those of the whole sentence. Every position updates its source and its target vector once, with
    all that comes to it; so does every negative. Where the parts come from several positions, as in the source vectors
    of CBOW, AdaGrad adds up their squares, not the square of their sum.
    """
    if len(words) < 2:
        return 0.0, 0, [], []
    loss, n_targets = 0.0, 0
    of_source, of_target = np.zeros((2, len(words), source.shape[1]))
    squares = np.zeros(len(words))
    of_negative = np.zeros((len(negatives), source.shape[1]))
    for i, word in enumerate(words):
        context = [c for c in range(i - near[i], i + near[i] + 1) if c != i and 0 <= c < len(words)]
        inputs, outputs = ([i], context) if algorithm == "skipgram" else (context, [i])
        v = sum(source[words[c]] for c in inputs) / len(inputs)
        of_v = np.zeros(source.shape[1])
        for c in outputs:
            loss += logistic_loss(target[words[c]] @ v)
            error = sigmoid(target[words[c]] @ v) - 1
            of_v += error * target[words[c]]
            of_target[c] += error * v
        for j, negative in enumerate(negatives):
            if negative != word:
                loss += len(outputs) * logistic_loss(-(target[negative] @ v))
                error = len(outputs) * sigmoid(target[negative] @ v)
                of_v += error * target[negative]
                of_negative[j] += error * v
        for c in inputs:
            of_source[c] += of_v / len(inputs)
            squares[c] += np.mean((of_v / len(inputs)) ** 2)
        n_targets += len(outputs)
    of_source = [(word, gradient, 1, square) for word, gradient, square in zip(words, of_source, squares)]
    return loss, n_targets, of_source, list(zip([*negatives, *words], [*of_negative, *of_target]))


def constituents(tree):
    """The words of a nested list, and of each constituent of two words or more: first, behind the last, height."""
    if not isinstance(tree, list):
        return [tree], []
    words, found, height = [], [], 0
    for child in tree:
        below, of_child = constituents(child)
        found += [(len(words) + first, len(words) + last, h) for first, last, h in of_child]
        height = max([height, *(h for _, _, h in of_child)])
        words += below
    whole = 0, len(words)
    is_new = len(words) > 1 and whole not in [constituent[:2] for constituent in found]
    return words, [*found, (*whole, height + 1)] if is_new else found


def cphrase_sentence(words, phrases, source, target, window, growth, negatives):
    """C-PHRASE (Pham and others, 2015) with negative sampling: constituents predict the words around them."""
    if len(words) < 2:
        return 0.0, 0, [], []
    loss, n_targets = 0.0, 0
    of_source, of_target = np.zeros((2, len(words), source.shape[1]))
    squares, of_negative = np.zeros(len(words)), np.zeros((len(negatives), source.shape[1]))
    for first, last, height in [*((i, i + 1, 0) for i in range(len(words))), *phrases]:
        width = window + growth * height
        around = [*range(max(0, first - width), first), *range(last, min(len(words), last + width))]
        h = np.mean([source[word] for word in words[first:last]], axis=0)
        of_h = np.zeros(source.shape[1])
        for i in around:
            loss += logistic_loss(target[words[i]] @ h)
            error = sigmoid(target[words[i]] @ h) - 1
            of_h += error * target[words[i]]
            of_target[i] += error * h
        for j, negative in enumerate(negatives):
            if negative not in [words[i] for i in around]:
                loss += len(around) * logistic_loss(-(target[negative] @ h))
                error = len(around) * sigmoid(target[negative] @ h)
                of_h += error * target[negative]
                of_negative[j] += error * h
        of_source[first:last] += of_h / (last - first)
        squares[first:last] += np.mean((of_h / (last - first)) ** 2)
        n_targets += len(around)
    of_source = [(word, gradient, 1, square) for word, gradient, square in zip(words, of_source, squares)]
    return loss, n_targets, of_source, list(zip([*negatives, *words], [*of_negative, *of_target]))


def fastsent_sentence(words, around, source, target, weights, negatives, pooling):
    """FastSent (Hill, Cho and Korhonen, 2016) with negative sampling: a sentence predicts the words around it.

    Its loss is the mean of theirs. The negatives are those of the whole sentence. Each one updates its target vector
    once, with all that comes to it.
    """
    if not words or not around:
        return 0.0, 0, [], []
    divisor = len(words) if pooling == "mean" else 1
    s = sum(weights[word] * source[word] for word in words) / divisor
    loss, of_s, of_target = 0.0, np.zeros(source.shape[1]), []
    of_negative = [np.zeros(source.shape[1]) for _ in negatives]
    for word in around:
        loss += logistic_loss(target[word] @ s) / len(around)
        error = (sigmoid(target[word] @ s) - 1) / len(around)
        of_target.append((word, error * s))
        of_s += error * target[word]
        for j, negative in enumerate(negatives):
            if negative != word:
                loss += logistic_loss(-(target[negative] @ s)) / len(around)
                error = sigmoid(target[negative] @ s) / len(around)
                of_negative[j] += error * s
                of_s += error * target[negative]
    of_source = [(word, weights[word] * of_s / divisor) for word in words]
    return loss, 1, of_source, list(zip(negatives, of_negative)) + of_target


def paragraph_windows(words, window, combine):
    """For each position the factor of the sum, and the (input, word position) of what is joined; input 0 is d.

    Without a window (PV-DBOW) there is only the sentence.
    """
    found = []
    for t in range(len(words)):
        around = [c for c in range(t - window, t + window + 1) if c != t and 0 <= c < len(words)]
        factor = 1 / (1 + len(around)) if combine == "mean" and window else 1.0
        nth = {c: 1 + sorted({*range(-window, window + 1)} - {0}).index(c - t) for c in around}
        found.append((factor, [(nth[c] if combine == "concatenate" else 0, c) for c in around]))
    return found


def joined(d, words, source, factor, around, n_inputs):
    """What predicts a word: the sentence and the words around, side by side, times a factor."""
    inputs = np.zeros((n_inputs, len(d)))
    inputs[0] = d
    for nth, c in around:
        inputs[nth] += source[words[c]]
    return factor * inputs.ravel()


def paragraph_sentence(words, d, source, target, negatives, noise_weight, window, combine):
    """Paragraph vectors (Le and Mikolov, 2014) with negative sampling.

    Each negative takes one step, with all that comes to it, and so do each word of the sentence as context, and the
    sentence itself.
    """
    n_inputs = target.shape[1] // len(d)
    loss, of_d, of_target = 0.0, np.zeros(len(d)), []
    of_negative = [np.zeros(target.shape[1]) for _ in negatives]
    of_source = [np.zeros(len(d)) for _ in words]
    for t, (factor, around) in enumerate(paragraph_windows(words, window, combine)):
        h = joined(d, words, source, factor, around, n_inputs)
        loss += logistic_loss(target[words[t]] @ h)
        error = sigmoid(target[words[t]] @ h) - 1
        of_target.append((words[t], error * h))
        of_h = error * target[words[t]]
        for j, negative in enumerate(negatives):
            if negative != words[t]:
                loss += noise_weight * logistic_loss(-(target[negative] @ h))
                error = noise_weight * sigmoid(target[negative] @ h)
                of_negative[j] += error * h
                of_h += error * target[negative]
        of_input = factor * of_h.reshape(n_inputs, len(d))
        of_d += of_input[0]
        for nth, c in around:
            of_source[c] += of_input[nth]
    return loss, len(words), of_d, list(zip(words, of_source)), list(zip(negatives, of_negative)) + of_target


def paragraph_inference_loss(d, words, weights, noise, negative, source, target, window, combine, ridge=0.1):
    """What the vector of a sentence minimises: each noise word is compared at one position, in order."""
    n_inputs, total = target.shape[1] // len(d), sum(weights[word] for word in words)
    windows = paragraph_windows(words, window, combine)
    loss = ridge / 2 * np.mean([factor**2 for factor, _ in windows]) * d @ d
    for t, (factor, around) in enumerate(windows):
        h = joined(d, words, source, factor, around, n_inputs)
        loss += weights[words[t]] * logistic_loss(target[words[t]] @ h)
        for n in noise[t * len(noise) // len(words) : (t + 1) * len(noise) // len(words)]:
            loss += total * negative / len(noise) * logistic_loss(-(target[n] @ h))
    return loss


# -- helpers -----------------------------------------------------------------------------------------------------------


def random_bits(seed, stream, item, draw):
    """Two rounds of the splitmix64 finaliser (Steele, Lea and Flood, 2014) in unlimited integers."""

    def mix(bits):
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
        return bits ^ bits >> 31

    first = mix((seed + stream * 0x9E3779B97F4A7C15 + item * 0xD1B54A32D192ED03) % 2**64)
    return mix((first + draw * 0x8CB92BA72F3D8DD7) % 2**64)


def alias_probability(threshold, alias):
    """What an alias table draws: each row is picked evenly, then kept or exchanged for its alias."""
    probability = np.zeros(len(threshold))
    for row in range(len(threshold)):
        probability[row] += threshold[row] / len(threshold)
        probability[alias[row]] += (1 - threshold[row]) / len(threshold)
    return probability


def keep_probability(count, n_tokens, t):
    """q_p of Sent2Vec, section 2.1."""
    f = count / n_tokens
    return min(1.0, math.sqrt(t / f) + t / f)


def sif(sentences, vectors, counts, a=1e-3, n_removed=1):
    """Arora, Liang and Ma (2017), algorithm 1: weighted means, less their projection on the first components."""
    total = sum(counts.values())
    rows = np.zeros((len(sentences), len(next(iter(vectors.values())))))
    for i, words in enumerate(sentences):
        words = [word for word in words if word in vectors]
        for word in words:
            rows[i] += a / (a + counts.get(word, 0) / total) * np.asarray(vectors[word], float) / len(words)
    components = np.linalg.svd(rows, full_matrices=False)[2][:n_removed]
    return rows - rows @ components.T @ components, components


def unit_rows(vectors):
    """Vectors scaled to length one."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def paraphrase_softmax(vectors, excluded, temperature):
    """Loss of pairs: the softmax of each sentence over the other sides of its block."""
    n, loss = len(excluded), 0.0
    first, second = unit_rows(vectors)[:n], unit_rows(vectors)[n:]
    for mine, others in ((first, second), (second, first)):
        for i in range(n):
            cosines = [mine[i] @ others[j] / temperature for j in range(n) if j == i or not excluded[i, j]]
            loss += np.log(np.sum(np.exp(cosines))) - mine[i] @ others[i] / temperature
    return loss, 2 * int(n - excluded.all(axis=1).sum())


def paraphrase_hinge(vectors, excluded, margin):
    """Loss of pairs: the hinge of each sentence with its hardest negative of the block."""
    n, loss, n_targets = len(excluded), 0.0, 0
    unit = unit_rows(vectors)
    for i in range(2 * n):
        cosines = [unit[i] @ unit[j] for j in range(2 * n) if not excluded[i % n, j % n]]
        if cosines:
            n_targets += 1
            loss += max(0.0, margin - unit[i] @ unit[(i + n) % (2 * n)] + max(cosines))
    return loss, n_targets


def step_words(sentences, gradient, words, moves, rates, alpha, n_steps):
    """One step of Adam for the words of some sentences, from the gradient of their sums, in a dict of arrays."""
    used = sorted({word for sentence in sentences for word in sentence})
    sums = {word: np.zeros(gradient.shape[1]) for word in used}
    for i, sentence in enumerate(sentences):
        for word in sentence:
            sums[word] += gradient[i]
    old = {word: (words["directions"][word].copy(), words["scales"][word]) for word in used}

    def move(value, moments, found, rate):
        moments[0][...] = 0.9 * moments[0] + 0.1 * found
        moments[1][...] = 0.999 * moments[1] + 0.001 * found**2
        first, second = moments[0] / (1 - 0.9**n_steps), moments[1] / (1 - 0.999**n_steps)
        value[...] -= rate * first / (np.sqrt(second) + 1e-8)

    for word in used:
        direction, scale = old[word]
        if moves.directions:
            found = scale * sums[word] + alpha * (direction - words["start"][word])
            move(words["directions"][word : word + 1][0], words["direction_moments"][word], found, rates[0])
            if moves.keeps_length:
                length = np.linalg.norm(words["start"][word])
                words["directions"][word] *= length / np.linalg.norm(words["directions"][word])
        if moves.scales:
            found = sums[word] @ direction + alpha * (scale - 1)
            move(words["scales"][word : word + 1], words["scale_moments"][word, :, None], found, rates[1])


def convolve(words, filters, intercept, widths, wide, tanh):
    """The vector of a sentence of word vectors: the sums over the windows of the filters of each width in turn."""
    first, found = 0, []
    for width, b in zip(widths, intercept):
        zeros = [np.zeros(filters.shape[2])] * (width - 1)
        padded = [*zeros, *words, *zeros] if wide else [*words, *zeros[max(len(words) - 1, 0) :]]
        total = np.zeros(len(b))
        for start in range(len(padded) - width + 1 if len(words) else 0):
            z = b + sum(filters[first + k] @ padded[start + k] for k in range(width))
            total += np.tanh(z) if tanh else z
        found.append(total)
        first += width
    return np.concatenate(found)


def target_loss(sentences, weights, vectors, image, targets, losses, temperature, margin):
    """Sum of the losses of sentences whose directions, and those of their images, should be as their targets say."""
    sums = [sum(weights[w] * vectors[w] for w in words) for words in sentences]
    images = [image @ (s / np.linalg.norm(s)) for s in sums]
    n, loss = len(sums), 0.0
    for i in range(n):
        own = cosine(images[i], targets[i])
        others = [j for j in range(n) if cosine(targets[i], targets[j]) < 1 - 1e-6]
        if "cosine" in losses:
            loss += 1 - own
        if "similarity" in losses:
            for j in range(n):
                if j != i:
                    loss += (cosine(sums[i], sums[j]) - cosine(targets[i], targets[j])) ** 2 / (n - 1)
        scores = [cosine(images[i], targets[j]) for j in others]
        if "softmax" in losses:
            loss -= np.log(softmax(np.array([own, *scores]) / temperature)[0])
        if "hinge" in losses:
            loss += sum(max(0.0, margin - own + score) for score in scores) / (n - 1)
    return loss


def adam_step(moments, rows, gradient, rate, n_steps):
    """The step of Adam for rows of an array, or ``...`` for all; updates the moments."""
    moments = moments if rows is ... else moments.swapaxes(0, 1)
    first = np.float32(0.9) * moments[0][rows] + np.float32(1 - 0.9) * gradient
    second = np.float32(0.999) * moments[1][rows] + np.float32(1 - 0.999) * np.square(gradient)
    moments[0][rows], moments[1][rows] = first, second
    correction = float(np.sqrt(1 - 0.999**n_steps) / (1 - 0.9**n_steps))
    return np.float32(rate * correction) * first / (np.sqrt(second) + np.float32(1e-8))
