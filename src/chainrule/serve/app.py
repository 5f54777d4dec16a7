"""The web application: predictions, health, metrics, and a page to try them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from chainrule.errors import InputError
from chainrule.runs.run import Run
from chainrule.serve.batching import Batcher, BusyError, Json
from chainrule.serve.choice import inputs_of
from chainrule.serve.guard import Guard
from chainrule.serve.inputs import LONGEST, Inputs
from chainrule.serve.monitoring import Monitor
from chainrule.serve.openapi import document

STATIC = Path(__file__).parent / "static"
PLACES = "POST /predict, GET /, /health, /metrics and /openapi.json"


def application(run: Run, hosts: Iterable[str], token: str = "") -> Starlette:
    """The service of a finished run.

    Args:
        run: whose model answers.
        hosts: values of the Host header that are ours.
        token: needed to ask; empty for none.
    """
    inputs, monitor = inputs_of(run), Monitor()
    _ = run.model  # read now, so that a damaged run is refused at the start
    batcher = Batcher(inputs.answer, monitor.batches.observe, inputs.together)
    service = Service(inputs, batcher, monitor)
    description = document(inputs, bool(token))

    async def openapi(_: Request) -> Response:
        return JSONResponse(description)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        work = asyncio.create_task(service.batcher.work())
        yield
        inputs.closing.set()
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        service.batcher.close()

    routes = [
        Route("/", page),
        Route("/docs", page),
        Route("/predict", service.predict, methods=["POST"]),
        Route("/health", service.health),
        Route("/metrics", service.metrics),
        Route("/openapi.json", openapi),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    guard = Middleware(Guard, hosts=tuple(hosts), token=token)
    return Starlette(
        routes=routes,
        middleware=[guard],
        exception_handlers={HTTPException: refused},
        lifespan=lifespan,
    )


class Service:
    """What the routes of one service share.

    Args:
        inputs: reads the examples of a request.
        batcher: collects requests.
        monitor: counts them.
    """

    def __init__(self, inputs: Inputs, batcher: Batcher, monitor: Monitor):
        self.inputs, self.batcher, self.monitor = inputs, batcher, monitor

    async def predict(self, request: Request) -> Response:
        start = time.perf_counter()
        answered = await self.answered(request)
        self.monitor.requests[answered.status_code] += 1
        self.monitor.latency.observe(time.perf_counter() - start)
        return answered

    async def answered(self, request: Request) -> Response:
        """The predictions, or a sentence on what is wrong with the request."""
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            return problem(415, "expected the header Content-Type: application/json")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            return problem(415, "expected a body that is not compressed")
        try:
            content = await asyncio.wait_for(request.body(), LONGEST)
            body = json.loads(content, parse_constant=no_number)
        except TimeoutError:
            return problem(408, f"the body did not arrive within {LONGEST:g} s")
        except ClientDisconnect:
            return problem(413, "the body is longer than it said, or too large")
        except (ValueError, RecursionError) as error:
            return problem(400, f"the body is not valid JSON: {why(error)}")
        try:
            found, notes = await asyncio.wait_for(self.predictions(body), LONGEST)
        except InputError as error:
            return problem(422, str(error))
        except BusyError:
            return problem(503, "too many requests wait; try again later")
        except TimeoutError:
            return problem(503, f"no answer within {LONGEST:g} s; send fewer examples")
        self.monitor.predictions += len(found)
        return JSONResponse({"predictions": found} | ({"notes": notes} if notes else {}))

    async def predictions(self, body: Any) -> tuple[list[Json], list[str]]:
        """One for each example of a body, and what the sender should know about them."""
        examples, size = await asyncio.to_thread(self.inputs.read, body)
        found = await self.batcher.ask(examples, size)
        return found, await asyncio.to_thread(self.inputs.notes, body)

    async def health(self, _: Request) -> Response:
        run = self.inputs.run
        return JSONResponse({"status": "ok", "run": run.folder.name, "recipe": run.name})

    async def metrics(self, _: Request) -> Response:
        return PlainTextResponse(self.monitor.text())


async def page(_: Request) -> Response:
    return FileResponse(STATIC / "index.html")


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = f"there is nothing here; the service has {PLACES}"
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        sentence = f"expected {allowed} at this address, got {request.method}"
    return JSONResponse({"error": sentence}, error.status_code, error.headers)


def problem(status: int, sentence: str) -> Response:
    extra = {503: {"retry-after": "1"}, 408: {"connection": "close"}}.get(status)
    return JSONResponse({"error": sentence}, status, extra)


def why(error: ValueError | RecursionError) -> str:
    """Why a body cannot be read."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not {error.encoding}"
    if isinstance(error, json.JSONDecodeError | NotANumberError):
        return str(error)
    return "a number has too many digits"


class NotANumberError(ValueError):
    """NaN or an infinity, which Python writes and JSON has not."""


def no_number(name: str) -> float:
    """JSON has no NaN and no infinities, although Python reads them."""
    raise NotANumberError(f"{name} is not a number of JSON")
