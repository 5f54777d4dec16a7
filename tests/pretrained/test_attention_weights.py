"""Published weights of GPT-2, BERT and ViT give the outputs of the transformers library.

All weights are random and nothing is downloaded.
"""

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from chainrule import pretrained
from chainrule.errors import InputError
from chainrule.models.attention import (
    BERT,
    GPT,
    BertClassifier,
    BertPretraining,
    BertQuestionAnswering,
    BertTagger,
    ViT,
)

transformers = pytest.importorskip("transformers")
logging.getLogger("transformers").setLevel(logging.ERROR)

TOKENS = torch.tensor([[2, 5, 7, 1, 9, 3], [2, 4, 4, 3, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]])


def randomized(model: Any) -> Any:
    """All weights random, also those that start as zeros or ones."""
    torch.manual_seed(0)
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.3)
    return model.eval()


@pytest.fixture(scope="module")
def gpt2() -> Any:
    sizes = {"n_embd": 8, "n_layer": 2, "n_head": 2, "vocab_size": 11, "n_positions": 6}
    config = transformers.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)
    return randomized(transformers.GPT2LMHeadModel(config))


def bert_config(**more: Any) -> Any:
    return transformers.BertConfig(
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        vocab_size=11,
        max_position_embeddings=6,
        **more,
    )


@pytest.fixture(scope="module")
def pretraining() -> Any:
    return randomized(transformers.BertForPreTraining(bert_config()))


def small_gpt() -> GPT:
    return GPT.gpt2(11, context_length=6, hidden_size=8, num_layers=2, num_heads=2).eval()


def small_bert() -> BERT:
    return BERT(11, max_length=6, hidden_size=8, num_layers=2, num_heads=2).eval()


# GPT-2


def test_gpt_gives_gpt2s_logits(gpt2: Any) -> None:
    model = small_gpt()
    pretrained.load(model, gpt2.state_dict())
    torch.testing.assert_close(model(TOKENS), gpt2(TOKENS).logits, rtol=1e-4, atol=1e-5)


def test_gpt_generates_what_gpt2_generates(gpt2: Any) -> None:
    model = small_gpt()
    pretrained.load(model, gpt2.state_dict())
    prompt = torch.tensor([4, 2])
    found = gpt2.generate(prompt[None], max_new_tokens=4, do_sample=False, eos_token_id=None)
    assert model.generate(prompt, 4, temperature=0.0).tolist() == found[0, 2:].tolist()


def test_the_file_on_the_hub_has_shorter_names_and_masks(gpt2: Any, tmp_path: Path) -> None:
    """openai-community/gpt2: no prefix, no copy of the embedding, a causal mask per block."""
    state = {
        name.removeprefix("transformer."): t.contiguous()
        for name, t in gpt2.state_dict().items()
        if name != "lm_head.weight"
    }
    for block in range(2):
        state[f"h.{block}.attn.bias"] = torch.ones(1, 1, 6, 6).tril()
    save_file(state, tmp_path / "model.safetensors")
    only_the_copy = dict(gpt2.state_dict())
    del only_the_copy["transformer.wte.weight"]
    for weights in (str(tmp_path / "model.safetensors"), only_the_copy):
        model = small_gpt()
        pretrained.load(model, weights)
        torch.testing.assert_close(model(TOKENS), gpt2(TOKENS).logits, rtol=1e-4, atol=1e-5)


def test_mismatches_are_named_and_nothing_is_loaded(gpt2: Any) -> None:
    model = small_gpt()
    before = {name: t.clone() for name, t in model.state_dict().items()}
    state = dict(gpt2.state_dict())
    state["transformer.h.7.crossattention.bias"] = torch.zeros(3)
    state["transformer.wpe.weight"] = torch.zeros(9, 8)
    del state["transformer.h.1.mlp.c_fc.weight"]
    with pytest.raises(InputError) as caught:
        pretrained.load(model, state)
    message = str(caught.value)
    assert "1 missing (blocks.1.feed_forward.inner.weight)" in message
    assert "1 unexpected (h.7.crossattention.bias)" in message
    assert "1 of another shape (positions.weight (9, 8) instead of (6, 8))" in message
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())
    state = dict(gpt2.state_dict()) | {"lm_head.weight": torch.zeros(11, 8)}
    with pytest.raises(InputError, match=r"lm_head.weight differs from embedding.weight"):
        pretrained.load(model, state)
    with pytest.raises(InputError, match=r"build the model with GPT\.gpt2"):
        pretrained.load(GPT(11, 6, 8, 2, 2), gpt2.state_dict())


def test_the_default_sizes_are_gpt2s() -> None:
    with torch.device("meta"):
        ours = GPT.gpt2()
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    assert sum(p.numel() for p in ours.parameters()) == theirs.num_parameters() == 124_439_808


# BERT


def test_bert_gives_the_logits_of_both_pretraining_tasks(pretraining: Any) -> None:
    model = BertPretraining(small_bert()).eval()
    pretrained.load(model, pretraining.state_dict())
    expected = pretraining(TOKENS, attention_mask=TOKENS != 0, token_type_ids=SEGMENTS)
    found = model.logits(TOKENS, SEGMENTS)
    words = TOKENS != 0
    logits = expected.prediction_logits[words]
    torch.testing.assert_close(found.tokens[words], logits, rtol=1e-4, atol=1e-5)
    follows = expected.seq_relationship_logits
    torch.testing.assert_close(found.next_sentence, follows, rtol=1e-4, atol=1e-5)
    places = torch.tensor([[1, 4], [2, 0]])
    some = model.logits(TOKENS, SEGMENTS, places).tokens
    torch.testing.assert_close(some[0], found.tokens[0, [1, 4]])
    torch.testing.assert_close(some[1], found.tokens[1, [2, 0]])
    both = model(TOKENS, SEGMENTS)
    torch.testing.assert_close(both[:, :-2], found.tokens.flatten(1))


def test_older_files_with_other_names_are_read(pretraining: Any) -> None:
    """google-bert/bert-base-uncased says gamma and beta, and keeps no copy of the embedding."""
    state = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): t
        for name, t in pretraining.state_dict().items()
        if not name.startswith("cls.predictions.decoder.")
    }
    state["bert.embeddings.position_ids"] = torch.arange(6)[None]
    one, other = (BertPretraining(small_bert()).eval() for _ in range(2))
    pretrained.load(one, state)
    pretrained.load(other, pretraining.state_dict())
    assert torch.equal(one(TOKENS), other(TOKENS))


def test_the_encoder_is_read_from_a_file_with_heads(pretraining: Any) -> None:
    model = small_bert()
    pretrained.load(model, pretraining.state_dict())
    expected = pretraining.bert(TOKENS[:1]).last_hidden_state
    torch.testing.assert_close(model(TOKENS[:1]), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match=r"28 missing \(embedding.weight, "):
        pretrained.load(model, {"bert.embeddings.LayerNorm.bias": torch.zeros(8)})


def masked(tokens: Tensor) -> dict[str, Tensor]:
    return {"input_ids": tokens, "attention_mask": tokens != 0}


def check_encoder_alone(theirs: Any, model: Any) -> None:
    """The encoder is loaded, the head keeps its weights."""
    head = {name: t.clone() for name, t in model.output.state_dict().items()}
    pretrained.load(model, theirs.state_dict(), head=False)
    assert all(torch.equal(t, head[name]) for name, t in model.output.state_dict().items())
    expected = theirs.bert(TOKENS[:1]).last_hidden_state
    torch.testing.assert_close(model.bert(TOKENS[:1]), expected, rtol=1e-4, atol=1e-5)


def test_the_classifier_is_loaded_with_or_without_its_head(pretraining: Any) -> None:
    theirs = randomized(transformers.BertForSequenceClassification(bert_config(num_labels=3)))
    model = BertClassifier(small_bert(), 3).eval()
    pretrained.load(model, theirs.state_dict())
    expected = theirs(**masked(TOKENS), token_type_ids=SEGMENTS).logits
    torch.testing.assert_close(model(TOKENS, SEGMENTS), expected, rtol=1e-4, atol=1e-5)
    check_encoder_alone(pretraining, model)
    assert torch.equal(model.pooler.weight, pretraining.bert.pooler.dense.weight)


def test_the_tagger_is_loaded_with_or_without_its_head(pretraining: Any) -> None:
    theirs = randomized(transformers.BertForTokenClassification(bert_config(num_labels=4)))
    model = BertTagger(small_bert(), 4).eval()
    pretrained.load(model, theirs.state_dict())
    expected = theirs(**masked(TOKENS)).logits
    words = TOKENS != 0
    torch.testing.assert_close(model(TOKENS)[words], expected[words], rtol=1e-4, atol=1e-5)
    check_encoder_alone(pretraining, model)


def test_question_answering_is_loaded_with_or_without_its_head(pretraining: Any) -> None:
    theirs = randomized(transformers.BertForQuestionAnswering(bert_config()))
    model = BertQuestionAnswering(small_bert()).eval()
    pretrained.load(model, theirs.state_dict())
    expected = theirs(**masked(TOKENS), token_type_ids=SEGMENTS)
    words, found = TOKENS != 0, model(TOKENS, SEGMENTS)
    for k, logits in enumerate((expected.start_logits, expected.end_logits)):
        torch.testing.assert_close(found[..., k][words], logits[words], rtol=1e-4, atol=1e-5)
    check_encoder_alone(pretraining, model)


@pytest.mark.parametrize("kind", ["SequenceClassification", "TokenClassification"])
def test_heads_of_other_tasks_are_not_loaded(kind: str) -> None:
    theirs = randomized(getattr(transformers, f"BertFor{kind}")(bert_config()))
    check_encoder_alone(theirs, BertQuestionAnswering(small_bert()).eval())


def test_a_pooler_in_older_files_is_not_loaded(pretraining: Any) -> None:
    theirs = randomized(transformers.BertForQuestionAnswering(bert_config()))
    pooler = pretraining.bert.pooler.dense.state_dict()
    state = theirs.state_dict() | {f"bert.pooler.dense.{name}": t for name, t in pooler.items()}
    model = BertQuestionAnswering(small_bert()).eval()
    pretrained.load(model, state)
    assert torch.equal(model.output.weight, theirs.qa_outputs.weight)
    pretrained.load(BertTagger(small_bert(), 3), state, head=False)


def test_a_head_that_the_file_lacks_or_the_model_lacks_is_named(pretraining: Any) -> None:
    with pytest.raises(InputError, match=r"2 missing \(output.weight, output.bias\); .*head=False"):
        pretrained.load(BertClassifier(small_bert(), 3), pretraining.state_dict())
    with pytest.raises(InputError, match="BERT has no task head"):
        pretrained.load(small_bert(), pretraining.state_dict(), head=False)
    with pytest.raises(InputError, match=r"no published weights are known for Linear; .* ViT, Res"):
        pretrained.load(torch.nn.Linear(2, 2), {})


def test_the_default_sizes_are_bert_bases() -> None:
    with torch.device("meta"):
        ours = BertPretraining(BERT())
        theirs = transformers.BertForPreTraining(transformers.BertConfig())
    assert sum(p.numel() for p in ours.parameters()) == theirs.num_parameters() == 110_106_428


# ViT


def test_vit_gives_the_logits_of_transformers_from_its_file(tmp_path: Path) -> None:
    config = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=[8, 12],
        patch_size=4,
        num_labels=3,
    )
    theirs = randomized(transformers.ViTForImageClassification(config))
    theirs.save_pretrained(tmp_path)
    model = ViT((8, 12), 4, channels=3, classes=3, hidden_size=8, num_layers=2, num_heads=2).eval()
    x = torch.randn(2, 3, 8, 12)
    for weights in (tmp_path / "model.safetensors", theirs.state_dict()):
        randomized(model)
        pretrained.load(model, weights)
        torch.testing.assert_close(model(x), theirs(x).logits, rtol=1e-4, atol=1e-5)
    other = ViT((8, 12), 4, channels=3, classes=5, hidden_size=8, num_layers=2, num_heads=2)
    with pytest.raises(InputError, match=r"2 of another shape \(head.weight \(3, 8\) instead"):
        pretrained.load(other, tmp_path / "model.safetensors")
    pretrained.load(other, tmp_path / "model.safetensors", head=False)
    assert torch.equal(other.cls, model.cls)


def test_the_default_sizes_are_vit_bases() -> None:
    with torch.device("meta"):
        ours = ViT()
        theirs = transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000))
    assert sum(p.numel() for p in ours.parameters()) == theirs.num_parameters() == 86_567_656
