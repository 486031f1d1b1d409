"""See what a cluster of texts is about."""

from skembed.inspection._cluster_names import cluster_names

__all__ = ["cluster_names"]
