"""See why two sentences are alike, and what a cluster is about. The display needs matplotlib."""

from skembed.inspection._cluster_names import cluster_names
from skembed.inspection._similarity_heatmap import SimilarityHeatmapDisplay

__all__ = ["SimilarityHeatmapDisplay", "cluster_names"]
