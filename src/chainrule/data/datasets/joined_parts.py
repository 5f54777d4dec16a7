"""Joined parts: tables, lamps, mugs and rockets of simple solids, each point labeled by its part.

    table     a box as top, four cylinders as legs
    lamp      a disc as base, a cylinder as pole, a cone as shade
    mug       an open cylinder as body, half a torus as handle
    rocket    a cylinder as body, a cone as nose, three or four plates as fins

Sizes and proportions of all parts are random, and each object is rotated about the upward axis. An
object has 512 points, sampled on its parts uniformly by area, then translated and scaled into
[-1, 1]³. The objects never change; the seed draws the validation split. A synthetic stand-in for
the parts of ShapeNet, Yi et al. (2016).
"""

from collections.abc import Callable
from math import pi
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int

from chainrule.data.readers.points.point_encoders import PointEncoder, normalize_to_cube
from chainrule.data.solids import (
    Surface,
    box,
    cylinder,
    disc,
    frustum,
    half_torus,
    moved,
    rotation,
    sample_by_area,
    union,
)
from chainrule.data.splits import TEST_SEED, About, Split, Splits, stratified_indices

ABOUT = About(
    task="segmentation",
    source="generated",
    license="none needed",
    citation="Yi et al. (2016), A Scalable Active Framework for Region Annotation in 3D Shapes",
    shapes="x (n, 512, 3) in [-1, 1]; y (n, 512) 10 parts; 1,600 / 400 / 400",
)
POINTS = 512
TRAINING, TEST = 2_000, 400
CLASSES = (
    "table top",
    "table leg",
    "lamp base",
    "lamp pole",
    "lamp shade",
    "mug body",
    "mug handle",
    "rocket body",
    "rocket nose",
    "rocket fin",
)
Generator = np.random.Generator
Parts = dict[str, Surface]


def load(folder: Path | None = None, seed: int = 0, validation: int = 400) -> Splits:
    """validation: size of the validation split."""
    x, y = objects(TRAINING, TEST_SEED)
    rest, held = stratified_indices(torch.zeros(len(x)), validation, seed)
    return Splits(
        Split(x[rest], y[rest]),
        Split(x[held], y[held]),
        objects(TEST, TEST_SEED + 1),
        CLASSES,
        PointEncoder(POINTS),
    )


def objects(number: int, seed: int) -> Split:
    """`number` objects, the four kinds in turn."""
    generator = np.random.default_rng(seed)
    made = [sample_object(KINDS[k % len(KINDS)](generator), generator) for k in range(number)]
    x, y = (np.stack(each) for each in zip(*made, strict=True))
    return Split(torch.from_numpy(x), torch.from_numpy(y))


def sample_object(
    parts: Parts, generator: Generator
) -> tuple[Float[np.ndarray, "points 3"], Int[np.ndarray, " points"]]:
    """Points of all parts in random order, the object rotated and scaled into the cube."""
    points = sample_by_area(tuple(parts.values()), POINTS, generator)
    y = np.repeat([CLASSES.index(name) for name in parts], [len(each) for each in points])
    x = normalize_to_cube(np.concatenate(points) @ rotation(generator.uniform(0, 2 * pi)))
    order = generator.permutation(POINTS)
    return x[order].astype(np.float32), y[order].astype(np.int64)


def table(generator: Generator) -> Parts:
    length, width, height = (generator.uniform(*r) for r in ((0.8, 1.6), (0.5, 1.0), (0.4, 1.0)))
    thickness, radius, inset = (
        generator.uniform(*r) for r in ((0.03, 0.12), (0.03, 0.08), (0.7, 0.95))
    )
    leg = cylinder(radius, height)
    corners = [(i * inset * length / 2, j * inset * width / 2) for i in (-1, 1) for j in (-1, 1)]
    return {
        "table top": moved(box(length, width, thickness), (0.0, 0.0, height + thickness / 2)),
        "table leg": union(*(moved(leg, (a, b, 0.0)) for a, b in corners)),
    }


def lamp(generator: Generator) -> Parts:
    base, thickness, pole = (generator.uniform(*r) for r in ((0.2, 0.5), (0.04, 0.1), (0.02, 0.06)))
    height, below, tall = (generator.uniform(*r) for r in ((0.8, 1.8), (0.25, 0.6), (0.25, 0.6)))
    shade = frustum(below, generator.uniform(0.3, 0.7) * below, tall)
    return {
        "lamp base": cylinder(base, thickness),
        "lamp pole": moved(frustum(pole, pole, height), (0.0, 0.0, thickness)),
        "lamp shade": moved(shade, (0.0, 0.0, thickness + height - tall / 2)),
    }


def mug(generator: Generator) -> Parts:
    radius, height, reach = (generator.uniform(*r) for r in ((0.3, 0.6), (0.6, 1.2), (0.15, 0.28)))
    thickness, middle = generator.uniform(0.03, 0.07), generator.uniform(0.4, 0.6) * height
    return {
        "mug body": union(frustum(radius, radius, height), disc(radius)),
        "mug handle": moved(half_torus(reach, thickness), (radius, 0.0, middle)),
    }


def rocket(generator: Generator) -> Parts:
    radius, height, nose = (generator.uniform(*r) for r in ((0.15, 0.35), (0.9, 1.8), (0.3, 0.7)))
    wing, tall, fins = generator.uniform(0.15, 0.4), generator.uniform(0.2, 0.5), 3
    fins += int(generator.integers(2))
    fin = box(wing, 0.03, tall)
    position = (radius + wing / 2, 0.0, tall / 2)
    return {
        "rocket body": cylinder(radius, height),
        "rocket nose": moved(frustum(radius, 0.0, nose), (0.0, 0.0, height)),
        "rocket fin": union(*(moved(fin, position, 2 * pi * k / fins) for k in range(fins))),
    }


KINDS: tuple[Callable[[Generator], Parts], ...] = (table, lamp, mug, rocket)
