"""ModelNet10: 4,899 pieces of furniture as point clouds.

A cloud has 1,024 points in the cube [-1, 1]³, the third axis pointing up. From the official archive
of meshes, points are sampled on the faces, uniformly by area, with normals on request. If the data
folder has the file of voxels instead (occupancy of 30³ cells, of which an object fills 24³), points
are the centers of filled cells with an empty neighbor, and 8 empty grids are dropped. The authors'
908 test shapes are the test split; the seed draws the validation split from the others.
"""

import zipfile
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Shaped, UInt8

from chainrule.data import cache
from chainrule.data.files import exists, opened, reading, unzip
from chainrule.data.readers.npy import npz_arrays
from chainrule.data.readers.points.point_encoders import PointEncoder, mesh_points, resample
from chainrule.data.splits import TEST_SEED, About, Split, Splits, stratified_indices
from chainrule.errors import InputError

ABOUT = About(
    task="classification",
    source="http://vision.princeton.edu/projects/2014/3DShapeNets/ModelNet10.zip",
    license="for academic use; the copyright of a model stays with its author",
    citation="Wu et al. (2015), 3D ShapeNets: A Deep Representation for Volumetric Shapes, CVPR",
    shapes="x (n, 1024, 3) in [-1, 1], or (n, 1024, 6); y 10 classes; 3,591 / 400 / 908",
)
CHECKSUM = "sha256:9d8679435fc07d1d26f13009878db164a7aa8ea5e7ea3c8880e42794b7307d51"
ARCHIVE = "modelnet10/ModelNet10.zip"
VOXELS = "modelnet10/modelnet10_voxel30.npz"
SIZES = (3_991, 908)
SIDE, CELLS = 30, 24  # cells along a grid, and along the longest side of an object in it
POINTS = 1_024
MAX_MESH = 2**27  # bytes of one mesh
MAX_GRIDS = 2**29  # bytes of all grids of a part; the training part has 431,028,128
MAX_LABELS = 2**20  # bytes of all labels of a part
CLASSES = (
    "bathtub",
    "bed",
    "chair",
    "desk",
    "dresser",
    "monitor",
    "night_stand",
    "sofa",
    "table",
    "toilet",
)


def load(
    folder: Path | None = None, seed: int = 0, validation: int = 400, normals: bool = False
) -> Splits:
    """validation: size of the validation split.
    normals: whether each point carries the normal of its face, as three more numbers.
    """
    from_voxels = cache.folder(folder) / VOXELS
    if exists(from_voxels) and not exists(cache.folder(folder) / ARCHIVE):
        if normals:
            raise InputError(
                f"{from_voxels} has no normals; put {ARCHIVE} into the data folder, or use "
                "normals=False"
            )
        rows = cache.decoded(from_voxels, read_voxels)
        x = (2 * rows[:, 2:].astype(np.float32) + 1 - SIDE) / CELLS
        x, cells = x.reshape(-1, POINTS, 3), CELLS
    else:
        rows = cache.decoded(cache.fetch(ARCHIVE, ABOUT.source, CHECKSUM, folder), read_archive)
        x = rows[:, 2:].reshape(-1, POINTS, 6)[..., : 6 if normals else 3]
        cells = 0
    is_test = rows[:, 1] == 1
    x, y = np.ascontiguousarray(x, np.float32), rows[:, 0].astype(np.int64)
    train, test = (
        Split(torch.from_numpy(x[part]), torch.from_numpy(y[part])) for part in (~is_test, is_test)
    )
    rest, held = stratified_indices(train.y, validation, seed)
    return Splits(
        Split(train.x[rest], train.y[rest]),
        Split(train.x[held], train.y[held]),
        test,
        CLASSES,
        PointEncoder(POINTS, cells, normals),
    )


def read_voxels(path: Path) -> UInt8[np.ndarray, "shapes columns"]:
    """Per shape: label, 1 for a test shape, then the three indices of each surface cell."""
    parts = []
    for test, name in enumerate(("train", "test")):
        (y,) = npz_arrays(path, [f"y_{name}"], MAX_LABELS)
        (grids,) = npz_arrays(path, [f"X_{name}"], MAX_GRIDS)
        if grids.shape != (SIZES[test], SIDE, SIDE, SIDE) or y.shape != grids.shape[:1]:
            raise cache.damaged(path, f"expected {SIZES[test]} grids of {SIDE}³")
        if y.min() < 0 or y.max() >= len(CLASSES):
            raise cache.damaged(path, "expected labels from 0 to 9")
        grids = grids.astype(bool)
        filled = grids.any((1, 2, 3))
        parts.append(surfaces(grids[filled], y[filled], test))
    return np.concatenate(parts)


def surfaces(
    grids: Bool[np.ndarray, "n side side side"], y: Shaped[np.ndarray, " n"], test: int
) -> UInt8[np.ndarray, "n columns"]:
    """The rows of these grids; surface cells are sampled with a fixed seed."""
    generator = np.random.default_rng([TEST_SEED, test])
    rows = np.empty((len(grids), 2 + 3 * POINTS), np.uint8)
    rows[:, 0], rows[:, 1] = y, test
    for row, shown in zip(rows, surface(grids), strict=True):
        cells = np.argwhere(shown).astype(np.uint8)
        row[2:] = resample(cells, POINTS, generator).ravel()
    return rows


def surface(grids: Bool[np.ndarray, "n a b c"]) -> Bool[np.ndarray, "n a b c"]:
    """Filled cells with an empty cell at one of their six sides."""
    inner = grids.copy()
    around = np.pad(grids, ((0, 0), (1, 1), (1, 1), (1, 1)))
    for axis in (1, 2, 3):
        for step in (-1, 1):
            inner &= np.roll(around, step, axis)[:, 1:-1, 1:-1, 1:-1]
    return grids & ~inner


def read_archive(path: Path) -> Float[np.ndarray, "shapes columns"]:
    """Per mesh: label, 1 for a test shape, then position and normal of every point.

    Only CLASS/train/*.off and CLASS/test/*.off are read, and nothing is unpacked to disk.
    """
    rows: list[np.ndarray] = []
    with opened(path) as stream, reading(path), zipfile.ZipFile(stream) as archive:
        every = meshes(archive.namelist())
        if len(every) > sum(SIZES):
            raise InputError(f"expected {sum(SIZES)} meshes, got {len(every)}")
        for test, label, name in every:
            text = unzip(archive, name, MAX_MESH).decode("utf-8")
            generator = np.random.default_rng([TEST_SEED, len(rows)])
            points = mesh_points(text, POINTS, generator)
            rows.append(np.concatenate([[label, test], points.ravel()]).astype(np.float32))
    found = np.array(rows)
    if not len(found) or {0, 1} != set(found[:, 1]) or len(set(found[:, 0])) != len(CLASSES):
        raise cache.damaged(path, "expected meshes of all ten classes in train/ and test/")
    return found


def meshes(names: list[str]) -> list[tuple[int, int, str]]:
    """(1 for a test shape, label, name) of every mesh of the archive, in a fixed order."""
    found = []
    for name in names:
        *_, kind, split, file = ("", "", *name.split("/"))
        mesh = file.endswith(".off") and not file.startswith(".")
        if mesh and kind in CLASSES and split in ("train", "test"):
            found.append((int(split == "test"), CLASSES.index(kind), name))
    return sorted(found)
