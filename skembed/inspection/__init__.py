"""See what a model has learned, how it compares, why two sentences are alike, and what a cluster is about.

The displays need matplotlib.
"""

from skembed.inspection._cluster_names import cluster_names
from skembed.inspection._embedding_map import EmbeddingMapDisplay
from skembed.inspection._learning_curve import LearningCurveDisplay
from skembed.inspection._similarity_heatmap import SimilarityHeatmapDisplay

__all__ = ["EmbeddingMapDisplay", "LearningCurveDisplay", "SimilarityHeatmapDisplay", "cluster_names"]
