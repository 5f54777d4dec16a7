"""Published weights that do not fit or are damaged: one sentence, and the model stays as it was."""

import json
import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import save
from torch import Tensor

from chainrule import pretrained
from chainrule.errors import InputError
from chainrule.models.attention import GPT
from chainrule.pretrained.loading import state_dict
from chainrule.pretrained.state_dict_rules import stack, untie

NAMES = (
    ("blocks.", "h."),
    ("norm_1", "ln_1"),
    ("norm_2", "ln_2"),
    ("attention.projection", "attn.c_attn"),
    ("attention.output", "attn.c_proj"),
    ("feed_forward.inner", "mlp.c_fc"),
    ("feed_forward.outer", "mlp.c_proj"),
)
OUTSIDE = {"embedding": "wte", "positions": "wpe", "norm": "ln_f"}


def small() -> GPT:
    return GPT.gpt2(11, 6, 8, 1, 2)


def published() -> dict[str, Tensor]:
    """The weights of a small model as GPT-2 names and turns them."""
    found = {}
    for name, tensor in small().state_dict().items():
        first, _, rest = name.partition(".")
        if first in OUTSIDE:
            found[f"{OUTSIDE[first]}.{rest}"] = tensor
            continue
        for ours, theirs in NAMES:
            name = name.replace(ours, theirs)
        found[name] = tensor.T.contiguous() if tensor.ndim == 2 else tensor
    return found


def test_the_small_model_loads() -> None:
    pretrained.load(small(), published())


@pytest.mark.parametrize("weights", [5, None, ["a"], {"a": 1}, {1: torch.zeros(1)}])
def test_what_is_no_state_dict_is_refused(weights: object) -> None:
    with pytest.raises(InputError, match="`weights` must"):
        state_dict(weights)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: t * float("nan"), "1 with values that are not finite"),
        (lambda t: t.fill_(float("inf")), "1 with values that are not finite"),
        (lambda t: t.long(), "1 of another type"),
        (lambda t: t.bool(), "1 of another type"),
        (lambda t: t.to(torch.complex64), "1 of another type"),
        (lambda t: t.to(torch.float8_e5m2), "1 of another type"),
        (lambda t: t[:5], "1 of another shape"),
    ],
)
def test_weights_without_sense_are_refused_by_name(change, why: str) -> None:
    model, state = small(), published()
    before = {name: t.clone() for name, t in model.state_dict().items()}
    state["ln_f.weight"] = change(state["ln_f.weight"].clone())
    with pytest.raises(InputError, match=rf"{why} \(norm.weight"):
        pretrained.load(model, state)
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())


def test_parts_that_cannot_be_stacked_are_named() -> None:
    state = {f"x.{name}.weight": torch.zeros(2, k) for k, name in enumerate("qkv")}
    with pytest.raises(InputError, match=r"x.q.weight, x.k.weight, x.v.weight of one type"):
        stack(state, ("q", "k", "v"), "p")


def test_a_copy_of_another_type_differs() -> None:
    with pytest.raises(InputError, match="b differs from a"):
        untie({"a": torch.zeros(2), "b": torch.zeros(2).half()}, "b", "a")


@pytest.mark.parametrize("content", [b"", b"x" * 20, b"\xff" * 8, (10**6).to_bytes(8, "little")])
def test_what_is_no_safetensors_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"m.safetensors is not a safetensors file"):
        pretrained.load(small(), path)


def test_an_unreadable_file_says_what_the_system_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*nowhere"):
        pretrained.load(small(), tmp_path / "nowhere")
    with pytest.raises(InputError, match="cannot read"):
        pretrained.load(small(), tmp_path)


def test_any_mutation_of_a_file_is_loaded_or_refused(tmp_path: Path) -> None:
    path, whole, draw = tmp_path / "m.safetensors", save(published()), random.Random(0)
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    for _ in range(300):
        changed = json.loads(json.dumps(header))
        entry = changed[draw.choice(list(changed))]
        key = draw.choice(list(entry))
        entry[key] = draw.choice(["F16", "BOOL", "F8_E4M3", [], [8], [2**40], [-1], None, 5])
        text = json.dumps(changed).encode()
        content = bytearray(len(text).to_bytes(8, "little") + text + whole[8 + size :])
        for _ in range(draw.randrange(3)):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
        try:
            pretrained.load(small(), path)
        except InputError as error:
            assert "\n" not in str(error)
