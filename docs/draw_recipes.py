"""Train recipes and keep their pictures: `python docs/draw_recipes.py NAME … [-- FLAGS]`.

Each is trained with seed 0 and these flags into a temporary folder; its pictures, the learning
curve among them, go to docs/pictures/recipes/NAME, beside the command. `NAME=FOLDER` takes the
pictures of a finished run that had these flags. A recipe that reads a user's files gets those of
docs/own_files.py, from the data sets in $CHAINRULE_DATA, and needs no flags.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from book.links import PROJECT
from book.pictures import COMMAND, KEPT, WIDTH, shrink

sys.path.insert(0, str(PROJECT))  # for benchmarks
from own_files import OWN

MOST = 6  # pictures of one recipe
LARGEST = 60_000  # bytes of one of them


def draw(name: str, flags: list[str]) -> None:
    """Train a recipe and keep its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        if name in OWN:
            OWN[name].write(Path(os.environ["CHAINRULE_DATA"]).resolve(), Path(folder))
            flags = [*OWN[name].flags.split(), "--threads", "1", *flags]
        words = ["train", name, "--seed", "0", *flags]
        program = [sys.executable, "-m", "chainrule"]
        subprocess.run([*program, *words, "--quiet", "--out", "run"], cwd=folder, check=True)
        keep(name, Path(folder) / "run", shlex.join(["chainrule", *words]))


def keep(name: str, run: Path, command: str) -> None:
    """Copy the pictures of a run, at the size of a page, and the command that drew them.

    What a user's files hold is the second line of that file.
    """
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
    lines = [command, OWN[name].said] if name in OWN else [command]
    (target / COMMAND).write_text("\n".join(lines) + "\n", "utf-8")
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
