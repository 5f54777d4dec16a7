"""The equations of the recurrent layers: against torch.nn, written out, by their eigenvalues."""

import math

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent import antisymmetric, lipschitz, lru, s4, selective, state_space
from chainrule.models.recurrent.elman import Elman, backpropagation_through_time
from chainrule.models.recurrent.gru import GRU, gru_step
from chainrule.models.recurrent.layers import recurrent_layer
from chainrule.models.recurrent.lstm import LSTM, lstm_step
from chainrule.models.recurrent.min_gru import MinGRU, gate_logit, half_lives
from chainrule.models.recurrent.min_lstm import MinLSTM
from chainrule.models.recurrent.notes_gru import NotesGRU, notes_gru_step
from chainrule.models.recurrent.notes_lstm import NotesLSTM, notes_lstm_step
from chainrule.models.recurrent.recurrent import state_tensors
from chainrule.models.recurrent.torch_conversion import from_torch, to_torch
from chainrule.nn.activations import activation

DOUBLE = torch.float64


@pytest.fixture(autouse=True)
def in_double_precision():
    torch.set_default_dtype(DOUBLE)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)


def sequence() -> Tensor:
    return torch.randn(3, 8, 4, generator=torch.Generator().manual_seed(1))


TORCHS = [
    nn.LSTM(4, 5, batch_first=True),
    nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True),
    nn.GRU(4, 5, batch_first=True),
    nn.GRU(4, 5, num_layers=3, dropout=0.2, batch_first=True),
    nn.GRU(4, 5, num_layers=2, bidirectional=True, batch_first=True),
    nn.RNN(4, 5, batch_first=True),
    nn.RNN(4, 5, num_layers=2, nonlinearity="relu", bidirectional=True, batch_first=True),
]


@pytest.mark.parametrize("theirs", TORCHS, ids=str)
def test_weights_exchange_with_torch_both_ways(theirs):
    theirs, x = theirs.double().eval(), sequence()
    ours = from_torch(theirs).eval()
    expected, end = theirs(x)
    outputs, state = ours(x)
    torch.testing.assert_close(outputs, expected)
    ends = end if isinstance(end, tuple) else (end,)
    by_kind = [torch.stack(state_tensors(state)[k :: len(ends)]) for k in range(len(ends))]
    for own, other in zip(by_kind, ends, strict=True):
        torch.testing.assert_close(own, other)
    back = to_torch(ours).eval()
    assert type(back) is type(theirs) and back.dropout == theirs.dropout
    torch.testing.assert_close(back(x)[0], expected)


def test_what_torch_does_otherwise_is_not_exchanged():
    with pytest.raises(InputError, match="proj_size"):
        from_torch(nn.LSTM(4, 5, proj_size=2))
    with pytest.raises(InputError, match="one kind and hidden_size"):
        to_torch(recurrent_layer("mingru", 4, 5))


def test_the_kernels_compute_the_equations_of_lstm_and_gru():
    x, lstm, gru = sequence(), LSTM(4, 5), GRU(4, 5)
    for net in (lstm, gru):
        for bias in net.kernel.all_weights[0][2:]:
            nn.init.normal_(bias)
    W, U, b, c = lstm.kernel.all_weights[0]
    h, cell = torch.zeros(3, 5), torch.zeros(3, 5)
    for t in range(8):
        h, cell = lstm_step(x[:, t], h, cell, W, U, b + c)
    torch.testing.assert_close(lstm(x)[1], (h, cell))
    h = torch.zeros(3, 5)
    for t in range(8):
        h = gru_step(x[:, t], h, *gru.kernel.all_weights[0])
    torch.testing.assert_close(gru(x)[1], h)


def test_a_new_lstm_cell_remembers():
    biases = LSTM(4, 5).kernel.all_weights[0][2:]
    assert sum(biases).tolist() == [0.0] * 5 + [1.0] * 5 + [0.0] * 10


@pytest.mark.parametrize("kind", [NotesLSTM, NotesGRU])
def test_second_derivatives_are_those_of_the_steps_one_by_one(kind):
    x, net = torch.randn(2, 3, 4, dtype=torch.float64).requires_grad_(), kind(4, 5).double()

    def plain() -> Tensor:
        (zeta, z), zs = (torch.zeros(2, 5, dtype=torch.float64),) * 2, []
        for x_t in x.unbind(1):
            if kind is NotesGRU:
                zeta = notes_gru_step(x_t, zeta, torch.cat([net.G, net.H, net.V]))
            else:
                W = torch.cat([net.V, net.F, net.G, net.H])
                zeta, z = notes_lstm_step(x_t, zeta, z, W, net.U)
            zs.append(zeta)
        return torch.stack(zs, 1)

    def second(states: Tensor) -> tuple[Tensor, ...]:
        loss = states.sin().sum() + x.pow(3).sum()
        inputs = (x, *net.parameters())
        first = torch.autograd.grad(loss, inputs, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), inputs)

    torch.testing.assert_close(second(net(x)[0]), second(plain()))


def test_the_notes_lstm_is_its_equation_forwards_and_backwards():
    x, net = sequence().requires_grad_(), NotesLSTM(4, 5)
    start = (torch.randn(3, 5, requires_grad=True), torch.randn(3, 5, requires_grad=True))
    outputs, (_, cell) = net(x, start)
    (zeta, z), shown = start, []
    for t in range(8):
        zeta, z = notes_lstm_step(x[:, t], zeta, z, torch.cat([net.V, net.F, net.G, net.H]), net.U)
        shown.append(zeta)
    torch.testing.assert_close(outputs, torch.stack(shown, 1))
    torch.testing.assert_close(cell, z)
    same_gradients(
        outputs.sin().sum() + cell.cos().sum(),
        torch.stack(shown, 1).sin().sum() + z.cos().sum(),
        [x, *start, *net.parameters()],
    )


def test_the_notes_gru_is_its_equation_forwards_and_backwards():
    x, net = sequence().requires_grad_(), NotesGRU(4, 5)
    start = torch.randn(3, 5, requires_grad=True)
    outputs, _ = net(x, start)
    z, states = start, []
    for t in range(8):
        z = notes_gru_step(x[:, t], z, torch.cat([net.G, net.H, net.V]))
        states.append(z)
    torch.testing.assert_close(outputs, torch.stack(states, 1))
    same_gradients(
        outputs.sin().sum(), torch.stack(states, 1).sin().sum(), [x, start, *net.parameters()]
    )


def same_gradients(ours: Tensor, theirs: Tensor, inputs: list[Tensor]) -> None:
    pairs = zip(*(torch.autograd.grad(loss, inputs) for loss in (ours, theirs)), strict=True)
    for a, b in pairs:
        torch.testing.assert_close(a, b)


def test_the_notes_count_five_matrices_for_the_lstm_and_three_for_the_gru():
    matrices = {
        name: [p.shape for p in recurrent_layer(name, 4, 5).parameters()]
        for name in ("noteslstm", "notesgru")
    }
    assert sorted(matrices["noteslstm"]) == [(5, 5)] + 4 * [(5, 9)]
    assert matrices["notesgru"] == 3 * [(5, 9)]


def test_backpropagation_through_time_written_out_is_autograd():
    net, x = Elman(4, 5), sequence().requires_grad_()
    z, _ = net(x)
    weights = torch.randn_like(z)
    expected = torch.autograd.grad((z.sin() * weights).sum(), [net.U, net.V, net.b, x])
    with torch.no_grad():
        found = backpropagation_through_time(net.U, net.V, x, z, z.cos() * weights)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_elman_gradients_vanish_or_explode_within_the_bound():
    net = Elman(4, 5)
    for scale, vanishes in ((0.5, True), (1.5, False)):
        with torch.no_grad():
            net.U.copy_(scale * nn.init.orthogonal_(torch.empty(5, 5)))
        start = torch.zeros(5)
        norms = [
            torch.linalg.matrix_norm(
                torch.autograd.functional.jacobian(
                    lambda z, steps=steps: net(torch.zeros(1, steps, 4), z[None])[1][0], start
                ),
                2,
            ).item()
            for steps in range(1, 13)
        ]
        assert norms == pytest.approx([scale**steps for steps in range(1, 13)])  # tanh'(0) = 1
        assert (norms[-1] < 1e-3) == vanishes


def test_min_gru_and_min_lstm_are_their_equations():
    x, gru, lstm = sequence(), MinGRU(4, 5), MinLSTM(4, 5)
    z = y = torch.randn(3, 5)
    start = z
    for x_t in x.unbind(1):
        s = gru.gate(x_t).sigmoid()
        z = s * z + (1 - s) * gru.candidate(x_t)
        f, i = lstm.forget(x_t).sigmoid(), lstm.input(x_t).sigmoid()
        y = f / (f + i) * y + i / (f + i) * lstm.candidate(x_t)
    torch.testing.assert_close(gru(x, start)[1], z)
    torch.testing.assert_close(lstm(x, start)[1], y)


def test_the_half_lives_of_min_gru_and_min_lstm_at_the_start():
    assert half_lives(4).tolist() == pytest.approx([1, 10, 100, 1000])
    halves = gate_logit(half_lives(4)).sigmoid() ** half_lives(4)
    torch.testing.assert_close(halves, torch.full((4,), 0.5))
    for net in (MinGRU(4, 4), MinLSTM(4, 4)):
        _, after = net(torch.zeros(1, 10, 4), torch.ones(1, 4))
        assert after[0, 1].item() == pytest.approx(0.5)


@pytest.mark.parametrize("nu", [-40.0, -5.0, 0.0, 5.0, 50.0])
def test_no_eigenvalue_of_the_lru_leaves_the_unit_disc(nu):
    sizes = lru.eigenvalues(torch.full((9,), nu), torch.linspace(-9, 9, 9)).abs()
    assert (sizes <= 1).all()
    assert (sizes < 1).all() or nu == -40.0  # 1 - e⁻⁴⁰ is 1 in double precision


def test_the_lru_begins_on_its_ring_with_unit_variance():
    nu, phi = lru.ring(20_000, 0.6, 0.95, math.pi / 5)
    lam = lru.eigenvalues(nu, phi)
    assert 0.6 <= lam.abs().min() < 0.61 and 0.94 < lam.abs().max() <= 0.95
    assert phi.min() >= 0 and phi.max() <= math.pi / 5
    inside = (lam.abs() < 0.8).double().mean().item()  # areas: (0.8² - 0.6²) / (0.95² - 0.6²)
    assert inside == pytest.approx((0.64 - 0.36) / (0.9025 - 0.36), abs=0.02)
    gamma = lru.normalization(nu)
    torch.testing.assert_close(gamma.square() / (1 - lam.abs() ** 2), torch.ones(20_000))


def test_a_normalized_lru_keeps_the_variance_of_white_noise():
    net = lru.LRU(16, 32, 0.9, 0.99)
    with torch.no_grad():
        _, states = net.unroll(torch.randn(20, 1000, 16), net.initial_state(20, torch.zeros(1)))
    variance = states[0][:, 500:].abs().square().mean((0, 1))
    assert variance.mean().item() == pytest.approx(1, abs=0.15)


def test_the_state_space_layer_solves_its_differential_equation():
    A, delta = (
        torch.complex(torch.tensor([-0.5, -2.0]), torch.tensor([3.0, 0.0])),
        torch.tensor(0.3),
    )
    A_bar, ratio = state_space.discretize(A, delta)
    h, fine = torch.ones(2, dtype=torch.complex128), 20_000
    exact = h.clone()
    for _ in range(fine):  # Euler in tiny steps, with a constant input of 1.5
        exact = exact + delta / fine * (A * exact + 1.5)
    torch.testing.assert_close(A_bar * h + ratio * 1.5, exact, rtol=1e-4, atol=1e-4)


def test_state_spaces_are_stable_whatever_is_learned():
    net = state_space.StateSpace(4, 6)
    choosy = selective.Selective(4, 6)
    for parameter in (*net.parameters(), *choosy.parameters()):
        nn.init.normal_(parameter, std=3.0)
    A_bar, _ = state_space.discretize(
        torch.complex(-net.alpha.exp(), net.omega), net.log_delta.exp()
    )
    assert (A_bar.abs() < 1).all()
    x = torch.randn(2, 400, 4)
    _, (states,) = choosy.unroll(x, *state_tensors(choosy.initial_state(2, x)))
    delta = nn.functional.softplus(choosy.delta(nn.functional.silu(choosy.input(x))))
    kept = torch.exp(-delta[..., None] * choosy.log_A.exp())
    assert ((kept >= 0) & (kept <= 1)).all() and states.isfinite().all()


def test_the_selective_layer_is_its_equation():
    net, x = selective.Selective(4, 5, state_size=3), sequence()
    nn.init.normal_(net.delta.weight)
    H, outputs = torch.zeros(3, 5, 3), []
    for x_t in x.unbind(1):
        u = nn.functional.silu(net.input(x_t))
        delta = nn.functional.softplus(net.delta(u))
        kept = torch.exp(-delta[:, :, None] * net.log_A.exp())
        H = kept * H + torch.einsum("bi,bn->bin", delta * u, net.B(u))
        y = torch.einsum("bin,bn->bi", H, net.C(u)) + net.d * u
        outputs.append(y * nn.functional.silu(net.gate(x_t)))
    torch.testing.assert_close(net(x)[0], torch.stack(outputs, 1))


def test_a_selective_layer_that_takes_no_step_passes_over_its_input():
    net, x = selective.Selective(4, 5), sequence()
    nn.init.constant_(net.delta.bias, -60.0)
    before = torch.randn(3, 5, 8)
    torch.testing.assert_close(net(x, before)[1], before)


def test_antisymmetric_eigenvalues_have_the_real_part_of_the_damping():
    net = antisymmetric.Antisymmetric(4, 6)
    M = antisymmetric.transition(net.W, 0.25)
    torch.testing.assert_close(torch.linalg.eigvals(M).real, torch.full((6,), -0.25))
    for _ in range(20):  # … and the Jacobian diag(tanh') M stays on the left
        slopes = torch.rand(6)
        assert torch.linalg.eigvals(slopes[:, None] * M).real.max() <= 1e-12


def test_antisymmetric_states_keep_their_distance_while_elman_forgets():
    calm = antisymmetric.Antisymmetric(4, 6, step_size=0.01, damping=0.0)
    small = Elman(4, 6)
    with torch.no_grad():
        small.U.mul_(0.5)
    x = 0.01 * torch.randn(1, 300, 4)
    for net, kept in ((calm, True), (small, False)):
        starts = 1e-3 * torch.randn(2, 6)
        ends = net(x.expand(2, -1, -1), starts)[1]
        ratio = ((ends[0] - ends[1]).norm() / (starts[0] - starts[1]).norm()).item()
        assert (0.5 < ratio < 2) == kept


def test_lipschitz_matrices_turn_from_symmetric_to_antisymmetric():
    M = torch.randn(6, 6)
    assert torch.linalg.eigvals(lipschitz.transition(M, 0.0, 0.5)).imag.abs().max() < 1e-12
    turning = torch.linalg.eigvals(lipschitz.transition(M, 1.0, 0.5))
    torch.testing.assert_close(turning.real, torch.full((6,), -0.5))


def test_a_stable_lipschitz_layer_forgets_its_start():
    net = lipschitz.Lipschitz(4, 6, step_size=0.01, damping=2.0)
    A = lipschitz.transition(net.M_A, net.antisymmetry, net.damping)
    with torch.no_grad():
        net.M_W.copy_(4 * torch.eye(6))  # W = 2 (1 - β) M_W - γ I = 0
        W = lipschitz.transition(net.M_W, net.antisymmetry, net.damping)
    assert lipschitz.is_stable(A, W)
    x = torch.randn(1, 1500, 4)
    ends = net(x.expand(2, -1, -1), 5 * torch.randn(2, 6))[1]
    assert (ends[0] - ends[1]).norm() < 1e-3
    assert not lipschitz.is_stable(torch.zeros(6, 6), W)


def test_lipschitz_is_its_equation():
    net, x, h = lipschitz.Lipschitz(4, 5), sequence(), torch.randn(3, 5)
    A, W = (lipschitz.transition(M, net.antisymmetry, net.damping) for M in (net.M_A, net.M_W))
    start = h
    for x_t in x.unbind(1):
        h = h + net.step_size * (h @ A.T + torch.tanh(h @ W.T + x_t @ net.U.T + net.b))
    torch.testing.assert_close(net(x, start)[1], h)


def test_antisymmetric_is_its_equation():
    net, x, h = antisymmetric.Antisymmetric(4, 5), sequence(), torch.randn(3, 5)
    start = h
    for x_t in x.unbind(1):
        M = net.W - net.W.T - net.damping * torch.eye(5)
        h = h + net.step_size * torch.tanh(h @ M.T + x_t @ net.V.T + net.b)
    torch.testing.assert_close(net(x, start)[1], h)


def test_the_lru_is_its_equation():
    net, x = lru.LRU(4, 5), sequence()
    h = torch.randn(3, 5, dtype=torch.complex128)
    start, lam = h, lru.eigenvalues(net.nu, net.phi)
    B, C = torch.complex(net.B[0], net.B[1]), torch.complex(net.C[0], net.C[1])
    for x_t in x.unbind(1):
        h = lam * h + net.log_gamma.exp() * (x_t.to(B.dtype) @ B.T)
        y = (h @ C.T).real + x_t @ net.D.T
    outputs, end = net(x, start)
    torch.testing.assert_close(end, h)
    torch.testing.assert_close(outputs[:, -1], y)


def test_rings_outside_the_unit_disc_are_refused():
    with pytest.raises(InputError, match="unit disc"):
        lru.LRU(4, 5, 0.9, 1.0)


def test_an_elman_network_takes_any_activation_and_refuses_unknown_ones():
    x = sequence()
    for name in ("tanh", "relu", "sigmoid", "gelu"):
        layer = Elman(4, 5, name)
        z, states = torch.zeros(len(x), 5), []
        for x_t in x.unbind(1):
            z = activation(name)(z @ layer.U.T + x_t @ layer.V.T + layer.b)
            states.append(z)
        torch.testing.assert_close(layer(x)[0], torch.stack(states, 1))
    with pytest.raises(InputError, match="there is no activation 'relux'"):
        Elman(4, 5, "relux")
    with pytest.raises(InputError, match="tanh or relu"):
        to_torch(Elman(4, 5, "gelu"))


def test_s4_starts_from_hippo_and_its_kernel_is_the_powers_of_its_matrix():
    A, B = s4.hippo_legs(3)
    root = [1, 3**0.5, 5**0.5]
    expected = [[-1, 0, 0], [-root[1], -2, 0], [-root[2], -root[1] * root[2], -3]]
    torch.testing.assert_close(A, torch.tensor(expected).double())
    torch.testing.assert_close(B, torch.tensor(root).double())
    layer = s4.S4(2, 3, state_size=5).double()
    lam, p, B, C, delta = layer.matrices()
    A_bar, B_bar = s4.bilinear(lam, p, B, delta)
    powers = [torch.linalg.matrix_power(A_bar, k) for k in range(8)]
    by_hand = torch.stack(
        [(C[:, None] @ A_k @ B_bar[..., None]).real[:, 0, 0] for A_k in powers], 1
    )
    torch.testing.assert_close(s4.kernel(lam, p, B, C, delta, 8), by_hand)
    x = torch.randn(2, 9, 2).double()
    torch.testing.assert_close(layer.convolve(x), layer(x)[0])


def test_an_unstable_matrix_is_not_made_into_an_lru():
    A = torch.diag(torch.tensor([0.5, 1.5]))
    with pytest.raises(InputError, match=r"0 < \|λ\| < 1, got up to 1.5"):
        lru.diagonalized(A, torch.ones(2, 1), torch.eye(2))


def test_remember_spreads_the_biases_over_the_given_steps():
    torch.manual_seed(0)
    lstm, gru = LSTM(2, 200), GRU(2, 200)
    for layer in (lstm, gru):
        layer.remember(50)
        kept = layer.kernel.all_weights[0][2][200:400].exp()
        assert kept.min() >= 1 and 45 < kept.max() <= 50
    bias = lstm.kernel.all_weights[0][2]
    assert torch.equal(bias[:200], -bias[200:400])
