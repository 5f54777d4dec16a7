"""GPT-2's names on the Hugging Face hub (openai-community/gpt2) → those of `GPT`."""

from chainrule.errors import InputError
from chainrule.models.attention.gpt import GPT, tanh_gelu
from chainrule.pretrained.state_dict_rules import State, drop, rename, untie

RULES = (
    (r"transformer\.", ""),
    (r"wte\.", "embedding."),
    (r"wpe\.", "positions."),
    (r"ln_f\.", "norm."),
    (r"h\.(\d+)\.ln_([12])\.", r"blocks.\1.norm_\2."),
    (r"h\.(\d+)\.attn\.c_attn\.", r"blocks.\1.attention.projection."),
    (r"h\.(\d+)\.attn\.c_proj\.", r"blocks.\1.attention.output."),
    (r"h\.(\d+)\.mlp\.c_fc\.", r"blocks.\1.feed_forward.inner."),
    (r"h\.(\d+)\.mlp\.c_proj\.", r"blocks.\1.feed_forward.outer."),
)
CAUSAL_MASKS = r"h\.\d+\.attn\.(masked_)?bias"


def convert(model: GPT, state: State, head: bool) -> State:
    """GPT-2 stores its linear maps as (inputs, outputs), so they are transposed."""
    state = drop(untie(rename(state, RULES), "lm_head.weight", "embedding.weight"), CAUSAL_MASKS)
    return {
        name: t.T if name.startswith("blocks.") and t.ndim == 2 else t for name, t in state.items()
    }


def check(model: GPT) -> None:
    """Refuse a model that would compute something else with the published weights."""
    if model.activation is not tanh_gelu:
        raise InputError(
            "GPT-2 was trained with the tanh form of the GELU; build the model with GPT.gpt2"
        )
