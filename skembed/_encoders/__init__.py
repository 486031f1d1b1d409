"""How a sentence becomes a vector.

Knows no strings and no estimators; encoders and objectives do not import each other.
"""
