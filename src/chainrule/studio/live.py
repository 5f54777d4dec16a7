"""The WebSocket between a page and its session."""

import json
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from chainrule.errors import InputError
from chainrule.studio.channels import Deliver
from chainrule.studio.sessions import Session, Sessions

TOO_MANY, TOO_FAST, TAKEN_OVER = 1013, 1008, 1000  # codes with which a WebSocket is closed


async def live(websocket: WebSocket) -> None:
    """Serve one page until it goes away."""
    sessions: Sessions = websocket.app.state.sessions
    await websocket.accept()

    async def page(text: str) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # it has gone meanwhile
            await websocket.send_text(text)

    try:
        client = websocket.client.host if websocket.client else ""
        session = sessions.attach(websocket.query_params.get("session", ""), page, client)
    except InputError as error:
        await websocket.send_json({"type": "full", "message": str(error)})
        await websocket.close(TOO_MANY)
        return
    try:
        await websocket.send_json({"type": "session", "id": session.id})
        for channel in list(session.channels.values()):
            await channel.send({"type": "look"})
        await converse(websocket, sessions, session, page)
    except (WebSocketDisconnect, RuntimeError):  # Starlette's word for a socket that has closed
        pass
    finally:
        sessions.detach(session, page)


async def converse(
    websocket: WebSocket, sessions: Sessions, session: Session, page: Deliver
) -> None:
    """Message by message, until another connection takes the session over.

    A message that is malformed is answered with a sentence.
    """
    while True:
        received = await websocket.receive()
        if received["type"] == "websocket.disconnect":
            return
        if session.page is not page:
            await websocket.close(TAKEN_OVER, "another tab has this session")
            return
        text = received.get("text") or ""
        if not session.within_rate():
            await websocket.close(TOO_FAST, "too many messages")
            return
        channel = ""
        try:
            message = parsed(text)
            channel = message.get("channel", "") if isinstance(message, dict) else ""
            await sessions.handle(session, message)
        except InputError as error:
            shown = channel if isinstance(channel, str) else ""
            await session.tell("error", shown, message=str(error))


def parsed(text: str) -> object:
    """The JSON of a message."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("a message must be JSON") from None
