"""T5 against the transformers library, weights copied, and its cache."""

import logging

import pytest
import torch

from chainrule.models.attention.t5 import T5, bucket, relative_bias

transformers = pytest.importorskip("transformers")
logging.getLogger("transformers").setLevel(logging.ERROR)

LAYERS = {
    "layer.0.SelfAttention.q": "attention.query",
    "layer.0.SelfAttention.k": "attention.key",
    "layer.0.SelfAttention.v": "attention.value",
    "layer.0.SelfAttention.o": "attention.output",
    "layer.0.layer_norm": "norm_1",
}
CROSS = {
    "layer.1.EncDecAttention.q": "cross_attention.query",
    "layer.1.EncDecAttention.k": "cross_attention.key",
    "layer.1.EncDecAttention.v": "cross_attention.value",
    "layer.1.EncDecAttention.o": "cross_attention.output",
    "layer.1.layer_norm": "norm_2",
}


def peer():
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=30, d_model=16, d_kv=8, num_heads=2, num_layers=2, d_ff=24, dropout_rate=0.0
    )
    model = transformers.T5ForConditionalGeneration(config).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    return model


def copied(theirs) -> T5:
    """Our network with the weights of theirs."""
    ours = T5(30, 16, 2, 2, 24, dropout=0.0).double()
    names = {"embedding.weight": "shared.weight"}
    for side, last in (("encoder", 1), ("decoder", 2)):
        names[f"{side}_norm.weight"] = f"{side}.final_layer_norm.weight"
        names[f"{side}_bias.weight"] = (
            f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        )
        layers = LAYERS | (CROSS if side == "decoder" else {})
        layers |= {
            f"layer.{last}.DenseReluDense.wi": "inner",
            f"layer.{last}.DenseReluDense.wo": "outer",
            f"layer.{last}.layer_norm": "norm_3",
        }
        for k in range(2):
            for their, our in layers.items():
                names[f"{side}.{k}.{our}.weight"] = f"{side}.block.{k}.{their}.weight"
    state = theirs.state_dict()
    ours.load_state_dict({our: state[their] for our, their in names.items()})
    return ours


def test_copied_weights_give_the_outputs_of_transformers() -> None:
    theirs = peer()
    ours = copied(theirs)
    source, previous = torch.randint(1, 30, (3, 40)), torch.randint(1, 30, (3, 25))
    source[0, 30:] = 0
    found = theirs(
        input_ids=source, attention_mask=(source > 0).long(), decoder_input_ids=previous
    ).logits
    # transformers computes norms in single precision whatever the weights are
    assert torch.allclose(ours(source, previous), found, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_those_of_transformers(bidirectional: bool) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention

    offset = torch.arange(-300, 301)[None]
    theirs = T5Attention._relative_position_bucket(offset, bidirectional, 32, 128)
    assert torch.equal(bucket(offset, bidirectional), theirs)


def test_decoding_step_by_step_gives_the_logits_of_the_whole_output() -> None:
    torch.manual_seed(0)
    model = T5(11, 8, 2, 2, 16, dropout=0.0).double()
    source, previous = torch.randint(1, 11, (3, 7)), torch.randint(0, 11, (3, 9))
    together = model(source, previous).log_softmax(-1)
    state, rows = model.encode(source), []
    for token in previous.T:
        log_p, state = model.decode_step(token, state)
        rows.append(log_p)
    assert torch.allclose(torch.stack(rows, 1), together, atol=1e-12)


def test_padding_after_a_text_changes_nothing() -> None:
    torch.manual_seed(0)
    model = T5(11, 8, 2, 2, 16, dropout=0.0).double()
    source, previous = torch.randint(1, 11, (3, 7)), torch.randint(0, 11, (3, 4))
    padded = torch.nn.functional.pad(source, (0, 5))
    assert torch.allclose(model(padded, previous), model(source, previous), atol=1e-12)


def test_neighbor_heads_start_at_their_neighbors_and_a_token_at_its_like() -> None:
    torch.manual_seed(0)
    model = T5(50, 64, 2, 4, 128, dropout=0.0).eval()
    model.initialize_neighbor_heads()
    tables = (
        (model.encoder_bias, True, [-1, 1, -2, 2]),
        (model.decoder_bias, False, [0, -1, -2, -3]),
    )
    for table, bidirectional, offsets in tables:
        b = relative_bias(table, 21, 21, bidirectional)[0, :, 10]
        past = b if bidirectional else b[:, :11]
        assert (past.argmax(1) - 10).tolist() == offsets
    x = model.embedding(torch.arange(1, 50))[None]
    for block in model.decoder:
        cross = block.cross_attention
        found = cross.attention_weights(x, cross.keys_values(x), torch.zeros(()))
        assert (found.argmax(-1) == torch.arange(49)).float().mean() > 0.5  # chance: 1 / 49
