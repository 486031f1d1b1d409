"""From strings to word ids: sources of sentences, the tokenizer, the vocabulary.

Knows files, containers and encodings of text. Knows no documents on disk, no vectors, no training and no estimators.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "batches",
    "character_counts",
    "character_ngrams",
    "data_tokenizer",
    "encoder",
    "files",
    "known_words",
    "ngram_hash",
    "ngrams",
    "parquet",
    "piece_tokenizer",
    "sentences",
    "sources",
    "splitting",
    "tokenizer",
    "vocabulary",
    "words",
]
