"""Where a server of ours listens."""

import socket

from chainrule.addresses import listen


def test_small_answers_are_not_held_back() -> None:
    """asyncio sets TCP_NODELAY only on sockets whose protocol is named."""
    with listen("127.0.0.1", 0, 8900) as listening:
        assert listening.proto == socket.IPPROTO_TCP
