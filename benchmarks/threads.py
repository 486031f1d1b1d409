"""The bits and the time of every method for several numbers of threads.

    python benchmarks/threads.py --data DATA [--threads 1 2 3 7]

Each fit runs in a fresh process with another hash seed; the digest is over the word vectors and the loss curve.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import hashlib, json, sys, time
import numpy as np
import skembed
name, corpus, n_jobs = sys.argv[1], skembed.SentenceCorpus.load(sys.argv[2], verify=False), int(sys.argv[3])
options = json.loads(sys.argv[4])
model = getattr(skembed, name)(random_state=0, max_iter=1, n_jobs=n_jobs, **options)
model.fit([" ".join(corpus[i]) for i in range(2000)])
wall, cpu = time.perf_counter(), time.process_time()
model.fit(corpus)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
bits = hashlib.sha256(model.word_vectors_.tobytes() + np.array(model.loss_curve_).tobytes()).hexdigest()[:16]
print(json.dumps({"wall": wall, "cpu": cpu, "bits": bits}))
"""

METHODS = [
    ("CBOSVectorizer", {}),
    ("SiameseCBOWVectorizer", {}),
    ("Sent2VecVectorizer", {}),
    ("Sent2VecVectorizer", {"ngram_range": [1, 2]}),
    ("MeanEmbeddingVectorizer", {"algorithm": "skipgram"}),
    ("MeanEmbeddingVectorizer", {"algorithm": "cbow"}),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 3, 7])
    parser.add_argument("--max-sentences", type=int, default=200_000)
    options = parser.parse_args()
    from skembed import SentenceCorpus

    with tempfile.TemporaryDirectory() as folder:
        SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")[: options.max_sentences].save(
            f"{folder}/corpus"
        )
        print(f"{'one pass, cores: ' + str(os.cpu_count()):50s}{'threads':>8s}{'wall s':>8s}{'CPU s':>8s}  bits")
        for name, settings in METHODS:
            digests = set()
            for n_threads in options.threads:
                command = [sys.executable, "-c", CHILD, name, f"{folder}/corpus", str(n_threads), json.dumps(settings)]
                environment = {**os.environ, "PYTHONHASHSEED": str(n_threads)}
                found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
                found = json.loads(found.splitlines()[-1])
                digests.add(found["bits"])
                label = f"{name} {settings or ''}"
                print(f"{label:50s}{n_threads:8d}{found['wall']:8.2f}{found['cpu']:8.2f}  {found['bits']}", flush=True)
            print(f"{'':50s}{'equal' if len(digests) == 1 else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
