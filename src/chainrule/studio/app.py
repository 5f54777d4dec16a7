"""The web application: the page, its assets, what there is, the runs, and the live connection."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from chainrule.errors import InputError
from chainrule.plots import palette
from chainrule.studio import entries, runs
from chainrule.studio.channels import warm_up
from chainrule.studio.guard import Guard
from chainrule.studio.live import live
from chainrule.studio.sessions import Sessions

STATIC = Path(__file__).parent / "static"


def application(
    hosts: Iterable[str], token: str, cookie: str, root: Path = Path("runs")
) -> Starlette:
    """The studio.

    Args:
        hosts: values of the Host header that are ours.
        token: who knows it may enter.
        cookie: name of the cookie that holds it.
        root: the folder of the runs.
    """
    routes = [
        Route("/", front_page),
        Route("/palette.css", colors),
        Route("/api/entries", entries.everything),
        Route("/api/entries/{kind}/{name}", entries.entry),
        Route("/runs/{run}/{name}", runs.picture),
        WebSocketRoute("/live", live),
        Mount("/static", StaticFiles(directory=STATIC)),
        Mount("/uplot", StaticFiles(directory=uplot_folder())),
    ]
    guard = Middleware(Guard, hosts=tuple(hosts), token=token, cookie=cookie)
    handlers = {InputError: bad_input, HTTPException: refused}
    app = Starlette(
        routes=routes,
        middleware=[guard, Middleware(GZipMiddleware)],
        exception_handlers=handlers,
        lifespan=lifespan,
    )
    app.state.sessions = Sessions(root)
    return app


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Children are made ready at the start and killed at the end."""
    warm_up()
    yield
    await app.state.sessions.close()


async def front_page(_: Request) -> Response:
    return FileResponse(STATIC / "index.html")


async def colors(_: Request) -> Response:
    """The palette of all figures as CSS variables."""
    series = [f"--series-{k}: {color};" for k, color in enumerate(palette.EXTENDED_PALETTE)]
    names = ("blue", "orange", "green", "sky", "brown", "red", "peach", "ink", "quiet", "faint")
    named = [f"--{name}: {getattr(palette, name.upper())};" for name in names]
    return Response(f":root {{ {' '.join([*series, *named])} }}\n", media_type="text/css")


async def bad_input(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 422)


async def refused(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return JSONResponse({"error": getattr(error, "detail", "refused")}, status)


def uplot_folder() -> Path:
    """The files of uPlot, as the package `uplot-python` brings them; it is not imported."""
    spec = find_spec("uplot")
    if spec is None or spec.origin is None:
        raise InputError(
            "the studio draws curves with uplot-python: pip install 'chainrule[studio]'"
        )
    return Path(spec.origin).parent / "static"
