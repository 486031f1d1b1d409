"""The estimators, one a file; they never import each other."""

# Modules that other packages of skembed may import.
__all__ = [
    "bow_pca",
    "cbos",
    "mean_embedding",
    "sent2vec",
    "siamese_cbow",
]
