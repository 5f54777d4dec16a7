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
