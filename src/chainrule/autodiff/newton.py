"""Newton's method for minima, and the search for critical points of any kind.

    θ ← θ - (∇²h)⁻¹ ∇h                     ‖θ_{t+1} - θ*‖ = O(‖θ_t - θ*‖²) where ∇²h(θ*) > 0
    θ ← θ - (H² + ν I)⁻¹ H ∇h,  H = ∇²h    minimizes ½ ‖∇h‖²: minima, saddles and maxima alike

A step solves a system of as many equations as there are weights, which is why networks are trained
by gradients alone. The second is Levenberg (1944) and Marquardt (1963) applied to ∇h = 0.
Notes: A 1.3.8 (footnote on higher-order methods), A 1.3.10 (saddle points).
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import grad, jacrev, vmap

from chainrule.arguments import checked
from chainrule.autodiff.curvature import Function
from chainrule.errors import InputError


@checked
def newton(h: Function, start: Float[Tensor, " n"], steps: int) -> Float[Tensor, "points n"]:
    """θ_0, θ_1, …, with θ_{t+1} = θ_t - (∇²h)⁻¹ ∇h; for few weights.

    Args:
        h: A function of θ with one value.
        start: θ_0.
        steps: Number of updates.

    >>> import torch
    >>> newton(lambda w: (w - 3).square().sum(), torch.zeros(1), steps=1)[-1]
    tensor([3.])
    """
    path = [start.detach()]
    for _ in range(steps):
        H = jacrev(grad(h))(path[-1])
        step, info = torch.linalg.solve_ex(H, grad(h)(path[-1]))
        if info.item() != 0:
            raise InputError(
                "the Hessian is singular, so Newton's step is not defined; start elsewhere, or add "
                "a penalty such as ½ μ ‖θ‖²"
            )
        path.append(path[-1] - step)
    return torch.stack(path)


@checked
def critical_points(
    h: Function, starts: Float[Tensor, "starts n"], steps: int
) -> Float[Tensor, "starts n"]:
    """Minimizes ½ ‖∇h‖² from every start; ‖∇h‖ at the end says whether it became critical.

    A step that does not reduce ‖∇h‖ is not taken, and ν grows tenfold; else ν falls to a third.

    Args:
        h: A function of a vector with one value.
        starts: Where to begin, one per row.
        steps: Number of steps.

    >>> import torch
    >>> saddle = lambda w: w[0] ** 2 - w[1] ** 2
    >>> bool(critical_points(saddle, torch.ones(1, 2), steps=30).abs().max() < 1e-3)
    True
    """
    gradient, hessian = vmap(grad(h)), vmap(jacrev(grad(h)))
    theta, g = starts.detach(), gradient(starts.detach())
    nu = torch.ones_like(g[:, 0])
    for _ in range(steps):
        H = hessian(theta)
        damped = H @ H + nu[:, None, None] * torch.eye(H.shape[-1], dtype=H.dtype)
        tried = theta - torch.linalg.solve(damped, (H @ g[..., None]))[..., 0]
        found = gradient(tried)
        better = found.norm(dim=1) < g.norm(dim=1)
        theta = torch.where(better[:, None], tried, theta)
        g = torch.where(better[:, None], found, g)
        nu = torch.where(better, nu / 3, nu * 10).clamp(1e-14, 1e10)
    return theta
