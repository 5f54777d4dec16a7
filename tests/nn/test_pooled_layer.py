"""The quick pooled layer against the same layer written out with torch's own parts."""

import pytest
import torch
from torch import Tensor, nn

from chainrule.nn.pooled_layer import CHUNK_SIZE, PooledLayer


class WrittenOut(nn.Module):
    """max_p ReLU(BN(W h_p)), every product of every point kept."""

    def __init__(self, quick: PooledLayer):
        super().__init__()
        outputs, inputs = quick.linear.weight.shape
        self.linear = nn.Linear(inputs, outputs, bias=False, dtype=torch.float64)
        self.norm = nn.BatchNorm1d(outputs, dtype=torch.float64)
        self.linear.load_state_dict(quick.linear.state_dict())
        self.norm.weight.data.copy_(quick.gamma)
        self.norm.bias.data.copy_(quick.mu)

    def forward(self, h: Tensor) -> Tensor:
        z = self.norm(self.linear(h).transpose(1, 2))
        return z.relu().amax(2)


@pytest.fixture
def layer() -> PooledLayer:
    torch.manual_seed(0)
    made = PooledLayer(5, 40).double()
    made.gamma.data.normal_()  # about half of them are negative: their minimum counts
    made.mu.data.normal_()
    return made


@pytest.mark.parametrize("training", [True, False])
def test_it_equals_the_layer_written_out_with_all_gradients_and_statistics(layer, training) -> None:
    written = WrittenOut(layer)
    generator = torch.Generator().manual_seed(1)
    h = 3 + torch.randn(CHUNK_SIZE + 3, 7, 5, generator=generator, dtype=torch.float64)
    for model in (layer, written):  # one step in training mode moves the running statistics
        model.train()(h)
        model.train(training)
    ours, theirs = h.clone().requires_grad_(), h.clone().requires_grad_()
    weights = torch.randn(len(h), 40, generator=generator, dtype=torch.float64)
    found, expected = layer(ours), written(theirs)
    torch.testing.assert_close(found, expected)
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)
    for a, b in (
        (layer.linear.weight.grad, written.linear.weight.grad),
        (layer.gamma.grad, written.norm.weight.grad),
        (layer.mu.grad, written.norm.bias.grad),
        (layer.running_mean, written.norm.running_mean),
        (layer.running_var, written.norm.running_var),
    ):
        torch.testing.assert_close(a, b)


def test_the_critical_point_of_a_unit_is_where_its_value_is_largest(layer) -> None:
    layer.eval()
    h = torch.randn(3, 6, 5, dtype=torch.float64)
    each = torch.stack([layer(h[:, p : p + 1]) for p in range(6)], 1)
    assert torch.equal(each.amax(1), layer(h))
    chosen = each.gather(1, layer.critical(h)[:, None])[:, 0]
    assert torch.equal(chosen, layer(h))


def test_only_critical_points_get_a_gradient_in_evaluation(layer) -> None:
    layer.eval()
    h = torch.randn(2, 200, 5, dtype=torch.float64, requires_grad=True)
    layer(h).sum().backward()
    critical = torch.zeros(2, 200, dtype=torch.bool).scatter_(1, layer.critical(h), value=True)
    assert not h.grad.abs().sum(2)[~critical].any()
    assert critical.sum() <= 2 * 40
