"""Files: found, fetched over loopback, refused, decoded once."""

import gzip
import hashlib
import os
import threading
import time
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from chainrule.data import cache, download
from chainrule.errors import InputError

CONTENT = b"some numbers\n" * 100
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Truncating(BaseHTTPRequestHandler):
    """Promises more than it sends."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:50])

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """Starts a server on a free port of loopback and gives its address."""
    servers = []

    def start(handler) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def address(serve, tmp_path) -> str:
    served = tmp_path / "served"
    served.mkdir()
    (served / "file.txt").write_bytes(CONTENT)
    return serve(partial(Quiet, directory=str(served)))


@pytest.fixture(autouse=True)
def no_waiting_between_attempts(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_the_folder_is_the_given_one_then_the_environment_then_the_user_cache(
    monkeypatch, tmp_path, user_cache
):
    assert cache.folder() == user_cache
    monkeypatch.setenv("CHAINRULE_DATA", str(tmp_path / "named"))
    assert cache.folder() == tmp_path / "named"
    assert cache.folder(tmp_path) == tmp_path


def test_a_file_that_is_there_is_taken_without_asking_the_network(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set/file.txt").write_text("mine")
    path = cache.fetch("set/file.txt", "http://127.0.0.1:9/", SHA256, tmp_path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("checksum", [SHA256, None])
def test_a_missing_file_is_downloaded_into_its_place(address, tmp_path, checksum, capfd):
    path = cache.fetch("set/file.txt", address + "file.txt", checksum, tmp_path / "data")
    assert path == tmp_path / "data/set/file.txt"
    assert path.read_bytes() == CONTENT
    assert capfd.readouterr() == ("", "")


def test_a_download_that_is_not_the_published_file_is_refused(address, tmp_path):
    with pytest.raises(InputError, match=r"set/file.txt was refused.*put the right file at"):
        cache.fetch("set/file.txt", address + "file.txt", "md5:" + "0" * 32, tmp_path / "data")
    assert list((tmp_path / "data/set").iterdir()) == []


def test_a_truncated_download_leaves_nothing_behind(serve, tmp_path):
    with pytest.raises(InputError, match="could not be fetched"):
        cache.fetch("set/file.txt", serve(Truncating), None, tmp_path)
    assert list((tmp_path / "set").iterdir()) == []


def test_a_download_that_fails_once_is_tried_again(serve, tmp_path):
    class FailingOnce(Truncating):
        asked = 0

        def do_GET(self):
            FailingOnce.asked += 1
            if FailingOnce.asked == 1:
                self.send_error(503)
            else:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(CONTENT)

    assert cache.fetch("file.txt", serve(FailingOnce), SHA256, tmp_path).read_bytes() == CONTENT


def test_the_checksum_may_be_that_of_the_unpacked_content(serve, tmp_path):
    class Gzipped(Truncating):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(gzip.compress(CONTENT))

    address, right = serve(Gzipped), f"gunzip-{SHA256}"
    path = cache.fetch("file.gz", address, right, tmp_path)
    assert gzip.decompress(path.read_bytes()) == CONTENT
    with pytest.raises(InputError, match=r"other.gz was refused .* gunzip-sha256:0"):
        cache.fetch("other.gz", address, "gunzip-sha256:" + "0" * 64, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file.gz"]


class Endless(Truncating):
    """Sends its header or its content byte by byte, and never ends."""

    header: bytes = b"HTTP/1.0 200 OK\r\n\r\n"

    def do_GET(self):
        self.wfile.write(self.header)
        with suppress(OSError):
            while True:
                self.wfile.write(b"x")
                time.sleep(0.02)


class EndlessHeader(Endless):
    header = b"HTTP/1.0 200 OK\r\nX-Slow: "


@pytest.mark.parametrize("server", [Endless, EndlessHeader])
def test_a_download_ends_at_its_deadline(serve, tmp_path, monkeypatch, server):
    monkeypatch.setattr(download, "DEADLINE", 0.2)
    with pytest.raises(InputError, match=r"could not be fetched .* more than 0.2 seconds"):
        cache.fetch("file.txt", serve(server), None, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_is_too_large_is_given_up(address, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "MAX_DOWNLOAD", len(CONTENT) - 1)
    with pytest.raises(InputError, match=r"could not be fetched .* larger than 1,299 bytes"):
        cache.fetch("set/file.txt", address + "file.txt", None, tmp_path / "data")
    assert list((tmp_path / "data/set").iterdir()) == []


def test_a_header_without_sense_is_a_failed_download(serve, tmp_path):
    class Senseless(Truncating):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "many")
            self.end_headers()

    with pytest.raises(InputError, match="could not be fetched"):
        cache.fetch("file.txt", serve(Senseless), None, tmp_path)


def test_without_a_home_the_error_names_the_setting(monkeypatch, file, decoder):
    monkeypatch.undo()  # the user's own cache, which is not there
    for name in ("HOME", "XDG_CACHE_HOME", "CHAINRULE_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda _: (_ for _ in ()).throw(KeyError("nobody")))
    with pytest.raises(InputError, match="no home folder for data; set CHAINRULE_DATA"):
        cache.folder()
    with pytest.raises(InputError, match="set CHAINRULE_DATA"):
        cache.folder(Path("~/data"))
    assert cache.decoded(file, decoder.decode).tobytes() == b"12345"


def test_a_file_that_may_not_be_looked_at_is_not_called_damaged(monkeypatch, tmp_path, decoder):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "file.txt"
    monkeypatch.setattr(Path, "stat", denied)
    for read in (
        lambda: cache.fetch("file.txt", "", None, tmp_path),
        lambda: cache.decoded(path, decoder.decode),
    ):
        with pytest.raises(InputError, match=r"file.txt cannot be read: Permission denied"):
            read()


def test_without_a_network_the_error_names_address_and_place(tmp_path):
    with pytest.raises(InputError) as caught:
        cache.fetch("set/file.txt", "http://127.0.0.1:9/file.txt", None, tmp_path)
    assert "http://127.0.0.1:9/file.txt" in str(caught.value)
    assert str(tmp_path / "set/file.txt") in str(caught.value)


def test_a_folder_that_cannot_be_written_is_an_input_error(address, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write .* CHAINRULE_DATA"):
        cache.fetch("set/file.txt", address + "file.txt", None, tmp_path / "file")


class Decoder:
    """Counts its calls."""

    def __init__(self):
        self.calls = 0

    def decode(self, path: Path) -> np.ndarray:
        self.calls += 1
        return np.frombuffer(path.read_bytes(), np.uint8)


@pytest.fixture
def decoder() -> Decoder:
    return Decoder()


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "file.bin"
    path.write_bytes(b"12345")
    return path


def copies(folder: Path) -> list[Path]:
    return list((folder / "decoded").iterdir())


def test_a_file_is_decoded_once_until_it_changes(decoder, file, user_cache):
    for _ in range(3):
        assert cache.decoded(file, decoder.decode).tobytes() == b"12345"
    assert decoder.calls == 1
    assert [path.suffix for path in copies(user_cache)] == [".npy"]
    file.write_bytes(b"678901")
    assert cache.decoded(file, decoder.decode).tobytes() == b"678901"
    file.write_bytes(b"same_6")
    os.utime(file, (1, 1))
    assert cache.decoded(file, decoder.decode).tobytes() == b"same_6"
    assert decoder.calls == 3


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"cos\nsystem\n(S'true'\ntR."])
def test_a_corrupt_copy_is_decoded_anew(decoder, file, user_cache, content):
    cache.decoded(file, decoder.decode)
    copies(user_cache)[0].write_bytes(content)
    assert cache.decoded(file, decoder.decode).tobytes() == b"12345"
    assert decoder.calls == 2


def test_a_truncated_copy_is_decoded_anew(decoder, file, user_cache):
    cache.decoded(file, decoder.decode)
    copy = copies(user_cache)[0]
    copy.write_bytes(copy.read_bytes()[:-2])
    assert cache.decoded(file, decoder.decode).tobytes() == b"12345"


@pytest.mark.parametrize("order", ["C", "F"])
def test_no_flipped_bit_of_a_copy_gives_another_array(file, user_cache, order):
    values = np.arange(6, dtype=np.int16).reshape(2, 3).copy(order=order)

    def decode(_: Path) -> np.ndarray:
        return values

    for bit in range(8 * (128 + 12 + 4)):
        assert (cache.decoded(file, decode) == values).all()
        (copy,) = copies(user_cache)
        content = bytearray(copy.read_bytes())
        content[bit // 8] ^= 1 << bit % 8
        copy.write_bytes(content)
    assert (cache.decoded(file, decode) == values).all()


def test_a_copy_may_be_changed_in_memory(decoder, file):
    for _ in range(2):
        array = cache.decoded(file, decoder.decode).copy()
    again = cache.decoded(file, decoder.decode)
    again[0] = 0
    assert cache.decoded(file, decoder.decode).tobytes() == array.tobytes()


def test_a_cache_that_cannot_be_written_is_no_obstacle(decoder, file, monkeypatch):
    monkeypatch.setattr(cache, "user_cache", lambda: file)
    assert cache.decoded(file, decoder.decode).tobytes() == b"12345"


def test_a_copy_that_fails_half_way_leaves_nothing(decoder, file, user_cache, monkeypatch):
    def full(stream, *_, **__):
        stream.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "save", full)
    assert cache.decoded(file, decoder.decode).tobytes() == b"12345"
    assert copies(user_cache) == []
