"""Your own point clouds: a folder of OFF, PLY, XYZ or NPY files as three splits.

    DIR/chair/1.off                 the sub-folder is the class
    DIR/train/chair/1.off           the same with given splits: train, and validation, test or both
    labels.csv: file,label          a table of files within DIR and their classes

Each cloud becomes equally many points in the cube [-1, 1]³, its longest side from -1 to 1. Copies
of a file are never divided among the splits. Notes: J 7.3.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import Count, Share, checked
from chainrule.data.cache import Mapped, mapped
from chainrule.data.files import errors_naming
from chainrule.data.readers.images.image_files import Kind, by_folder, by_table
from chainrule.data.readers.images.images import class_names, copy_remarks, divided, error_remarks
from chainrule.data.readers.points.cloud_files import SUFFIXES, cloud_rows
from chainrule.data.readers.points.point_encoders import MAX_POINTS, normalize_to_cube, resample
from chainrule.data.readers.tables.table import MIN_ROWS, rare_class_remarks
from chainrule.data.splits import Seed, Split, Splits
from chainrule.data.state import FLAG, fields, whole
from chainrule.errors import InputError

CLOUDS = Kind("clouds", SUFFIXES)
SEED = 0  # a constant: the same file always gives the same points


@dataclass(frozen=True)
class CloudEncoder:
    """A file of points or a mesh as one cloud (points, numbers of a point).

    points: of every cloud; those of a smaller one repeat.
    dimensions: 2 or 3.
    normals: whether a point carries its normal.
    """

    points: int
    dimensions: int = 3
    normals: bool = False

    @property
    def width(self) -> int:
        """Numbers of a point."""
        return self.dimensions * (1 + self.normals)

    def encode_file(self, path: str | Path) -> Tensor:
        generator = np.random.default_rng(SEED)
        rows = cloud_rows(path, self.points, generator)
        with errors_naming(path):
            if rows.shape[1] < self.width or (self.dimensions == 2 and rows.shape[1] != self.width):
                kind = " and a normal" * self.normals
                raise InputError(
                    f"expected points of {self.dimensions} coordinates{kind}, got "
                    f"{rows.shape[1]} numbers"
                )
            position = normalize_to_cube(rows[:, : self.dimensions])
        rows = np.concatenate([position, rows[:, self.dimensions : self.width]], axis=1)
        return torch.from_numpy(resample(rows, self.points, generator))[None]

    def to_json(self) -> dict[str, Any]:
        return {"kind": "cloud", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "CloudEncoder":
        kinds = {"points": whole(1, MAX_POINTS), "dimensions": whole(2, 3), "normals": FLAG}
        return cls(**fields(state, "the encoder of clouds", **kinds))


@checked
def clouds(
    folder: str | Path,
    labels: str | Path | None = None,
    seed: Seed = 0,
    num_points: Count = 1024,
    normals: bool = False,
    test_fraction: Share = 0.2,
    validation_fraction: Share = 0.2,
) -> Splits:
    """The three splits of a folder of point clouds, (n, points, numbers of a point).

    folder: one sub-folder for each class; with `labels` any folder. Sub-folders named train,
        and validation, test or both, are taken as the splits.
    labels: a CSV file with a column of files within the folder and one of labels.
    seed: draws the validation split; the test split is always the same.
    num_points: of every cloud, sampled on the faces of a mesh.
    normals: whether points carry their normals.
    test_fraction: size of the test split, unless it is given.
    validation_fraction: size of the validation split, unless it is given.

    >>> import os, tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for height, name in enumerate(("flat", "tall")):
    ...         os.mkdir(f"{folder}/{name}")
    ...         for k in range(10):
    ...             np.save(f"{folder}/{name}/{k}.npy", np.random.rand(50, 3) * [1, 1, height + 1])
    ...     clouds(folder, num_points=32).classes
    ('flat', 'tall')
    """
    if num_points > MAX_POINTS:
        raise InputError(f"`num_points` must be at most {MAX_POINTS:,}, got {num_points:,}")
    folder = Path(folder)
    found = by_folder(folder, CLOUDS) if labels is None else by_table(folder, labels, CLOUDS)
    classes = class_names(found.labels, CLOUDS.name)
    encoder = CloudEncoder(num_points, dimensions_of(found.paths, normals), normals)
    read = read_all(encoder, found.paths)
    errors, digests = read.notes["errors"], read.notes["digests"]
    kept = [k for k, digest in enumerate(digests) if digest]
    if len(kept) < MIN_ROWS:
        raise InputError(
            f"{folder} holds {len(kept)} clouds that can be read; expected at least {MIN_ROWS}"
            + (f"; {errors[0]}" if errors else "")
        )
    number = {name: k for k, name in enumerate(classes)}
    y = torch.tensor([number[found.labels[k]] for k in kept])
    copies = torch.from_numpy(np.unique([digests[k] for k in kept], return_inverse=True)[1])
    parts = torch.tensor([found.parts[k] for k in kept]) if found.parts else None
    rows = divided(y, copies, parts, seed, (test_fraction, validation_fraction))
    x, place = torch.from_numpy(read.array), torch.tensor(kept)
    train, validation, test = (Split(x[place[part]], y[part]) for part in rows)
    named = [str(found.paths[k].relative_to(folder)) for k in kept]
    remarks = (
        found_remark(classes, y, encoder),
        *found.remarks,
        *error_remarks(errors),
        *copy_remarks(y, copies, parts, named, CLOUDS.name),
        *rare_class_remarks(classes, y),
    )
    return Splits(train, validation, test, classes, encoder, remarks)


def dimensions_of(paths: Sequence[Path], normals: bool) -> int:
    """3, or 2 where the first file that can be read has points of the plane."""
    for path in paths:
        try:
            width = cloud_rows(path, 1, np.random.default_rng(SEED)).shape[1]
        except InputError:
            continue
        return 2 if width == 2 * (1 + normals) else 3
    return 3


def read_all(encoder: CloudEncoder, paths: Sequence[Path]) -> Mapped:
    """The clouds of all files in their order, from the cache where it has them."""
    key = hashlib.sha256(repr(encoder).encode())
    for path in paths:
        status = path.stat()
        said = f"{path.absolute()}|{status.st_size}|{status.st_mtime_ns}"
        key.update(said.encode("utf-8", "surrogateescape"))
    shape = (len(paths), encoder.points, encoder.width)
    fill = partial(read_into, encoder=encoder, paths=paths)
    return mapped(key.hexdigest(), shape, fill, np.float32, "choose fewer `points`, or make room")


def read_into(
    array: np.ndarray, encoder: CloudEncoder, paths: Sequence[Path]
) -> dict[str, list[str]]:
    """Read every file into its row; checksums of the rows, and what could not be read."""
    digests, errors = [], []
    for k, path in enumerate(paths):
        try:
            array[k] = encoder.encode_file(path)[0].numpy()
        except InputError as error:
            errors.append(str(error))
            digests.append("")
            continue
        digests.append(hashlib.blake2b(array[k].tobytes(), digest_size=16).hexdigest())
    return {"digests": digests, "errors": errors}


def found_remark(classes: tuple[str, ...], y: Tensor, encoder: CloudEncoder) -> str:
    """How many clouds there are of each class, and of what."""
    counts = torch.bincount(y, minlength=len(classes)).tolist()
    each = [f"{name} ({n:,})" for name, n in zip(classes, counts, strict=True)][:10]
    more = f" and {len(classes) - 10:,} more" if len(classes) > 10 else ""
    space = "the plane" if encoder.dimensions == 2 else "space"
    return (
        f"{len(y):,} clouds of {len(classes):,} classes: {', '.join(each)}{more}; each becomes "
        f"{encoder.points:,} points of {space}{' with normals' * encoder.normals}"
    )
