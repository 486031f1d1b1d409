"""Foundations of the compiled code: kernels, arithmetic on float32 rows, threads.

Knows no text and no models.
"""

# Modules that other packages of skembed may import.
__all__ = [
    "buffers",
    "compile",
    "disk",
    "gather",
    "intrinsic",
    "norms",
    "products",
    "random",
    "rows",
    "simd",
    "sync",
    "threads",
]
