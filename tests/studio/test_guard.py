"""Hostile requests: other hosts and origins, no token, paths that lead out, too much of all."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from chainrule.addresses import check_exposure, listen
from chainrule.errors import InputError
from chainrule.studio.app import application
from chainrule.studio.guard import LARGEST_BODY

HOST, TOKEN = "127.0.0.1:8420", "0123456789abcdef0123"
COOKIE = {"cookie": f"studio={TOKEN}"}
OWN = {"host": HOST, **COOKIE, "origin": f"http://{HOST}"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    root = tmp_path_factory.mktemp("runs")
    (root / "a").mkdir()
    (root / "a" / "curve.png").write_bytes(b"picture")
    (root / "a" / "config.json").write_text("{}")
    (root / "files").mkdir()
    (root / "files" / "sent.svg").write_bytes(b"secret")
    (root.parent / "secret.png").write_bytes(b"secret")
    (root / "a" / "link.png").symlink_to(root.parent / "secret.png")
    app = application([HOST, "localhost:8420"], TOKEN, "studio", root)
    return TestClient(app, base_url=f"http://{HOST}", raise_server_exceptions=True)


def status(client: TestClient, path: str, **headers: str) -> int:
    return client.get(path, headers={"host": HOST, **headers}).status_code


def test_the_page_opens_with_the_token_and_then_with_the_cookie(client: TestClient) -> None:
    first = client.get(f"/?token={TOKEN}", headers={"host": HOST})
    assert first.status_code == 200 and "chainrule studio" in first.text
    assert "HttpOnly; SameSite=Strict" in first.headers["set-cookie"]
    client.cookies.clear()
    assert status(client, "/", **COOKIE) == 200
    assert "set-cookie" not in client.get("/", headers={"host": HOST, **COOKIE}).headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8420", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:8420.evil.example",
     "127.0.0.1:8420@evil.example", "[::1]:8420", "0.0.0.0:8420", "", "localhost:8420 evil"],
)  # fmt: skip
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host, **COOKIE}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:8420", "http://127.0.0.1:8421",
     "http://127.0.0.1:8420.evil.example", "file://", "http://localhost"],
)  # fmt: skip
def test_another_origin_is_refused_by_every_door(client: TestClient, origin: str) -> None:
    assert status(client, "/", **COOKIE, origin=origin) == 403
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/live", headers=OWN | {"origin": origin}),
    ):
        pass


def test_the_guard_stands_before_websockets_too(client: TestClient) -> None:
    for missing in ("origin", "cookie"):
        headers = {name: value for name, value in OWN.items() if name != missing}
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("/live", headers=headers),
        ):
            pass
    with client.websocket_connect("/live", headers=OWN) as socket:
        assert socket.receive_json()["type"] == "session"


@pytest.mark.parametrize(
    "cookie",
    ["", "studio=", "studio=wrong", f"other={TOKEN}", f"studio={TOKEN}x", f"studio={TOKEN[:-1]}",
     "studio=\x80\x81", "=;;;=", f"studio=wrong; studio2={TOKEN}"],
)  # fmt: skip
def test_without_the_right_cookie_nothing_is_shown(client: TestClient, cookie: str) -> None:
    client.cookies.clear()
    raw = {b"host": HOST.encode(), b"cookie": cookie.encode("latin-1")}
    for path in (
        "/",
        "/api/entries",
        "/static/main.js",
        "/uplot/uPlot.iife.js",
        "/runs/a/curve.png",
    ):
        assert client.get(path, headers=raw).status_code == 401


@pytest.mark.parametrize("path", ["/api/entries", "/static/main.js", "/live", "/palette.css"])
def test_a_token_opens_only_the_front_page(client: TestClient, path: str) -> None:
    client.cookies.clear()
    assert status(client, f"{path}?token={TOKEN}") == 401


@pytest.mark.parametrize(
    "path",
    ["/runs/../secret.png", "/runs/a/../../secret.png", "/runs/%2e%2e/secret.png",
     "/runs/a/%2e%2e%2f%2e%2e%2fsecret.png", "/runs/..%2fa/curve.png", "/runs/a/link.png",
     "/runs/files/sent.svg", "/runs/a/config.json", "/runs/a/curve.png%00", "/runs//curve.png",
     "/runs/a/.png",
     "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fguard.py", "/uplot/../__init__.py",
     "/api/entries/models/..%2f..%2ferrors", "/runs/a%5c..%5c..%5csecret.png/x.png"],
)  # fmt: skip
def test_no_path_leads_out(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"host": HOST, **COOKIE})
    assert answer.status_code in (404, 422) and b"secret" not in answer.content


def test_a_picture_of_a_run_is_shown(client: TestClient) -> None:
    assert client.get("/runs/a/curve.png", headers={"host": HOST, **COOKIE}).content == b"picture"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_reading_is_possible_over_http(client: TestClient, method: str) -> None:
    for path in ("/", "/api/entries", "/runs/a/curve.png"):
        assert client.request(method, path, headers=OWN).status_code == 405
        bare = {name: value for name, value in OWN.items() if name != "origin"}
        assert client.request(method, path, headers=bare).status_code == 403


def test_a_large_body_is_refused(client: TestClient) -> None:
    answer = client.post("/", headers=OWN, content=b"x" * (LARGEST_BODY + 1))
    assert answer.status_code == 413
    for length in ("-1", "1e9", "99999999999999999999"):
        answer = client.get("/", headers=OWN | {"content-length": length})
        assert answer.status_code == 413


def test_every_answer_forbids_foreign_scripts_and_frames(client: TestClient) -> None:
    for path in ("/", "/static/main.js", "/api/entries", "/nothing"):
        headers = client.get(path, headers={"host": HOST, **COOKIE}).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and headers["x-content-type-options"] == "nosniff"


HOSTILE: list[Any] = [
    "", "not json", "[" * 100_000, "null", "[]", "3", '"text"', "{}", '{"type": "start"}',
    '{"type": "start", "channel": 3}', '{"type": "start", "channel": ""}',
    '{"type": "start", "channel": "' + "x" * 41 + '"}',
    '{"type": "start", "channel": "a", "activity": "os"}',
    '{"type": "start", "channel": "a", "activity": "../player"}',
    '{"type": "start", "channel": "a", "activity": ["claim"]}',
    '{"type": "start", "channel": "a", "activity": "claim", "settings": []}',
    '{"type": "exec", "channel": "a", "code": "import os"}', '{"type": [], "channel": "a"}',
    '{"type": {}, "channel": "a"}',
    '{"type": "start", "channel": "a", "activity": "__init__"}',
]  # fmt: skip


def test_malformed_messages_are_answered_with_a_sentence(client: TestClient) -> None:
    with client.websocket_connect("/live", headers=OWN) as socket:
        socket.receive_json()
        for text in HOSTILE:
            socket.send_text(text)
            answer = socket.receive_json()
            assert answer["type"] == "error" and answer["message"], text
        socket.send_text('{"type": "send", "channel": "none", "message": {}}')
        socket.send_text("still there")
        assert socket.receive_json()["type"] == "error"


def test_bytes_are_answered_like_any_malformed_message(client: TestClient) -> None:
    with client.websocket_connect("/live", headers=OWN) as socket:
        socket.receive_json()
        socket.send_bytes(b"\x00\xff")
        assert socket.receive_json()["type"] == "error"


def test_cookies_of_others_on_this_host_are_no_hindrance(client: TestClient) -> None:
    client.cookies.clear()
    both = f'prefs={{"a": 1}}; studio={TOKEN}; x="'
    assert status(client, "/", cookie=both) == 200


def test_a_session_that_was_taken_over_takes_no_more_orders(client: TestClient) -> None:
    with client.websocket_connect("/live", headers=OWN) as first:
        session = first.receive_json()["id"]
        with client.websocket_connect(f"/live?session={session}", headers=OWN) as second:
            assert second.receive_json()["id"] == session
            first.send_text('{"type": "start", "channel": "a", "activity": "runs"}')
            with pytest.raises(WebSocketDisconnect):
                first.receive_json()


def test_a_flood_of_messages_closes_the_connection(client: TestClient) -> None:
    with client.websocket_connect("/live", headers=OWN) as socket:
        socket.receive_json()
        with pytest.raises(WebSocketDisconnect):
            for _ in range(2000):
                socket.send_text("{}")
                socket.receive_json()


def test_another_machine_needs_a_token_of_ones_own() -> None:
    check_exposure("127.0.0.1", "")
    check_exposure("0.0.0.0", "a-long-enough-token")
    refused = [("0.0.0.0", ""), ("192.168.0.1", ""), ("::", ""), ("127.0.0.1", "short")]
    refused += [("0.0.0.0", "with spaces in the token"), ("localhost", "a;b=c" * 5)]
    for host, token in refused:
        with pytest.raises(InputError, match="token"):
            check_exposure(host, token)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    first = listen("127.0.0.1", 0, 8420)
    with first, pytest.raises(InputError, match="cannot listen"):
        listen("127.0.0.1", first.getsockname()[1], 8420)
