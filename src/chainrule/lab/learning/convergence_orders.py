"""Claim: Newton's method squares the error of each step; gradient descent scales it (A 1.3.8).

    e = θ - θ*,   H = ∇²h(θ*),   η = 1/L
    gradient descent   e' = (I - ηH) e + O(‖e‖²)                      linear, at best 1 - μ/L a step
    Newton             e' = ½ H⁻¹ ∇³h(θ*)[e, e] + O(‖e‖³)             quadratic
    L-BFGS             between the two, from gradients alone          superlinear

Measured: e' after one step of the library's methods from errors of length 1e-4 in random
directions, on logistic regression with weight decay, against the leading terms; the largest
relative difference.
Bound: 3 %: the next terms are of the relative size C ‖e‖, with C below 100 for these curvatures.
Started from 0, torch's L-BFGS must come within 1e-8 in fewer gradients than gradient descent needs
steps, and Newton in fewer still. "Higher-order methods" in A's footnote. Liu and Nocedal (1989).
"""

import torch
from torch import Tensor, nn
from torch.func import grad, jacrev

from chainrule.autodiff.curvature import Function, gradient_descent
from chainrule.autodiff.newton import newton
from chainrule.data.datasets.moons import sample
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses

BOUND = 0.03
SIZE = 1e-4
CLOSE = 1e-8
LONGEST = 400


def check(directions: int = 10, seed: int = 0) -> Verdict:
    """The leading terms.

    Args:
        directions: Random directions of the error.
    """
    return verdict(directions, seed)


def broken() -> Verdict:
    """Newton's error as if it were scaled like that of gradient descent."""
    return verdict(3, 0, quadratic=False)


def near() -> Near:
    """Leading terms off by 10 %."""
    return {
        **ten_percent("½ of Newton's term", lambda factor: verdict(3, 0, half=factor / 2)),
        **ten_percent("η of gradient descent", lambda factor: verdict(3, 0, rate=factor)),
        "‖e‖^1.9": lambda: verdict(3, 0, power=1.9),
    }


def verdict(
    directions: int,
    seed: int,
    half: float = 0.5,
    rate: float = 1.0,
    power: float = 2.0,
    quadratic: bool = True,
) -> Verdict:
    """One step from many errors, and whole runs for the picture."""
    h = logistic_loss(seed)
    zero = torch.zeros(3, dtype=torch.float64)
    best = newton(h, zero, 30)[-1]
    H = jacrev(grad(h))(best)
    eta = 1 / torch.linalg.eigvalsh(H).max().item()
    generator = torch.Generator().manual_seed(seed)
    off = []
    for e in torch.randn(directions, 3, dtype=torch.float64, generator=generator):
        e = SIZE * e / e.norm()
        scaled = e - rate * eta * H @ e
        squared = half * torch.linalg.solve(H, third(h, best, e)) * SIZE ** (power - 2)
        descent = gradient_descent(h, best + e, 1, eta)[-1] - best
        second = newton(h, best + e, 1)[-1] - best
        off += [apart(descent, scaled), apart(second, squared if quadratic else scaled)]
    runs = {
        "gradient descent": gradient_descent(h, zero, LONGEST, eta),
        "L-BFGS": lbfgs(h, zero, 60),
        "Newton": newton(h, zero, 12),
    }
    errors = {name: (path - best).norm(dim=1) for name, path in runs.items()}
    needed = {name: int((error > CLOSE).sum()) for name, error in errors.items()}
    return Verdict(
        quantity="largest relative |e' - leading term|",
        measured=max(off),
        relation="≤",
        bound=BOUND,
        conditions={
            "Newton, then L-BFGS, then gradient descent": needed["Newton"]
            < needed["L-BFGS"]
            < needed["gradient descent"]
        },
        picture=Picture(
            title="Second derivatives turn hundreds of steps into a handful",
            x_label="gradients computed",
            y_label="distance from the minimum",
            points={
                name: (
                    list(map(float, range(len(e))))[::every],
                    e.clamp_min(1e-16)[::every].tolist(),
                )
                for (name, e), every in zip(errors.items(), (10, 1, 1), strict=True)
            },
            bounds={"close enough": ([0.0, float(LONGEST)], [CLOSE, CLOSE])},
            log="y",
        ),
        details={f"gradients, {name}": float(count) for name, count in needed.items()},
    )


def logistic_loss(seed: int) -> Function:
    """Of two moons, with a decay of 0.01 that bounds the condition number."""
    points, labels = sample(60, 0.3, seed)
    x = torch.cat([points.double(), torch.ones(len(points), 1)], 1)
    return lambda w: losses.logistic(x @ w, labels).mean() + 0.005 * w.square().sum()


def third(h: Function, theta: Tensor, e: Tensor) -> Tensor:
    """∇³h(θ)[e, e], the second derivative of s ↦ ∇h(θ + s e)."""
    along = jacrev(jacrev(lambda s: grad(h)(theta + s * e)))
    return along(torch.zeros((), dtype=theta.dtype))


def apart(found: Tensor, leading: Tensor) -> float:
    """‖found - leading‖ / ‖leading‖."""
    return ((found - leading).norm() / leading.norm()).item()


def lbfgs(h: Function, start: Tensor, gradients: int) -> Tensor:
    """Where torch's L-BFGS computes its gradients."""
    theta, path = nn.Parameter(start.clone()), []
    method = torch.optim.LBFGS(
        [theta], 1.0, gradients, gradients, 1e-14, 0.0, line_search_fn="strong_wolfe"
    )

    def closure() -> Tensor:
        path.append(theta.detach().clone())
        method.zero_grad()
        loss = h(theta)
        loss.backward()
        return loss

    method.step(closure)
    return torch.stack([*path, theta.detach()])
