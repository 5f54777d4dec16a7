"""Run folders for the page: what they hold, and the processes that train them."""

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from chainrule.studio.activity import Json


class Processes:
    """The training processes that this server has started.

    Args:
        root: the folder of the runs.
    """

    def __init__(self, root: Path):
        self.root = root

    async def close(self) -> None:
        """Stop everything that is still training."""


async def all_runs(request: Request) -> JSONResponse:
    """Every run folder at a glance."""
    return JSONResponse(await run_in_threadpool(summaries, request.app.state.runs.root))


def summaries(root: Path) -> Json:
    from chainrule.runs.overview import overview, run_folders

    found, broken = overview(run_folders([root])) if root.is_dir() else ([], [])
    shown = [
        {"name": Path(run.name).name, "recipe": run.recipe, "state": run.state} for run in found
    ]
    return {"runs": shown, "broken": broken}


ROUTES = [Route("/api/runs", all_runs)]
