"""Estimators that learn from text, one a file; they never import each other."""
