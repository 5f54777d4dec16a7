"""What every recurrent layer promises: pieces, padding, shapes, refusals."""

import pytest
import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.recurrent.bidirectional import Bidirectional
from chainrule.models.recurrent.deep_transition import DeepTransition
from chainrule.models.recurrent.layers import (
    CELLS,
    LINEAR_CELLS,
    recurrent_layer,
    recurrent_network,
)
from chainrule.models.recurrent.recurrent import Recurrent, state_tensors
from chainrule.models.recurrent.residual_block import ResidualBlock
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.models.recurrent.stacked import Stacked

WRAPPED = {
    "stacked": lambda name: Stacked([recurrent_layer(name, 3, 4), recurrent_layer(name, 4, 5)]),
    "deep transition": lambda name: DeepTransition(
        [recurrent_layer(name, 3, 5), recurrent_layer(name, 5, 5)]
    ),
    "residual": lambda name: Stacked(
        [recurrent_layer("elman", 3, 5), ResidualBlock(recurrent_layer(name, 5, 5))]
    ),
    "network": lambda name: recurrent_network(name, 3, 5, num_layers=2),
}
BOTH_WAYS = {
    "bidirectional": lambda name: Bidirectional(
        recurrent_layer(name, 3, 2), recurrent_layer(name, 3, 3)
    ),
    "stacked both ways": lambda name: Stacked(
        [
            Bidirectional(recurrent_layer(name, 3, 2), recurrent_layer(name, 3, 2)),
            recurrent_layer(name, 4, 5),
        ]
    ),
}


def made(wrapper: str, name: str) -> Recurrent:
    torch.manual_seed(0)
    kinds = {"alone": lambda name: recurrent_layer(name, 3, 5)} | WRAPPED | BOTH_WAYS
    return kinds[wrapper](name).double().eval()


def sequences() -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    return torch.randn(4, 20, 3, dtype=torch.float64), torch.tensor([20, 7, 1, 13])


every_layer = pytest.mark.parametrize("name", CELLS)
every_wrapper = pytest.mark.parametrize("wrapper", ["alone", *WRAPPED, *BOTH_WAYS])


@every_layer
@pytest.mark.parametrize("wrapper", ["alone", *WRAPPED])
def test_piece_by_piece_gives_the_same_outputs_and_state(wrapper, name):
    model, (x, _) = made(wrapper, name), sequences()
    whole, end = model(x)
    assert whole.shape == (4, 20, model.hidden_size) and model.hidden_size == 5
    state, pieces = model.initial_state(4, x), []
    for piece in x.split([1, 1, 17, 1], 1):
        outputs, state = model(piece, state)
        pieces.append(outputs)
    torch.testing.assert_close(torch.cat(pieces, 1), whole)
    for now, then in zip(state_tensors(state), state_tensors(end), strict=True):
        torch.testing.assert_close(now, then)
        assert len(now) == 4


@every_layer
@every_wrapper
def test_padding_changes_nothing(wrapper, name):
    model, (x, lengths) = made(wrapper, name), sequences()
    outputs, state = model(x, None, lengths)
    for row, length in enumerate(lengths.tolist()):
        alone, end = model(x[row : row + 1, :length])
        torch.testing.assert_close(outputs[row, :length], alone[0])
        assert not outputs[row, length:].any()
        for ours, own in zip(state_tensors(state), state_tensors(end), strict=True):
            torch.testing.assert_close(ours[row], own[0])


@every_layer
@every_wrapper
def test_a_classifier_does_not_see_the_padding_nor_learn_from_it(wrapper, name):
    model = SequenceClassifier(made(wrapper, name), 2).double().eval()
    x, lengths = sequences()
    x.requires_grad_()
    answer = model(x, lengths)
    for row, length in enumerate(lengths.tolist()):
        torch.testing.assert_close(answer[row], model(x[row : row + 1, :length])[0])
    answer.sum().backward()
    valid = torch.arange(20) < lengths[:, None]
    assert not x.grad[~valid].any()
    assert x.grad[valid].abs().amax(1).min() > 0  # even the first step counts


@every_layer
@every_wrapper
def test_a_step_does_not_see_the_future_unless_it_reads_both_ways(wrapper, name):
    model, (x, _) = made(wrapper, name), sequences()
    x.requires_grad_()
    outputs, _ = model(x)
    outputs[:, 10].sum().backward()
    assert bool(x.grad[:, 11:].any()) == (wrapper in BOTH_WAYS)
    assert x.grad[:, :11].any()


@every_layer
def test_gradients_are_those_of_central_differences(name):
    torch.manual_seed(0)
    model, x = recurrent_layer(name, 2, 2).double(), torch.randn(2, 3, 2, dtype=torch.float64)
    weights, lengths = list(model.parameters()), torch.tensor([3, 2])

    def run(x: Tensor, *_: Tensor) -> Tensor:
        outputs, state = model(x, None, lengths)
        return outputs.sum() + sum(part.abs().square().sum() for part in state_tensors(state))

    assert torch.autograd.gradcheck(run, (x.requires_grad_(), *weights))


@every_layer
def test_the_initial_state_is_zero_and_takes_kind_and_precision_of_its_model(name):
    model, (x, _) = made("alone", name), sequences()
    for part in state_tensors(model.initial_state(4, x)):
        assert len(part) == 4 and not part.any()
        assert part.dtype == (torch.complex128 if model.complex_state else torch.float64)


def test_a_bidirectional_layer_is_the_two_readings_side_by_side():
    x, _ = sequences()
    forwards, backwards = (
        recurrent_layer("gru", 3, 2).double(),
        recurrent_layer("gru", 3, 4).double(),
    )
    outputs, _ = Bidirectional(forwards, backwards)(x)
    torch.testing.assert_close(outputs[..., :2], forwards(x)[0])
    torch.testing.assert_close(outputs[..., 2:], backwards(x.flip(1))[0].flip(1))


def test_a_deep_transition_of_elman_layers_is_an_mlp_between_two_states():
    torch.manual_seed(0)
    first, second = recurrent_layer("elman", 3, 4).double(), recurrent_layer("elman", 4, 4).double()
    x, z = torch.randn(2, 5, 3, dtype=torch.float64), torch.zeros(2, 4, dtype=torch.float64)
    outputs, _ = DeepTransition([first, second])(x)
    for t in range(5):
        inner = torch.tanh(z @ first.U.T + x[:, t] @ first.V.T + first.b)
        z = torch.tanh(inner @ (second.U + second.V).T + second.b)
        torch.testing.assert_close(outputs[:, t], z)


def test_dropout_acts_between_stacked_layers_in_training_only():
    torch.manual_seed(0)
    model, (x, _) = (
        Stacked([recurrent_layer("gru", 3, 8), recurrent_layer("gru", 8, 8)], 0.5),
        sequences(),
    )
    x = x.float()
    assert not torch.equal(model(x)[0], model(x)[0])
    model.eval()
    assert torch.equal(model(x)[0], model(x)[0])


def test_linear_recurrences_become_deep_in_residual_blocks():
    for name in CELLS:
        blocks = [
            p for p in recurrent_network(name, 3, 4, 2).modules() if isinstance(p, ResidualBlock)
        ]
        assert len(blocks) == (2 if name in LINEAR_CELLS else 0)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: recurrent_layer("lsmt", 3, 4), "lstm"),
        (
            lambda: recurrent_layer("lstm", 0, 4),
            "`input_size` must be a whole number of at least 1",
        ),
        (
            lambda: recurrent_network("gru", 3, 4, 0),
            "`num_layers` must be a whole number of at least 1",
        ),
        (lambda: Stacked([]), "at least one"),
        (
            lambda: Stacked([recurrent_layer("gru", 3, 4), recurrent_layer("gru", 3, 4)]),
            "input_size 3 cannot follow",
        ),
        (lambda: Stacked([recurrent_layer("gru", 3, 4)], 1.0), "dropout"),
        (lambda: DeepTransition([]), "at least one"),
        (
            lambda: DeepTransition([recurrent_layer("gru", 3, 4), recurrent_layer("lstm", 4, 4)]),
            "share one state",
        ),
        (
            lambda: Bidirectional(recurrent_layer("gru", 3, 4), recurrent_layer("gru", 4, 4)),
            "the same input_size",
        ),
        (lambda: ResidualBlock(recurrent_layer("gru", 3, 4)), "input_size must equal"),
        (lambda: recurrent_layer("gru", 3, 4)(torch.zeros(2, 5, 4)), r"\(batch, steps, 3\)"),
        (lambda: recurrent_layer("elman", 3, 4)(torch.zeros(2, 0, 3)), "one step or more"),
        (lambda: recurrent_layer("gru", 3, 4)(torch.zeros(2, 5, 3), torch.zeros(3, 4)), "state"),
        (lambda: recurrent_layer("lru", 3, 4)(torch.zeros(2, 5, 3), torch.zeros(2, 5)), "state"),
        (lambda: recurrent_layer("lstm", 3, 4)(torch.zeros(2, 5, 3), torch.zeros(2, 4)), "state"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
