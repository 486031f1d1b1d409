"""Search: in vectors (nearest rows, near-duplicates, communities, an approximate index), and in documents.

The files that search in vectors know matrices only; those of `SearchIndex` also know text, and learn vectors.
"""

# Modules that other packages of skembed may import.
__all__ = ["approximate", "communities", "documents", "near_duplicates", "nearest", "search_index"]
