"""Steps of one token: the blocks' own results, whatever the size, the batch and the context."""

import pytest
import torch
from torch import nn

from chainrule.models.attention import GPT
from chainrule.models.attention.gpt import Writer
from chainrule.nn.attention import SelfAttention
from chainrule.nn.kernels.token_decoder import LARGE, TokenDecoder, fits
from chainrule.nn.positions import LearnedPositions


def network(hidden_size: int = 8, context_length: int = 12) -> GPT:
    torch.manual_seed(0)
    return GPT(11, context_length, hidden_size, num_layers=2, num_heads=2).eval()


class Halved(LearnedPositions):
    def forward(self, steps: int, start: int = 0) -> torch.Tensor:
        return super().forward(steps, start) / 2


@pytest.mark.parametrize("hidden_size", [8, 1 + int((LARGE // 4) ** 0.5) // 2 * 2 + 1])
@pytest.mark.parametrize("batch", [1, 3])
@torch.no_grad()
def test_its_logits_are_those_of_the_blocks(hidden_size, batch):
    model = network(hidden_size)
    tokens = torch.randint(11, (batch, 12))
    _, caches = model.decode_step(tokens[:, :4])
    fast, slow = TokenDecoder(model, caches), Writer(model, caches)
    for place in range(4, 12):
        token = tokens[:, place]
        torch.testing.assert_close(fast.step(token), slow.step(token), rtol=1e-4, atol=1e-5)
        assert fast.length == slow.length == place + 1


def test_both_ways_write_the_same_tokens_beyond_the_context(monkeypatch):
    model, prompt = network(), torch.tensor([1, 2, 3])
    fast = model.generate(prompt, 30, temperature=0.0)
    monkeypatch.setattr("chainrule.models.attention.gpt.fits", lambda model: False)
    assert torch.equal(fast, model.generate(prompt, 30, temperature=0.0))


def test_several_prompts_are_continued_as_each_alone():
    model, prompts = network(), torch.randint(11, (4, 3))
    together = model.generate(prompts, 10, temperature=0.0)
    assert together.shape == (4, 10)
    for prompt, written in zip(prompts, together, strict=True):
        assert torch.equal(model.generate(prompt, 10, temperature=0.0), written)


def test_changed_models_take_the_blocks_own_steps():
    assert fits(network())
    assert not fits(network().double())
    hooked = network()
    hooked.blocks[0].register_forward_hook(lambda *_: None)
    assert not fits(hooked)
    replaced = network()
    replaced.blocks[0].feed_forward.inner = nn.Sequential(nn.Linear(8, 32))
    assert not fits(replaced)
    normed = network()
    torch.nn.utils.parametrizations.weight_norm(normed.blocks[1].attention.output)
    assert not fits(normed)
    for name, part in (
        ("norm", nn.Identity()),
        ("embedding", nn.Embedding(11, 8, max_norm=0.1)),
        ("positions", Halved(12, 8)),
    ):
        model = network()
        setattr(model, name, part)
        assert not fits(model), name
    model = network()
    model.blocks[0].attention = SelfAttention(8, 2, key_size=3, value_size=6)
    assert not fits(model)
    model = network()
    model.norm.forward = torch.tanh
    assert not fits(model)


def test_a_model_that_changes_a_function_of_gpt_writes_by_it():
    class Contrary(GPT):
        def logits(self, x):
            return -super().logits(x)

    torch.manual_seed(0)
    model = Contrary(11, 12, 8, num_layers=2, num_heads=2).eval()
    text = torch.tensor([1, 2, 3])
    for token in model.generate(text, 5, temperature=0.0):
        assert token == model(text[None])[0, -1].argmax()
        text = torch.cat([text, token[None]])


def test_autocast_reaches_every_step():
    model = network(1 + int((LARGE // 4) ** 0.5) // 2 * 2 + 1)
    with torch.autocast("cpu", torch.bfloat16):
        assert not fits(model)
        assert model.generate(torch.tensor([1, 2]), 4, temperature=0.0).shape == (4,)
