"""The training loop: blocks of sentences, negatives, updates of rows, stopping, progress, memory.

Knows no method: an objective says what is computed in a block.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "checkpoint",
    "dense",
    "encoded_text",
    "estimators",
    "learned_arrays",
    "negatives",
    "pairs",
    "passes",
    "ridge",
    "sentence_blocks",
    "state",
    "trainer",
    "word_blocks",
]
