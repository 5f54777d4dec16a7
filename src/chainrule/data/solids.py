"""Surfaces of simple solids, and points sampled on them uniformly by area.

    side of a frustum      π (r + s) √(h² + (r - s)²)         radii r below, s above, height h
    disc                   π r²
    box                    2 (ab + bc + ca)
    half torus             2π² R r                            a tube of radius r

The third axis points up. Frustums and discs stand on the origin; boxes and tori are centered at it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Points = Float[np.ndarray, "points 3"]
Generator = np.random.Generator


class Surface(NamedTuple):
    """The area of a surface, and a function that samples a number of points on it."""

    area: float
    sample: Callable[[int, Generator], Points]


def frustum(below: float, above: float, height: float) -> Surface:
    """The side of a cut-off cone: a cone if `above` is 0, a tube if both radii are equal."""

    def sample(number: int, generator: Generator) -> Points:
        # The area within radius ϱ grows as ϱ².
        u = generator.random(number)
        radius = np.sqrt((1 - u) * below**2 + u * above**2)
        share = u if below == above else (radius - below) / (above - below)
        angle = 2 * math.pi * generator.random(number)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), height * share], 1)

    return Surface(math.pi * (below + above) * math.hypot(height, below - above), sample)


def disc(radius: float) -> Surface:
    """A disc at height 0."""
    return frustum(radius, 0.0, 0.0)


def cylinder(radius: float, height: float) -> Surface:
    """A closed cylinder."""
    lid = disc(radius)
    return union(frustum(radius, radius, height), lid, moved(lid, (0.0, 0.0, height)))


def box(a: float, b: float, c: float) -> Surface:
    """A box with these sides, centered at the origin."""
    sides = np.array([a, b, c])
    faces = np.repeat([b * c, c * a, a * b], 2)

    def sample(number: int, generator: Generator) -> Points:
        points = generator.uniform(-0.5, 0.5, (number, 3))
        face = generator.choice(6, number, p=faces / faces.sum())
        points[np.arange(number), face // 2] = face % 2 - 0.5
        return points * sides

    return Surface(float(faces.sum()), sample)


def half_torus(radius: float, thickness: float) -> Surface:
    """Half of an upright torus, open toward -x."""

    def sample(number: int, generator: Generator) -> Points:
        u, v = math.pi * (generator.random(number) - 0.5), np.empty(0)
        while len(v) < number:  # rejection sampling: the outer side has more area
            tried = 2 * math.pi * generator.random(2 * number)
            kept = generator.random(2 * number) * (radius + thickness)
            v = np.concatenate([v, tried[kept < radius + thickness * np.cos(tried)]])
        v = v[:number]
        from_axis = radius + thickness * np.cos(v)
        return np.stack([from_axis * np.cos(u), thickness * np.sin(v), from_axis * np.sin(u)], 1)

    return Surface(2 * math.pi**2 * radius * thickness, sample)


def moved(surface: Surface, by: tuple[float, float, float], angle: float = 0.0) -> Surface:
    """The surface translated by `by`, then rotated about the upward axis."""
    shift, R = np.array(by), rotation(angle)
    return Surface(surface.area, lambda n, generator: (surface.sample(n, generator) + shift) @ R)


def rotation(angle: float) -> Float[np.ndarray, "3 3"]:
    """The matrix R for which x R is x rotated counterclockwise about the upward axis."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])


def union(*surfaces: Surface) -> Surface:
    """Several surfaces as one."""

    def sample(number: int, generator: Generator) -> Points:
        return np.concatenate(sample_by_area(surfaces, number, generator))

    return Surface(sum(surface.area for surface in surfaces), sample)


def sample_by_area(
    surfaces: tuple[Surface, ...], number: int, generator: Generator
) -> list[Points]:
    """The points on each surface: `number` in all, shared out at random by area."""
    areas = np.array([surface.area for surface in surfaces])
    counts = generator.multinomial(number, areas / areas.sum())
    return [s.sample(int(n), generator) for s, n in zip(surfaces, counts, strict=True)]
