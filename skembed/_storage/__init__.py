"""Folders of arrays: of a corpus, a model, a checkpoint, an index.

One format for all of them, which holds no code. Knows nothing of what the arrays mean.
"""

# Modules that other packages of skembed may import.
__all__ = ["array_files", "folders"]
