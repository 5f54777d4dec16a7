"""Computation graphs: values and gradients against autograd, shape of the graph, cycles refused."""

import pytest
import torch
from torch import Tensor, nn

from chainrule.autodiff.computation_graph import Graph, Node, summary, trace
from chainrule.errors import InputError


def node(graph: Graph, name: str) -> Node:
    (found,) = (n for n in graph.nodes if n.name == name)
    return found


def test_a_small_expression_by_hand() -> None:
    a, b, c = (torch.tensor(v) for v in (2.0, -3.0, 10.0))
    graph = trace(lambda: a * b + c, {"a": a, "b": b, "c": c})
    assert [n.name for n in graph.nodes] == ["a", "b", "c", "mul", "add"]
    assert sorted(graph.edges) == [(0, 3), (1, 3), (2, 4), (3, 4)]
    assert [n.value.item() for n in graph.nodes] == [2, -3, 10, -6, 4]
    assert [n.gradient.item() for n in graph.nodes] == [-3, 2, 1, 1, 1]
    assert node(graph, "mul").row() == ("mul", "mul", "", "-6", "1")


def test_a_models_gradients_are_autograds() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x, y = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])
    inputs = {"x": x, **dict(model.named_parameters())}
    graph = trace(lambda: nn.functional.cross_entropy(model(x), y), inputs)
    loss = nn.functional.cross_entropy(model(x), y)
    for name, p in model.named_parameters():
        torch.testing.assert_close(
            node(graph, name).gradient, torch.autograd.grad(loss, p, retain_graph=True)[0]
        )
    operations = [n.operation for n in graph.nodes if n.operation not in ("input", "constant")]
    assert operations == ["linear", "tanh", "linear", "cross_entropy"]
    assert node(graph, "cross_entropy").value.item() == pytest.approx(loss.item())
    assert node(graph, "constant").gradient is None
    assert all(p.grad is None for p in model.parameters())
    assert not x.requires_grad


def test_the_chain_rule_holds_at_every_node_with_the_jacobians_of_its_edges() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    x = torch.randn(1, 3, dtype=torch.float64)
    inputs = {"x": x, **dict(model.named_parameters())}
    graph = trace(lambda: (model(x) * model(x).exp()).sum(), inputs, jacobians=True)
    for j, below in enumerate(graph.nodes[:-1]):
        total = torch.zeros_like(below.value)
        for (start, end), J in graph.jacobians.items():
            if start == j:
                upper = graph.nodes[end].gradient
                total += torch.tensordot(upper, J, upper.ndim)
        torch.testing.assert_close(total, below.gradient)


def test_an_argument_used_twice_by_one_operation_has_one_jacobian() -> None:
    a = torch.tensor(3.0)
    graph = trace(lambda: a * a, {"a": a}, jacobians=True)
    assert {edge: J.item() for edge, J in graph.jacobians.items()} == {(0, 1): 6}
    assert not trace(lambda: a * a, {"a": a}).jacobians


def test_a_tensor_changed_in_place_is_two_nodes() -> None:
    v = torch.tensor([1.0, 2.0])

    def expression() -> Tensor:
        t = v * 2
        t.mul_(v)
        return t.sum()

    graph = trace(expression, {"v": v})
    assert [n.operation for n in graph.nodes] == ["input", "mul", "mul", "sum"]
    assert graph.nodes[1].value.tolist() == [2, 4]
    assert graph.nodes[2].value.tolist() == [2, 8]
    assert graph.nodes[0].gradient.tolist() == [4, 8]
    assert graph.nodes[1].gradient.tolist() == [1, 2]


def test_what_the_output_does_not_need_is_left_out() -> None:
    a, b = torch.ones(2), torch.ones(2)

    def expression() -> Tensor:
        b.exp()
        return a.sin()

    graph = trace(expression, {"a": a, "b": b})
    assert [n.name for n in graph.nodes] == ["a", "sin"]


def test_an_unrolled_recurrence_is_acyclic() -> None:
    u, z = torch.tensor(0.5), torch.tensor(1.0)

    def expression() -> Tensor:
        state = z
        for _ in range(5):
            state = torch.tanh(u * state)
        return state

    graph = trace(expression, {"u": u, "z": z})
    assert all(start < end for start, end in graph.edges)
    assert sum(start == 0 for start, _ in graph.edges) == 5


def test_several_results_of_one_call_are_several_nodes() -> None:
    x = torch.arange(4.0)

    def expression() -> Tensor:
        left, right = x.chunk(2)
        return (left * right).sum()

    graph = trace(expression, {"x": x})
    assert [n.operation for n in graph.nodes] == ["input", "chunk", "chunk", "mul", "sum"]
    assert graph.nodes[0].gradient.tolist() == [2, 3, 0, 1]


def test_cycles_and_loose_ends_are_refused() -> None:
    nodes = [Node(name, "step", torch.zeros(())) for name in "abc"]
    Graph(nodes, [(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InputError, match=r"no cycle, but .*→.*→.*; unroll the recurrence"):
        Graph(nodes, [(0, 1), (1, 2), (2, 1)])
    with pytest.raises(InputError, match="there are 3 nodes"):
        Graph(nodes, [(0, 3)])


def test_an_output_without_a_graph_is_refused() -> None:
    with pytest.raises(InputError, match="computed from the inputs"):
        trace(lambda: torch.ones(2), {"x": torch.ones(2)})


def test_short_tensors_are_written_out_and_long_ones_summarized() -> None:
    assert summary(torch.tensor(2.5)) == "2.5"
    assert summary(torch.tensor([1, 2])) == "[1, 2]"
    assert summary(torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0])) == "2 ± 1.6"
