"""Published weights of ours are read by transformers, and give the same outputs."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

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
from chainrule.models.feedforward.mlp import MLP
from chainrule.pretrained.loading import family_of
from chainrule.pretrained.publishing import publish
from chainrule.training.checkpoint import separate

transformers = pytest.importorskip("transformers")


def bert() -> BERT:
    return BERT(20, max_length=12, hidden_size=8, num_layers=2, num_heads=2, dropout=0.0)


MODELS = {
    "AutoModelForCausalLM": lambda: GPT(20, 12, 8, 2, 2),
    "AutoModel": bert,
    "AutoModelForSequenceClassification": lambda: BertClassifier(bert(), 3),
    "AutoModelForTokenClassification": lambda: BertTagger(bert(), 4),
    "AutoModelForQuestionAnswering": lambda: BertQuestionAnswering(bert()),
    "AutoModelForPreTraining": lambda: BertPretraining(bert()),
    "AutoModelForImageClassification": lambda: ViT((8, 8), 4, 3, 5, 8, 2, 2),
}


def outputs_of(theirs: Any, x: torch.Tensor) -> torch.Tensor:
    found = theirs(x)
    if hasattr(found, "start_logits"):
        return torch.stack([found.start_logits, found.end_logits], 2)
    if hasattr(found, "prediction_logits"):
        return torch.cat([found.prediction_logits.flatten(1), found.seq_relationship_logits], 1)
    return found.logits if hasattr(found, "logits") else found.last_hidden_state


@pytest.mark.parametrize("auto", MODELS)
def test_transformers_reads_what_is_published(auto: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model: Any = MODELS[auto]().eval()
    for p in model.parameters():
        nn.init.normal_(p, std=0.3)
    state, config = publish(model)
    labels = {ViT: 5, BertClassifier: 3, BertTagger: 4}.get(type(model), 2)
    config["id2label"] = {str(k): str(k) for k in range(labels)}
    save_file(separate(state), tmp_path / "model.safetensors", {"format": "pt"})
    (tmp_path / "config.json").write_text(json.dumps(config))
    theirs = getattr(transformers, auto).from_pretrained(tmp_path).eval()
    x = torch.rand(2, 3, 8, 8) if isinstance(model, ViT) else torch.randint(1, 20, (2, 7))
    with torch.no_grad():
        assert torch.allclose(outputs_of(theirs, x), model(x), atol=1e-5)
    published = load_file(tmp_path / "model.safetensors")
    again: Any = MODELS[auto]().eval()
    again.load_state_dict(family_of(again).convert(again, published, True))
    assert all(
        torch.equal(a, b) for a, b in zip(again.parameters(), model.parameters(), strict=True)
    )


def test_a_model_without_published_weights_is_named() -> None:
    with pytest.raises(InputError, match="MLP has no published form"):
        publish(MLP(4, [3], 2))
