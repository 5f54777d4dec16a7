"""A user's own files, written from data sets, for pictures of the recipes that read such files.

`docs/draw_recipes.py` writes them to a temporary folder and trains there, so that the command on a
page names files and not paths.
"""

import csv
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from benchmarks import own_data

Write = Callable[[Path, Path], object]
REVIEWS, SENTENCES, IMAGES, CLOUDS, SCENES, GRAPHS = 5_000, 2_000, 1_500, 300, 300, 400
TEXT = 200_000  # letters
PAIRS = slice(2_000, 10_000)  # of the lines, which are sorted by length


class Own(NamedTuple):
    """What a user would have."""

    said: str
    """What the files hold."""
    write: Write
    """Writes them to a folder, from the folder of data sets."""
    flags: str


def part_of(write: Callable[[Path, Path, int], object], rows: int) -> Write:
    """A case of benchmarks/own_data.py with so many rows."""
    return lambda data, folder: write(data, folder, rows)


def clouds(data: Path, folder: Path) -> None:
    """Files of points of all classes, a sub-folder for each."""
    import chainrule as cr

    found = cr.data.modelnet10(folder=data)
    for part, split in (("train", found.train), ("test", found.test)):
        for number in range(0, len(split.y), max(1, len(split.y) // CLOUDS)):
            place = folder / "clouds" / part / found.classes[split.y[number]]
            place.mkdir(parents=True, exist_ok=True)
            own_data.write_cloud(split.x[number].numpy().astype("<f4"), place / f"{number:04}", 0)


def scenes(data: Path, folder: Path) -> None:
    """Images and masks of the same names."""
    import chainrule as cr

    found = cr.data.digit_scenes(folder=data).train
    for number in range(SCENES):
        for kind, pixels in (("images", found.x[number, 0]), ("masks", found.y[number])):
            place = folder / kind
            place.mkdir(exist_ok=True)
            Image.fromarray((255 * pixels).byte().numpy()).save(place / f"{number:03}.png")


def many_graphs(data: Path, folder: Path) -> None:
    """Random graphs as three tables."""
    import chainrule as cr
    from chainrule.graphs import separate

    found = cr.data.random_graphs()
    rows: dict[str, list[list[object]]] = {
        "graphs": [["graph", "label"]],
        "nodes": [["graph", "id"]],
        "edges": [["graph", "from", "to"]],
    }
    for number, graph in enumerate(separate(found.graph)[:GRAPHS]):
        rows["graphs"].append([number, found.classes[int(found.labels[number])]])
        rows["nodes"] += [[number, node] for node in range(graph.num_nodes)]
        rows["edges"] += [[number, a, b] for a, b in graph.edge_index.T.tolist() if a < b]
    for name, lines in rows.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)


def text(data: Path, folder: Path) -> None:
    """The beginning of Shakespeare's plays."""
    plays = (data / "tinyshakespeare" / "input.txt").read_text("utf-8")
    (folder / "plays.txt").write_text(plays[:TEXT], "utf-8")


def pairs(data: Path, folder: Path) -> None:
    """English sentences and their French translations."""
    with zipfile.ZipFile(data / "fra_eng" / "fra-eng.zip") as archive:
        lines = archive.read("fra.txt").decode("utf-8").splitlines()
    (folder / "pairs.tsv").write_text("\n".join(lines[PAIRS]) + "\n", "utf-8")


def series(data: Path, folder: Path) -> None:
    shutil.copy(data / "islp" / "NYSE.csv", folder)


def table(data: Path, folder: Path) -> None:
    shutil.copy(data / "islp" / "Default.csv", folder)


OWN = {
    "cnn": Own(
        f"{IMAGES:,} images of Fashion-MNIST",
        part_of(own_data.pictures, IMAGES),
        "--images pictures --epochs 8",
    ),
    "unet": Own(
        f"{SCENES} digit scenes",
        scenes,
        "--images images --masks masks --class-names ground ink --epochs 6",
    ),
    "pointnet": Own(
        f"about {CLOUDS} shapes of ModelNet10 for training and as many for the test",
        clouds,
        "--clouds clouds --num-points 128 --visible 64 --batch-size 32 --epochs 16",
    ),
    "gcn": Own(
        "Cora's papers and citations",
        part_of(own_data.citations, 0),
        "--edges edges.csv --nodes nodes.csv --target field --epochs 60",
    ),
    "links": Own(
        "Cora's papers and citations",
        part_of(own_data.citations, 0),
        "--edges edges.csv --nodes nodes.csv --ignore field --epochs 60",
    ),
    "graphs": Own(
        f"{GRAPHS} random graphs",
        many_graphs,
        "--graphs graphs.csv --nodes nodes.csv --edges edges.csv --target label --epochs 40",
    ),
    "text-classifier": Own(
        f"{REVIEWS:,} reviews of IMDB",
        part_of(own_data.reviews, REVIEWS),
        "--table train.csv --test-table test.csv --text text --target label --epochs 4",
    ),
    "tagger": Own(
        f"{SENTENCES:,} sentences of UD English EWT",
        part_of(own_data.sentences, SENTENCES),
        f"{own_data.EWT} --epochs 4",
    ),
    "translate": Own(
        f"{PAIRS.stop - PAIRS.start:,} sentence pairs, English and French",
        pairs,
        "--pairs pairs.tsv --embedding-dim 128 --hidden-size 128 --epochs 10",
    ),
    "gpt": Own(
        f"{TEXT:,} letters of Shakespeare",
        text,
        "--text plays.txt --epochs 4 --epoch-steps 50",
    ),
    "forecast": Own(
        "volumes of the New York Stock Exchange, from ISL",
        series,
        "--table NYSE.csv --time date --target log_volume",
    ),
    "mlp": Own("ISL's Default", table, "--table Default.csv --target default"),
}
