"""Token ids that workers read in a file: only where they all have the same file."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from skembed import SentenceCorpus
from skembed._shards import plan
from skembed._shards.plan import TokensNotFoundError, TokenSpans, file_of


@pytest.fixture
def corpus(tmp_path):
    generator = np.random.default_rng(0)
    words = np.array([f"w{n}" for n in range(50)])
    sentences = [" ".join(row) for row in words[generator.integers(0, 50, (400, 20))]]
    SentenceCorpus.from_sentences(sentences).save(tmp_path / "corpus")
    return SentenceCorpus.load(tmp_path / "corpus")


@pytest.fixture(autouse=True)
def small_files_count(monkeypatch):
    monkeypatch.setattr(plan, "LARGE", 1)


@pytest.mark.parametrize("part", [slice(None), slice(1000, 5000), slice(7999, 8000)])
def test_a_worker_reads_the_same_tokens(corpus, part):
    tokens = np.asarray(corpus.tokens)[part]
    file = pickle.loads(pickle.dumps(file_of(tokens)))
    assert file.is_here()
    np.testing.assert_array_equal(file.open(), tokens)
    starts, ends = np.array([0, len(tokens) // 2]), np.array([len(tokens) // 3, len(tokens)])
    read = TokenSpans(file, starts, ends).read()
    assert read.dtype == np.int32
    np.testing.assert_array_equal(read, np.concatenate([tokens[: ends[0]], tokens[starts[1] :]]))


def test_tokens_that_are_in_no_file(corpus, tmp_path):
    tokens = np.asarray(corpus.tokens)
    np.save(tmp_path / "long.npy", tokens.astype(np.int64))
    changed = np.memmap(file_of(tokens).path, "<i4", "c", file_of(tokens).offset)
    changed[0] += 1  # in this process alone
    for other in (tokens.copy(), tokens[::2], tokens[:0], changed, np.load(tmp_path / "long.npy", mmap_mode="r")):
        assert file_of(other) is None


def test_few_tokens_are_sent(corpus, monkeypatch):
    monkeypatch.setattr(plan, "LARGE", corpus.tokens.nbytes + 1)
    assert file_of(np.asarray(corpus.tokens)) is None


def test_a_worker_with_another_file(corpus, tmp_path):
    file, path = file_of(np.asarray(corpus.tokens)), tmp_path / "elsewhere" / "other"
    path.parent.mkdir()
    shutil.copy(tmp_path / "corpus" / "corpus.json", path.parent)
    other = file._replace(path=str(path))
    with pytest.raises(TokensNotFoundError, match="other cannot be read: there is no such file"):
        other.open()
    path.mkdir()
    with pytest.raises(TokensNotFoundError, match="other cannot be read: there is no such file"):
        other.open()
    path.rmdir()
    content = bytearray(Path(file.path).read_bytes())
    path.write_bytes(content)
    assert other.is_here()
    path.write_bytes(content[:-4])
    with pytest.raises(TokensNotFoundError, match="other cannot be read"):
        other.open()
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(TokensNotFoundError, match="other or corpus.json beside it differs from that of the fit$"):
        other.open()
    assert not other.is_here()


def test_a_worker_with_another_corpus_of_nearly_the_same_words(corpus, tmp_path):
    """They differ where no sample is; the digest in the header is of all tokens."""
    corpus = SentenceCorpus.from_sentences([f"a{n % 7} b{n % 11} c{n % 13}" for n in range(60_000)])
    sentences = [" ".join(corpus[index]) for index in range(len(corpus))]
    sentences[7000] = " ".join(reversed(corpus[7000]))
    (tmp_path / "one").mkdir()
    corpus.save(tmp_path / "one" / "text")
    SentenceCorpus.from_sentences(sentences).save(tmp_path / "other")
    file = file_of(np.asarray(SentenceCorpus.load(tmp_path / "one" / "text").tokens))
    assert file.is_here()
    (tmp_path / "one" / "text").rename(tmp_path / "elsewhere")
    (tmp_path / "other").rename(tmp_path / "one" / "text")
    assert not file.is_here()


def test_a_corpus_that_was_saved_anew_under_its_name(corpus, tmp_path):
    """The map still shows the file that was there before."""
    tokens = np.asarray(corpus.tokens)
    SentenceCorpus.from_sentences(["w1 w2 w3"] * 3000).save(tmp_path / "new")
    next((tmp_path / "new").glob("tokens-*")).replace(next((tmp_path / "corpus").glob("tokens-*")))
    assert not file_of(tokens).is_here()
