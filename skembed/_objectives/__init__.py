"""What is learned: one paper a file, with its equation, work space and kernels.

Knows no strings and no estimators; objectives never import each other.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "cbos",
    "sent2vec",
    "siamese_cbow",
    "word2vec",
]
