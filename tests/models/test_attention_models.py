"""Models of the attention chapter: caches, padding, sparse and linear attention, best spans."""

import itertools

import pytest
import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.attention import (
    BERT,
    GPT,
    BertClassifier,
    BertQuestionAnswering,
    BertTagger,
    LinearAttention,
    MLPMixer,
    Transformer,
    ViT,
    WindowedAttention,
)
from chainrule.models.attention.bert_question_answering import best_spans
from chainrule.models.attention.bigbird import BigBirdAttention, random_links
from chainrule.models.attention.linear_attention import CHUNK, causal_sums
from chainrule.models.attention.vit import rollout
from chainrule.models.attention.windowed_attention import band_mask
from chainrule.nn.attention import attention, attention_maps, split_heads
from chainrule.nn.attention_masks import causal_mask, padding_mask
from chainrule.nn.decoding import DecodingConfig, nucleus, sample_token

CONFIG = DecodingConfig(bos_token=2, eos_token=3, max_length=6)
norms = pytest.mark.parametrize("norm", ["pre", "post"])


def gpt(context_length: int = 8) -> GPT:
    torch.manual_seed(0)
    model = GPT(11, context_length, hidden_size=8, num_layers=2, num_heads=2).double()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.5)
    return model


def translator(norm: str, target: int | None = None) -> Transformer:
    torch.manual_seed(0)
    return Transformer(9, target, 8, 2, 2, 16, dropout=0.2, norm=norm).double().eval()


# GPT


@pytest.mark.parametrize("lengths", [(1,) * 7, (3, 4), (6, 1)])
def test_gpt_with_a_kv_cache_gives_the_logits_of_gpt_without(lengths: tuple[int, ...]) -> None:
    model, tokens = gpt(), torch.randint(11, (3, 7))
    chunks, kv_caches = [], None
    for chunk in tokens.split(lengths, 1):
        logits, kv_caches = model.decode_step(chunk, kv_caches)
        chunks.append(logits)
    torch.testing.assert_close(torch.cat(chunks, 1), model(tokens))


def test_gpt_generates_the_same_without_a_cache_and_beyond_its_context() -> None:
    model = gpt(context_length=5)
    for temperature, length in itertools.product((0.0, 1.3), (2, 5, 9)):
        text = torch.arange(length)
        generator, again = (torch.Generator().manual_seed(3) for _ in range(2))
        for token in model.generate(text, 12, temperature, 0, generator, top_p=0.8):
            logits = model(text[None, -5:])[:, -1]
            assert token == sample_token(logits, temperature, 0, again, top_p=0.8)[0]
            text = torch.cat([text, token[None]])


def test_the_seed_decides_the_text() -> None:
    model, prompt = gpt(), torch.tensor([1])

    def text(seed: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        return model.generate(prompt, 30, 0.9, top_k=5, generator=generator, top_p=0.9).tolist()

    assert text(0) == text(0) != text(1)


def test_top_p_keeps_the_smallest_set_with_that_probability() -> None:
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


def test_only_tokens_of_the_nucleus_are_sampled() -> None:
    model, prompt = gpt(), torch.tensor([1, 2, 3])
    logits = model(prompt[None])[0, -1]
    allowed = set(nucleus(logits[None], 1.5, 4, 0.8)[0].isfinite().nonzero()[:, 0].tolist())
    drawn = {
        int(model.generate(prompt, 1, 1.5, 4, torch.Generator().manual_seed(seed), 0.8)[0])
        for seed in range(40)
    }
    assert drawn == allowed and 1 < len(allowed) <= 4


def test_suppressed_tokens_are_never_sampled() -> None:
    model, prompt = gpt(), torch.tensor([1])
    generator = torch.Generator().manual_seed(0)
    assert set(model.generate(prompt, 60, 2.0, generator=generator).tolist()) & {0, 3}
    generator.manual_seed(0)
    assert not set(
        model.generate(prompt, 60, 2.0, 0, generator, suppress_tokens=(0, 3)).tolist()
    ) & {0, 3}


def test_gpt_starts_nearly_uniform_with_scaled_residuals() -> None:
    torch.manual_seed(0)
    model = GPT(65, 64, hidden_size=128, num_layers=4, num_heads=4)
    tokens, others = torch.randint(65, (2, 4, 64))
    loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), others.flatten())
    assert abs(loss.item() - torch.tensor(65.0).log().item()) < 0.2
    spread = model.get_parameter("blocks.1.feed_forward.outer.weight").std().item()
    assert spread == pytest.approx(0.02 / 8**0.5, rel=0.02)


def test_gpt_rejects_bad_requests() -> None:
    with pytest.raises(InputError, match="9 tokens is longer than the 8 learned positions"):
        gpt()(torch.zeros(1, 9, dtype=torch.long))
    with pytest.raises(InputError, match="top_p above 0 and at most 1"):
        gpt().generate(torch.tensor([1]), 3, top_p=0.0)
    for prompt in ([], [1, 99], [-1]):
        with pytest.raises(InputError, match=r"at least one token, each from 0 to 10, got "):
            gpt().generate(torch.tensor(prompt, dtype=torch.long), 3)
    with pytest.raises(
        InputError, match="`max_new_tokens` must be a whole number of at least 0, got -1"
    ):
        gpt().generate(torch.tensor([1]), -1)
    with pytest.raises(InputError, match="must leave at least one of the 11 tokens, got all"):
        gpt().generate(torch.tensor([1]), 3, suppress_tokens=range(11))


# Transformer


@norms
def test_decoding_step_by_step_gives_the_probabilities_of_one_pass(norm: str) -> None:
    model = translator(norm, target=7)
    source, previous = torch.randint(1, 9, (3, 5)), torch.randint(1, 7, (3, 6))
    source[1, 3:] = 0
    expected = model(source, previous).log_softmax(-1)
    state = model.encode(source)
    for t in range(6):
        log_p, state = model.decode_step(previous[:, t], state)
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
    for beam_size in (1, 3):
        padded, plain = (model.translate(x, CONFIG, beam_size) for x in (longer, source))
        assert torch.equal(padded, plain)


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
                    copy_cross(other.multihead_attn, own.cross_attention)
    if norm == "post":  # torch normalizes once more at the end
        torchs.encoder.norm = torchs.decoder.norm = None
    source, previous = torch.randint(1, 9, (3, 5)), torch.randint(1, 9, (3, 4))
    source[1, 3:] = 0
    y = torchs(
        model.embed(model.target_embedding, source),
        model.embed(model.target_embedding, previous),
        tgt_mask=~causal_mask(4, 4)[0, 0],
        src_key_padding_mask=source == 0,
        memory_key_padding_mask=source == 0,
    )
    torch.testing.assert_close(model(source, previous), y @ model.target_embedding.weight.T)


def copy_attention(theirs: torch.nn.MultiheadAttention, ours: torch.nn.Module) -> None:
    theirs.in_proj_weight.copy_(ours.projection.weight)  # type: ignore[arg-type]
    theirs.in_proj_bias.copy_(ours.projection.bias)  # type: ignore[arg-type]
    theirs.out_proj.load_state_dict(ours.output.state_dict())  # type: ignore[operator]


def copy_cross(theirs: torch.nn.MultiheadAttention, ours: torch.nn.Module) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.source.weight]))  # type: ignore[list-item]
    theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.source.bias]))  # type: ignore[list-item]
    theirs.out_proj.load_state_dict(ours.output.state_dict())  # type: ignore[operator]


@norms
def test_a_wide_beam_finds_the_likeliest_of_all_translations(norm: str) -> None:
    model = translator(norm).float()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.7, generator=torch.Generator().manual_seed(p.numel()))
    source, config = torch.tensor([[4, 5, 6]]), DecodingConfig(2, 3, max_length=3)
    every = [
        (score, written)
        for n in (1, 2, 3)
        for score, written in scored(model, source, list(itertools.product(range(9), repeat=n)))
        if 3 not in written[:-1] and (written[-1] == 3 or n == 3)
    ]
    _, best = max(every)
    found = model.translate(source, config, beam_size=81)[0].tolist()
    assert tuple(found[: len(best)]) == best
    assert all(token == 3 for token in found[len(best) :])


@torch.no_grad()
def scored(
    model: Transformer, source: Tensor, texts: list[tuple[int, ...]]
) -> list[tuple[float, tuple[int, ...]]]:
    """log p / n of each of these texts of n tokens, without a cache."""
    y = torch.tensor(texts)
    previous = torch.cat([torch.full_like(y[:, :1], 2), y[:, :-1]], 1)
    log_p = model(source.expand(len(y), -1), previous).log_softmax(-1)
    scores = log_p.gather(2, y[:, :, None])[:, :, 0].mean(1)
    return list(zip(scores.tolist(), texts, strict=True))


def test_a_shared_vocabulary_has_one_matrix_and_the_base_model_its_size() -> None:
    with torch.device("meta"):
        base, separate = Transformer(37_000), Transformer(37_000, 37_000)
    assert sum(p.numel() for p in base.parameters()) == 37_000 * 512 + 44_138_496
    assert sum(p.numel() for p in separate.parameters()) == 2 * 37_000 * 512 + 44_138_496
    assert base.encoder[0].dropout == 0.1
    with pytest.raises(InputError, match="an even hidden_size, got 9"):
        Transformer(7, hidden_size=9, num_heads=3)
    for sizes in ({"target_vocab_size": 0}, {"feed_forward_size": 0}, {"num_layers": 0}):
        with pytest.raises(InputError, match=r"must be a whole number of at least [12]"):
            Transformer(7, **sizes)
    with pytest.raises(InputError, match='norm must be "pre" or "post", got \'none\''):
        Transformer(7, norm="none")
    with pytest.raises(InputError, match="`dropout` must be a number from 0 to below 1, got 1"):
        Transformer(7, dropout=1.0)


# BERT and its heads


def bert() -> BERT:
    torch.manual_seed(0)
    return BERT(9, max_length=8, hidden_size=8, num_layers=2, num_heads=2).double().eval()


def test_fixed_embeddings_are_set_and_not_trained() -> None:
    encoder = bert()
    before = encoder.embedding.weight.clone()
    vectors = torch.zeros(9, 2)
    vectors[3] = torch.tensor([0.6, -0.8])
    encoder.fix_embeddings(vectors)
    after = encoder.embedding.weight
    scale = 0.02 * 2**0.5  # then its entries vary as random ones do
    torch.testing.assert_close(after[3, 6:], scale * vectors[3].double())
    known = torch.arange(9) == 3
    assert torch.equal(after[~known], before[~known]) and torch.equal(after[:, :6], before[:, :6])
    encoder(torch.tensor([[3, 4]])).square().sum().backward()
    gradient = encoder.embedding.weight.grad
    assert gradient is not None and not gradient[3, 6:].any() and gradient[3, :6].all()
    assert gradient[4].all()  # of which nothing is known
    for wrong in (torch.zeros(8, 2), torch.zeros(9, 9)):
        with pytest.raises(InputError, match="at most 8 entries for 9 tokens"):
            encoder.fix_embeddings(wrong)


def test_neighbor_heads_attend_to_the_tokens_before_and_after() -> None:
    torch.manual_seed(0)
    encoder = BERT(50, max_length=40, hidden_size=96, num_layers=2, num_heads=4).eval()
    tokens = torch.randint(1, 50, (3, 30))
    encoder.initialize_neighbor_heads()
    maps = attention_maps(encoder, tokens)["blocks.0.attention"]
    for head, offset in enumerate((-1, 1, -2, 2)):
        shares = [maps[:, head].diagonal(k, 1, 2).mean().item() for k in range(-6, 7)]
        assert max(shares) == shares[offset + 6] > 5 / 30  # five times an even share


def windowed() -> BertClassifier:
    classifier = BertClassifier(bert(), 3).double().eval()
    torch.nn.init.normal_(classifier.pooler.weight)  # so that windows differ
    return classifier


def test_a_long_text_is_the_mean_of_its_windows_weighted_by_tokens() -> None:
    """BERT has 8 positions: [CLS] and 7, 7, 3 tokens; a text of padding fills up the batch."""
    classifier = windowed()
    tokens = torch.randint(2, 9, (2, 18))
    tokens[:, 0] = 1
    tokens[1, 5:] = 0
    parts = [[1, *tokens[0, start : start + 7].tolist()] for start in (1, 8, 15)]
    z = torch.cat([classifier.pool(torch.tensor([part])) for part in parts])
    mean = (torch.tensor([7, 7, 3]).double()[:, None] * z).sum(0) / 17
    torch.testing.assert_close(classifier(tokens)[0], classifier.output(mean))
    torch.testing.assert_close(classifier(tokens)[1:], classifier(tokens[1:, :5]))


def test_windows_are_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    classifier, tokens = windowed(), torch.randint(1, 9, (4, 30))
    whole = classifier(tokens)
    monkeypatch.setattr("chainrule.models.attention.bert_classifier.WINDOWS_PER_BATCH", 3)
    torch.testing.assert_close(classifier(tokens), whole)
    assert classifier.bfloat16()(tokens).dtype == torch.bfloat16  # mixed precision, too


def test_berts_outputs_do_not_depend_on_padding() -> None:
    tokens = torch.randint(1, 9, (2, 5))
    longer = torch.cat([tokens, torch.zeros(2, 3, dtype=torch.long)], 1)
    encoder = bert()
    torch.testing.assert_close(encoder(longer)[:, :5], encoder(tokens))
    classifier = BertClassifier(encoder, 3).double().eval()
    torch.testing.assert_close(classifier(longer), classifier(tokens))
    reader = BertQuestionAnswering(encoder).double().eval()
    torch.testing.assert_close(reader(longer).softmax(1)[:, :5], reader(tokens).softmax(1))
    assert not reader(longer).softmax(1)[:, 5:].any()


def test_segments_matter_and_the_default_is_the_first() -> None:
    tokens, encoder = torch.randint(1, 9, (2, 5)), bert()
    zeros = torch.zeros_like(tokens)
    torch.testing.assert_close(encoder(tokens, zeros), encoder(tokens))
    assert not torch.allclose(encoder(tokens, zeros + 1), encoder(tokens))


def test_words_are_tagged_by_their_first_token() -> None:
    tokens, first = torch.randint(1, 9, (2, 6)), torch.tensor([[1, 3, 4], [2, 5, 0]])
    model = BertTagger(bert(), 4).double().eval()
    found, every = model(tokens, first), model(tokens)
    for row, place in itertools.product(range(2), range(3)):
        torch.testing.assert_close(found[row, place], every[row, first[row, place]])
    with pytest.raises(InputError, match="out of bounds"):
        model(tokens, first + 4)


def test_the_best_span_is_the_best_of_all_legal_ones() -> None:
    torch.manual_seed(0)
    for max_length in (1, 2, 5, 30):
        output, passage = torch.randn(6, 9, 2), torch.rand(6, 9) < 0.6
        passage[:, 4] = True
        found = best_spans(output, passage, max_length)
        for row in range(6):
            scores = {
                (i, j): (output[row, i, 0] + output[row, j, 1]).item()
                for i in range(9)
                for j in range(i, min(9, i + max_length))
                if passage[row, i] and passage[row, j]
            }
            assert (int(found.start[row]), int(found.end[row])) == max(
                scores, key=scores.__getitem__
            )
            assert found.score[row].item() == pytest.approx(max(scores.values()))
    with pytest.raises(InputError, match="in every row, got 1 without"):
        best_spans(torch.randn(1, 3, 2), torch.zeros(1, 3, dtype=torch.bool))


# Images


def test_without_positions_a_vit_ignores_the_order_of_patches() -> None:
    torch.manual_seed(0)
    model = (
        ViT((8, 12), 4, channels=2, classes=3, hidden_size=8, num_layers=2, num_heads=2)
        .double()
        .eval()
    )
    x = torch.randn(2, 2, 8, 12, dtype=torch.float64)
    swapped = torch.cat([x[..., 4:8], x[..., :4], x[..., 8:]], 3)
    assert not torch.allclose(model(swapped), model(x), atol=1e-6)
    torch.nn.init.zeros_(model.positions.weight)
    torch.testing.assert_close(model(swapped), model(x))
    share = model.attention_rollout(x)
    assert share.shape == (2, 2, 3) and (share > 0).all() and (share.sum((1, 2)) < 1).all()


def test_the_rollout_of_identities_is_the_identity_and_rows_sum_to_one() -> None:
    eye = torch.eye(4).expand(2, 3, 4, 4)
    torch.testing.assert_close(rollout([eye, eye]), torch.eye(4).expand(2, 4, 4))
    first, last = torch.rand(2, 2, 3, 4, 4).softmax(-1)
    R = rollout([first, last])
    torch.testing.assert_close(R.sum(-1), torch.ones(2, 4))
    mixed = [(torch.eye(4) + A.mean(1)) / 2 for A in (first, last)]
    torch.testing.assert_close(R, mixed[1] @ mixed[0])


def test_images_of_another_size_are_rejected() -> None:
    model = MLPMixer((8, 8), 4, channels=1, classes=2, hidden_size=4, num_layers=1)
    with pytest.raises(InputError, match=r"images of 1 × 8 × 8 .* got \(1, 8, 12\)"):
        model(torch.zeros(2, 1, 8, 12))
    with pytest.raises(
        InputError, match=r"multiple of patch_size, got images of 8×8 and patches of 3×3"
    ):
        ViT((8, 8), patch_size=3)


def test_a_mixer_mixes_patches_then_channels() -> None:
    """The equations of its docstring, one image at a time."""
    torch.manual_seed(0)
    model = MLPMixer(
        (4, 6), 2, 1, 3, hidden_size=5, num_layers=1, feed_forward_sizes=(4, 7)
    ).double()
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
@pytest.mark.parametrize("global_tokens", [0, 1, 3])
def test_windowed_attention_is_full_attention_under_a_band_mask(
    steps: int, global_tokens: int
) -> None:
    torch.manual_seed(0)
    layer = WindowedAttention(8, 2, window=2, global_tokens=global_tokens).double()
    x, valid = torch.randn(3, steps, 8, dtype=torch.float64), torch.rand(3, steps) < 0.7
    mask = band_mask(steps, 2, global_tokens)
    q, k, v = split_heads(layer.projection(x), layer.num_heads, *[layer.key_size] * 3)
    full = layer.join_heads(attention(q, k, v, mask))
    torch.testing.assert_close(layer(x), full)
    padded = layer.join_heads(attention(q, k, v, mask & padding_mask(valid)))
    torch.testing.assert_close(layer(x, valid), padded)
    (A,) = attention_maps(layer, x).values()
    assert torch.equal(A > 0, mask.expand_as(A))
    torch.testing.assert_close(layer.join_heads(A @ v), full)
    torch.testing.assert_close(layer.join_heads(layer.attention_weights(x, valid) @ v), padded)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("steps", [1, 5, CHUNK, CHUNK + 1, 2 * CHUNK + 7])
def test_linear_attention_is_its_quadratic_form(causal: bool, steps: int) -> None:
    torch.manual_seed(0)
    layer = LinearAttention(8, 2, causal).double()
    x = torch.randn(2, steps, 8, dtype=torch.float64)
    q, k, v = layer.project(x)
    kernel = (q @ k.mT).masked_fill(~causal_mask(steps, steps), 0) if causal else q @ k.mT
    A = kernel / kernel.sum(-1, keepdim=True)
    torch.testing.assert_close(layer.attention_weights(x), A)
    torch.testing.assert_close(layer(x), layer.join_heads(A @ v))
    valid = torch.rand(2, steps) < 0.7
    padded = layer.join_heads(layer.attention_weights(x, valid) @ v)
    torch.testing.assert_close(layer(x, valid), padded)


@pytest.mark.parametrize("lengths", [(1,) * 9, (3, 6), (CHUNK + 2, 9)])
def test_causal_linear_attention_is_a_recurrent_network(lengths: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    layer = LinearAttention(8, 2, causal=True).double()
    x = torch.randn(2, sum(lengths), 8, dtype=torch.float64)
    outputs, state = [], None
    for chunk in x.split(lengths, 1):
        y, state = layer.decode_step(chunk, state)
        outputs.append(y)
    torch.testing.assert_close(torch.cat(outputs, 1), layer(x))
    q, k, v = layer.project(x)
    S = torch.einsum("bhtd,bhte->bhde", k, torch.cat([v, torch.ones_like(v[..., :1])], -1))
    torch.testing.assert_close(causal_sums(q, k, v)[1], S)
    with pytest.raises(InputError, match="decode_step needs causal attention"):
        LinearAttention(8, 2).decode_step(torch.zeros(1, 1, 8))


def test_linear_attention_ignores_padding() -> None:
    torch.manual_seed(0)
    for causal in (True, False):
        layer = LinearAttention(8, 2, causal).double()
        x = torch.randn(2, 6, 8, dtype=torch.float64)
        valid = torch.arange(6).expand(2, 6) < 4
        torch.testing.assert_close(layer(x, valid)[:, :4], layer(x[:, :4]))
    assert not layer(x, torch.zeros(2, 6, dtype=torch.bool)).any()


@pytest.mark.parametrize(
    ("steps", "tokens", "links"), [(23, 0, 2), (24, 1, 1), (24, 5, 3), (3, 1, 2)]
)
def test_bigbird_is_attention_under_its_mask(steps: int, tokens: int, links: int) -> None:
    torch.manual_seed(0)
    layer = BigBirdAttention(8, 2, 4, tokens, links).double()
    x = torch.randn(2, steps, 8, dtype=torch.float64)
    q, k, v = split_heads(layer.projection(x), 2, 4, 4, 4)
    expected = layer.join_heads(attention(q, k, v, layer.mask(steps)))
    torch.testing.assert_close(layer(x), expected)


def test_every_block_of_bigbird_has_its_random_links_and_a_signal_spreads_sooner() -> None:
    links = random_links(50, 2, seed=1)
    near = torch.ones(50, 50).tril(1).triu(-1).bool()
    assert (links.sum(1) == 2).all() and not (links & near).any()

    def layers(mask: torch.Tensor) -> int:
        """After how many layers every position has seen every other."""
        reached, number = mask.double(), 1
        while not reached.all():
            reached, number = (reached @ mask.double()).clamp_max(1), number + 1
        return number

    alone, linked = (BigBirdAttention(8, 2, 4, 0, r).mask(256)[0, 0] for r in (0, 2))
    assert layers(alone) == 64  # 255 / 4, rounded up
    assert 3 <= layers(linked) <= 8  # at least log 64 / log 5
