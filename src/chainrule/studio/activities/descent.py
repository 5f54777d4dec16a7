"""Optimizers race on a surface that the page has chosen, with predicted and measured rates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import torch
from contourpy import contour_generator
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import grad, jacrev

from chainrule.autodiff.curvature import Function
from chainrule.errors import InputError
from chainrule.learning.optimizers import optimizer
from chainrule.studio.activity import Activity, Json, Range, View, raster, read, rounded
from chainrule.studio.formula import formula

GRID, LEVELS = 96, 16
FAR = 1e6  # a path ends where it has left every picture
NEWTON = 40  # steps
Name = Literal["gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "lion"]
Place = Annotated[float, Range(-100, 100)]
Path = Float[Tensor, "points 2"]


@dataclass(frozen=True)
class Settings:
    """The surface and the race.

    Args:
        formula: h(x, y), in which k is `condition`.
        condition: k, the condition number of the quadratic surface.
        optimizers: who takes part.
        rate: η of all of them.
        momentum: β of momentum and nesterov, β₁ of adam and lion.
        x: of the start.
        y: of the start.
        steps: that each optimizer takes.
        left, right, bottom, top: the part of the plane that is drawn.
    """

    formula: Annotated[str, Range(1, 200)] = "(x^2 + k y^2)/2"
    condition: Annotated[float, Range(1, 1000)] = 10.0
    optimizers: Annotated[tuple[Name, ...], Range(1, 7)] = ("gd", "momentum", "adam")
    rate: Annotated[float, Range(1e-5, 10)] = 0.1
    momentum: Annotated[float, Range(0, 0.99)] = 0.9
    x: Place = -3.0
    y: Place = 1.5
    steps: Annotated[int, Range(1, 500)] = 120
    left: Place = -4.0
    right: Place = 4.0
    bottom: Place = -3.0
    top: Place = 3.0


def run(settings: Json) -> Activity:
    """Every message is a change of some settings."""
    known = dict(settings)
    while True:
        shown = race(read(Settings, known))
        message = yield View(lambda shown=shown: shown, waiting=True)  # type: ignore[misc]
        known |= message or {}


def race(chosen: Settings) -> Json:
    """Contours, paths and losses of all optimizers, and how fast each approaches the minimum."""
    h = surface(chosen)
    start = torch.tensor([chosen.x, chosen.y], dtype=torch.float64)
    names = tuple(dict.fromkeys(chosen.optimizers))
    paths = {name: path(h, name, start, chosen) for name in names}
    ends = sorted((p[-1] for p in paths.values()), key=lambda end: finite(h(end).item()))
    minimum = next(filter(None, (newton(h, end) for end in [*ends, start])), None)
    losses = {name: h(p) for name, p in paths.items()}
    heights = torch.cat([*losses.values(), h(minimum[0])[None] if minimum else torch.empty(0)])
    return {
        "map": contours(h, chosen),
        "paths": {name: rounded(p.clamp(-FAR, FAR), 5) for name, p in paths.items()},
        "losses": {name: rounded(values, 8) for name, values in losses.items()},
        "lowest": rounded(heights.nan_to_num(math.inf).min(), 8),
        "minimum": minimum and rounded(minimum[0]),
        "curvatures": minimum and rounded(minimum[1], 5),
        "best": minimum and best(*minimum[1].tolist()),
        "rates": minimum and {name: rates(name, p, minimum, chosen) for name, p in paths.items()},
    }


def surface(chosen: Settings) -> Function:
    """h as a function of θ = (x, y) along the last axis."""
    h = formula(chosen.formula, ("x", "y", "k"))
    k = torch.tensor(chosen.condition, dtype=torch.float64)

    def value(theta: Tensor) -> Tensor:
        found = h({"x": theta[..., 0], "y": theta[..., 1], "k": k})
        return found + 0 * theta[..., 0]  # a formula without x and y has their shape too

    return value


def path(h: Function, name: str, start: Tensor, chosen: Settings) -> Path:
    """θ_0, θ_1, … of the library's optimizer, as long as they are finite."""
    theta = nn.Parameter(start.clone())
    chosen_name, options = adjusted(name, chosen.momentum)
    walker = optimizer(chosen_name, [theta], chosen.rate, **options)
    points = [start]
    for _ in range(chosen.steps):
        (theta.grad,) = torch.autograd.grad(h(theta), theta)
        walker.step()
        now = theta.detach().clone()
        if not now.isfinite().all() or now.abs().max() > FAR:
            break
        points.append(now)
    return torch.stack(points)


def adjusted(name: str, momentum: float) -> tuple[str, dict[str, Any]]:
    """The optimizer with this momentum; nesterov without any is gradient descent."""
    if name == "nesterov" and momentum == 0:
        return "gd", {}
    if name in ("momentum", "nesterov"):
        return name, {"momentum": momentum}
    if name in ("adam", "lion"):
        return name, {"betas": (momentum, 0.999 if name == "adam" else 0.99)}
    return name, {}


def newton(h: Function, theta: Tensor) -> tuple[Tensor, Tensor] | None:
    """The minimum near θ and the curvatures (μ, L) there, if Newton's method finds one."""
    for _ in range(NEWTON):
        gradient, H = grad(h)(theta), hessian(h)(theta)
        if not H.isfinite().all() or not gradient.isfinite().all():
            return None
        theta = theta - torch.linalg.lstsq(H, gradient[:, None]).solution[:, 0]
        if gradient.norm() < 1e-12:
            break
    curvatures = torch.linalg.eigvalsh(hessian(h)(theta))
    converged = grad(h)(theta).norm() < 1e-8 * (1 + curvatures.abs().max())
    return (theta, curvatures) if converged and curvatures[0] > 1e-9 else None


def hessian(h: Function) -> Function:
    return jacrev(grad(h))


def best(mu: float, L: float) -> Json:
    """Polyak's best rates: 2/(L + μ), and with momentum 4/(√L + √μ)² and ((√κ - 1)/(√κ + 1))²."""
    kappa = L / mu
    root = (math.sqrt(kappa) - 1) / (math.sqrt(kappa) + 1)
    return {
        "condition": rounded(kappa),
        "gd": rounded([2 / (L + mu), (kappa - 1) / (kappa + 1)]),
        "momentum": rounded([4 / (math.sqrt(L) + math.sqrt(mu)) ** 2, root**2, root]),
    }


def rates(name: str, points: Path, minimum: tuple[Tensor, Tensor], chosen: Settings) -> Json:
    """The factor by which a step shortens the distance to the minimum: predicted and measured."""
    theta, curvatures = minimum
    predicted = [factor(name, chosen.rate * c, chosen.momentum) for c in curvatures.tolist()]
    known = name in ("gd", "momentum", "nesterov")
    return {
        "predicted": rounded(max(predicted)) if known else None,
        "measured": measured((points - theta).norm(dim=1).numpy()),
    }


def factor(name: str, step: float, momentum: float) -> float:
    """The spectral radius of one step along an axis, step = η λ.

    gd          |1 - ηλ|
    momentum    roots of  r² - (1 + β - ηλ) r + β
    nesterov    roots of  r² - (1 + β)(1 - ηλ) r + β (1 - ηλ)
    """
    if name == "momentum":
        polynomial = [1, -(1 + momentum - step), momentum]
    elif name == "nesterov":
        polynomial = [1, -(1 + momentum) * (1 - step), momentum * (1 - step)]
    else:
        polynomial = [1, step - 1]
    return float(np.abs(np.roots(polynomial)).max())


def measured(distances: np.ndarray) -> float | None:
    """e^slope of log distance over the later two thirds of the steps, above rounding."""
    kept = np.flatnonzero(distances > 1e-11 * max(distances[0], 1e-300))
    last = next((k for k in range(len(kept)) if kept[k] != k), len(kept))
    steps = np.arange(last // 3, last)
    if len(steps) < 4:
        return None
    slope = np.polyfit(steps, np.log(distances[steps]), 1)[0]
    found: float = rounded(np.exp(slope))
    return found


def contours(h: Function, chosen: Settings) -> Json:
    """Level lines, closer together near the bottom, and the height as a picture."""
    if chosen.left >= chosen.right or chosen.bottom >= chosen.top:
        raise InputError("`left` must be below `right`, and `bottom` below `top`")
    x = np.linspace(chosen.left, chosen.right, GRID)
    y = np.linspace(chosen.bottom, chosen.top, GRID)
    grid = torch.from_numpy(np.stack(np.meshgrid(x, y), axis=-1))
    z = np.ma.masked_invalid(h(grid).numpy())
    low, high = (float(z.min()), float(z.max())) if z.count() else (0.0, 0.0)
    depth = np.ma.filled((z - low) / max(high - low, 1e-300), 1.0) ** (1 / 3)
    levels = low + (high - low) * (np.arange(1, LEVELS) / LEVELS) ** 3
    drawn = contour_generator(x, y, z)
    lines = [line for level in levels for line in drawn.lines(level)] if high > low else []
    return {
        "height": raster(depth[::-1], 0.0, 1.0),
        "lines": [rounded(thinned(line)) for line in lines],
        "box": [chosen.left, chosen.right, chosen.bottom, chosen.top],
    }


def thinned(line: Any, most: int = 160) -> Sequence[Any]:
    """A level line with at most so many points, its last one kept."""
    step = -(-len(line) // most)
    return [*line[:-1:step], line[-1]]


def finite(value: float) -> float:
    return value if math.isfinite(value) else math.inf
