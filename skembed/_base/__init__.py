"""What all estimators share: input, validation, fitting, transform, queries, pickles, threads.

Knows no method.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "context",
    "coverage",
    "growth",
    "ngrams",
    "outcome",
    "paired",
    "parameters",
    "pooled",
    "queries",
    "reading_order",
    "saving",
    "scikit_learn",
    "sharded",
    "sharing",
    "showing",
    "state",
    "text",
    "trained",
    "vector_length",
]
