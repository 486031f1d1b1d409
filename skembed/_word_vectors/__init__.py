"""Word vectors learned elsewhere, and what is done with them before they are summed, a file for each step.

Knows no method.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "common_components",
    "gated_averages",
    "given",
    "hashed_numbers",
    "join",
    "paired_sequences",
    "paired_words",
    "read",
    "recurrent",
    "sources",
    "spelling",
    "start",
]
