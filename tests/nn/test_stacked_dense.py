"""Networks at once without autograd: the bits of the mapped forward pass and of its gradients."""

import pytest
import torch
from torch import nn

from chainrule.environments.cart_pole import CartPoles
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.kernels.stacked_dense import stacked_dense
from chainrule.recipes.families.dqn_training import DQNTrainer
from chainrule.recipes.reinforcement import cartpole_dqn
from chainrule.training.batched.stack import Stack
from chainrule.training.loop import run

NETWORKS = {
    "relu": lambda: MLP(4, [16, 8], 3),
    "tanh": lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3), nn.Sigmoid()),
}


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_and_gradients_are_those_of_autograd(name, members):
    torch.manual_seed(0)
    models = [NETWORKS[name]() for _ in range(members)]
    stack, x = Stack(models).eval(), torch.randn(members, 32, 4)
    dense = stacked_dense(models[0], stack.weights)
    assert dense is not None
    output, delta = stack(x, []), torch.randn(members, 32, 3)
    output.backward(delta)
    expected = [p.grad.clone() for p in stack.weights]
    assert torch.equal(dense(x), output)
    dense.backward(dense.states(x), delta)
    assert all(torch.equal(p.grad, e) for p, e in zip(stack.weights, expected, strict=True))


def test_other_networks_have_no_written_out_form():
    for model in (nn.Sequential(nn.Linear(4, 5), nn.GELU()), nn.Sequential(nn.Linear(4, 5, False))):
        assert stacked_dense(model, list(model.parameters())) is None


@pytest.mark.parametrize("method", ["dqn", "double-dqn"])
def test_agents_learn_bit_for_bit_what_they_learn_by_autograd(method, monkeypatch):
    settings = cartpole_dqn.Recipe(
        agents=2, epochs=1, epoch_steps=600, warm_up=200, episodes=2, batch_size=48, method=method
    )

    def learned():
        torch.manual_seed(0)
        networks = [MLP(4, [16, 16], 2) for _ in range(2)]
        *_, last = run(DQNTrainer(networks, CartPoles, settings), None)
        seen = {key: last.record[key] for key in ("train_loss", "validation_return")}
        return seen, [p for network in networks for p in network.parameters()]

    seen, weights = learned()
    monkeypatch.setattr("chainrule.recipes.families.dqn_training.stacked_dense", lambda *_: None)
    expected, others = learned()
    assert seen == expected
    assert all(torch.equal(p, q) for p, q in zip(weights, others, strict=True))
