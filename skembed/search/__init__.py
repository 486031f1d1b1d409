"""Search in vectors (nearest rows, near-duplicates, communities) and in documents.

The files that search in vectors know matrices only; those of :class:`~skembed.SearchIndex` also know text, and learn
vectors.
"""

from skembed.search._communities import communities
from skembed.search._near_duplicates import near_duplicates
from skembed.search._nearest import nearest

__all__ = ["communities", "near_duplicates", "nearest"]
