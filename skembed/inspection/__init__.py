"""Displays: see what a model has learned, how it compares, and why two sentences are alike. They need matplotlib."""

from skembed.inspection._embedding_map import EmbeddingMapDisplay
from skembed.inspection._error_agreement import ErrorAgreementDisplay
from skembed.inspection._learning_curve import LearningCurveDisplay
from skembed.inspection._norm_profile import NormProfileDisplay
from skembed.inspection._similarity_heatmap import SimilarityHeatmapDisplay

__all__ = [
    "EmbeddingMapDisplay",
    "ErrorAgreementDisplay",
    "LearningCurveDisplay",
    "NormProfileDisplay",
    "SimilarityHeatmapDisplay",
]
