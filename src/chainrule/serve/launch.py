"""Start the service."""

from collections.abc import Callable

from chainrule.addresses import (
    bracketed,
    check_exposure,
    is_any,
    lan_address,
    listen,
    own_hosts,
)
from chainrule.runs.run import Run

FIRST_PORT = 8500  # from which a free one is looked for


def serve(run: Run, host: str, port: int, token: str, ready: Callable[[str], None]) -> None:
    """Serve a run until it is interrupted.

    Args:
        run: finished.
        host: address to listen on; another than loopback needs a token.
        port: 0 for a free one.
        token: needed to ask; empty for none.
        ready: called with the address as soon as it answers.
    """
    check_exposure(host, token)
    import uvicorn  # an extra; `chainrule serve` says so where it is missing

    from chainrule.serve.app import application
    from chainrule.serve.protocol import PatientProtocol

    with listen(host, port, FIRST_PORT) as listening:
        number = listening.getsockname()[1]
        app = application(run, own_hosts(host, number), token)
        config = uvicorn.Config(
            app,
            http=PatientProtocol,
            log_level="error",
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=5,
        )
        ready(f"http://{bracketed(lan_address() if is_any(host) else host)}:{number}")
        uvicorn.Server(config).run(sockets=[listening])
