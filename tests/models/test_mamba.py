"""Mamba's block against the transformers library, weights copied."""

import logging

import pytest
import torch
from torch import Tensor, nn

from chainrule.models.recurrent.mamba import Mamba

transformers = pytest.importorskip("transformers")
logging.getLogger("transformers").setLevel(logging.ERROR)

SIZE, STATES, KERNEL = 24, 5, 3


def theirs() -> nn.Module:
    """A model of two blocks with weights far from their initial values."""
    torch.manual_seed(0)
    config = transformers.MambaConfig(
        vocab_size=11,
        hidden_size=SIZE,
        state_size=STATES,
        num_hidden_layers=2,
        conv_kernel=KERNEL,
        use_cache=False,
    )
    model = transformers.MambaModel(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(0.3 * torch.randn_like(weights))
    return model.double().eval()


def ours(mixer: nn.Module) -> Mamba:
    """Our block with the weights of theirs."""
    layer = Mamba(SIZE, SIZE, STATES, KERNEL).double()
    names = {
        "input.weight": "in_proj.weight",
        "convolution.weight": "conv1d.weight",
        "convolution.bias": "conv1d.bias",
        "selection.weight": "x_proj.weight",
        "delta.weight": "dt_proj.weight",
        "delta.bias": "dt_proj.bias",
        "log_A": "A_log",
        "d": "D",
        "output.weight": "out_proj.weight",
    }
    weights = mixer.state_dict()
    assert set(names.values()) == set(weights)
    layer.load_state_dict({name: weights[other] for name, other in names.items()})
    return layer


@torch.no_grad()
def test_blocks_with_copied_weights_give_the_outputs_of_transformers():
    model = theirs()
    tokens = torch.randint(11, (3, 9))
    x: Tensor = model.embeddings(tokens)
    for block in model.layers:
        x = x + ours(block.mixer)(block.norm(x))[0]
    # transformers computes a part in single precision whatever the weights are
    torch.testing.assert_close(
        model.norm_f(x), model(tokens).last_hidden_state, rtol=1e-4, atol=1e-5
    )


@torch.no_grad()
def test_a_block_fed_step_by_step_remembers_its_convolution_window():
    layer = Mamba(3, 4, state_size=2, kernel_size=5).double()
    x = torch.randn(2, 7, 3).double()
    whole, _ = layer(x)
    state, steps = None, []
    for t in range(7):
        y, state = layer(x[:, t : t + 1], state)
        steps.append(y)
    torch.testing.assert_close(torch.cat(steps, 1), whole)
