"""How a sentence becomes a vector.

Knows no strings and no estimators; encoders and objectives do not import each other.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "bag",
    "content_seeds",
]
