"""Estimators made of others: means of word vectors, several models joined, tf-idf beside learned vectors.

Knows the methods, which do not know this package.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "block_weights",
    "character_tfidf",
    "given_blocks",
    "mean_embedding",
    "meta_embedding",
    "student_block",
    "text_blocks",
    "text_vectorizer",
]
