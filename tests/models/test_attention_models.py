"""The laws of the attention chapter: caches, padding, sparse and linear forms, best spans."""

import itertools

import pytest
import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.attention import (
    BERT,
    GPT,
    BertClassifier,
    BertQuestions,
    BertTagger,
    LinearAttention,
    MLPMixer,
    Transformer,
    ViT,
    WindowedAttention,
)
from chainrule.models.attention.bert_questions import best_spans
from chainrule.models.attention.linear_attention import CHUNK, past, quadratic
from chainrule.models.attention.vit import rollout
from chainrule.models.attention.windowed_attention import band_mask
from chainrule.nn.attention import apart, attention_maps, causal_mask, padding_mask
from chainrule.nn.decoding import Ends, draw, nucleus

ENDS = Ends(begin=2, end=3, longest=6)
norms = pytest.mark.parametrize("norm", ["pre", "post"])


def gpt(context: int = 8) -> GPT:
    torch.manual_seed(0)
    model = GPT(11, context, width=8, depth=2, heads=2).double()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.5)
    return model


def translator(norm: str, target: int | None = None) -> Transformer:
    torch.manual_seed(0)
    sizes = {"width": 8, "depth": 2, "heads": 2, "hidden": 16}
    return Transformer(9, target, **sizes, dropout=0.2, norm=norm).double().eval()


# GPT


@pytest.mark.parametrize("pieces", [(1,) * 7, (3, 4), (6, 1)])
def test_gpt_with_memory_is_gpt_without(pieces: tuple[int, ...]) -> None:
    model, tokens = gpt(), torch.randint(11, (3, 7))
    found, memories = [], None
    for piece in tokens.split(pieces, 1):
        logits, memories = model.advance(piece, memories)
        found.append(logits)
    torch.testing.assert_close(torch.cat(found, 1), model(tokens))


def test_gpt_writes_what_it_would_write_without_memory_beyond_its_context_too() -> None:
    model = gpt(context=5)
    for temperature, length in itertools.product((0.0, 1.3), (2, 5, 9)):
        seen = torch.arange(length)
        generator, again = (torch.Generator().manual_seed(3) for _ in range(2))
        for token in model.write(seen, 12, temperature, 0, generator, top_p=0.8):
            logits = model(seen[None, -5:])[:, -1]
            assert token == draw(logits, temperature, 0, again, top_p=0.8)[0]
            seen = torch.cat([seen, token[None]])


def test_the_same_seed_writes_the_same_text_and_another_another() -> None:
    model, prompt = gpt(), torch.tensor([1])

    def text(seed: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        return model.write(prompt, 30, 0.9, top_k=5, generator=generator, top_p=0.9).tolist()

    assert text(0) == text(0) != text(1)


def test_top_p_keeps_the_fewest_that_are_enough() -> None:
    p = torch.tensor([[0.1, 0.4, 0.15, 0.35]])
    for top_p, kept in (
        (0.3, [1]),
        (0.4, [1]),
        (0.5, [1, 3]),
        (0.8, [1, 2, 3]),
        (1.0, [0, 1, 2, 3]),
    ):
        found = nucleus(p.log(), 1.0, 0, top_p)
        assert found[0].isfinite().nonzero()[:, 0].tolist() == kept
    # Among the top 2 the likeliest has 0.4 / 0.75 = 0.53.
    assert nucleus(p.log(), 1.0, 2, 0.5)[0].isfinite().nonzero()[:, 0].tolist() == [1]
    # A low temperature sharpens: 0.4² / Σ p² = 0.51.
    assert nucleus(p.log(), 0.5, 0, 0.5)[0].isfinite().nonzero()[:, 0].tolist() == [1]


def test_only_chosen_tokens_are_written() -> None:
    model, prompt = gpt(), torch.tensor([1, 2, 3])
    logits = model(prompt[None])[0, -1]
    allowed = set(nucleus(logits[None], 1.5, 4, 0.8)[0].isfinite().nonzero()[:, 0].tolist())
    drawn = {
        int(model.write(prompt, 1, 1.5, 4, torch.Generator().manual_seed(seed), 0.8)[0])
        for seed in range(40)
    }
    assert drawn == allowed and 1 < len(allowed) <= 4


def test_tokens_that_are_never_written() -> None:
    model, prompt = gpt(), torch.tensor([1])
    generator = torch.Generator().manual_seed(0)
    assert set(model.write(prompt, 60, 2.0, generator=generator).tolist()) & {0, 3}
    generator.manual_seed(0)
    assert not set(model.write(prompt, 60, 2.0, 0, generator, never=(0, 3)).tolist()) & {0, 3}


def test_gpt_begins_with_a_nearly_uniform_guess_and_scaled_residuals() -> None:
    torch.manual_seed(0)
    model = GPT(65, 64, width=128, depth=4, heads=4)
    tokens, others = torch.randint(65, (2, 4, 64))
    loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), others.flatten())
    assert abs(loss.item() - torch.tensor(65.0).log().item()) < 0.2
    spread = model.get_parameter("blocks.1.feed_forward.outer.weight").std().item()
    assert spread == pytest.approx(0.02 / 8**0.5, rel=0.02)


def test_bad_requests_to_gpt_are_refused() -> None:
    with pytest.raises(InputError, match="9 tokens is longer than the 8 positions"):
        gpt()(torch.zeros(1, 9, dtype=torch.long))
    with pytest.raises(InputError, match="top-p above 0 up to 1"):
        gpt().write(torch.tensor([1]), 3, top_p=0.0)
    for prompt in ([], [1, 99], [-1]):
        with pytest.raises(InputError, match=r"one token or more, each from 0 to 10, got "):
            gpt().write(torch.tensor(prompt, dtype=torch.long), 3)
    for number, never in ((-1, ()), (3, range(11))):
        with pytest.raises(InputError, match="0 or more tokens to write and one that may be"):
            gpt().write(torch.tensor([1]), number, never=never)


# Transformer


@norms
def test_the_transformer_step_by_step_is_the_transformer_at_once(norm: str) -> None:
    model = translator(norm, target=7)
    source, previous = torch.randint(1, 9, (3, 5)), torch.randint(1, 7, (3, 6))
    source[1, 3:] = 0
    expected = model(source, previous).log_softmax(-1)
    state = model.encode(source)
    for t in range(6):
        log_p, state = model.step(previous[:, t], state)
        torch.testing.assert_close(log_p, expected[:, t])


@norms
def test_a_translation_does_not_depend_on_padding(norm: str) -> None:
    model = translator(norm)
    source, previous = torch.randint(1, 9, (2, 5)), torch.randint(1, 9, (2, 4))
    longer = torch.cat([source, torch.zeros(2, 3, dtype=torch.long)], 1)
    torch.testing.assert_close(model(longer, previous), model(source, previous))
    torch.testing.assert_close(
        model.output(model.hidden(longer, previous)), model(source, previous)
    )
    model = model.float()
    for beam in (1, 3):
        assert torch.equal(model.translate(longer, ENDS, beam), model.translate(source, ENDS, beam))


@norms
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_transformer_is_torchs_with_the_same_weights(norm: str) -> None:
    model = translator(norm)
    torchs = torch.nn.Transformer(8, 2, 2, 2, 16, 0.0, batch_first=True, norm_first=norm == "pre")
    torchs = torchs.double().eval()
    names = {"linear1": "inner", "linear2": "outer"}
    with torch.no_grad():
        for side in ("encoder", "decoder"):
            for own, other in zip(
                model.get_submodule(side), torchs.get_submodule(f"{side}.layers"), strict=True
            ):
                copy_attention(other.self_attn, own.attention)
                for theirs, ours in names.items():
                    other.get_submodule(theirs).load_state_dict(
                        own.feed_forward.get_submodule(ours).state_dict()
                    )
                for k in range(1, 3 if side == "encoder" else 4):
                    theirs = other.get_submodule(f"norm{k}")
                    theirs.load_state_dict(own.get_submodule(f"norm_{k}").state_dict())
                if side == "decoder":
                    copy_cross(other.multihead_attn, own.cross)
    if norm == "post":  # torch normalizes once more at the end
        torchs.encoder.norm = torchs.decoder.norm = None
    source, previous = torch.randint(1, 9, (3, 5)), torch.randint(1, 9, (3, 4))
    source[1, 3:] = 0
    y = torchs(
        model.embedded(model.target, source),
        model.embedded(model.target, previous),
        tgt_mask=~causal_mask(4, 4)[0, 0],
        src_key_padding_mask=source == 0,
        memory_key_padding_mask=source == 0,
    )
    torch.testing.assert_close(model(source, previous), y @ model.target.weight.T)


def copy_attention(theirs: torch.nn.MultiheadAttention, ours: torch.nn.Module) -> None:
    theirs.in_proj_weight.copy_(ours.projection.weight)  # type: ignore[arg-type]
    theirs.in_proj_bias.copy_(ours.projection.bias)  # type: ignore[arg-type]
    theirs.out_proj.load_state_dict(ours.output.state_dict())  # type: ignore[operator]


def copy_cross(theirs: torch.nn.MultiheadAttention, ours: torch.nn.Module) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.source.weight]))  # type: ignore[list-item]
    theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.source.bias]))  # type: ignore[list-item]
    theirs.out_proj.load_state_dict(ours.output.state_dict())  # type: ignore[operator]


@norms
def test_beam_search_with_memory_finds_the_likeliest_of_all_translations(norm: str) -> None:
    model = translator(norm).float()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.7, generator=torch.Generator().manual_seed(p.numel()))
    source, ends = torch.tensor([[4, 5, 6]]), Ends(2, 3, longest=3)
    every = [
        (score, written)
        for n in (1, 2, 3)
        for score, written in scored(model, source, list(itertools.product(range(9), repeat=n)))
        if 3 not in written[:-1] and (written[-1] == 3 or n == 3)
    ]
    _, best = max(every)
    found = model.translate(source, ends, beam=81)[0].tolist()
    assert tuple(found[: len(best)]) == best
    assert all(token == 3 for token in found[len(best) :])


@torch.no_grad()
def scored(
    model: Transformer, source: Tensor, texts: list[tuple[int, ...]]
) -> list[tuple[float, tuple[int, ...]]]:
    """log p / n of each of these texts of n tokens, with no memory at all."""
    y = torch.tensor(texts)
    previous = torch.cat([torch.full_like(y[:, :1], 2), y[:, :-1]], 1)
    log_p = model(source.expand(len(y), -1), previous).log_softmax(-1)
    scores = log_p.gather(2, y[:, :, None])[:, :, 0].mean(1)
    return list(zip(scores.tolist(), texts, strict=True))


def test_a_shared_vocabulary_has_one_matrix_and_the_base_model_its_size() -> None:
    with torch.device("meta"):
        base, apart = Transformer(37_000), Transformer(37_000, 37_000)
    assert sum(p.numel() for p in base.parameters()) == 37_000 * 512 + 44_138_496
    assert sum(p.numel() for p in apart.parameters()) == 2 * 37_000 * 512 + 44_138_496
    assert base.encoder[0].norm_1.rate == 0.1
    with pytest.raises(InputError, match="an even width, got 9"):
        Transformer(7, width=9, heads=3)
    for sizes in ({"target": 0}, {"hidden": 0}, {"depth": 0}):
        with pytest.raises(InputError, match="a Transformer needs vocabularies of two"):
            Transformer(7, **sizes)


# BERT and its heads


def bert() -> BERT:
    torch.manual_seed(0)
    return BERT(9, longest=8, width=8, depth=2, heads=2).double().eval()


def test_a_known_word_begins_with_its_meaning_and_keeps_it() -> None:
    encoder = bert()
    before = encoder.embedding.weight.clone()
    meanings = torch.zeros(9, 2)
    meanings[3] = torch.tensor([0.6, -0.8])
    encoder.begin_with(meanings)
    after = encoder.embedding.weight
    scale = 0.02 * 2**0.5  # then its entries vary as random ones do
    torch.testing.assert_close(after[3, 6:], scale * meanings[3].double())
    known = torch.arange(9) == 3
    assert torch.equal(after[~known], before[~known]) and torch.equal(after[:, :6], before[:, :6])
    encoder(torch.tensor([[3, 4]])).square().sum().backward()
    slope = encoder.embedding.weight.grad
    assert slope is not None and not slope[3, 6:].any() and slope[3, :6].all()
    assert slope[4].all()  # of which nothing is known
    for wrong in (torch.zeros(8, 2), torch.zeros(9, 9)):
        with pytest.raises(InputError, match="at most 8 numbers for 9 tokens"):
            encoder.begin_with(wrong)


def test_the_first_heads_begin_with_the_words_before_and_behind() -> None:
    torch.manual_seed(0)
    encoder = BERT(50, longest=40, width=96, depth=2, heads=4).eval()
    tokens = torch.randint(1, 50, (3, 30))
    encoder.look_around()
    maps = attention_maps(encoder, tokens)["blocks.0.attention"]
    for head, offset in enumerate((-1, 1, -2, 2)):
        shares = [maps[:, head].diagonal(k, 1, 2).mean().item() for k in range(-6, 7)]
        assert max(shares) == shares[offset + 6] > 5 / 30  # five times an even share


def windowed() -> BertClassifier:
    sorter = BertClassifier(bert(), 3).double().eval()
    torch.nn.init.normal_(sorter.pooler.weight)  # so that windows differ
    return sorter


def test_a_long_text_is_the_mean_of_its_windows_by_their_tokens() -> None:
    """BERT has 8 positions: [CLS] and 7, 7, 3 tokens; a text of padding fills up the batch."""
    sorter = windowed()
    tokens = torch.randint(2, 9, (2, 18))
    tokens[:, 0] = 1
    tokens[1, 5:] = 0
    parts = [[1, *tokens[0, start : start + 7].tolist()] for start in (1, 8, 15)]
    z = torch.cat([sorter.read(torch.tensor([part])) for part in parts])
    mean = (torch.tensor([7, 7, 3]).double()[:, None] * z).sum(0) / 17
    torch.testing.assert_close(sorter(tokens)[0], sorter.output(mean))
    torch.testing.assert_close(sorter(tokens)[1:], sorter(tokens[1:, :5]))


def test_windows_are_read_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sorter, tokens = windowed(), torch.randint(1, 9, (4, 30))
    whole = sorter(tokens)
    monkeypatch.setattr("chainrule.models.attention.bert_classifier.AT_ONCE", 3)
    torch.testing.assert_close(sorter(tokens), whole)
    assert sorter.bfloat16()(tokens).dtype == torch.bfloat16  # mixed precision, too


def test_berts_answers_do_not_depend_on_padding() -> None:
    tokens = torch.randint(1, 9, (2, 5))
    longer = torch.cat([tokens, torch.zeros(2, 3, dtype=torch.long)], 1)
    encoder = bert()
    torch.testing.assert_close(encoder(longer)[:, :5], encoder(tokens))
    sorter = BertClassifier(encoder, 3).double().eval()
    torch.testing.assert_close(sorter(longer), sorter(tokens))
    finder = BertQuestions(encoder).double().eval()
    torch.testing.assert_close(finder(longer).softmax(1)[:, :5], finder(tokens).softmax(1))
    assert not finder(longer).softmax(1)[:, 5:].any()


def test_segments_matter_and_the_default_is_the_first() -> None:
    tokens, encoder = torch.randint(1, 9, (2, 5)), bert()
    zeros = torch.zeros_like(tokens)
    torch.testing.assert_close(encoder(tokens, zeros), encoder(tokens))
    assert not torch.allclose(encoder(tokens, zeros + 1), encoder(tokens))


def test_words_are_tagged_by_their_first_piece() -> None:
    tokens, first = torch.randint(1, 9, (2, 6)), torch.tensor([[1, 3, 4], [2, 5, 0]])
    model = BertTagger(bert(), 4).double().eval()
    found, every = model(tokens, first), model(tokens)
    for row, place in itertools.product(range(2), range(3)):
        torch.testing.assert_close(found[row, place], every[row, first[row, place]])
    with pytest.raises(RuntimeError, match="out of bounds"):
        model(tokens, first + 4)


def test_the_best_span_is_the_best_of_all_legal_ones() -> None:
    torch.manual_seed(0)
    for longest in (1, 2, 5, 30):
        output, passage = torch.randn(6, 9, 2), torch.rand(6, 9) < 0.6
        passage[:, 4] = True
        found = best_spans(output, passage, longest)
        for row in range(6):
            scores = {
                (i, j): (output[row, i, 0] + output[row, j, 1]).item()
                for i in range(9)
                for j in range(i, min(9, i + longest))
                if passage[row, i] and passage[row, j]
            }
            assert (int(found.start[row]), int(found.end[row])) == max(
                scores, key=scores.__getitem__
            )
            assert found.score[row].item() == pytest.approx(max(scores.values()))
    with pytest.raises(InputError, match="1 rows without one"):
        best_spans(torch.randn(1, 3, 2), torch.zeros(1, 3, dtype=torch.bool))


# Images


def test_without_positions_a_vit_does_not_see_the_order_of_patches() -> None:
    torch.manual_seed(0)
    model = ViT((8, 12), 4, channels=2, classes=3, width=8, depth=2, heads=2).double().eval()
    x = torch.randn(2, 2, 8, 12, dtype=torch.float64)
    swapped = torch.cat([x[..., 4:8], x[..., :4], x[..., 8:]], 3)
    assert not torch.allclose(model(swapped), model(x), atol=1e-6)
    torch.nn.init.zeros_(model.positions.weight)
    torch.testing.assert_close(model(swapped), model(x))
    share = model.seen(x)
    assert share.shape == (2, 2, 3) and (share > 0).all() and (share.sum((1, 2)) < 1).all()


def test_the_rollout_of_identities_stays_at_home_and_rows_sum_to_one() -> None:
    eye = torch.eye(4).expand(2, 3, 4, 4)
    torch.testing.assert_close(rollout([eye, eye]), torch.eye(4).expand(2, 4, 4))
    first, last = torch.rand(2, 2, 3, 4, 4).softmax(-1)
    R = rollout([first, last])
    torch.testing.assert_close(R.sum(-1), torch.ones(2, 4))
    mixed = [(torch.eye(4) + A.mean(1)) / 2 for A in (first, last)]
    torch.testing.assert_close(R, mixed[1] @ mixed[0])


def test_images_of_another_size_are_refused() -> None:
    model = MLPMixer((8, 8), 4, channels=1, classes=2, width=4, depth=1, hidden=(3, 5))
    with pytest.raises(InputError, match=r"images of 1 × 8 × 8 .* got \(1, 8, 12\)"):
        model(torch.zeros(2, 1, 8, 12))
    with pytest.raises(InputError, match=r"patches of 3×3 pixels cover exactly, got images of 8×8"):
        ViT((8, 8), patch=3)


def test_a_mixer_mixes_patches_then_channels() -> None:
    """The equations of its docstring, one image at a time."""
    torch.manual_seed(0)
    model = MLPMixer((4, 6), 2, channels=1, classes=3, width=5, depth=1, hidden=(4, 7)).double()
    x = torch.randn(2, 1, 4, 6).double()
    block = model.blocks[0]
    assert isinstance(block, torch.nn.Module)
    for image, found in zip(x[:, 0], model(x), strict=True):
        cut = [image[r : r + 2, c : c + 2].flatten() for r in (0, 2) for c in (0, 2, 4)]
        h = model.embedding(torch.stack(cut))
        normed = torch.nn.functional.layer_norm(h, (5,))
        mixed = [block.across_patches(channel) for channel in normed.unbind(1)]
        h = h + torch.stack(mixed, 1)
        h = h + block.across_channels(torch.nn.functional.layer_norm(h, (5,)))
        mean = torch.nn.functional.layer_norm(h, (5,)).mean(0)
        torch.testing.assert_close(found, model.head(mean))


def test_the_default_mixer_has_the_published_size() -> None:
    with torch.device("meta"):
        assert sum(p.numel() for p in MLPMixer().parameters()) == 59_880_472  # Mixer-B/16, 59 M


# Cheaper attention


@pytest.mark.parametrize("steps", [1, 3, 4, 11])
@pytest.mark.parametrize("everywhere", [0, 1, 3])
def test_windowed_attention_is_full_attention_with_a_band_mask(steps: int, everywhere: int) -> None:
    torch.manual_seed(0)
    layer = WindowedAttention(8, 2, window=2, everywhere=everywhere).double()
    x, valid = torch.randn(3, steps, 8, dtype=torch.float64), torch.rand(3, steps) < 0.7
    mask = band_mask(steps, 2, everywhere)
    qkv = apart(layer.projection(x), 3, layer.heads)
    full = layer.joined(*qkv, mask)
    torch.testing.assert_close(layer(x), full)
    padded = layer.joined(*qkv, mask & padding_mask(valid))
    torch.testing.assert_close(layer(x, valid), padded)
    (A,) = attention_maps(layer, x).values()
    assert torch.equal(A > 0, mask.expand_as(A))


def features(layer: LinearAttention, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    return layer.projected(torch.randn(2, steps, 8, dtype=torch.float64))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("steps", [1, 5, CHUNK, CHUNK + 1, 2 * CHUNK + 7])
def test_linear_attention_is_its_quadratic_form(causal: bool, steps: int) -> None:
    torch.manual_seed(0)
    layer = LinearAttention(8, 2, causal).double()
    x = torch.randn(2, steps, 8, dtype=torch.float64)
    q, k, v = layer.projected(x)
    A = quadratic(q, k, causal_mask(steps, steps) if causal else None)
    torch.testing.assert_close(A.sum(-1), torch.ones_like(A[..., 0]))
    torch.testing.assert_close(layer(x), layer.output((A @ v).transpose(1, 2).flatten(2)))


@pytest.mark.parametrize("pieces", [(1,) * 9, (3, 6), (CHUNK + 2, 9)])
def test_causal_linear_attention_is_a_recurrent_network(pieces: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    layer = LinearAttention(8, 2, causal=True).double()
    x = torch.randn(2, sum(pieces), 8, dtype=torch.float64)
    found, state = [], None
    for piece in x.split(pieces, 1):
        y, state = layer.advance(piece, state)
        found.append(y)
    torch.testing.assert_close(torch.cat(found, 1), layer(x))
    q, k, v = layer.projected(x)
    S = torch.einsum("bhtd,bhte->bhde", k, torch.cat([v, torch.ones_like(v[..., :1])], -1))
    torch.testing.assert_close(past(q, k, v)[1], S)
    with pytest.raises(InputError, match="only causal attention"):
        LinearAttention(8, 2).advance(torch.zeros(1, 1, 8))


def test_linear_attention_does_not_see_padding() -> None:
    torch.manual_seed(0)
    for causal in (True, False):
        layer = LinearAttention(8, 2, causal).double()
        x = torch.randn(2, 6, 8, dtype=torch.float64)
        valid = torch.arange(6).expand(2, 6) < 4
        torch.testing.assert_close(layer(x, valid)[:, :4], layer(x[:, :4]))
    assert not layer(x, torch.zeros(2, 6, dtype=torch.bool)).any()
