"""Files of every kind through `chainrule train`, and how good the networks are on their test split.

    python benchmarks/own_data.py --data FOLDER [--only NAME …]

Every case writes a file as people keep them to a temporary folder and trains from it by the command
line alone, in a process of its own with one thread. `own_data.json` keeps the command, the figures
of the test split and the seconds of each case; a case that is measured again replaces its row.
"""

import argparse
import gzip
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RESULT = Path(__file__).with_suffix(".json")
TINY_ROWS, TINY_EPOCHS = 200, 1
Frame = Any


class Case(NamedTuple):
    """What is written, and the flags of `chainrule train` that read it."""

    data: str
    """What the file holds."""
    write: Callable[[Path, Path, int], object]
    """Writes the files to a folder, from the folder of data sets; so many rows if not 0."""
    flags: str
    """After `chainrule train`, run in the folder of the files."""


def messy_csv(frame: Frame, path: Path) -> None:
    """Semicolons, decimal commas, Windows-1252, gaps, an id, a constant and two spellings."""
    frame = frame.copy()
    target = frame.columns[-1]
    for name in frame.columns[:-1]:
        frame[name] = frame[name].map(lambda value: f"{value:.6g}".replace(".", ","))
    frame.iloc[::50, 0] = "n.a."
    if frame[target].dtype == object:
        frame.loc[::9, target] = frame[target].str.upper()
    frame.insert(0, "Kennzeichen", [f"Z{7 * row:05}" for row in range(len(frame))])
    frame.insert(1, "Prüfstelle", "Zürich")
    frame.to_csv(path, sep=";", encoding="cp1252", index=False)


def messy_parquet(frame: Frame, path: Path) -> None:
    """Gaps, an id, a constant, a date and two spellings."""
    import pandas

    frame = frame.copy()
    target = frame.columns[-1]
    frame.iloc[::50, 0] = None
    if frame[target].dtype == object:
        frame.loc[::9, target] = frame[target].str.upper()
    frame.insert(0, "user_id", 7 * np.arange(len(frame)) % len(frame) + 10_000)
    frame.insert(1, "site", "Zürich")
    frame.insert(2, "seen", pandas.date_range("2024-01-01", periods=len(frame), freq="7h"))
    frame.to_parquet(path, index=False)


def scikit_learn(loader: str, parquet: bool) -> Callable[[Path, Path, int], None]:
    """A set of scikit-learn as such a file."""

    def write(data: Path, folder: Path, rows: int) -> None:
        from sklearn import datasets

        found = getattr(datasets, f"load_{loader}")(as_frame=True)
        frame = found.data.copy()
        names = getattr(found, "target_names", None)
        frame["target"] = (
            found.target if names is None else [f"class {names[k]}" for k in found.target]
        )
        if rows:
            frame = frame.sample(frac=1, random_state=0).head(rows).reset_index(drop=True)
        (messy_parquet if parquet else messy_csv)(
            frame, folder / ("table.parquet" if parquet else "table.csv")
        )

    return write


def nothing_but(name: str, file: str) -> Callable[[Path, Path, int], None]:
    """A file of a data set as it is."""

    def write(data: Path, folder: Path, rows: int) -> None:
        shutil.copy(data / name, folder / file)

    return write


def reviews(data: Path, folder: Path, rows: int) -> None:
    """IMDB as two CSV files."""
    import csv

    for part in ("train", "test"):
        with (
            gzip.open(data / "imdb" / f"{part}.jsonl.gz", "rt", encoding="utf-8") as source,
            (folder / f"{part}.csv").open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            found = [json.loads(line) for line in source]
            for row in found[:: max(1, len(found) // rows) if rows else 1]:
                writer.writerow([row["text"], ("negative", "positive")[row["label"]]])


def sentences(data: Path, folder: Path, rows: int) -> None:
    """The files of UD English EWT as they are."""
    for part in ("train", "test"):
        name = f"en_ewt-ud-{part}.conllu.gz"
        text = gzip.decompress((data / "ud_english_ewt" / name).read_bytes()).decode("utf-8")
        if rows:
            text = "\n\n".join(text.split("\n\n")[:rows]) + "\n\n"
        (folder / name).write_bytes(gzip.compress(text.encode("utf-8"), 1, mtime=0))


def citations(data: Path, folder: Path, rows: int) -> None:
    """Cora as a table of papers, which has a column for each word, and a table of citations."""
    lines = gzip.decompress((data / "planetoid/cora.content.gz").read_bytes()).decode("ascii")
    papers = [line.split("\t") for line in lines.splitlines()]
    papers = papers[: rows or None]
    head = ["paper", *(f"word{k}" for k in range(len(papers[0]) - 2)), "field"]
    written = [",".join(row) for row in [head, *papers]]
    (folder / "nodes.csv").write_text("\n".join(written) + "\n", "utf-8")
    known = {paper[0] for paper in papers}
    cites = [
        line.split() for line in (data / "planetoid/cora.cites").read_text("ascii").splitlines()
    ]
    pairs = {tuple(sorted(pair)) for pair in cites if known.issuperset(pair)}
    edges = ["cited,citing", *(",".join(pair) for pair in sorted(pairs))]
    (folder / "edges.csv").write_text("\n".join(edges) + "\n", "utf-8")


def clouds(data: Path, folder: Path, rows: int) -> None:
    """ModelNet10's surface points: a third each `.npy`, `.xyz` and binary `.ply`."""
    import chainrule as cr

    found = cr.data.modelnet10(folder=data)
    for part, splits in (("train", (found.train, found.validation)), ("test", (found.test,))):
        number = 0
        for split in splits:
            for points, label in zip(split.x.numpy(), split.y.tolist(), strict=True):
                if rows and number >= rows:
                    break
                place = folder / "clouds" / part / found.classes[label]
                place.mkdir(parents=True, exist_ok=True)
                write_cloud(points.astype("<f4"), place / f"{number:04}", number % 3)
                number += 1


def write_cloud(points: np.ndarray, path: Path, kind: int) -> None:
    if kind == 0:
        np.save(path.with_suffix(".npy"), points)
    elif kind == 1:
        np.savetxt(path.with_suffix(".xyz"), points, "%.5f")
    else:
        axes = "".join(f"property float {axis}\n" for axis in "xyz")
        count = f"element vertex {len(points)}\n"
        head = f"ply\nformat binary_little_endian 1.0\n{count}{axes}end_header\n"
        path.with_suffix(".ply").write_bytes(head.encode() + points.tobytes())


def pictures(data: Path, folder: Path, rows: int) -> None:
    """Fashion-MNIST's first 6,000 training images as PNG files, a sub-folder for each class."""
    from PIL import Image

    import chainrule as cr

    found = cr.data.fashion_mnist(folder=data)
    images = (found.train.x[: rows or 6000, 0] * 255).round().byte().numpy()
    for number, (image, label) in enumerate(zip(images, found.train.y.tolist(), strict=False)):
        place = folder / "pictures" / found.classes[label].replace("/", " ")
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(place / f"{number:05}.png")


TABLE = "mlp --table table.{} --target target"
SERIES = (
    "forecast --table table.csv --time date --target log_volume --horizon 5 --context 20 --model {}"
)
MAIL = "text-classifier --table train.csv --test-table test.csv --text text --target label"
GRAPH = "gcn --edges edges.csv --nodes nodes.csv --target field --epochs 60 --model {}"
POINTS = "pointnet --clouds clouds --num-points 512 --visible 128 --batch-size 32 --epochs 3"
EWT = "--conll en_ewt-ud-train.conllu.gz --test-conll en_ewt-ud-test.conllu.gz"
SETS = {
    "breast_cancer": "Breast cancer",
    "wine": "Wine",
    "digits": "Digits as 64 numbers",
    "diabetes": "Diabetes",
}
NYSE = nothing_but("islp/NYSE.csv", "table.csv")
CASES = {
    **{
        f"{loader}-{ending}": Case(
            f"{title}, messy {'Parquet' if ending == 'parquet' else 'CSV'}",
            scikit_learn(loader, ending == "parquet"),
            TABLE.format(ending),
        )
        for loader, title in SETS.items()
        for ending in ("csv", "parquet")
    },
    "auto": Case(
        "ISL's Auto",
        nothing_but("islp/Auto.csv", "table.csv"),
        "mlp --table table.csv --target mpg",
    ),
    "credit": Case(
        "ISL's Credit",
        nothing_but("islp/Credit.csv", "table.csv"),
        "mlp --table table.csv --target Balance",
    ),
    "pictures": Case("6,000 PNG files", pictures, "cnn --images pictures --epochs 5"),
    "imdb-bag": Case("IMDB, two CSV files", reviews, f"{MAIL} --model bag --epochs 5"),
    "imdb-lstm": Case("IMDB, two CSV files", reviews, f"{MAIL} --model lstm --epochs 2"),
    "ewt": Case("UD English EWT", sentences, f"tagger {EWT} --model lstm --epochs 8"),
    **{
        f"nyse-{m}": Case("ISL's NYSE", NYSE, SERIES.format(m))
        for m in ("rnn", "gru", "lru", "transformer")
    },
    "nyse-covariates": Case(
        "ISL's NYSE", NYSE, SERIES.format("gru") + " --covariates DJ_return log_volatility"
    ),
    **{
        f"cora-{m}": Case("Cora, two CSV files", citations, GRAPH.format(m)) for m in ("gcn", "gat")
    },
    "modelnet": Case("ModelNet10, 4,891 files of points", clouds, POINTS),
}


def measured(name: str, data: Path, rows: int = 0) -> dict[str, Any]:
    """Write the files of a case, train from them, and read the result of the run."""
    case = CASES[name]
    command = f"chainrule train {case.flags} --seed 0"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        case.write(data, folder, rows)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        words = shlex.split(command)[1:]
        if rows:
            words += ["--epochs", str(TINY_EPOCHS)]
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "chainrule", *words, "--out", "run", "--quiet"],
            cwd=folder,
            env=os.environ | {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder / "cache")},
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"{name}: {command}\n{done.stderr or done.stdout}")
        seconds = time.perf_counter() - began
        found = json.loads((folder / "run/result.json").read_text("utf-8"))
    return {
        "data": case.data,
        "bytes": size,
        "command": command,
        "seed": 0,
        "metrics": found["metrics"]["test"],
        "compared": {
            other: splits["test"]
            for other, splits in (found.get("compared") or {}).items()
            if isinstance(splits, dict) and "test" in splits
        },
        "epochs": found.get("epochs"),
        "parameters": found.get("parameters"),
        "seconds": round(seconds, 1),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, one thread, beside other work",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    known = json.loads(RESULT.read_text("utf-8"))["cases"] if RESULT.exists() else {}
    for name in options.only or CASES:
        known[name] = measured(name, options.data.resolve())
        print(name, known[name]["seconds"], known[name]["metrics"], flush=True)
        record = {
            "command": "python benchmarks/own_data.py --data FOLDER",
            "cases": {case: known[case] for case in CASES if case in known},
        }
        RESULT.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
