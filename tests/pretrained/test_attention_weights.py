"""Published weights of GPT-2, BERT and ViT: the same outputs as the transformers library.

All weights are random and nothing is downloaded.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.attention import (
    BERT,
    GPT,
    BertClassifier,
    BertPretraining,
    BertQuestions,
    BertTagger,
    ViT,
    bert,
    bert_classifier,
    bert_pretraining,
    bert_questions,
    bert_tagger,
    gpt,
    vit,
)

transformers = pytest.importorskip("transformers")
logging.getLogger("transformers").setLevel(logging.ERROR)

TOKENS = torch.tensor([[2, 5, 7, 1, 9, 3], [2, 4, 4, 3, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]])


def randomized(model: Any) -> Any:
    """All weights drawn, also those that would begin as zeros or ones."""
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
    return GPT.gpt2(11, context=6, width=8, depth=2, heads=2).eval()


def small_bert() -> BERT:
    return BERT(11, longest=6, width=8, depth=2, heads=2).eval()


# GPT-2


def test_gpt_gives_gpt2s_logits(gpt2: Any) -> None:
    model = small_gpt()
    gpt.load_published(model, gpt2.state_dict())
    torch.testing.assert_close(model(TOKENS), gpt2(TOKENS).logits, rtol=1e-4, atol=1e-5)


def test_gpt_writes_what_gpt2_writes(gpt2: Any) -> None:
    model = small_gpt()
    gpt.load_published(model, gpt2.state_dict())
    prompt = torch.tensor([4, 2])
    found = gpt2.generate(prompt[None], max_new_tokens=4, do_sample=False, eos_token_id=None)
    assert model.write(prompt, 4, temperature=0.0).tolist() == found[0, 2:].tolist()


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
        gpt.load_published(model, weights)
        torch.testing.assert_close(model(TOKENS), gpt2(TOKENS).logits, rtol=1e-4, atol=1e-5)


def test_what_does_not_fit_gpt_is_named_and_nothing_is_loaded(gpt2: Any) -> None:
    model = small_gpt()
    before = {name: t.clone() for name, t in model.state_dict().items()}
    state = dict(gpt2.state_dict())
    state["transformer.h.7.crossattention.bias"] = torch.zeros(3)
    state["transformer.wpe.weight"] = torch.zeros(9, 8)
    del state["transformer.h.1.mlp.c_fc.weight"]
    with pytest.raises(InputError) as caught:
        gpt.load_published(model, state)
    message = str(caught.value)
    assert "1 missing (blocks.1.feed_forward.inner.weight)" in message
    assert "1 extra (h.7.crossattention.bias)" in message
    assert "1 of another shape (positions.weight (9, 8) instead of (6, 8))" in message
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())
    state = dict(gpt2.state_dict()) | {"lm_head.weight": torch.zeros(11, 8)}
    with pytest.raises(InputError, match=r"lm_head.weight differs from embedding.weight"):
        gpt.load_published(model, state)
    with pytest.raises(InputError, match=r"make it by GPT\.gpt2"):
        gpt.load_published(GPT(11, 6, 8, 2, 2), gpt2.state_dict())


def test_the_default_sizes_are_gpt2s() -> None:
    with torch.device("meta"):
        ours = GPT.gpt2()
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    assert sum(p.numel() for p in ours.parameters()) == theirs.num_parameters() == 124_439_808


# BERT


def test_bert_gives_both_answers_of_pretraining(pretraining: Any) -> None:
    model = BertPretraining(small_bert()).eval()
    bert_pretraining.load_published(model, pretraining.state_dict())
    expected = pretraining(TOKENS, attention_mask=TOKENS != 0, token_type_ids=SEGMENTS)
    found = model.answers(TOKENS, SEGMENTS)
    words = TOKENS != 0
    logits = expected.prediction_logits[words]
    torch.testing.assert_close(found.words[words], logits, rtol=1e-4, atol=1e-5)
    follows = expected.seq_relationship_logits
    torch.testing.assert_close(found.follows, follows, rtol=1e-4, atol=1e-5)
    places = torch.tensor([[1, 4], [2, 0]])
    some = model.answers(TOKENS, SEGMENTS, places).words
    torch.testing.assert_close(some[0], found.words[0, [1, 4]])
    torch.testing.assert_close(some[1], found.words[1, [2, 0]])
    both = model(TOKENS, SEGMENTS)
    torch.testing.assert_close(both[:, :-2], found.words.flatten(1))


def test_older_names_of_norms_and_position_numbers_are_understood(pretraining: Any) -> None:
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
    bert_pretraining.load_published(one, state)
    bert_pretraining.load_published(other, pretraining.state_dict())
    assert torch.equal(one(TOKENS), other(TOKENS))


def test_the_encoder_alone_is_read_from_a_file_with_heads(pretraining: Any) -> None:
    model = small_bert()
    bert.load_published(model, pretraining.state_dict())
    expected = pretraining.bert(TOKENS[:1]).last_hidden_state
    torch.testing.assert_close(model(TOKENS[:1]), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match=r"28 missing \(embedding.weight, "):
        bert.load_published(model, {"bert.embeddings.LayerNorm.bias": torch.zeros(8)})


def masked(tokens: Tensor) -> dict[str, Tensor]:
    return {"input_ids": tokens, "attention_mask": tokens != 0}


def begun_from(theirs: Any, model: Any, load: Callable[[Any, Any], None]) -> None:
    """The encoder becomes theirs, the head stays."""
    head = {name: t.clone() for name, t in model.output.state_dict().items()}
    load(model, theirs.state_dict())
    assert all(torch.equal(t, head[name]) for name, t in model.output.state_dict().items())
    expected = theirs.bert(TOKENS[:1]).last_hidden_state
    torch.testing.assert_close(model.bert(TOKENS[:1]), expected, rtol=1e-4, atol=1e-5)


def test_the_classifier_is_theirs_or_begins_from_the_pretrained(pretraining: Any) -> None:
    theirs = randomized(transformers.BertForSequenceClassification(bert_config(num_labels=3)))
    model = BertClassifier(small_bert(), 3).eval()
    bert_classifier.load_published(model, theirs.state_dict(), head=True)
    expected = theirs(**masked(TOKENS), token_type_ids=SEGMENTS).logits
    torch.testing.assert_close(model(TOKENS, SEGMENTS), expected, rtol=1e-4, atol=1e-5)
    begun_from(pretraining, model, bert_classifier.load_published)
    assert torch.equal(model.pooler.weight, pretraining.bert.pooler.dense.weight)


def test_the_tagger_is_theirs_or_begins_from_the_pretrained(pretraining: Any) -> None:
    theirs = randomized(transformers.BertForTokenClassification(bert_config(num_labels=4)))
    model = BertTagger(small_bert(), 4).eval()
    bert_tagger.load_published(model, theirs.state_dict(), head=True)
    expected = theirs(**masked(TOKENS)).logits
    words = TOKENS != 0
    torch.testing.assert_close(model(TOKENS)[words], expected[words], rtol=1e-4, atol=1e-5)
    begun_from(pretraining, model, bert_tagger.load_published)


def test_the_reader_is_theirs_or_begins_from_the_pretrained(pretraining: Any) -> None:
    theirs = randomized(transformers.BertForQuestionAnswering(bert_config()))
    model = BertQuestions(small_bert()).eval()
    bert_questions.load_published(model, theirs.state_dict(), head=True)
    expected = theirs(**masked(TOKENS), token_type_ids=SEGMENTS)
    words, found = TOKENS != 0, model(TOKENS, SEGMENTS)
    for k, logits in enumerate((expected.start_logits, expected.end_logits)):
        torch.testing.assert_close(found[..., k][words], logits[words], rtol=1e-4, atol=1e-5)
    begun_from(pretraining, model, bert_questions.load_published)


@pytest.mark.parametrize("kind", ["SequenceClassification", "TokenClassification"])
def test_heads_of_other_tasks_are_left_where_they_are(kind: str) -> None:
    theirs = randomized(getattr(transformers, f"BertFor{kind}")(bert_config()))
    begun_from(theirs, BertQuestions(small_bert()).eval(), bert_questions.load_published)


def test_old_files_of_taggers_and_readers_hold_a_pooler(pretraining: Any) -> None:
    """Which neither asks for, with their own head or with another's."""
    theirs = randomized(transformers.BertForQuestionAnswering(bert_config()))
    pooler = pretraining.bert.pooler.dense.state_dict()
    state = theirs.state_dict() | {f"bert.pooler.dense.{name}": t for name, t in pooler.items()}
    model = BertQuestions(small_bert()).eval()
    bert_questions.load_published(model, state, head=True)
    assert torch.equal(model.output.weight, theirs.qa_outputs.weight)
    bert_tagger.load_published(BertTagger(small_bert(), 3), state)


def test_the_default_sizes_are_bert_bases() -> None:
    with torch.device("meta"):
        ours = BertPretraining(BERT())
        theirs = transformers.BertForPreTraining(transformers.BertConfig())
    assert sum(p.numel() for p in ours.parameters()) == theirs.num_parameters() == 110_106_428


# ViT


def test_vit_gives_their_logits_from_the_file_they_write(tmp_path: Path) -> None:
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
    model = ViT((8, 12), 4, channels=3, classes=3, width=8, depth=2, heads=2).eval()
    x = torch.randn(2, 3, 8, 12)
    for weights in (tmp_path / "model.safetensors", theirs.state_dict()):
        randomized(model)
        vit.load_published(model, weights)
        torch.testing.assert_close(model(x), theirs(x).logits, rtol=1e-4, atol=1e-5)
    other = ViT((8, 12), 4, channels=3, classes=5, width=8, depth=2, heads=2)
    with pytest.raises(InputError, match=r"2 of another shape \(head.weight \(3, 8\) instead"):
        vit.load_published(other, tmp_path / "model.safetensors")
    vit.load_published(other, tmp_path / "model.safetensors", head=False)
    assert torch.equal(other.cls, model.cls)


def test_the_default_sizes_are_vit_bases() -> None:
    with torch.device("meta"):
        ours = ViT()
        theirs = transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000))
    assert sum(p.numel() for p in ours.parameters()) == theirs.num_parameters() == 86_567_656
