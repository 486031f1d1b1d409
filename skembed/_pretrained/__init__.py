"""Pretrained models: any model of others as a supplier of checked rows, which embeds each text once.

Knows no estimator that uses them.
"""

# Modules that other packages of skembed may import.
__all__ = ["models", "parameter", "saved", "vectorizer"]
