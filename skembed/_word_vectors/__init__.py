"""Word vectors learned elsewhere: reading, joining, common components, spelling.

Knows no method.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "given",
    "join",
    "read",
]
