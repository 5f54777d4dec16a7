"""Newton's method and the search for critical points on functions whose answers are known."""

import pytest
import torch
from torch import Tensor

from chainrule.autodiff.newton import critical_points, newton
from chainrule.errors import InputError

H = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
b = torch.tensor([1.0, -2.0], dtype=torch.float64)


def test_one_step_solves_a_quadratic() -> None:
    path = newton(lambda theta: 0.5 * theta @ H @ theta - b @ theta, torch.ones(2).double(), 2)
    torch.testing.assert_close(path[1], torch.linalg.solve(H, b))
    assert torch.equal(path[0], torch.ones(2).double())


def test_a_singular_hessian_is_refused() -> None:
    with pytest.raises(InputError, match="singular"):
        newton(lambda theta: theta[0] ** 2, torch.ones(2), 1)


def test_the_search_finds_minima_saddles_and_maxima() -> None:
    def h(theta: Tensor) -> Tensor:
        return theta.cos().sum()

    starts = torch.tensor([[0.3, -0.2], [3.0, 0.3], [3.4, 2.9]], dtype=torch.float64)
    expected = torch.tensor([[0.0, 0.0], [torch.pi, 0.0], [torch.pi, torch.pi]]).double()
    torch.testing.assert_close(critical_points(h, starts, 40), expected, atol=1e-6, rtol=0)
