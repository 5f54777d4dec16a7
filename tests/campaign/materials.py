"""Good files of every format that the program reads: small, whole, and always the same."""

import gzip
import io
import json
import pickle
import random
import struct
from collections import defaultdict
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from scipy.sparse import csr_matrix

from campaign import runs
from campaign.isolation import isolated
from campaign.program import called

CUBE = (
    "OFF\n8 6 12\n"
    + "".join(f"{x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    + "4 0 1 3 2\n4 4 5 7 6\n4 0 1 5 4\n4 2 3 7 6\n4 0 2 6 4\n4 1 3 7 5\n"
)
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "dog", "##s", "ran", ".")


def write(folder: Path) -> None:
    """All of them."""
    runs.materials(folder)
    (folder / "cube.off").write_text(CUBE)
    (folder / "points.txt").write_text("".join(f"{k} {k % 5} {k % 3}\n" for k in range(40)))
    pictures(folder)
    arrays(folder)
    texts(folder)
    planetoid(folder / "planetoid")
    trained(folder)


def pictures(folder: Path) -> None:
    """A one in ink, as PNG, JPEG, GIF, BMP and TIFF."""
    image = Image.new("L", (40, 40), 255)
    ImageDraw.Draw(image).rectangle((18, 8, 23, 32), fill=0)
    for suffix in ("png", "jpg", "gif", "bmp", "tif"):
        image.save(folder / f"one.{suffix}")


def arrays(folder: Path) -> None:
    """Arrays as NPY, NPZ and gzipped IDX."""
    values = np.arange(60, dtype=np.float32).reshape(12, 5)
    np.save(folder / "array.npy", values)
    packed = {"X_train": np.zeros((2, 30, 30, 30), np.uint8), "y_train": np.zeros(2, int)}
    packed |= {"X_test": np.ones((2, 30, 30, 30), np.uint8), "y_test": np.ones(2, int)}
    np.savez_compressed(folder / "voxels.npz", **packed)
    content = b"\0\0\x08\x03" + struct.pack(">3I", 4, 5, 6) + bytes(range(120))
    (folder / "images.gz").write_bytes(gzip.compress(content, mtime=0))


def texts(folder: Path) -> None:
    """SQuAD, CoNLL-U, Multi30k, IMDB and vocabularies."""
    passage = "Yesterday the dog ran to the park."
    asked = {"question": "Who ran?", "id": "q", "answers": [{"answer_start": 14, "text": "dog"}]}
    paragraphs = [{"context": passage, "qas": [asked]}]
    articles = [{"title": f"a{k}", "paragraphs": paragraphs} for k in range(3)]
    (folder / "squad.json").write_text(json.dumps({"data": articles, "version": "1.1"}))
    words = (("The", "DET"), ("dog", "NOUN"), ("ran", "VERB"), (".", "PUNCT"))
    rows = "\n".join(
        f"{k}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for k, (word, tag) in enumerate(words, 1)
    )
    block = f"# newdoc id = d\n# text = The dog ran.\n{rows}\n\n"
    (folder / "ewt.conllu.gz").write_bytes(gzip.compress((block * 3).encode(), mtime=0))
    (folder / "multi30k").mkdir()
    for part in ("train", "val", "test_2016_flickr"):
        for language in ("de", "en"):
            lines = gzip.compress(b"ein Hund .\nzwei Hunde .\n", mtime=0)
            (folder / "multi30k" / f"{part}.{language}.gz").write_bytes(lines)
    (folder / "imdb").mkdir()
    for part in ("train", "test"):
        rows_of = [json.dumps({"text": f"a film {k}", "label": k % 2}) for k in range(4)]
        packed = gzip.compress("\n".join(rows_of).encode(), mtime=0)
        (folder / "imdb" / f"{part}.jsonl.gz").write_bytes(packed)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    vocabulary = {"kind": "wordpiece", "tokens": PIECES, "max_length": 16, "lowercase": True}
    (folder / "pieces.json").write_text(json.dumps(vocabulary))


def planetoid(folder: Path) -> None:
    """A citation graph in the eight files of Planetoid, under Cora's name."""
    folder.mkdir()
    matrix, one_hot = csr_matrix(np.eye(4, dtype=np.float32)), np.eye(4, 7, dtype=np.int32)
    near = defaultdict(list, {0: [1, 2], 1: [0], 2: [0, 3], 3: [2]})
    parts = {"x": matrix, "tx": matrix, "allx": matrix, "graph": near}
    parts |= {"y": one_hot, "ty": one_hot, "ally": one_hot}
    for name, value in parts.items():
        (folder / f"ind.cora.{name}").write_bytes(python_2(pickle.dumps(value, protocol=2)))
    (folder / "ind.cora.test.index").write_text("4\n6\n5\n7\n")


def python_2(content: bytes) -> bytes:
    """The names that Python 2 and NumPy 1 wrote."""
    content = content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    return content.replace(b"scipy.sparse._csr", b"scipy.sparse.csr")


def hostile_pickles(draw: random.Random) -> bytes:
    """Pickles that call, nest or allocate."""
    pointers = (
        b"\x80\x02cnumpy\nndarray\n((K\x08tcnumpy\ndtype\nX\x01\0\0\0OK\0K\1\x87R"
        b"U@" + bytes(draw.randrange(256) for _ in range(64)) + b"tR."
    )
    nested = b"\x80\x02]q\0" + b"".join(
        b"]q" + bytes([k + 1]) + b"(h" + bytes([k]) + b"h" + bytes([k]) + b"e" for k in range(90)
    )
    call = b"\x80\x02cos\nsystem\nX\x04\0\0\0true\x85R."
    huge = b"\x80\x02cnumpy\nndarray\n(J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86tR."
    deep = b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b"."
    return draw.choice((pointers, nested + b".", call, huge, deep))


def trained(folder: Path) -> None:
    """A finished run of pictures, one of a table, one that was stopped, and a search."""
    small = "--epochs 2 --hidden 4 --no-pictures --quiet"
    for line in (
        f"train digits-mlp {small} --out run",
        f"train mlp --table table.csv --target y {small} --out rows",
        "tune moons-mlp --trials 1 --folds 2 --epochs 1 --quiet --out search",
    ):
        if (call := called(line.split(), folder)).ended.value != 0:
            raise RuntimeError(f"the undisturbed command failed: {call}")
    stopped = isolated(lambda: stop(folder))
    if stopped.value is not None:
        raise RuntimeError(f"the run that is to be stopped failed: {stopped.value!r}")


def stop(folder: Path) -> None:
    """A run that was left after its first epoch."""
    from chainrule.registry import find
    from chainrule.runs.configuration import configure
    from chainrule.runs.run import Run

    entry = find("recipes", "digits-mlp")
    values = {"epochs": 2, "hidden": (4,), "checkpoint_seconds": 0.0}
    steps = Run.create(entry, configure(entry.load().Recipe, values), folder / "stopped").train(
        "cpu", False
    )
    for step in steps:
        if step.record:
            break
    steps.close()


def png(width: int, height: int) -> bytes:
    """A picture of one color, as small as it can be packed."""
    packed = io.BytesIO()
    Image.new("L", (width, height), 255).save(packed, "PNG", optimize=True)
    return packed.getvalue()
