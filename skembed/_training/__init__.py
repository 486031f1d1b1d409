"""The training loop: blocks of sentences, negatives, updates of rows, stopping, progress, memory.

Knows no method: an objective says what is computed in a block.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "checkpoint",
    "dense",
    "encoded_text",
    "examples",
    "learned_arrays",
    "memory",
    "negatives",
    "ngram_features",
    "over_words",
    "pairs",
    "plan",
    "progress",
    "ridge",
    "sentence_blocks",
    "spare_arrays",
    "sparse_rows",
    "state",
    "stopping",
    "trainer",
    "updates",
    "word_dropout",
]
