"""How many searches a second does a service of four processes answer, and what does a process need?

    python benchmarks/speed/search_service.py --data DATA [--documents 100000] [--out doc/_results/speed]

examples/search/service.py under uvicorn, with four processes that map one saved index into memory. Documents and
queries are those of search.py. Some clients, in this process and on the same cores, ask one query after the other.
"Private" is the memory that a process does not share, as Linux counts it; Python and its packages are most of it:
beside it stands that of a service of the same packages without an index. fastapi, uvicorn and httpx are in no extra.
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import httpx
from measuring import arguments, children_of
from reporting import print_table
from search import documents_of

from skembed import SearchIndex

EXAMPLES = Path(__file__).parents[2] / "examples" / "search"
N_PROCESSES, N_REQUESTS, N_CLIENTS = 4, 4_000, (1, 4, 16)
EMPTY = "import fastapi, numba, scipy.sparse, sklearn.feature_extraction.text, skembed\napp = fastapi.FastAPI()\n"


def answering(process):
    """Numbers of the processes that answer."""
    return [pid for pid in children_of(process.pid) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def private_megabytes(number):
    lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private")) / 1e3


class Service:
    """Uvicorn with an app, ended at the end."""

    def __init__(self, folder, module, index):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "uvicorn", f"{module}:app", "--workers", str(N_PROCESSES)]
        command += ["--port", str(port), "--log-level", "warning", "--app-dir", str(folder)]
        self.process = subprocess.Popen(command, env=os.environ | {"INDEX": str(index)})

    def __enter__(self):
        for _ in range(600):
            try:
                httpx.get(f"{self.url}/openapi.json")
            except httpx.ConnectError:
                time.sleep(0.2)
            else:
                time.sleep(5)  # until all processes are up
                return self
        raise RuntimeError("The service does not start.")

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait()


async def ask(url, queries, n_clients):
    """Seconds of each request, and of all together."""
    waiting, seconds = iter(queries), []

    async def client():
        async with httpx.AsyncClient(base_url=url) as session:
            for query in waiting:
                began = time.perf_counter()
                answer = await session.get("/search", params={"q": query})
                answer.raise_for_status()
                seconds.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(n_clients)))
    return np.array(seconds), time.perf_counter() - began


def main():
    options = arguments(__doc__, documents={"type": int, "default": 100_000, "help": "default 100,000"})
    n_documents = 2_000 if options.quick else options.documents
    documents, queries = documents_of(options.data, n_documents)
    queries = (queries * (N_REQUESTS // len(queries) + 1))[: 200 if options.quick else N_REQUESTS]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        size = SearchIndex(random_state=0).fit(documents).save(f"{folder}/index")["written"] / 1e6
        Path(folder, "empty.py").write_text(EMPTY, encoding="utf-8")
        with Service(folder, "empty", ""):
            pass
        with Service(folder, "empty", "") as empty:
            alone = np.mean([private_megabytes(number) for number in answering(empty.process)])
        with Service(EXAMPLES, "service", f"{folder}/index") as service:
            for n_clients in N_CLIENTS:
                seconds, total = asyncio.run(ask(service.url, queries, n_clients))
                p50, p99 = 1000 * np.quantile(seconds, [0.5, 0.99])
                rows.append([n_clients, f"{len(seconds) / total:,.0f}", f"{p50:.1f}", f"{p99:.1f}"])
                print(*rows[-1], flush=True)
            private = np.mean([private_megabytes(number) for number in answering(service.process)])
    header = ["clients", "queries a second", "half within, ms", "99 % within, ms"]
    title = f"A service of {N_PROCESSES} processes, {len(documents):,} documents"
    note = (
        f"The index has {size:,.0f} MB on disk, which the processes share. Private memory of each: {private:,.0f} MB; "
        f"of one without an index: {alone:,.0f} MB."
    )
    print_table(options, "search_service", title, [header, *rows], note)


if __name__ == "__main__":
    main()
