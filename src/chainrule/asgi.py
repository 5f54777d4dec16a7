"""Parts of ASGI middleware that the studio and the prediction service share."""

import hmac

from starlette.types import Message, Receive, Scope, Send


def values(scope: Scope) -> dict[bytes, list[str]]:
    """Headers by name, each with all of its values."""
    found: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value.decode("latin-1"))
    return found


def same(given: str, token: str) -> bool:
    """Compared in a time that says nothing about the token."""
    return hmac.compare_digest(given.encode(), token.encode())


def limited(receive: Receive, most: int) -> Receive:
    """`receive` that ends a body of more than `most` bytes, whatever length it announced."""
    total = 0

    async def counted() -> Message:
        nonlocal total
        message = await receive()
        if message["type"] == "http.request":
            total += len(message.get("body", b""))
            if total > most:
                return {"type": "http.disconnect"}
        return message

    return counted


async def answer(send: Send, status: int, sentence: str) -> None:
    """A refusal in plain text."""
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
