"""What is learned: one paper a file, with its equation, scratch space and kernels.

Knows no strings and no estimators; objectives never import each other.
"""
