"""Bounds that hold in simulation, dimensions that enumeration finds, errors that descend twice."""

import math

import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge

from chainrule.errors import InputError
from chainrule.models.theory import bounds
from chainrule.models.theory.infinite_network import InfiniteNetwork, kernel
from chainrule.models.theory.random_features import RandomFeatures, double_descent, shortest_fit
from chainrule.models.theory.vc_dimension import (
    box,
    cover,
    half_space,
    interval,
    labelings,
    largest_shattered,
    shattered,
)
from chainrule.nn.activations import activation


def points(number: int, coordinates: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((number, coordinates))


@pytest.mark.parametrize(("number", "deviation"), [(10, 0.3), (50, 0.15), (200, 0.08)])
def test_hoeffding_holds_for_coins(number: int, deviation: float) -> None:
    means = np.random.default_rng(0).binomial(number, 0.5, 100_000) / number
    share = (np.abs(means - 0.5) >= deviation).mean()
    assert 0 < share <= bounds.hoeffding(number, deviation) < 1


def test_the_deviation_is_the_inverse_of_the_bound() -> None:
    t = bounds.hoeffding_deviation(100, 0.05, width=3.0)
    assert bounds.hoeffding(100, t, width=3.0) == pytest.approx(0.05)


def test_the_gap_of_a_finite_class_holds_for_all_hypotheses_at_once() -> None:
    """Thresholds on [0, 1]: against the label x > ½ a threshold h has the risk |h - ½|."""
    generator, n, failure = np.random.default_rng(0), 60, 0.1
    thresholds = np.linspace(0, 1, 41)
    x = generator.random((3000, n, 1))
    empirical = ((x > thresholds) != (x > 0.5)).mean(1)
    worst = np.abs(empirical - np.abs(thresholds - 0.5)).max(1)
    assert (worst > bounds.finite_class_gap(n, 41, failure)).mean() <= failure
    without_mistake = np.where(empirical == 0, np.abs(thresholds - 0.5), 0).max(1)
    assert (without_mistake > bounds.consistent_risk(n, 41, failure)).mean() <= failure


def test_the_examples_needed_are_the_fewest() -> None:
    n = bounds.examples_needed(1000, 0.05, 0.01)
    assert bounds.finite_class_gap(n, 1000, 0.01) <= 0.05
    assert bounds.finite_class_gap(n - 1, 1000, 0.01) > 0.05


def test_a_class_may_have_more_hypotheses_than_a_float_can_hold() -> None:
    gap = bounds.finite_class_gap(1000, 2**100_000, 0.5)
    assert gap == pytest.approx(((100_000 * np.log(2) + np.log(4)) / 2000) ** 0.5)


@pytest.mark.parametrize("coordinates", [1, 2, 3])
def test_half_spaces_shatter_one_point_more_than_there_are_coordinates(coordinates: int) -> None:
    assert len(largest_shattered(points(5, coordinates), half_space)) == coordinates + 1


def test_half_planes_shatter_no_four_points_of_many_sets() -> None:
    assert not any(shattered(points(4, 2, seed), half_space) for seed in range(50))


@pytest.mark.parametrize("number", [3, 4, 5, 6])
def test_the_labelings_by_half_planes_are_as_many_as_covers_formula_says(number: int) -> None:
    found = len(labelings(points(number, 2), half_space))
    assert found == cover(number, 2)
    assert found <= bounds.sauer(number, 3)


def test_intervals_shatter_two_points_and_reach_sauers_bound() -> None:
    line = points(6, 1)
    assert len(largest_shattered(line, interval)) == 2
    assert len(labelings(line, interval)) == bounds.sauer(6, 2) == 22


def test_boxes_in_the_plane_shatter_four_points_but_no_five() -> None:
    cross = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    assert shattered(cross, box)
    assert not any(shattered(points(5, 2, seed), box) for seed in range(50))


def test_points_on_a_line_cannot_be_shattered_by_half_planes() -> None:
    row = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    assert not half_space(row, np.array([True, False, True]))
    assert len(labelings(row, half_space)) == 6


def test_the_fit_is_the_shortest_one() -> None:
    Phi, y = torch.randn(5, 9).double(), torch.randn(5).double()
    torch.testing.assert_close(shortest_fit(Phi, y), torch.linalg.pinv(Phi) @ y)
    Phi, y = torch.randn(9, 5).double(), torch.randn(9).double()
    torch.testing.assert_close(shortest_fit(Phi, y), torch.linalg.pinv(Phi) @ y)


def test_the_test_error_descends_twice_with_its_peak_at_as_many_features_as_samples() -> None:
    generator = torch.Generator().manual_seed(0)
    n, inputs = 40, 10
    x = torch.randn(n + 1000, inputs, dtype=torch.float64, generator=generator)
    w = torch.randn(inputs, dtype=torch.float64, generator=generator)
    y = x @ w + 0.5 * torch.randn(len(x), dtype=torch.float64, generator=generator)
    widths = [10, 20, 40, 80, 400]
    runs = [double_descent((x[:n], y[:n]), (x[n:], y[n:]), widths, seed) for seed in range(7)]
    test, train, norm = (
        np.median([run[name] for run in runs], axis=0) for name in ("test", "train", "norm")
    )
    assert test.argmax() == norm.argmax() == widths.index(n)
    assert test[2] > 5 * test[1] and test[2] > 5 * test[4]
    assert test[4] < test[3] < test[2]
    assert (train[3:] < 1e-12).all() and (train[:2] > 0.05).all()


def test_what_makes_no_sense_is_refused() -> None:
    for call in (
        lambda: bounds.hoeffding(0, 0.1),
        lambda: bounds.hoeffding(5, math.nan),
        lambda: bounds.finite_class_gap(10, 5, 1.0),
        lambda: bounds.sauer(-1, 2),
        lambda: labelings(points(17, 2), half_space),
        lambda: interval(points(3, 2), np.array([True, False, True])),
        lambda: RandomFeatures(3, 0),
        lambda: shortest_fit(torch.full((2, 2), torch.nan).double(), torch.zeros(2).double()),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize("name", ["relu", "step", "erf"])
def test_a_layer_of_the_infinite_network_is_an_expectation_over_gaussians(name: str) -> None:
    x = torch.tensor([[1.0, -0.5, 2.0], [0.3, 1.0, -1.0]], dtype=torch.float64)
    covariance = 1.5 * x @ x.T / 3
    nodes, weights = np.polynomial.hermite_e.hermegauss(300)
    grid = (
        torch.cartesian_prod(*[torch.from_numpy(nodes)] * 2) @ torch.linalg.cholesky(covariance).T
    )
    phi = torch.erf if name == "erf" else activation(name)
    density = torch.from_numpy(np.outer(weights, weights).ravel())
    product = phi(grid[:, 0]) * phi(grid[:, 1]) * density
    expected = 1.5 * product.sum() / (2 * math.pi)
    tolerance = 1e-9 if name == "erf" else 0.01  # relu and step have a kink or a jump
    assert kernel(x[:1], x[1:], 1, name, 1.5).item() == pytest.approx(
        expected.item(), abs=tolerance
    )


def test_the_infinite_network_is_kernel_regression() -> None:
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(12, 3, generator=g).double(), torch.randn(12, generator=g).double()
    model = InfiniteNetwork(x, y, noise=0.1)
    new = torch.randn(4, 3, generator=g).double()
    linear = KernelRidge(alpha=0.1, kernel="precomputed").fit(model.kernel(x, x).numpy(), y.numpy())
    assert model(new).tolist() == pytest.approx(linear.predict(model.kernel(new, x).numpy()))
