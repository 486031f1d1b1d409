"""Word vectors learned elsewhere, and what is done with them before they are summed, a file for each step.

Knows no method.
"""

# Modules that other packages of skembed may import.
__all__ = ["common_components", "fasttext", "hashed_numbers", "join", "matches", "read", "spelling", "write"]
