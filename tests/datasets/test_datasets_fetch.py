"""Downloads, from a server on this machine that serves the files whole, cut off, changed, slowly or not at all."""

import logging
import threading
import time
import tracemalloc
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature

import numpy as np
import pytest

from skembed import datasets
from skembed.datasets import _download
from skembed.datasets._download import Source, fetch_files, sources

CONTENT = {"set/a.txt": b"first file\n", "set/b.txt": b"second file\n" * 9000, "other/c.zip": bytes(range(256))}
FETCH = [
    *(partial(datasets.fetch_sts, year=year) for year in (2012, 2013, 2014, 2015, 2016)),
    *(partial(datasets.fetch_sts_benchmark, subset=subset) for subset in ("train", "dev", "test")),
    *(partial(datasets.fetch_sick, subset=subset) for subset in ("train", "trial", "test")),
    *(partial(datasets.fetch_msrp, subset=subset) for subset in ("train", "test")),
    *(partial(datasets.fetch_senteval, name=name) for name in ("MR", "CR", "SUBJ", "MPQA")),
    *(partial(datasets.fetch_trec, subset=subset) for subset in ("train", "test")),
    *(partial(datasets.fetch_semantic_groups, name=name) for name in ("msrp", "opinosis")),
    datasets.fetch_opinosis,
    datasets.fetch_image_captions,
    datasets.fetch_ppdb_lexicon,
]


class Server:
    """Files by address, how each of the next requests is answered, and what was asked for."""

    def __init__(self):
        self.files = {}
        # address -> list of answers to come: "cut", "changed", "late", "silent", "refused", "endless"
        self.answers = {}
        self.n_sent = 0  # bytes of endless answers
        self.requests = []
        self.release = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def answer(self, request):
        address = request.path.lstrip("/")
        self.requests.append(address)
        how = self.answers[address].pop(0) if self.answers.get(address) else "whole"
        content = self.files.get(address)
        if content is None or how == "refused":
            request.send_error(404)
            return
        request.send_response(200)
        if how != "endless":
            request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        if how == "whole":
            request.wfile.write(content)
        elif how == "changed":
            request.wfile.write(bytes([content[0] ^ 1]) + content[1:])
        elif how == "endless":
            self.send_much(request)
        elif how == "late":
            for start in range(0, len(content), len(content) // 4 + 1):
                time.sleep(0.02)
                request.wfile.write(content[start : start + len(content) // 4 + 1])
        else:
            request.wfile.write(content[: len(content) // 2])
            if how == "silent":
                request.wfile.flush()
                self.release.wait(300)

    def send_much(self, request):
        """Send 64 MB, or as much as somebody takes."""
        try:
            for _ in range(1024):
                request.wfile.write(bytes(1 << 16))
                self.n_sent += 1 << 16
        except OSError:
            pass

    def close(self):
        self.release.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr(_download, "BASE_URL", server.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield server
    server.close()


@pytest.fixture
def small(server, monkeypatch):
    """Serve a small table of made-up files."""
    table = {
        file: Source(file, f"someone/repository/commit/{file}", len(content), sha256(content).hexdigest())
        for file, content in CONTENT.items()
    }
    monkeypatch.setattr(_download, "sources", lambda: table)
    server.files = {table[file].address: content for file, content in CONTENT.items()}
    return server


def fetch(folder, files=("set/a.txt", "set/b.txt", "other/c.zip"), **options):
    options = {"download_if_missing": True, "n_retries": 1, "delay": 0.0, **options}
    return fetch_files(files, data_home=folder, **options)


def found(folder):
    """Return name and content of everything below the data folder, forgotten temporary files too."""
    root = folder / "skembed"
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_download_and_keep(small, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "skembed.datasets"):
        assert fetch(tmp_path) == tmp_path / "skembed"
    assert found(tmp_path) == CONTENT
    assert len(small.requests) == len(caplog.records) == 3
    assert "set/b.txt (2 of 3, 108 kB)" in caplog.messages[1]
    assert small.url in caplog.messages[0]
    caplog.clear()
    fetch(tmp_path)
    fetch(tmp_path, download_if_missing=False)
    assert len(small.requests) == 3
    assert not caplog.records


def test_only_what_is_asked_for(small, tmp_path):
    fetch(tmp_path, ["set/a.txt"])
    assert list(found(tmp_path)) == ["set/a.txt"]


def test_a_stopped_download_goes_on(small, tmp_path):
    b = "someone/repository/commit/set/b.txt"
    small.answers[b] = ["refused"]
    with pytest.raises(OSError, match="404"):
        fetch(tmp_path, n_retries=0)
    assert list(found(tmp_path)) == ["set/a.txt"]
    fetch(tmp_path)
    assert found(tmp_path) == CONTENT
    assert [address.rpartition("/")[2] for address in small.requests] == ["a.txt", "b.txt", "b.txt", "c.zip"]


@pytest.mark.filterwarnings("ignore:Retry downloading:UserWarning")
@pytest.mark.parametrize("trouble", ["cut", "refused"])
def test_trouble_that_passes_is_tried_again(small, tmp_path, trouble):
    small.answers["someone/repository/commit/set/b.txt"] = [trouble]
    fetch(tmp_path)
    assert found(tmp_path) == CONTENT


@pytest.mark.filterwarnings("ignore:Retry downloading:UserWarning")
@pytest.mark.parametrize(
    ("trouble", "reason"), [("cut", "retrieval incomplete"), ("changed", "SHA256"), ("refused", "404")]
)
def test_trouble_that_stays_says_what_to_do(small, tmp_path, trouble, reason):
    small.answers["someone/repository/commit/set/b.txt"] = [trouble] * 9
    with pytest.raises(OSError, match=reason) as raised:
        fetch(tmp_path)
    message = str(raised.value)
    assert message.startswith(f"Could not download set/b.txt from {small.url}/someone/repository/commit/set/b.txt")
    assert f"put these files below {tmp_path / 'skembed'}, under these names:\n  set/b.txt (missing)" in message
    assert "other/c.zip (missing): http" in message
    assert "set/a.txt" not in message  # it is there
    assert found(tmp_path) == {"set/a.txt": CONTENT["set/a.txt"]}  # and nothing half done


def test_slow_is_no_error(small, tmp_path):
    small.answers["someone/repository/commit/set/b.txt"] = ["late"]
    fetch(tmp_path, n_retries=0)
    assert found(tmp_path) == CONTENT


def test_a_silent_server_does_not_hang(small, tmp_path, monkeypatch):
    monkeypatch.setattr(_download, "SILENCE_SECONDS", 0.1)
    small.answers["someone/repository/commit/set/b.txt"] = ["silent"]
    with pytest.raises(OSError, match="timed out"):
        fetch(tmp_path, n_retries=0)
    fetch(tmp_path)
    assert found(tmp_path) == CONTENT


def test_a_download_stops_at_the_published_size(small, tmp_path):
    address = "someone/repository/commit/set/b.txt"
    small.answers[address] = ["endless"] * 9
    tracemalloc.start()
    try:
        with pytest.raises(OSError, match="expected 108,000 bytes, received more: stopped after") as raised:
            fetch(tmp_path, n_retries=3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20
    assert small.n_sent < 32 << 20  # what the sockets hold
    assert small.requests.count(address) == 1  # another try would bring the same
    assert f"{small.url}/{address}" in str(raised.value)
    assert found(tmp_path) == {"set/a.txt": CONTENT["set/a.txt"]}


def test_a_full_disk_leaves_nothing(small, tmp_path, monkeypatch):
    def replace(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_download.os, "replace", replace)
    with pytest.raises(OSError, match=r"Could not download set/a\.txt .*No space left on device"):
        fetch(tmp_path, n_retries=0)
    assert found(tmp_path) == {}


def test_a_huge_file_in_the_place_of_a_published_one_is_not_read(small, tmp_path):
    path = tmp_path / "skembed" / "set" / "a.txt"
    path.parent.mkdir(parents=True)
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # sparse, where the file system can
    with pytest.raises(OSError, match=r"1099511627776 bytes instead of 11"):
        fetch(tmp_path, download_if_missing=False)


def test_no_network(small, tmp_path):
    small.http.shutdown()
    small.http.server_close()
    with pytest.raises(OSError, match="Could not download set/a.txt") as raised:
        fetch(tmp_path, n_retries=0)
    assert all(f"{name} (missing)" in str(raised.value) for name in CONTENT)


@pytest.mark.parametrize("content", [b"", b"first", b"First file\n"])
def test_a_damaged_file_is_replaced(small, tmp_path, content):
    path = tmp_path / "skembed" / "set" / "a.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(OSError, match=r"set/a\.txt \((\d bytes instead of 11|other content)"):
        fetch(tmp_path, download_if_missing=False)
    with pytest.warns(UserWarning, match="differs from expected"):
        fetch(tmp_path)
    assert found(tmp_path) == CONTENT


def test_files_put_there_by_hand(small, tmp_path):
    for name, content in CONTENT.items():
        path = tmp_path / "skembed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    fetch(tmp_path, download_if_missing=False)
    assert not small.requests


@pytest.mark.parametrize(
    ("options", "error"),
    [({"n_retries": -1}, ValueError), ({"n_retries": 1.5}, TypeError), ({"delay": -1.0}, ValueError)],
)
def test_bad_options(tmp_path, options, error):
    with pytest.raises(error, match=next(iter(options))):
        fetch(tmp_path, **options)


def test_the_table_of_sources():
    assert len(sources()) == 76
    for source in sources().values():
        owner, repository, commit, *path = source.address.split("/")
        assert owner and repository and path
        assert len(commit) == 40 and len(source.sha256) == 64
        assert set(commit + source.sha256) <= set("0123456789abcdef")
        assert source.url == f"https://raw.githubusercontent.com/{source.address}"
        assert source.n_bytes > 0
    assert len({source.sha256 for source in sources().values()}) == 76


def test_the_functions_ask_for_every_file_of_the_table(tmp_path):
    """Without a network: what must not be downloaded is named in the error."""
    asked = []
    for function in FETCH:
        with pytest.raises(OSError, match="download_if_missing is False") as raised:
            function(data_home=tmp_path, download_if_missing=False)
        asked += [line.split()[0] for line in str(raised.value).splitlines()[1:]]
    assert sorted(asked) == sorted(sources())


@pytest.mark.parametrize(
    ("function", "option"),
    [
        (datasets.fetch_sts, {"year": 2017}),
        (datasets.fetch_sts_benchmark, {"subset": "trial"}),
        (datasets.fetch_sick, {"subset": "dev"}),
        (datasets.fetch_msrp, {"subset": "val"}),
        (datasets.fetch_senteval, {"name": "SST2"}),
        (datasets.fetch_trec, {"subset": "dev"}),
        (datasets.fetch_semantic_groups, {"name": "other"}),
    ],
)
def test_unknown_parts(function, option):
    name, value = next(iter(option.items()))
    with pytest.raises(ValueError, match=f"{name} must be one of .*, got {value!r}"):
        function(**option)


@pytest.mark.parametrize(
    "function", FETCH, ids=lambda f: f"{getattr(f, 'func', f).__name__}-{getattr(f, 'keywords', '')}"
)
def test_published_files(server, data_dir, tmp_path, function):
    """Each function downloads the published files and reads what they hold."""
    original = data_dir / "original"
    here = {source.address: original / source.file for source in sources().values()}
    server.files = {address: path.read_bytes() for address, path in here.items() if path.is_file()}
    with pytest.raises(OSError, match="download_if_missing is False") as raised:
        function(data_home=tmp_path, download_if_missing=False)
    files = [line.split()[0] for line in str(raised.value).splitlines()[1:]]
    if not all((original / file).is_file() for file in files):
        pytest.skip(f"the files of {files[0].partition('/')[0]} are not among the evaluation data")
    bunch = function(data_home=tmp_path)
    assert sorted(found(tmp_path)) == sorted(files)
    assert len(server.requests) == len(files)
    assert len(bunch.data) > 0
    for heading in ("**Source.**", "**Licence.**", "**Citation"):
        assert heading in bunch.DESCR
    if "target" in bunch:
        assert len(bunch.data) == len(bunch.target)
    if "return_X_y" in signature(function).parameters:
        data, target = function(data_home=tmp_path, return_X_y=True)
        assert data == bunch.data
        assert np.array_equal(target, bunch.target)
        assert len(server.requests) == len(files)
