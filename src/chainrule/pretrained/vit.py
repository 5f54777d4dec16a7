"""ViT's names on the Hugging Face hub (google/vit-base-patch16-224) → those of `ViT`."""

from chainrule.models.attention.vit import ViT
from chainrule.pretrained.state_dict_rules import State, drop, rename, stack

RULES = (
    (r"vit\.", ""),
    (r"embeddings\.cls_token$", "cls"),
    (r"embeddings\.position_embeddings$", "positions.weight"),
    (r"embeddings\.patch_embeddings\.projection\.", "embedding."),
    (r"(encoder\.layer|layers)\.(\d+)\.", r"blocks.\2."),  # in files; in memory since version 5
    (r"(blocks\.\d+)\.attention\.attention\.", r"\1.attention."),
    (r"(blocks\.\d+\.attention)\.q_proj\.", r"\1.query."),
    (r"(blocks\.\d+\.attention)\.k_proj\.", r"\1.key."),
    (r"(blocks\.\d+\.attention)\.v_proj\.", r"\1.value."),
    (r"(blocks\.\d+)\.attention\.(output\.dense|o_proj)\.", r"\1.attention.output."),
    (r"(blocks\.\d+)\.(intermediate\.dense|mlp\.fc1)\.", r"\1.feed_forward.inner."),
    (r"(blocks\.\d+)\.(output\.dense|mlp\.fc2)\.", r"\1.feed_forward.outer."),
    (r"(blocks\.\d+)\.layernorm_before\.", r"\1.norm_1."),
    (r"(blocks\.\d+)\.layernorm_after\.", r"\1.norm_2."),
    (r"layernorm\.", "norm."),
    (r"classifier\.", "head."),
)
FLATTENED = {"cls": (0, 2), "positions.weight": (0, 1), "embedding.weight": (1, 3)}
"""Published tensors with axes of size one, or the shape of a convolution's kernel."""


def convert(model: ViT, state: State, head: bool) -> State:
    state = stack(rename(state, RULES), ("query", "key", "value"), "projection")
    state = drop(state, r"pooler\..*")  # in files without a classifier; not part of the paper
    for name, (first, last) in FLATTENED.items():
        if name in state and state[name].ndim > last:
            state[name] = state[name].flatten(first, last)
    return state
