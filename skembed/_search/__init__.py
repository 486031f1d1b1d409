"""Search in vectors: the nearest rows, near-duplicates, communities, and an index for approximate search.

Knows matrices only: no text and no models.
"""

# Modules that other packages of skembed may import.
__all__ = ["approximate", "communities", "near_duplicates", "nearest"]
