"""Pictures of attention: what is drawn where, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from chainrule.errors import InputError
from chainrule.nn.positions import sinusoidal
from chainrule.plots.attention import (
    attention_heads,
    attention_rollout,
    positional_encoding,
    relative_positions,
    text_attention,
)
from chainrule.plots.style import save

TOKENS = ["[CLS]", "the", "cat", "[SEP]"]


def rows(*shape: int) -> np.ndarray:
    A = np.random.default_rng(0).random(shape)
    return A / A.sum(-1, keepdims=True)


def test_every_layer_and_head_has_its_map_with_tokens_at_the_edges(tmp_path: Path) -> None:
    A = rows(2, 3, 4, 4)
    figure = text_attention(A, TOKENS)
    assert len(figure.axes) == 6
    for place, axes in enumerate(figure.axes):
        layer, head = divmod(place, 3)
        np.testing.assert_array_equal(axes.images[0].get_array(), A[layer, head])
        named = [label.get_text() for label in axes.get_yticklabels()]
        assert named == (TOKENS if head == 0 else [])
        assert [label.get_text() for label in axes.get_xticklabels()] == (TOKENS if layer else [])
    assert save(figure, tmp_path / "a.png").stat().st_size > 10_000


def test_cross_attention_has_other_keys_than_queries_and_large_models_are_cut() -> None:
    figure = text_attention(rows(9, 12, 2, 4), ["a", "b"], TOKENS)
    assert len(figure.axes) == 6 * 8
    assert [axes.get_ylabel() for axes in figure.axes[7::8]] == [f"layer {k}" for k in range(4, 10)]
    (axes,) = text_attention(rows(1, 1, 2, 4), ["a", "b"], TOKENS, "cross").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in axes.get_xticklabels()] == TOKENS


def test_even_weights_are_pale_and_letters_stand_upright() -> None:
    (axes,) = text_attention(np.full((1, 1, 2, 4), 0.25), ["a", "b"], list("wxyz")).axes
    image = axes.images[0]
    assert image.norm(0.25) == pytest.approx(0.5)
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {0}


def test_shares_lie_on_their_patches() -> None:
    shares = np.zeros((2, 2, 2))
    shares[0, 0, 1] = shares[1, 1, 0] = 0.5
    figure = attention_rollout(np.ones((2, 4, 4)), shares, ["7", "2"])
    light = figure.axes[2].images[1].get_array()
    assert light is not None
    wanted = np.zeros((4, 4))
    wanted[:2, 2:] = 1
    np.testing.assert_array_equal(light, wanted)
    assert [axes.get_title(loc="center") for axes in figure.axes[:2]] == ["7", "2"]
    A = rows(7, 3, 2, 2)
    heads = attention_heads(np.ones((4, 4, 3)), A)
    assert len(heads.axes) == 6 * 3 and heads.axes[0].get_ylabel() == "layer 2"
    light = heads.axes[-1].images[1].get_array()
    assert light is not None
    np.testing.assert_allclose(light[::2, ::2], A[-1, -1] / A[-1, -1].max())


def test_positions_and_their_cosines() -> None:
    p = sinusoidal(20, 8).numpy()
    figure = positional_encoding(p)
    shown, alike = (axes.images[0].get_array() for axes in figure.axes[:2])
    assert shown is not None and alike is not None
    np.testing.assert_allclose(shown, p)
    np.testing.assert_allclose(np.diag(alike), 1)
    np.testing.assert_allclose(np.diag(alike, 3), np.diag(alike, 3)[0], atol=1e-5)


def test_relative_positions_have_a_curve_for_each_head() -> None:
    bias = np.arange(10.0).reshape(2, 5)
    axes = relative_positions(range(-2, 3), bias).axes[0]
    curves = {line.get_label(): line.get_ydata() for line in axes.lines[1:]}
    np.testing.assert_array_equal(curves["head 2"], bias[1])
    with pytest.raises(InputError, match="bias"):
        relative_positions(range(4), bias)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match=r"expected weights of shape \(L, H, 4, 4\)"):
        text_attention(rows(1, 1, 3, 3), TOKENS)
    with pytest.raises(InputError, match="non-negative weights"):
        text_attention(-rows(1, 1, 4, 4), TOKENS)
    with pytest.raises(InputError, match="divide the image of 4×4 evenly, got 3×3"):
        attention_rollout(np.ones((1, 4, 4)), rows(1, 3, 3), ["a"])
    with pytest.raises(InputError, match="images 1, weights 2, captions 1"):
        attention_rollout(np.ones((1, 4, 4)), rows(2, 2, 2), ["a"])
    with pytest.raises(InputError, match="two positions"):
        positional_encoding(np.ones((1, 4)))
