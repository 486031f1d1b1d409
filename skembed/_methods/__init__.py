"""Estimators that learn from text, one a file; they never import each other."""

# Modules that other packages of skembed may import.
__all__ = [
    "bow_pca",
    "cbos",
    "sent2vec",
    "siamese_cbow",
    "word2vec",
]
