"""Checks of what users pass, and the messages about it: short values, paths, bounds of integers.

Knows no text, no kernels and no estimators.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "limits",
    "messages",
    "paths",
]
