"""The estimators that are made of others: means of word vectors that an estimator learned, and several models joined.

They may import the methods, which do not know them.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "mean_embedding",
    "meta_embedding",
]
