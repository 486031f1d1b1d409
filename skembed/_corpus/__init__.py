"""Ordered text in documents, encoded once: `SentenceCorpus`, its storage, and what is accepted instead of one.

Knows no vectors, no training and no estimators.
"""

# Modules that other packages of skembed may import.
__all__ = ["content", "corpus", "input", "pairs"]
