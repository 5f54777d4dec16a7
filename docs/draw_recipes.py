"""Train recipes and keep their pictures: `python docs/draw_recipes.py NAME … [-- FLAGS]`.

Each is trained with seed 0 and these flags into a temporary folder; its pictures, the learning
curve among them, go to docs/pictures/recipes/NAME, beside the command. `NAME=FOLDER` takes the
pictures of a finished run that had these flags.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from book.pictures import COMMAND, KEPT, WIDTH, shrink

MOST = 6  # pictures of one recipe
LARGEST = 60_000  # bytes of one of them


def draw(name: str, flags: list[str]) -> None:
    """Train a recipe and keep its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        words = ["train", name, "--seed", "0", *flags]
        program = Path(sys.executable).parent / "chainrule"
        subprocess.run([program, *words, "--quiet", "--out", out], check=True)
        keep(name, out, shlex.join(["chainrule", *words]))


def keep(name: str, run: Path, command: str) -> None:
    """Copy the pictures of a run, at the size of a page, and the command that drew them."""
    target = KEPT / "recipes" / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    found = sorted(run.glob("*.png"), key=lambda path: (path.stem != "learning", path.stem))
    for path in found[:MOST]:
        kept, width = Path(shutil.copy(path, target)), WIDTH
        shrink(kept)
        while kept.stat().st_size > LARGEST:
            width = width * 7 // 8
            shrink(kept, width)
    (target / COMMAND).write_text(command + "\n", "utf-8")
    print(name, *(path.stem for path in found[:MOST]))


def main(arguments: list[str]) -> None:
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    flags = arguments[cut + 1 :]
    for word in arguments[:cut]:
        name, _, run = word.partition("=")
        if run:
            keep(name, Path(run), shlex.join(["chainrule", "train", name, *flags]))
        else:
            draw(name, flags)


if __name__ == "__main__":
    main(sys.argv[1:])
