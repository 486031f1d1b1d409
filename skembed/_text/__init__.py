"""From strings to word ids: sources of sentences, the tokenizer, the vocabulary.

Knows files, containers and encodings of text. Knows no documents on disk, no vectors, no training and no estimators.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "character_counts",
    "character_ngrams",
    "encoder",
    "files",
    "known_words",
    "ngram_hash",
    "ngrams",
    "parquet",
    "piece_tokenizer",
    "sources",
    "tokenizer",
    "vocabulary",
    "words",
]
