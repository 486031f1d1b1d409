"""Search in vectors: the nearest rows, near-duplicates, communities.

Knows matrices only: no text and no models.
"""

# Modules that other packages of skembed may import.
__all__ = ["communities", "near_duplicates", "nearest"]
