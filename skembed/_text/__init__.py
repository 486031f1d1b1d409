"""From strings to word indices: sources of sentences, the tokenizer, the vocabulary.

Knows no vectors, no training and no estimators.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "batches",
    "encoder",
    "files",
    "known_words",
    "ngrams",
    "sources",
    "tokenizer",
    "vocabulary",
    "word_order",
]
