"""Start the server, and open the page."""

import html
import secrets
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chainrule.addresses import (
    bracketed,
    check_exposure,
    is_any,
    lan_address,
    listen,
    own_hosts,
)

FIRST_PORT = 8420  # from which a free one is looked for
LARGEST_MESSAGE = 2**23  # bytes of one message of a page
DOORWAY = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={address}">
<title>chainrule studio</title>
<a href="{address}">Open the studio</a>
"""


def serve(
    host: str, port: int, token: str, root: Path, ready: Callable[[str], None], browser: bool
) -> None:
    """Serve the studio until it is interrupted.

    Args:
        host: address to listen on; another than loopback needs a token.
        port: 0 for a free one.
        token: who knows it may enter; empty for a new one.
        root: the folder of the runs.
        ready: called with the address of the page as soon as it answers.
        browser: open the page.
    """
    check_exposure(host, token)
    import uvicorn  # an extra; `chainrule studio` says so where it is missing

    from chainrule.studio.app import application

    listening = listen(host, port, FIRST_PORT)
    number = listening.getsockname()[1]
    token = token or secrets.token_urlsafe(24)
    app = application(own_hosts(host, number), token, f"chainrule-studio-{number}", root)
    shown = lan_address() if is_any(host) else host
    address = f"http://{bracketed(shown)}:{number}/?token={token}"
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    ready(address)
    with listening, doorway(address) as door:
        if browser:
            threading.Thread(target=webbrowser.open, args=(door,), daemon=True).start()
        server.run(sockets=[listening])


@contextmanager
def doorway(address: str) -> Iterator[str]:
    """The address of a file that leads to the page, readable by its owner alone.

    Every user of a machine can see the command line of a browser: it names this file, and not the
    token. The file is deleted when the studio closes.
    """
    with tempfile.TemporaryDirectory(prefix="chainrule-studio-") as folder:  # mode 0700
        file = Path(folder) / "open.html"
        file.touch(mode=0o600)
        file.write_text(DOORWAY.format(address=html.escape(address)))
        yield file.as_uri()
