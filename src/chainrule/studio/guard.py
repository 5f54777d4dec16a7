"""Who may talk to the studio: checks of every request, WebSockets included.

As plain ASGI middleware: middleware for HTTP alone would let WebSockets pass unseen.

    Host     must be an address of this server: another name may be a rebound one (DNS rebinding)
    Origin   must be this server's own page; needed for WebSockets and for everything but GET
    token    in the address of the first request, then in a cookie that no script can read
    size     of a body, at most
"""

from collections.abc import Iterable
from urllib.parse import parse_qs

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chainrule.asgi import answer, limited, same, values

LARGEST_BODY = 2**20  # bytes
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self' {sockets}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)


class Guard:
    """Refuses what does not come from this server's own page.

    Args:
        app: what is guarded.
        hosts: the values of the Host header that are ours, such as `127.0.0.1:8420`.
        token: who knows it may enter.
        cookie: the name of the cookie; cookies are shared by all ports of a host.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], token: str, cookie: str):
        self.app, self.token, self.cookie = app, token, cookie
        self.hosts = {host.lower() for host in hosts}
        sockets = " ".join(f"ws://{host}" for host in sorted(self.hosts))
        self.headers = [
            (b"content-security-policy", POLICY.format(sockets=sockets).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is None:
            await self.app(scope, limited(receive, LARGEST_BODY), self.marking(scope, send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(send, *refusal)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and sentence, or None for what may pass."""
        headers = values(scope)
        hosts, origins = headers.get(b"host", []), headers.get(b"origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "this server does not answer to that host"
        own = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if (origins or own) and [origin.lower() for origin in origins] != [
            f"http://{hosts[0].lower()}"
        ]:
            return 403, "only this server's own page may ask that"
        if not (self.has_cookie(headers.get(b"cookie", [])) or self.has_token(scope)):
            return 401, "open the address that `chainrule studio` printed: it holds the token"
        sizes = headers.get(b"content-length", ["0"])
        if len(sizes) != 1 or not sizes[0].isdigit() or int(sizes[0]) > LARGEST_BODY:
            return 413, f"a request may have at most {LARGEST_BODY} bytes"
        return None

    def has_token(self, scope: Scope) -> bool:
        """Whether the address of the front page holds the token."""
        if scope["type"] != "http" or scope["path"] != "/":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        return same(given[0], self.token)

    def has_cookie(self, cookies: list[str]) -> bool:
        found = cookie_parser("; ".join(cookies)).get(self.cookie)
        return found is not None and same(found, self.token)

    def marking(self, scope: Scope, send: Send) -> Send:
        """`send` with our headers, and the cookie for whoever came with the token."""
        headers = list(self.headers)
        if self.has_token(scope):
            cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
            headers.append((b"set-cookie", cookie.encode()))

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = {name for name, _ in message.get("headers", [])}
                kept = [(name, value) for name, value in headers if name not in named]
                message["headers"] = [*message.get("headers", []), *kept]
            await send(message)

        return marked
