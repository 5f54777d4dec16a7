"""Pictures of the reference: of claims, drawn on every build; of recipes and data sets, kept.

A claim is measured and drawn when its file has changed since the last build. What needs a long run
or a download is drawn by `docs/draw_recipes.py` and `docs/draw_samples.py` into docs/pictures.
"""

import hashlib
import json
import os
import re
from pathlib import Path

from book.links import DOCS
from book.text import escaped
from chainrule.registry import Entry, entries

KEPT = DOCS / "pictures"
DRAWN = DOCS / "reference" / "pictures"
COMMAND = "command.txt"  # beside the pictures of a recipe: what drew them
SHAPES = "shapes.json"  # beside the pictures of the data sets: what loading them gives
MARGIN = 8  # pixels
WIDTH = 900  # pixels


def draw_claims() -> None:
    """A picture for every claim whose file is not the one that was drawn last."""
    from chainrule.lab.runner import mapped

    DRAWN.mkdir(parents=True, exist_ok=True)
    wanted = {claim_picture(claim).name: claim for claim in entries("claims")}
    for path in DRAWN.iterdir():
        if path.name not in wanted:
            path.unlink()
    stale = [claim for name, claim in wanted.items() if not (DRAWN / name).exists()]
    for _ in mapped(draw_claim, stale):
        pass


def draw_claim(claim: Entry) -> None:
    """Measure it and draw what was measured; the picture appears whole or not at all."""
    from chainrule.lab.result import check_entry
    from chainrule.plots.style import save

    path = claim_picture(claim)
    beside = save(check_entry(claim, {}).plot(), path.with_name(f".{path.name}"))
    shrink(beside)
    beside.rename(path)


def claim_picture(claim: Entry) -> Path:
    """Where it lies; the name changes with the claim's file."""
    mark = hashlib.sha256(claim.path.read_bytes()).hexdigest()[:10]
    return DRAWN / f"{claim.name}-{mark}.png"


def kept(kind: str, name: str) -> list[Path]:
    """Pictures of a recipe or data set, the learning curve first."""
    found = [*KEPT.glob(f"{kind}/{name}.png"), *KEPT.glob(f"{kind}/{name}/*.png")]
    return sorted(found, key=lambda path: (path.stem != "learning", path.stem))


def drawn_by(recipe: str) -> str:
    """The command that drew the kept pictures of a recipe."""
    return (KEPT / "recipes" / recipe / COMMAND).read_text("utf-8").splitlines()[0]


def drawn_from(recipe: str) -> str:
    """What the user's files hold that this command reads; nothing where it reads none."""
    return "".join((KEPT / "recipes" / recipe / COMMAND).read_text("utf-8").splitlines()[1:])


def is_short(recipe: str) -> bool:
    """Whether that command trains less than the recipe does: it sets a number."""
    return bool(re.search(r" --(?!seed|threads)[a-z-]+ \d", drawn_by(recipe)))


def shapes() -> dict[str, str]:
    """What Python prints of each data set when it is loaded."""
    found: dict[str, str] = json.loads((KEPT / "data" / SHAPES).read_text("utf-8"))
    return found


def drawn(path: Path, alt: str, page: Path = DOCS / "reference" / "kind") -> str:
    """The picture as seen from a page in this folder."""
    return f"![{escaped(alt)}]({os.path.relpath(path, page)})\n"


def shrink(path: Path, width: int = WIDTH) -> None:
    """Without white margins, at most so many pixels wide and 128 colors: a picture of a page."""
    from PIL import Image, ImageChops, ImageOps

    with Image.open(path) as picture:
        small = picture.convert("RGB")
    if inked := ImageChops.invert(small).getbbox():
        small = ImageOps.expand(small.crop(inked), MARGIN, "white")
    small.thumbnail((width, 2 * width))
    small.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
