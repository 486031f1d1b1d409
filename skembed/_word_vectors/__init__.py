"""Word vectors learned elsewhere, what is done with them, and the compiled sums of vectors of words and n-grams.

Knows no method.
"""

# Modules that other packages of skembed may import.
__all__ = ["bag", "character_ngrams", "fasttext", "join", "matches", "processing", "read", "write"]
