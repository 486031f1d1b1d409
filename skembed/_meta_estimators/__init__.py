"""Estimators made of others: means of word vectors that an estimator learned, and several models joined.

Knows the methods, which do not know this package.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "mean_embedding",
    "meta_embedding",
]
