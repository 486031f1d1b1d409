"""Models of other programs: as fitted estimators here, and estimators as folders that those programs open.

Knows the estimators and their folders, which do not know this package.
"""

# Modules that other packages of skembed may import.
__all__ = ["exporting", "importing"]
