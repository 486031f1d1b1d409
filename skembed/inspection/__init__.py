"""See what a cluster is about, and why two sentences are alike. The display needs matplotlib."""

from skembed.inspection._cluster_names import cluster_names
from skembed.inspection._similarity_heatmap import SimilarityHeatmapDisplay

__all__ = ["SimilarityHeatmapDisplay", "cluster_names"]
