"""Our weights under their published names: the inverse of loading.

    state, config = publish(model)

`state` and `config` are what transformers' `save_pretrained` writes as model.safetensors and
config.json, so that `AutoModel.from_pretrained` reads the folder.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch import Tensor, nn

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
from chainrule.models.attention.gpt import tanh_gelu
from chainrule.pretrained.state_dict_rules import Rules, State, rename

Config = dict[str, Any]
GPT2: Rules = (
    (r"embedding\.", "transformer.wte."),
    (r"positions\.", "transformer.wpe."),
    (r"norm\.", "transformer.ln_f."),
    (r"blocks\.(\d+)\.norm_([12])\.", r"transformer.h.\1.ln_\2."),
    (r"blocks\.(\d+)\.attention\.projection\.", r"transformer.h.\1.attn.c_attn."),
    (r"blocks\.(\d+)\.attention\.output\.", r"transformer.h.\1.attn.c_proj."),
    (r"blocks\.(\d+)\.feed_forward\.inner\.", r"transformer.h.\1.mlp.c_fc."),
    (r"blocks\.(\d+)\.feed_forward\.outer\.", r"transformer.h.\1.mlp.c_proj."),
)
BLOCK: Rules = (
    (r"(.*layer\.\d+\.attention)\.output\.", r"\1.output.dense."),
    (r"(.*layer\.\d+)\.feed_forward\.inner\.", r"\1.intermediate.dense."),
    (r"(.*layer\.\d+)\.feed_forward\.outer\.", r"\1.output.dense."),
)
ENCODER: Rules = (
    (r"embedding\.", "embeddings.word_embeddings."),
    (r"positions\.", "embeddings.position_embeddings."),
    (r"segments\.", "embeddings.token_type_embeddings."),
    (r"norm\.", "embeddings.LayerNorm."),
    (r"blocks\.(\d+)\.", r"encoder.layer.\1."),
    *BLOCK,
    (r"(.*layer\.\d+)\.norm_1\.", r"\1.attention.output.LayerNorm."),
    (r"(.*layer\.\d+)\.norm_2\.", r"\1.output.LayerNorm."),
    (r"(.*layer\.\d+\.attention)\.(query|key|value)\.", r"\1.self.\2."),
)
VIT: Rules = (
    (r"cls$", "vit.embeddings.cls_token"),
    (r"positions\.weight$", "vit.embeddings.position_embeddings"),
    (r"embedding\.", "vit.embeddings.patch_embeddings.projection."),
    (r"norm\.", "vit.layernorm."),
    (r"head\.", "classifier."),
    (r"blocks\.(\d+)\.", r"vit.encoder.layer.\1."),
    (r"(.*layer\.\d+)\.norm_1\.", r"\1.layernorm_before."),
    (r"(.*layer\.\d+)\.norm_2\.", r"\1.layernorm_after."),
    (r"(.*layer\.\d+\.attention)\.(query|key|value)\.", r"\1.attention.\2."),
    *BLOCK,
)
BERT_HEADS: Mapping[type[nn.Module], tuple[str, Rules]] = {
    BertClassifier: ("BertForSequenceClassification", ((r"output\.", "classifier."),)),
    BertTagger: ("BertForTokenClassification", ((r"output\.", "classifier."),)),
    BertQuestionAnswering: ("BertForQuestionAnswering", ((r"output\.", "qa_outputs."),)),
    BertPretraining: (
        "BertForPreTraining",
        (
            (r"transform\.", "cls.predictions.transform.dense."),
            (r"norm\.", "cls.predictions.transform.LayerNorm."),
            (r"bias$", "cls.predictions.bias"),
            (r"next_sentence\.", "cls.seq_relationship."),
        ),
    ),
}


class Published(NamedTuple):
    """Weights by their published names, and the content of config.json."""

    state: State
    config: Config


def publish(model: nn.Module) -> Published:
    """A GPT, a BERT with or without a task head, or a ViT as transformers stores it.

    Args:
        model: whose weights are taken; they are not copied.
    """
    kinds: dict[type[nn.Module], Callable[[Any], Published]] = {
        GPT: publish_gpt,
        BERT: publish_encoder,
        ViT: publish_vit,
        **dict.fromkeys(BERT_HEADS, publish_bert),
    }
    found = next((write for kind, write in kinds.items() if isinstance(model, kind)), None)
    if found is None:
        known = ", ".join(kind.__name__ for kind in kinds)
        raise InputError(
            f"{type(model).__name__} has no published form; expected one of {known}; "
            "its plain weights can be exported: `format` state-dict"
        )
    return found(model)


def publish_gpt(model: GPT) -> Published:
    """GPT-2 stores its linear maps as (inputs, outputs)."""
    tensors = model.state_dict()
    turned = {
        name: t.T if name.startswith("blocks.") and t.ndim == 2 else t
        for name, t in tensors.items()
    }
    vocab_size, hidden_size = model.embedding.weight.shape
    config = {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": vocab_size,
        "n_positions": model.context_length,
        "n_embd": hidden_size,
        "n_layer": len(model.blocks),
        "n_head": num_heads(model),
        "activation_function": "gelu_new" if model.activation is tanh_gelu else "gelu",
        "resid_pdrop": model.dropout,
        "embd_pdrop": model.dropout,
        "attn_pdrop": 0.0,
        "bos_token_id": None,
        "eos_token_id": None,
    }
    return Published(rename(turned, GPT2), config)


def publish_encoder(model: BERT) -> Published:
    """The encoder alone."""
    config = bert_config(model) | {"architectures": ["BertModel"]}
    return Published(rename(split_projections(model.state_dict()), ENCODER), config)


def publish_bert(model: Any) -> Published:
    """The encoder, and the head of its task."""
    architecture, rules = next(v for kind, v in BERT_HEADS.items() if isinstance(model, kind))
    inside, outside = {}, {}
    for name, tensor in model.state_dict().items():
        if name.startswith("bert."):
            inside[name.removeprefix("bert.")] = tensor
        else:
            outside[name] = tensor
    state = {f"bert.{n}": t for n, t in rename(split_projections(inside), ENCODER).items()}
    state |= rename(outside, ((r"pooler\.", "bert.pooler.dense."), *rules))
    return Published(state, bert_config(model.bert) | {"architectures": [architecture]})


def bert_config(model: BERT) -> Config:
    return {
        "model_type": "bert",
        "vocab_size": model.vocab_size,
        "max_position_embeddings": model.max_length,
        "hidden_size": model.hidden_size,
        "num_hidden_layers": len(model.blocks),
        "num_attention_heads": num_heads(model),
        "intermediate_size": 4 * model.hidden_size,
        "hidden_act": "gelu",
        "hidden_dropout_prob": model.dropout,
        "attention_probs_dropout_prob": 0.0,
        "layer_norm_eps": model.norm.eps,
        "type_vocab_size": model.segments.num_embeddings,
        "pad_token_id": 0,
    }


def publish_vit(model: ViT) -> Published:
    """ViT stores the patch embedding as the kernel of a convolution."""
    state = rename(split_projections(model.state_dict()), VIT)
    hidden_size, size = model.head.in_features, model.patch_size
    kernel = "vit.embeddings.patch_embeddings.projection.weight"
    state[kernel] = state[kernel].unflatten(1, (model.channels, size, size))
    state["vit.embeddings.cls_token"] = state["vit.embeddings.cls_token"][None, None]
    state["vit.embeddings.position_embeddings"] = state["vit.embeddings.position_embeddings"][None]
    height, width = model.image_size
    config = {
        "model_type": "vit",
        "architectures": ["ViTForImageClassification"],
        "image_size": height if height == width else [height, width],
        "patch_size": size,
        "num_channels": model.channels,
        "hidden_size": hidden_size,
        "num_hidden_layers": len(model.blocks),
        "num_attention_heads": num_heads(model),
        "intermediate_size": 4 * hidden_size,
        "hidden_act": "gelu",
        "hidden_dropout_prob": model.dropout,
        "attention_probs_dropout_prob": 0.0,
        "layer_norm_eps": model.norm.eps,
    }
    return Published(state, config)


def num_heads(model: Any) -> int:
    """Attention heads of a block."""
    return int(model.blocks[0].attention.num_heads)


def split_projections(state: Mapping[str, Tensor]) -> State:
    """x.projection, the maps to queries, keys and values in one → x.query, x.key, x.value."""
    found: State = {}
    for name, tensor in state.items():
        stem, _, kind = name.rpartition(".")
        if not stem.endswith(".projection"):
            found[name] = tensor
            continue
        parts = zip(("query", "key", "value"), tensor.chunk(3), strict=True)
        found |= {f"{stem.removesuffix('projection')}{part}.{kind}": t for part, t in parts}
    return found
