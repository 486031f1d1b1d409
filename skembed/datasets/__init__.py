"""Texts to try the estimators on, pairs to learn from, and the sets that sentence vectors are measured on.

The ``load_*`` functions need no network, and the ``fetch_*`` functions download what is not there yet.
"""

from skembed.datasets._archives import fetch_opinosis, fetch_semantic_groups
from skembed.datasets._docstrings import load_docstrings
from skembed.datasets._pairs import fetch_msrp, fetch_sick
from skembed.datasets._paraphrase_groups import load_paraphrase_groups
from skembed.datasets._sentences import split_sentences
from skembed.datasets._senteval import fetch_senteval, fetch_trec
from skembed.datasets._sts import fetch_sts, fetch_sts_benchmark
from skembed.datasets._training_pairs import fetch_image_captions, fetch_ppdb_lexicon

__all__ = [
    "fetch_image_captions",
    "fetch_msrp",
    "fetch_opinosis",
    "fetch_ppdb_lexicon",
    "fetch_semantic_groups",
    "fetch_senteval",
    "fetch_sick",
    "fetch_sts",
    "fetch_sts_benchmark",
    "fetch_trec",
    "load_docstrings",
    "load_paraphrase_groups",
    "split_sentences",
]
