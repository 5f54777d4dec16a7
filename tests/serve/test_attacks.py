"""A service under attack: every request gets a status and a sentence, and nobody waits for it."""

import asyncio
import base64
import gzip
import json
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from PIL import Image
from starlette.testclient import TestClient

from chainrule.errors import InputError
from chainrule.runs.run import Run
from chainrule.serve import app as serving
from chainrule.serve import inputs, protocol
from chainrule.serve.app import application
from chainrule.serve.images import decoded
from chainrule.serve.texts import Prompts

HOST = "127.0.0.1:8500"
ROW = {"age": 30, "city": "Oslo"}
JSON = {"content-type": "application/json"}
PACKED = gzip.compress(b"{}", mtime=0)  # without the time, so that every worker names it the same


def client_of(run: Run, token: str = "") -> TestClient:
    return TestClient(application(run, [HOST], token), base_url=f"http://{HOST}")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"rows": [{"Age": 30, "city": "Oslo"}]}, "row 1 has no 'age', but 'Age'; write it as in"),
        (
            {"rows": [{"x": 1, "city": "Oslo"}]},
            "row 1 has no 'age'; expected the columns age, city",
        ),
        (ROW, "got an object with age, city"),
        ({"rows": ROW}, 'got "rows": an object with 2 keys'),
        ({}, "got an object with nothing in it"),
        ({"rows": [ROW | {"age": "inf"}]}, "column 'age', row 1: expected a finite number"),
        ({"rows": [ROW | {"age": "1e999"}]}, "column 'age', row 1: expected a finite number"),
        ({"rows": [ROW | {"age": "\ud800"}]}, "column 'age', row 1: expected a finite number"),
    ],
)
def test_what_is_wrong_with_rows_is_said_without_a_header(
    table_run: Run, body: Any, words: str
) -> None:
    with client_of(table_run) as client:
        found = client.post("/predict", content=json.dumps(body), headers=JSON)
    assert (found.status_code, words in found.json()["error"]) == (422, True), found.text


@pytest.mark.parametrize(
    ("content", "headers", "status", "words"),
    [
        (b"9" * 5000, {}, 400, "a number has too many digits"),
        (b"[" * 100_000, {}, 400, "it is nested too deeply"),
        (b'{"rows": ["\xe9"]}', {}, 400, "it is not utf-8"),
        (b'{"rows": [Infinity]}', {}, 400, "Infinity is not a number of JSON"),
        (PACKED, {"content-encoding": "gzip"}, 415, "that is not compressed"),
    ],
)
def test_bodies_that_cannot_be_read_are_explained_without_words_of_python(
    table_run: Run, content: bytes, headers: dict[str, str], status: int, words: str
) -> None:
    with client_of(table_run) as client:
        found = client.post("/predict", content=content, headers=JSON | headers)
    assert (found.status_code, words in found.json()["error"]) == (status, True), found.text


def test_wrong_addresses_and_methods_get_a_sentence(table_run: Run) -> None:
    with client_of(table_run) as client:
        assert "POST /predict" in client.get("/nothing").json()["error"]
        assert "expected POST at this address, got GET" in client.get("/predict").json()["error"]
        assert client.get("/docs").text == client.get("/").text


def test_the_scheme_of_a_token_may_be_written_in_any_case(table_run: Run) -> None:
    token = "0123456789abcdef"
    with client_of(table_run, token) as client:
        for scheme, status in (("bearer", 200), ("BEARER", 200), ("Basic", 401), ("", 401)):
            found = client.get("/metrics", headers={"authorization": f"{scheme} {token}"})
            assert found.status_code == status


def test_a_body_that_does_not_come_is_given_up(
    table_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LONGEST", 0.05)
    app, sent = application(table_run, [HOST]), []

    async def never() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/predict", "headers": headers}
    asyncio.run(app(scope | {"query_string": b"", "root_path": ""}, never, send))
    assert sent[0]["status"] == 408 and b"did not arrive within 0.05 s" in sent[1]["body"]


def test_a_connection_whose_headers_drip_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    monkeypatch.setattr(protocol, "SLOWEST", 0.1)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def drip() -> tuple[bytes, bytes]:
        config = uvicorn.Config(app, http=protocol.PatientProtocol, log_level="error")
        config.load()
        state = uvicorn.Server(config).server_state
        make = lambda: protocol.PatientProtocol(config=config, server_state=state, app_state={})  # noqa: E731
        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        answered = await reader.readuntil(b"\r\n\r\n")
        for letter in b"GET":
            writer.write(bytes([letter]))
            await asyncio.sleep(0.02)
        rest = await asyncio.wait_for(reader.read(), 5)
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()
        return answered, rest

    answered, rest = asyncio.run(drip())
    assert b" 204 " in answered and rest == b""


class Slow(Run):
    """A language model that takes its time."""

    written = 0

    def __init__(self) -> None:
        """Without a folder."""

    def generate(self, prompt: str, **_: Any) -> str:
        self.written += 1
        time.sleep(0.05)
        return prompt


def test_prompts_are_few_and_stop_when_their_request_was_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow()
    prompts = Prompts(slow)
    with pytest.raises(InputError, match="at most 8 examples in a request, got 9"):
        prompts.read({"prompts": ["a"] * 9})
    assert prompts.together == 1
    monkeypatch.setattr(inputs, "LONGEST", 0.08)
    with pytest.raises(InputError, match="send fewer examples"):
        prompts.answer([["a"] * 8])
    assert slow.written == 2
    prompts.closing.set()  # the service ends
    with pytest.raises(InputError):
        prompts.answer([["a"]])
    assert slow.written == 2


def png(width: int, height: int) -> bytes:
    content = BytesIO()
    Image.new("L", (width, height), 200).save(content, "PNG")
    return content.getvalue()


def test_pictures_come_as_base64_of_every_form_and_bombs_do_not(
    train_run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = png(30, 30)
    plain = base64.b64encode(content).decode()
    for text in (plain, f"data:image/png;base64,{plain}", base64.encodebytes(content).decode()):
        assert decoded(text, "image 1") == content
    run = train_run("digits-mlp", tmp_path / "run", epochs=1)
    with client_of(run) as client:

        def error(*texts: str) -> str:
            found = client.post("/predict", json={"images": list(texts)})
            assert found.status_code == 422
            return found.json()["error"]

        assert "image 1 is not valid base64" in error("file:///etc/passwd")
        assert "9000 × 9000 pixels; reduce its size" in error(
            base64.b64encode(png(9000, 9000)).decode()
        )
        monkeypatch.setattr(inputs, "LONGEST", -1.0)
        assert "send fewer examples" in error(plain)
