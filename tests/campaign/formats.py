"""How the program reads each file: what is changed, how, and what must come out."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaign import mutations as m
from campaign.materials import hostile_pickles


@dataclass(frozen=True)
class Format:
    """One file that the program reads.

    Args:
        file: its path in the folder of materials.
        change: a mutation.
        read: (folder) ↦ what the program makes of it.
        checked: whether a changed file must be refused or give the same value.
        needs: further files and folders of the materials.
        share: how often it is tried, relative to the others.
    """

    file: str
    change: m.Mutation
    read: Callable[[Path], Any]
    checked: bool = False
    needs: tuple[str, ...] = ()
    share: int = 4


def table(folder: Path) -> object:
    from chainrule.data.readers.tables.table import table as read

    return len(read(folder / "table.csv", "y").train.x)


def graph(folder: Path) -> object:
    from chainrule.data.readers.graphs.graph_table import graph_table

    return len(graph_table(folder / "edges.csv", folder / "nodes.csv", "y").train.x)


def text(folder: Path) -> object:
    from chainrule.data.readers.texts.text_file import text_file

    return len(text_file(folder / "text.txt", 8).train.x)


def points(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from chainrule.data.readers.points.point_encoders import PointEncoder

        return PointEncoder(32).encode_file(folder / name).shape

    return read


def picture(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from chainrule.data.readers.encoders import ImageEncoder

        return ImageEncoder(28, margin=0.1).encode_file(folder / name).shape

    return read


def npy(folder: Path) -> object:
    from chainrule.data.readers.arrays import memory_mapped

    return float(memory_mapped(folder / "array.npy").double().sum())


def npz(folder: Path) -> object:
    from chainrule.data.datasets.modelnet10 import read_voxels

    return len(read_voxels(folder / "voxels.npz"))


def idx(folder: Path) -> object:
    from chainrule.data.readers.images.idx import read_idx

    return read_idx(folder / "images.gz").shape


def data_set(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from chainrule.registry import find

        return type(find("data", name).load().load(folder)).__name__

    return read


def squad(folder: Path) -> object:
    from chainrule.data.datasets.squad import read

    return len(read(folder / "squad.json"))


def ewt(folder: Path) -> object:
    from chainrule.data.datasets.ewt import read

    return len(read(folder / "ewt.conllu.gz"))


def pieces(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from chainrule.data.text.wordpiece import read_wordpiece

        return len(read_wordpiece(folder / name).encode("the dogs ran."))

    return read


def run(name: str, given: str) -> Callable[[Path], object]:
    """Everything that a finished run is asked; the value is its weights."""

    def read(folder: Path) -> object:
        from chainrule.runs.overview import summarize
        from chainrule.runs.run import Run

        found = Run.load(folder / name)
        assert found.summary and found.result and list(found.history) is not None
        summarize(folder / name)
        found.predict([folder / given])
        return digest(found.model)

    return read


def resumed(folder: Path) -> object:
    """The weights in which a stopped run ends."""
    from chainrule.runs.run import Run

    found = Run.load(folder / "stopped")
    for _ in found.train("cpu", False):
        pass
    return digest(found.model)


def searched(folder: Path) -> object:
    from chainrule.tuning.result import open_plan

    return type(open_plan(folder / "search")[0]).__name__


def decoded(folder: Path) -> object:
    """An array through its decoded copy, which is the file that was changed."""
    from chainrule.data.cache import decoded as read
    from chainrule.data.readers.images.idx import read_idx

    return hashlib.sha256(read(folder / "images.gz", read_idx).tobytes()).hexdigest()


def digest(model: Any) -> str:
    state = model.state_dict()
    parts = (t.detach().contiguous().view(-1).numpy().tobytes() for t in state.values())
    return hashlib.sha256(b"".join(parts)).hexdigest()


PICKLES = m.any_of(m.changed_bytes, m.changed_bytes, lambda _, draw: hostile_pickles(draw))
PAIR = ("run", "one.png")
FORMATS = (
    Format("table.csv", m.any_of(m.changed_lines, m.changed_bytes), table),
    Format("edges.csv", m.any_of(m.changed_lines, m.changed_bytes), graph, needs=("nodes.csv",)),
    Format("nodes.csv", m.any_of(m.changed_lines, m.changed_bytes), graph, needs=("edges.csv",)),
    Format("text.txt", m.any_of(m.changed_lines, m.changed_bytes), text, share=2),
    Format("cube.off", m.any_of(m.changed_lines, m.changed_bytes), points("cube.off")),
    Format("points.txt", m.any_of(m.changed_lines, m.changed_bytes), points("points.txt"), share=2),
    *(Format(f"one.{s}", m.changed_bytes, picture(f"one.{s}"), share=2) for s in ("png", "jpg")),
    *(Format(f"one.{s}", m.changed_bytes, picture(f"one.{s}"), share=1) for s in ("gif", "tif")),
    Format("array.npy", m.any_of(m.changed_bytes, m.changed_lines), npy),
    Format("voxels.npz", m.inside_zip(m.changed_bytes), npz, share=1),
    Format("images.gz", m.inside_gzip(m.changed_bytes), idx),
    *(
        Format(f"planetoid/ind.cora.{part}", PICKLES, data_set("cora"), needs=("planetoid",))
        for part in ("ally", "allx", "graph", "x")
    ),
    Format("squad.json", m.any_of(m.changed_json, m.changed_json, m.changed_bytes), squad),
    Format("ewt.conllu.gz", m.inside_gzip(m.changed_lines), ewt),
    Format("multi30k/val.de.gz", m.inside_gzip(m.changed_lines), data_set("multi30k"),
           needs=("multi30k",), share=1),
    Format("imdb/train.jsonl.gz", m.inside_gzip(m.changed_json_lines), data_set("imdb"),
           needs=("imdb",), share=2),
    Format("vocab.txt", m.any_of(m.changed_lines, m.changed_bytes), pieces("vocab.txt"), share=2),
    Format("pieces.json", m.any_of(m.changed_json, m.changed_bytes), pieces("pieces.json")),
    Format("run/config.json", m.any_of(m.changed_json, m.changed_bytes), run(*PAIR), needs=PAIR),
    Format("run/data.json", m.any_of(m.changed_json, m.changed_bytes), run(*PAIR), needs=PAIR),
    Format("rows/data.json", m.changed_json, run("rows", "table.csv"), needs=("rows", "table.csv")),
    Format("run/result.json", m.any_of(m.changed_json, m.changed_bytes), run(*PAIR), needs=PAIR),
    Format("run/metrics.jsonl", m.changed_json_lines, run(*PAIR), needs=PAIR),
    Format("run/model.safetensors", m.changed_safetensors, run(*PAIR), checked=True, needs=PAIR,
           share=6),
    Format("stopped/checkpoints/last.safetensors", m.changed_safetensors, resumed, checked=True,
           needs=("stopped",), share=2),
    Format("stopped/config.json", m.changed_json, resumed, checked=True, needs=("stopped",),
           share=1),
    Format("search/tune.json", m.changed_json, searched, needs=("search",), share=2),
)  # fmt: skip
