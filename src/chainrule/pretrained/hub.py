"""Sizes of a published network, by the config.json that `save_pretrained` writes.

A network that would compute something else with the same weights is refused by name.
"""

from collections.abc import Mapping
from typing import Any

from chainrule.errors import InputError

BERT_SIZES = {
    "max_length": "max_position_embeddings",
    "hidden_size": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
}
VIT_SIZES = {
    "size": "image_size",
    "patch_size": "patch_size",
    "hidden_size": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
}
RESNETS = {  # (kind of block, blocks of each stage): our name
    ("basic", (2, 2, 2, 2)): "resnet18",
    ("basic", (3, 4, 6, 3)): "resnet34",
    ("bottleneck", (3, 4, 6, 3)): "resnet50",
}
WIDTHS = {"basic": [64, 128, 256, 512], "bottleneck": [256, 512, 1024, 2048]}
GPT2_SIZES = {
    "context_length": "n_positions",
    "hidden_size": "n_embd",
    "num_layers": "n_layer",
    "num_heads": "n_head",
}


def bert_sizes(config: Mapping[str, Any]) -> dict[str, int]:
    """max_length, hidden_size, num_layers and num_heads of a published BERT."""
    found = sizes(config, BERT_SIZES, "bert")
    check(
        config,
        {
            "hidden_act": "gelu",
            "intermediate_size": 4 * found["hidden_size"],
            "type_vocab_size": 2,
            "layer_norm_eps": 1e-12,
            "position_embedding_type": "absolute",
            "pad_token_id": 0,
            "is_decoder": False,
        },
    )
    return found


def gpt2_sizes(config: Mapping[str, Any]) -> dict[str, int]:
    """context_length, hidden_size, num_layers and num_heads of a published GPT-2."""
    found = sizes(config, GPT2_SIZES, "gpt2")
    if config.get("n_inner") is not None:
        check(config, {"n_inner": 4 * found["hidden_size"]})
    check(
        config,
        {
            "activation_function": "gelu_new",
            "layer_norm_epsilon": 1e-5,
            "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False,
            "tie_word_embeddings": True,
        },
    )
    return found


def image_network(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the recipe `cnn` for a published ViT or ResNet: model_name, size, gray, …"""
    kinds = {"vit": vit_sizes, "resnet": resnet_sizes}
    kind = config.get("model_type")
    if kind not in kinds:
        raise InputError(f"expected model_type 'vit' or 'resnet', got {kind!r}")
    channels = config.get("num_channels", 3)
    if channels not in (1, 3):
        raise InputError(f"expected num_channels 1 or 3, got {channels!r}")
    return kinds[kind](config) | {"gray": channels == 1}


def vit_sizes(config: Mapping[str, Any]) -> dict[str, Any]:
    """size, patch_size, hidden_size, num_layers and num_heads of a published ViT."""
    found: dict[str, Any] = sizes(config, VIT_SIZES, "vit")
    check(
        config,
        {
            "hidden_act": "gelu",
            "intermediate_size": 4 * found["hidden_size"],
            "layer_norm_eps": 1e-12,
            "qkv_bias": True,
        },
    )
    return found | {"model_name": "vit"}


def resnet_sizes(config: Mapping[str, Any]) -> dict[str, Any]:
    """The name of a published ResNet."""
    block, depths = config.get("layer_type", "bottleneck"), config.get("depths", [3, 4, 6, 3])
    name = RESNETS.get((block, tuple(depths))) if isinstance(depths, list) else None
    if name is None:
        raise InputError(
            f"expected the depths of ResNet-18, 34 or 50, got {depths!r} of {block!r} blocks"
        )
    check(
        config,
        {
            "hidden_sizes": WIDTHS[block],
            "embedding_size": 64,
            "hidden_act": "relu",
            "downsample_in_first_stage": False,
            "downsample_in_bottleneck": False,
        },
    )
    return {"model_name": name}


def sizes(config: Mapping[str, Any], names: Mapping[str, str], kind: str) -> dict[str, int]:
    """The sizes under our names."""
    if config.get("model_type") != kind:
        raise InputError(f"expected model_type {kind!r}, got {config.get('model_type')!r}")
    found = {ours: config.get(theirs) for ours, theirs in names.items()}
    for ours, theirs in names.items():
        if not isinstance(found[ours], int) or found[ours] < 1:  # type: ignore[operator]
            raise InputError(f"expected a whole number as {theirs}, got {found[ours]!r}")
    return found  # type: ignore[return-value]


def check(config: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse settings that our network does not have; what is left out has its usual value."""
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise InputError(
                f"expected {name} {value!r}, got {config[name]!r}: the network would be another"
            )
