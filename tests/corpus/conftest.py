"""Fixtures that several test modules of corpora use."""

import pytest
from corpus_checks import GROUPS, TEXT, check

from skembed import SentenceCorpus


@pytest.fixture
def corpus():
    return check(SentenceCorpus.from_sentences(TEXT, GROUPS))
