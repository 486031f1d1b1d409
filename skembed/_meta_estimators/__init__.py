"""Estimators made of others: means of word vectors that they learned, several joined, and tf-idf beside one.

Knows the methods, which do not know this package.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "hybrid",
    "mean_embedding",
    "meta_embedding",
]
