"""Pictures of run folders; everything else about runs is an activity."""

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from chainrule.studio.place import is_name

CONFIG = "config.json"  # what makes a folder a run
KINDS = {".png": "image/png", ".svg": "image/svg+xml"}


def is_picture(path: Path) -> bool:
    """Whether it is a file of a run folder itself, not a link to somewhere else."""
    linked = path.is_symlink() or path.parent.is_symlink()
    return path.is_file() and (path.parent / CONFIG).is_file() and not linked


async def picture(request: Request) -> Response:
    """A picture that lies directly in a run folder."""
    run, name = request.path_params["run"], request.path_params["name"]
    path = request.app.state.sessions.root / run / name
    allowed = is_name(run) and is_name(name) and path.suffix in KINDS
    if not allowed or not await run_in_threadpool(is_picture, path):
        raise HTTPException(404, "there is no such picture")
    return FileResponse(path, media_type=KINDS[path.suffix])
