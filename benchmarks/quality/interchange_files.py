"""Small files that other programs write, and what these programs make of some sentences: the data of a test.

    python benchmarks/quality/interchange_files.py --out tests/interchange/files [--sent2vec FOLDER] [--glove FOLDER]

Writes the files of each program that is installed, and the vectors of SENTENCES in NAME.json beside them. Of epfml/
sent2vec it needs a FOLDER with the built program ``fasttext``, and its Python package; of GloVe one with ``build``.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

TEXT = """\
the cat sits on the mat and the dog sleeps
a dog chases the cat in the garden
the cat drinks milk in the kitchen
rain falls on the garden and the river
the river flows past the old mill
the bank lends money to the mill
money in the bank earns interest
le café est fermé et le chat dort
the naïve zoë walks to the café
кошка спит на окне и кошка ест
the old dog and the old cat sleep in the kitchen
"""
SENTENCES = [
    "the cat sits on the mat",
    "the dog",
    "",
    "no-word of7this isknown",
    "the cats drink   warm milk",
    "кошка спит на полу",
    "le café\test fermé",
    "The Cat, the DOG and the café's mat.",
    "zoë x 日本語",
]


def write_expected(out, name, vectors, sentences=SENTENCES):
    expected = {"sentences": list(sentences), "vectors": np.asarray(vectors, float).tolist()}
    text = json.dumps(expected, ensure_ascii=False, indent=1).replace(",\n   ", ", ").replace("[\n   ", "[")
    (out / f"{name}.json").write_text(text.replace("\n  ]", "]") + "\n", encoding="utf-8")


def fasttext_files(out, train):
    import fasttext

    words = sorted({word for sentence in SENTENCES for word in sentence.split()})
    common = {"dim": 4, "minCount": 10, "epoch": 30, "lr": 0.5, "thread": 1, "ws": 2, "neg": 2, "verbose": 0}
    for name, ngrams in {"fasttext": (2, 4), "fasttext_words": (0, 0)}.items():
        model = fasttext.train_unsupervised(str(train), minn=ngrams[0], maxn=ngrams[1], bucket=50, **common)
        model.save_model(str(out / f"{name}.bin"))
        write_expected(out, name, [model.get_word_vector(word) for word in words], words)
    labelled = train.with_name("labelled.txt")
    lines = train.read_text(encoding="utf-8").splitlines()
    labelled.write_text("".join(f"__label__{i % 2} {line}\n" for i, line in enumerate(lines)), encoding="utf-8")
    model = fasttext.train_supervised(str(labelled), dim=4, minCount=10, epoch=5, thread=1, verbose=0)
    model.save_model(str(out / "fasttext_labels.bin"))
    write_expected(out, "fasttext_labels", [model.get_word_vector(word) for word in words], words)


def sent2vec_files(out, train, program):
    import sent2vec

    common = "-dim 4 -minCount 2 -epoch 40 -lr 0.5 -neg 2 -thread 1 -t 0.01 -dropoutK 1 -minn 0 -maxn 0".split()
    for name, ngrams in {"sent2vec": ["2", "-bucket", "50"], "sent2vec_words": ["1"]}.items():
        where = ["-input", train, "-output", out / name]
        subprocess.run([program / "fasttext", "sent2vec", *where, *common, "-wordNgrams", *ngrams], check=True)
        model = sent2vec.Sent2vecModel()
        model.load_model(str(out / f"{name}.bin"))
        write_expected(out, name, model.embed_sentences(SENTENCES))


def glove_file(out, train, program):
    work, build = train.parent, program / "build"
    words = [build / "vocab_count", "-min-count", "10", "-verbose", "0"]
    pairs = [build / "cooccur", "-vocab-file", work / "vocab", "-window-size", "3", "-verbose", "0"]
    for command, read, write in ((words, train, "vocab"), (pairs, train, "pairs")):
        with read.open() as source, (work / write).open("w") as target:
            subprocess.run(command, stdin=source, stdout=target, check=True)
    learn = ["-input-file", work / "pairs", "-vocab-file", work / "vocab", "-save-file", work / "glove"]
    learn += ["-vector-size", "4", "-iter", "5", "-threads", "1", "-verbose", "0", "-seed", "1"]
    subprocess.run([build / "glove", *learn], check=True)
    shutil.copy(work / "glove.txt", out / "glove.txt")


def gensim_files(out, train):
    from gensim.models import Word2Vec

    lines = [line.split() for line in train.read_text(encoding="utf-8").splitlines()]
    vectors = Word2Vec(lines, vector_size=4, min_count=10, workers=1, seed=1).wv
    vectors.save_word2vec_format(out / "gensim.txt", binary=False)
    vectors.save_word2vec_format(out / "gensim.bin", binary=True)
    write_expected(out, "gensim", vectors.vectors, vectors.index_to_key)


def piece_tokenizer(kind):
    """A tiny tokenizer, with the steps of BERT before word pieces, or of words in lower case."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    if kind == "pieces":
        pieces = "[PAD] [UNK] the cat ##s dog mat sit un ##known drink ##k milk cafe ferme ##m w ##ar on , . '".split()
        pieces += "日 本 кошка спит х zoe et".split()
        vocabulary = {piece: index for index, piece in enumerate(pieces)}
        tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        tokenizer.add_special_tokens(["[PAD]", "[UNK]"])
        return tokenizer
    words = ["[UNK]", "the", "cat", "dog", "drink", "café", "mat", "спит", "on"]
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def model2vec_folders(out):
    from model2vec import StaticModel

    for name, kind in {"model2vec": "pieces", "model2vec_words": "words"}.items():
        tokenizer, random = piece_tokenizer(kind), np.random.default_rng(0)
        n_tokens, more = tokenizer.get_vocab_size(), {}
        vectors = random.normal(size=(n_tokens, 4)).astype(np.float32)
        if kind == "pieces":
            vectors = vectors[:10]
            more = {"token_mapping": np.arange(n_tokens) % 10, "weights": random.uniform(0.5, 1, n_tokens)}
        model = StaticModel(vectors, tokenizer, normalize=kind == "words", max_length=None, **more)
        model.save_pretrained(out / name)
        (out / name / "README.md").unlink()
        write_expected(out, name, model.encode(SENTENCES))


def sentence_transformers_folders(out):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    for name, kind in {"sentence_transformers": "pieces", "sentence_transformers_words": "words"}.items():
        tokenizer = piece_tokenizer(kind)
        vectors = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 4)).astype(np.float32)
        modules = [StaticEmbedding(tokenizer, embedding_weights=vectors), *([Normalize()] if kind == "pieces" else [])]
        model = SentenceTransformer(modules=modules, device="cpu")
        model.save(str(out / name), create_model_card=False)
        write_expected(out, name, model.encode(SENTENCES))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sent2vec", type=Path)
    parser.add_argument("--glove", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        train = Path(folder, "text.txt")
        train.write_text(TEXT * 6, encoding="utf-8")
        if find_spec("fasttext"):
            fasttext_files(options.out, train)
        if options.sent2vec:
            sent2vec_files(options.out, train, options.sent2vec)
        if options.glove:
            glove_file(options.out, train, options.glove)
        if find_spec("gensim"):
            gensim_files(options.out, train)
        if find_spec("model2vec"):
            model2vec_folders(options.out)
        if find_spec("sentence_transformers"):
            sentence_transformers_folders(options.out)


if __name__ == "__main__":
    main()
