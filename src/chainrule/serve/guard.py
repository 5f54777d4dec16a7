"""Who may ask the service, and how much: checks of every request, as plain ASGI middleware.

    Host            must be an address of this server: another name may be a rebound one
    Origin          pages of other servers are refused
    Authorization   Bearer TOKEN, where the service has a token; the page and /health need none
    size            of a body, at most

A refusal is a status and a sentence as JSON.
"""

from collections.abc import Iterable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chainrule.asgi import limited, same, values

LARGEST_BODY = 32 * 2**20  # bytes
HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """Refuses requests of others, and bodies that are too large.

    Args:
        app: what is guarded.
        hosts: the values of the Host header that are ours.
        token: needed for everything but the page and /health; empty for none.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], token: str):
        self.app, self.token = app, token
        self.hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif refusal := self.refusal(scope):
            status, sentence = refusal
            extra = {"www-authenticate": "Bearer"} if status == 401 else None
            await JSONResponse({"error": sentence}, status, extra)(scope, receive, marked(send))
        else:
            await self.app(scope, limited(receive, LARGEST_BODY), marked(send))

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and sentence, or None for what may pass."""
        headers = values(scope)
        hosts, origins = headers.get(b"host", []), headers.get(b"origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "this server does not answer to that host"
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return 403, "pages of other servers may not ask this service"
        given = headers.get(b"authorization", [""])
        scheme, _, token = given[0].partition(" ")
        known = len(given) == 1 and scheme.lower() == "bearer" and same(token, self.token)
        if self.token and not is_open(scope["path"]) and not known:
            return 401, "send the header Authorization: Bearer TOKEN with the token of the service"
        sizes = headers.get(b"content-length", ["0"])
        if len(sizes) != 1 or not sizes[0].isdigit():
            return 400, "expected one Content-Length, a whole number"
        if int(sizes[0]) > LARGEST_BODY:
            return 413, f"a request may have at most {LARGEST_BODY:,} bytes"
        return None


def is_open(path: str) -> bool:
    """Whether a path says nothing of the run: anybody may see the page and that it answers."""
    return path in ("/", "/docs", "/health") or path.startswith("/static/")


def marked(send: Send) -> Send:
    """`send` with our headers."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return with_headers
