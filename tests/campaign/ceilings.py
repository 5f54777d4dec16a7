"""Small files that could cost much: time and memory must stay in proportion to their size.

The ceilings hold for every changed file as well.
"""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from campaign import formats, materials
from campaign.attempt import Attack, Found, Outcome
from campaign.isolation import Ended, isolated
from chainrule.errors import InputError

SECONDS, SECONDS_PER_BYTE = 5.0, 20e-6
BYTES, BYTES_PER_BYTE = 400 * 2**20, 100
UNPACKED = 2 * 2**29  # bytes: what is packed may unpack to 512 MB, of which one copy is made
PACKED = (".gz", ".npz", ".zip")


def excess(ended: Ended, path: Path) -> str:
    """What a file cost too much for its size; empty if nothing."""
    size = path.stat().st_size
    allowed = UNPACKED if path.suffix in PACKED else BYTES
    if ended.seconds > SECONDS + size * SECONDS_PER_BYTE:
        return f"{ended.seconds:.1f} s for {size:,} bytes"
    if ended.grown > allowed + size * BYTES_PER_BYTE:
        return f"{ended.grown / 2**20:,.0f} MB for {size:,} bytes"
    return ""


class Costly(NamedTuple):
    """A file that is cheap to make; `content` takes what draws its size."""

    file: str
    content: Callable[[random.Random], bytes]
    read: Callable[[Path], object]


def words(draw: random.Random) -> bytes:
    """Thousands of different words in a column."""
    rows = (f"w{k}" + "x" * 40 + f",{k % 2}" for k in range(draw.randint(1000, 6000)))
    return "\n".join(["word,y", *rows]).encode()


def columns(draw: random.Random) -> bytes:
    """Very many columns."""
    number = draw.randint(20_000, 120_000)
    header = ",".join(["y", *(f"c{k}" for k in range(number))])
    return "\n".join([header, *(f"{k % 2}" + ",1" * number for k in range(2))]).encode()


def blanks(draw: random.Random) -> bytes:
    """Cells of blanks that a pattern may walk over again and again."""
    cell = " " * draw.randint(1000, 60_000)
    return "\n".join(["a,y", *(f'"1{cell}x",{k % 2}' for k in range(20))]).encode()


def fields(draw: random.Random) -> bytes:
    """One enormous field, within a quote that never ends."""
    return b'a,y\n"' + b"x" * draw.randint(10_000, 500_000)


def digits(draw: random.Random) -> bytes:
    """Numbers of very many digits."""
    number = "9" * draw.randint(1000, 100_000)
    return "\n".join(["a,y", *(f"{number},{k % 2}" for k in range(20))]).encode()


def picture(draw: random.Random) -> bytes:
    """A picture of one color and very many pixels."""
    return materials.png(draw.randint(4000, 20_000), draw.randint(4000, 20_000))


def gzip_bomb(draw: random.Random) -> bytes:
    """An IDX file that unpacks to thousands of times its size."""
    return gzip.compress(b"\0\0\x08\x01\xff\xff\xff\xff" + bytes(draw.randint(2, 6) * 10**8), 9)


def zip_bomb(draw: random.Random) -> bytes:
    """An archive of arrays that unpack to thousands of times their size."""
    packed = io.BytesIO()
    header = io.BytesIO()
    number = draw.randint(2, 6) * 10**8
    shape = {"descr": "|u1", "fortran_order": False, "shape": (number,)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("X_train", "y_train", "X_test", "y_test"):
            archive.writestr(f"{name}.npy", header.getvalue() + bytes(number))
    return packed.getvalue()


def npy_claim(draw: random.Random) -> bytes:
    """A header that promises more numbers than the file holds."""
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (draw.randint(1, 10**12), 8)}
    np.lib.format.write_array_header_1_0(header, shape)
    return header.getvalue() + bytes(64)


def off_claim(draw: random.Random) -> bytes:
    """A mesh that promises billions of corners, or a face with thousands of them."""
    if draw.random() < 0.5:
        return f"OFF\n{draw.randint(10**6, 10**12)} 1 0\n0 0 0\n3 0 1 2\n".encode()
    corners = draw.randint(1000, 50_000)
    face = " ".join(["3"] * corners)
    return f"OFF\n4 1 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n{corners} {face}\n".encode()


def deep(draw: random.Random) -> bytes:
    """Brackets in brackets."""
    return draw.choice((b"[", b'{"data":')) * draw.randint(500, 200_000)


def pickles(draw: random.Random) -> bytes:
    """Instructions that nest, repeat or allocate."""
    return materials.hostile_pickles(draw)


def safetensors_claim(draw: random.Random) -> bytes:
    """A header that promises more than the file holds."""
    size = draw.randint(1, 2**40)
    header = json.dumps({"w": {"dtype": "F32", "shape": [size], "data_offsets": [0, 4 * size]}})
    return len(header).to_bytes(8, "little") + header.encode()


COSTLY = (
    *(
        Costly("table.csv", make, formats.table)
        for make in (words, columns, blanks, fields, digits)
    ),
    Costly("one.png", picture, formats.picture("one.png")),
    Costly("images.gz", gzip_bomb, formats.idx),
    Costly("voxels.npz", zip_bomb, formats.npz),
    Costly("array.npy", npy_claim, formats.npy),
    Costly("cube.off", off_claim, formats.points("cube.off")),
    Costly("squad.json", deep, formats.squad),
    Costly("pieces.json", deep, formats.pieces("pieces.json")),
    Costly("planetoid/ind.cora.x", pickles, formats.data_set("cora")),
)


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    file, content, read = COSTLY[number % len(COSTLY)]
    if file.startswith("planetoid"):
        materials.planetoid(folder / "planetoid")
    made = isolated(lambda: (folder / file).write_bytes(content(draw)), limit=120)
    if made.value is None or isinstance(made.value, Exception):
        return Found(Outcome.SKIPPED, f"the file could not be made: {made.value!r}")
    size = (folder / file).stat().st_size
    ended = isolated(lambda: read(folder), limit=90)
    name = f"{content.__name__} ({file}, {size:,} bytes)"
    if ended.hung:
        return Found(Outcome.HANG, name)
    if over := excess(ended, folder / file):
        return Found(Outcome.CEILING, f"{name}: {over}")
    if ended.signal:
        return Found(Outcome.CRASH, f"{name}: signal {ended.signal}")
    if isinstance(ended.value, InputError):
        return Found(Outcome.REFUSED, f"{name}: {str(ended.value)[:200]}")
    if isinstance(ended.value, BaseException):
        return Found(Outcome.RAW, f"{name}: {type(ended.value).__name__}: {str(ended.value)[:200]}")
    return Found(Outcome.RIGHT)


ATTACK = Attack("ceilings", attempt, small=len(COSTLY), full=20 * len(COSTLY))
