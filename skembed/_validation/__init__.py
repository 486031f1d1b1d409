"""Checks of what users pass, and the messages about it: columns, tables, paths, bounds of integers.

Knows no text, no kernels and no estimators.
"""

# Modules that other packages of skembed may import.
__all__ = ["columns", "constraints", "messages", "targets", "values"]
