"""Optimizers: the fused kernels against torch.optim, the others against their formulas."""

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.fused_adam import FusedAdam, FusedAdamW
from chainrule.learning.lion import Lion
from chainrule.learning.optimizers import OPTIMIZERS, check_optimizer, optimizer, parameter_groups
from chainrule.models.feedforward import LogisticRegression

H = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
START = torch.tensor([[2.0, -1.0]], dtype=torch.float64)
RATE, DECAY = 0.05, 0.3


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))


def steps(model: nn.Module, chosen: torch.optim.Optimizer, number: int, first: int = 0) -> None:
    for step in range(first, first + number):
        torch.manual_seed(step)
        chosen.zero_grad()
        model(torch.randn(4, 6)).square().sum().backward()
        chosen.step()


@pytest.mark.parametrize(
    ("ours", "torchs"), [(FusedAdam, torch.optim.Adam), (FusedAdamW, torch.optim.AdamW)]
)
def test_the_fused_kernel_is_torchs_bit_for_bit(ours: type, torchs: type) -> None:
    first, second = network(), network()
    steps(first, ours(parameter_groups(first, 0.1), lr=0.01), 7)
    steps(second, torchs(parameter_groups(second, 0.1), lr=0.01, fused=True), 7)
    assert all(map(torch.equal, first.parameters(), second.parameters()))


def test_its_state_survives_a_round_trip() -> None:
    straight, broken = network(), network()
    steps(straight, FusedAdam(straight.parameters(), lr=0.01), 6)
    first = FusedAdam(broken.parameters(), lr=0.01)
    steps(broken, first, 3)
    second = FusedAdam(broken.parameters(), lr=0.01)
    second.load_state_dict(first.state_dict())
    steps(broken, second, 3, first=3)
    assert all(map(torch.equal, straight.parameters(), broken.parameters()))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_descends(name: str) -> None:
    x = nn.Parameter(torch.tensor([[3.0, -2.0]]))
    chosen = optimizer(name, [x], 1.0 if name == "adagrad" else 0.05)
    for _ in range(200):
        chosen.zero_grad()
        x.square().sum().backward()
        chosen.step()
    assert x.abs().max() < 0.2


def gradient(theta: Tensor, mu: float = 0.0) -> Tensor:
    """Of ½ θᵀ H θ + ½ μ ‖θ‖²."""
    return theta @ H + mu * theta


def path(name: object, steps: int, decay: float = 0.0, **options: float) -> list[Tensor]:
    """The points after each step on ½ θᵀ H θ."""
    theta = nn.Parameter(START.clone())
    chosen = optimizer(name, [theta], RATE, decay, **options)
    found = []
    for _ in range(steps):
        theta.grad = gradient(theta.detach())
        chosen.step()
        found.append(theta.detach().clone())
    return found


def heavy_ball(beta: float, mu: float) -> list[Tensor]:
    """θ_{t+1} = θ_t - η g + β (θ_t - θ_{t-1}), as J 3.3 has it."""
    before, now, found = START, START, []
    for _ in range(9):
        before, now = now, now - RATE * gradient(now, mu) + beta * (now - before)
        found.append(now)
    return found


def look_ahead(beta: float, mu: float) -> list[Tensor]:
    """J 3.3's Nesterov; the points are those at which gradients are taken."""
    before, now, found = START, START, []
    for _ in range(10):
        chi = now + beta * (now - before)
        found.append(chi)
        before, now = now, chi - RATE * gradient(chi, mu)
    return found[1:]


def adaptive(alpha: float | None, mu: float) -> list[Tensor]:
    """AdaGrad, or RMSProp with its α."""
    theta, s, found = START, torch.zeros_like(START), []
    for _ in range(9):
        g = gradient(theta, mu)
        s = s + g**2 if alpha is None else alpha * s + (1 - alpha) * g**2
        theta = theta - RATE * g / (s.sqrt() + (1e-10 if alpha is None else 1e-8))
        found.append(theta)
    return found


def lion(mu: float) -> list[Tensor]:
    """One number after the other."""
    theta, m, found = START.flatten().tolist(), [0.0, 0.0], []
    for _ in range(9):
        g = gradient(torch.tensor([theta], dtype=torch.float64)).flatten().tolist()
        for i in range(2):
            c = 0.9 * m[i] + 0.1 * g[i]
            theta[i] -= RATE * ((c > 0) - (c < 0) + mu * theta[i])
            m[i] = 0.99 * m[i] + 0.01 * g[i]
        found.append(torch.tensor([theta], dtype=torch.float64))
    return found


WRITTEN_OUT = {
    "gd": lambda mu: heavy_ball(0.0, mu),
    "sgd": lambda mu: heavy_ball(0.0, mu),
    "momentum": lambda mu: heavy_ball(0.9, mu),
    "heavy-ball": lambda mu: heavy_ball(0.9, mu),
    "nesterov": lambda mu: look_ahead(0.9, mu),
    "adagrad": lambda mu: adaptive(None, mu),
    "rmsprop": lambda mu: adaptive(0.99, mu),
    "lion": lion,
}


@pytest.mark.parametrize("decay", [0.0, DECAY])
@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_an_optimizer_is_its_formula(name: str, decay: float) -> None:
    for ours, by_hand in zip(path(name, 9, decay), WRITTEN_OUT[name](decay), strict=True):
        torch.testing.assert_close(ours, by_hand, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["adamw", "lion"])
def test_decoupled_decay_shrinks_whatever_the_gradient(name: str) -> None:
    theta = nn.Parameter(START.clone())
    chosen = optimizer(name, [theta], RATE, DECAY)
    theta.grad = torch.zeros_like(theta)
    chosen.step()
    torch.testing.assert_close(theta.detach(), (1 - RATE * DECAY) * START)


def test_a_class_and_a_function_do_as_well_as_a_name() -> None:
    named = path("momentum", 5, DECAY)[-1]
    by_class = path(torch.optim.SGD, 5, DECAY, momentum=0.9)[-1]
    by_function = path(lambda ps: torch.optim.SGD(ps, momentum=0.9), 5, DECAY)[-1]
    torch.testing.assert_close(by_class, named)
    torch.testing.assert_close(by_function, named)


def test_rate_and_decay_win_over_those_of_a_function() -> None:
    made = optimizer(lambda ps: torch.optim.AdamW(ps, lr=9.0), network(), 0.1, 0.2)
    assert [(g["lr"], g["weight_decay"]) for g in made.param_groups] == [(0.1, 0.2), (0.1, 0.0)]


def test_options_reach_the_optimizer() -> None:
    assert torch.equal(path("momentum", 5, momentum=0.0)[-1], path("sgd", 5)[-1])


def test_lion_moves_every_tensor_as_it_would_alone() -> None:
    together, alone = network(), network()
    steps(together, Lion(together.parameters(), lr=0.01, weight_decay=0.1), 5)
    one_each = [{"params": [p]} for p in alone.parameters()]
    steps(alone, Lion(one_each, lr=0.01, weight_decay=0.1), 5)
    assert all(map(torch.equal, together.parameters(), alone.parameters()))


def test_lion_leaves_parameters_without_gradient_alone_and_refuses_bad_settings() -> None:
    x = nn.Parameter(torch.ones(3))
    Lion([x], weight_decay=1.0).step()
    assert torch.equal(x.detach(), torch.ones(3))
    with pytest.raises(InputError, match="`betas` must be a sequence of 2"):
        Lion([x], betas=(0.9, 1.0))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_state_of_every_optimizer_survives_a_round_trip(name: str) -> None:
    straight, broken = network(), network()
    steps(straight, optimizer(name, straight, 0.01, 0.1), 6)
    first = optimizer(name, broken, 0.01, 0.1)
    steps(broken, first, 3)
    second = optimizer(name, broken, 0.01, 0.1)
    second.load_state_dict(first.state_dict())
    steps(broken, second, 3, first=3)
    assert all(map(torch.equal, straight.parameters(), broken.parameters()))


def decayed(model: nn.Module, parameters: object) -> list[bool]:
    """Which parameters one step with a gradient of zero changes."""
    chosen = optimizer("sgd", parameters, 0.5, weight_decay=1.0)
    before = [p.detach().clone() for p in model.parameters()]
    for p in model.parameters():
        p.data.add_(1.0)
        p.grad = torch.zeros_like(p)
    chosen.step()
    return [
        torch.allclose(p, 0.5 * (old + 1))
        for old, p in zip(before, model.parameters(), strict=True)
    ]


def test_decay_acts_on_weights_and_leaves_biases_alone() -> None:
    layer = nn.Linear(3, 2)
    assert decayed(layer, layer) == [True, False]
    assert decayed(layer, layer.parameters()) == [True, False]


def test_decay_acts_on_the_weight_vector_of_a_logistic_regression() -> None:
    model = LogisticRegression(3)
    assert decayed(model, model) == [True, False]


def test_unknown_names_are_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean adam"):
        optimizer("adamm", [], 0.1)


def test_a_factory_must_return_an_optimizer() -> None:
    with pytest.raises(InputError, match="factory to return an optimizer, got list"):
        optimizer(lambda groups: groups, network(), 0.1)


def test_a_decay_that_the_optimizer_would_ignore_is_refused() -> None:
    assert isinstance(optimizer(torch.optim.Rprop, network(), 0.1), torch.optim.Rprop)
    with pytest.raises(InputError, match="Rprop has no weight decay"):
        optimizer(torch.optim.Rprop, network(), 0.1, weight_decay=0.1)


@pytest.mark.parametrize(
    "kind", [torch.optim.Adam, torch.optim.NAdam, torch.optim.Adamax, torch.optim.RAdam]
)
def test_classes_of_torch_optim_get_rate_and_decay(kind: type) -> None:
    made = optimizer(kind, network(), 0.1, 0.2)
    assert type(made) is kind
    assert [(g["lr"], g["weight_decay"]) for g in made.param_groups] == [(0.1, 0.2), (0.1, 0.0)]


def test_what_is_no_optimizer_is_refused() -> None:
    with pytest.raises(InputError, match=r"optimizer must be a name, a class .* got 3"):
        check_optimizer(3)
