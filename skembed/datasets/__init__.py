"""Texts to try the estimators on. The ``load_*`` functions need no network."""

from skembed.datasets._docstrings import load_docstrings
from skembed.datasets._paraphrase_groups import load_paraphrase_groups
from skembed.datasets._sentences import split_sentences

__all__ = ["load_docstrings", "load_paraphrase_groups", "split_sentences"]
