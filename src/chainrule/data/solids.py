"""Surfaces of simple solids, from which points are drawn with the same chance per area.

    side of a cone, cut off or not     π (r + s) √(h² + (r - s)²)         r below, s above, height h
    disc                               π r²
    box                                2 (ab + bc + ca)
    half ring                          2π² R r                            a tube of radius r

The third axis points up; tubes and discs stand on the origin, boxes and rings lie about it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Points = Float[np.ndarray, "points 3"]
Generator = np.random.Generator


class Surface(NamedTuple):
    """Its area, and how to draw so many points on it."""

    area: float
    draw: Callable[[int, Generator], Points]


def cone_side(below: float, above: float, height: float) -> Surface:
    """The side of a cone of these two radii; a tube where they are equal."""

    def draw(number: int, generator: Generator) -> Points:
        # Rings grow with their radius: the area below a radius ϱ grows as ϱ².
        u = generator.random(number)
        radius = np.sqrt((1 - u) * below**2 + u * above**2)
        share = u if below == above else (radius - below) / (above - below)
        angle = 2 * math.pi * generator.random(number)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), height * share], 1)

    return Surface(math.pi * (below + above) * math.hypot(height, below - above), draw)


def disc(radius: float) -> Surface:
    """A flat cone."""
    return cone_side(radius, 0.0, 0.0)


def cylinder(radius: float, height: float) -> Surface:
    """With both lids."""
    lid = disc(radius)
    return joined(cone_side(radius, radius, height), lid, moved(lid, (0.0, 0.0, height)))


def box(a: float, b: float, c: float) -> Surface:
    """A box with these sides about the origin."""
    sides = np.array([a, b, c])
    faces = np.repeat([b * c, c * a, a * b], 2)

    def draw(number: int, generator: Generator) -> Points:
        points = generator.uniform(-0.5, 0.5, (number, 3))
        face = generator.choice(6, number, p=faces / faces.sum())
        points[np.arange(number), face // 2] = face % 2 - 0.5
        return points * sides

    return Surface(float(faces.sum()), draw)


def half_ring(radius: float, thickness: float) -> Surface:
    """Half of a torus that stands upright, open toward -x."""

    def draw(number: int, generator: Generator) -> Points:
        u, v = math.pi * (generator.random(number) - 0.5), np.empty(0)
        while len(v) < number:  # the outer side has more area: keep v in proportion to it
            tried = 2 * math.pi * generator.random(2 * number)
            kept = generator.random(2 * number) * (radius + thickness)
            v = np.concatenate([v, tried[kept < radius + thickness * np.cos(tried)]])
        v = v[:number]
        from_axis = radius + thickness * np.cos(v)
        return np.stack([from_axis * np.cos(u), thickness * np.sin(v), from_axis * np.sin(u)], 1)

    return Surface(2 * math.pi**2 * radius * thickness, draw)


def moved(surface: Surface, by: tuple[float, float, float], angle: float = 0.0) -> Surface:
    """Shifted, then turned about the upward axis."""
    shift, turn = np.array(by), turned(angle)
    return Surface(surface.area, lambda n, generator: (surface.draw(n, generator) + shift) @ turn)


def turned(angle: float) -> Float[np.ndarray, "3 3"]:
    """x R is the point x turned against the clock about the upward axis."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])


def joined(*surfaces: Surface) -> Surface:
    """All of them as one."""

    def draw(number: int, generator: Generator) -> Points:
        return np.concatenate(shared_out(surfaces, number, generator))

    return Surface(sum(surface.area for surface in surfaces), draw)


def shared_out(surfaces: tuple[Surface, ...], number: int, generator: Generator) -> list[Points]:
    """So many points in all, each on a surface chosen by area."""
    areas = np.array([surface.area for surface in surfaces])
    counts = generator.multinomial(number, areas / areas.sum())
    return [s.draw(int(n), generator) for s, n in zip(surfaces, counts, strict=True)]
