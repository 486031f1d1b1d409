"""What all estimators share: input, validation, fitting, transform, queries, pickles, vectors to start from.

Knows no method.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "context",
    "embedding",
    "paired",
    "paired_words",
    "pooled",
    "queries",
    "reading",
    "scikit_learn",
    "sources",
    "spelled_words",
    "start",
    "text",
    "trained",
]
