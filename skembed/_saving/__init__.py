"""Folders of fitted estimators, which hold no code: `save` and `load`.

Knows all estimators, which do not know this package.
"""

# Modules that other packages of skembed may import.
__all__ = ["checks", "folder", "shared", "values"]
