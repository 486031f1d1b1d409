"""Foundations of the compiled code: kernels, arithmetic on float32 rows, threads.

Knows no text and no models.
"""

# Modules that other packages of skembed may import.
__all__ = ["arrays", "compile", "products", "rows", "simd", "sync", "threads"]
