"""What all estimators share: input, validation, fitting, transform, queries, pickles, vectors to start from.

Knows no method.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "batches",
    "context",
    "coverage",
    "embedding",
    "fitted",
    "given",
    "growth",
    "layout",
    "outcome",
    "paired",
    "paired_sequences",
    "paired_words",
    "parameters",
    "pooled",
    "processed",
    "queries",
    "reading",
    "reading_order",
    "scikit_learn",
    "sharded",
    "showing",
    "sources",
    "spelled_words",
    "start",
    "text",
    "trained",
    "vector_length",
]
