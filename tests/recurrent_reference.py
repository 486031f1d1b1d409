"""Slow twins of the recurrent methods: one sentence, one word and one unit after the other, in double precision."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru_states(vectors, weights, context=()):
    """The states of a unit after each word of a sentence."""
    states, h = [], np.zeros(weights.shape[1])
    for x in vectors:
        others = [*context, 1.0]
        r, z = (sigmoid(of_gate @ np.concatenate([x, h, others])) for of_gate in weights[:2])
        candidate = np.tanh(weights[2] @ np.concatenate([x, r * h, others]))
        h = (1 - z) * h + z * candidate
        states.append(h)
    return states


def gated_average(vectors, unit, gates):
    """The mean of the vectors of a sentence, each number times its gate."""
    of_words = [sigmoid(gates @ np.concatenate([x, h, [1.0]])) * x for x, h in zip(vectors, gru_states(vectors, unit))]
    return np.mean(of_words, axis=0) if of_words else np.zeros(len(gates))


def next_word_loss(state, word, rows, probability):
    """Loss of a word; ``probability`` has those of the words of a sample, of being in it."""

    def score(w):
        return rows[w, :-1] @ state + rows[w, -1]

    total = np.exp(score(word)) + sum(np.exp(score(w)) / p for w, p in probability.items() if w != word)
    return np.log(total) - score(word)


def prediction_loss(sources, targets, arrays, networks, probability):
    """Loss of the words of sentences; ``targets``: for each decoder, pairs of a source and the sentence it predicts."""
    words, loss = arrays["word_vectors_"], 0.0
    nothing = np.zeros((1, words.shape[1]))
    for encoders, decoders, rows in networks:
        contexts = []
        for sentence in sources:
            ends = [
                gru_states(words[sentence[::-1] if backwards else sentence], arrays[name])[-1]
                for name, backwards in encoders
            ]
            contexts.append(np.concatenate(ends))
        for decoder, pairs in zip(arrays[decoders], targets):
            for source, sentence in pairs:
                read = np.concatenate([nothing, words[sentence[:-1]]])
                states = gru_states(read, decoder, contexts[source])
                for state, word in zip(states, sentence):
                    loss += next_word_loss(state, word, arrays[rows], probability)
    return loss
