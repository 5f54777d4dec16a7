"""Changes of a file that keep enough of its structure to reach deep into its reader."""

import gzip
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]
NUMBERS = (0, 1, 2, 7, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
WORDS = (
    "", " ", "nan", "inf", "-inf", "1e999", "-1", "0", "1.5", "١٢", "1_000", "\0", '"', "'", "é",
    "\ud7ff", "\ufeff", "<pad>", "None", "null", "true", "9" * 400, "x" * 5000, " " * 2000 + "1",
    "../../etc/passwd", "__reduce__", "-0.0", "0x10", "1,2", "\t", "\r", "🂡",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 1.5, -0.0, 1e308, float("nan"), float("inf"),
    "", "x", [], {}, [1], {"a": 1}, [[]], [None], "9" * 300, [0] * 2000, {"kind": "image"},
)  # fmt: skip


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """One to four small changes anywhere."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        place = draw.randrange(len(data) + 1)
        kind = draw.randrange(8)
        if kind == 0 and data:
            data[place % len(data)] ^= 1 << draw.randrange(8)
        elif kind == 1 and data:
            data[place % len(data)] = draw.randrange(256)
        elif kind == 2:
            del data[place : place + draw.choice((1, 2, 8, 100))]
        elif kind == 3:
            data[place:place] = data[place : place + draw.choice((1, 4, 64))]
        elif kind == 4:
            data[place:place] = bytes(draw.randrange(256) for _ in range(draw.choice((1, 4, 16))))
        elif kind == 5:
            form = draw.choice(("<I", ">I", "<Q", ">Q", "<H"))
            number = draw.choice(NUMBERS) % (1 << 8 * struct.calcsize(form))
            data[place : place + struct.calcsize(form)] = struct.pack(form, number)
        elif kind == 6:
            data = data[:place]
        else:
            data[place : place + 16] = bytes(16)
    return bytes(data)


def changed_lines(content: bytes, draw: random.Random) -> bytes:
    """Lines and fields taken away, doubled, exchanged and replaced."""
    lines = content.decode("utf-8", "replace").split("\n")
    for _ in range(draw.choice((1, 1, 2, 4))):
        place = draw.randrange(len(lines))
        kind = draw.randrange(5)
        if kind == 0 and len(lines) > 1:
            del lines[place]
        elif kind == 1:
            lines[place:place] = [lines[place]] * draw.choice((1, 3, 50))
        elif kind == 2:
            other = draw.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        else:
            mark = max(",\t ", key=lines[place].count)
            fields = lines[place].split(mark)
            fields[draw.randrange(len(fields))] = draw.choice(WORDS)
            lines[place] = mark.join(fields)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def changed_json(content: bytes, draw: random.Random) -> bytes:
    """A value replaced by one of another kind or size, a key lost, renamed or doubled."""
    try:
        tree = json.loads(content)
    except ValueError:
        return changed_bytes(content, draw)
    if draw.random() < 0.03:
        return b"[" * 100_000
    for _ in range(draw.choice((1, 1, 2, 3))):
        tree = changed_node(tree, draw)
    text = json.dumps(tree)
    if draw.random() < 0.05:
        text = text.replace("1", "9" * 5000, 1)
    return text.encode()


def changed_node(tree: Any, draw: random.Random) -> Any:
    """The tree with one change, at a random depth."""
    if isinstance(tree, dict) and tree and draw.random() < 0.8:
        key = draw.choice(list(tree))
        kind = draw.randrange(6)
        if kind == 0:
            return {k: v for k, v in tree.items() if k != key}
        if kind == 1:
            return {(draw.choice(WORDS) if k == key else k): v for k, v in tree.items()}
        return tree | {key: changed_node(tree[key], draw)}
    if isinstance(tree, list) and tree and draw.random() < 0.8:
        place = draw.randrange(len(tree))
        kind = draw.randrange(4)
        if kind == 0:
            return tree[:place] + tree[place + 1 :]
        if kind == 1:
            return tree[:place] + [tree[place]] * draw.choice((2, 3, 40)) + tree[place + 1 :]
        return [*tree[:place], changed_node(tree[place], draw), *tree[place + 1 :]]
    return draw.choice(VALUES)


def changed_json_lines(content: bytes, draw: random.Random) -> bytes:
    """One line of JSON changed, or the order and number of the lines."""
    lines = content.split(b"\n")
    place = draw.randrange(len(lines))
    if draw.random() < 0.5 and lines[place]:
        lines[place] = changed_json(lines[place], draw)
        return b"\n".join(lines)
    return changed_lines(content, draw)


def inside_gzip(change: Mutation) -> Mutation:
    """The unpacked content changed and packed again; sometimes the packed bytes."""

    def changed(content: bytes, draw: random.Random) -> bytes:
        if draw.random() < 0.25:
            return changed_bytes(content, draw)
        return gzip.compress(change(gzip.decompress(content), draw), mtime=0)

    return changed


def inside_zip(change: Mutation) -> Mutation:
    """One member changed and packed again; sometimes the packed bytes."""

    def changed(content: bytes, draw: random.Random) -> bytes:
        if draw.random() < 0.25:
            return changed_bytes(content, draw)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = draw.choice(list(members))
        members[name] = change(members[name], draw)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in members.items():
                archive.writestr(member, data)
        return packed.getvalue()

    return changed


def changed_safetensors(content: bytes, draw: random.Random) -> bytes:
    """The JSON of the header changed and measured again; sometimes any bytes."""
    if draw.random() < 0.5:
        return changed_bytes(content, draw)
    size = int.from_bytes(content[:8], "little")
    header = changed_json(content[8 : 8 + size], draw)
    return struct.pack("<Q", len(header)) + header + content[8 + size :]


def any_of(*changes: Mutation) -> Mutation:
    """One of the mutations."""
    return lambda content, draw: draw.choice(changes)(content, draw)
