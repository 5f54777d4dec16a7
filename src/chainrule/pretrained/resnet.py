"""ResNet-18, 34 and 50: torchvision's names, which are ours, and those of the Hugging Face hub."""

from chainrule.models.convolution.resnet import ResNet
from chainrule.pretrained.state_dict_rules import Rules, State, rename

HUB: Rules = (  # microsoft/resnet-50
    (r"(resnet\.)?embedder\.embedder\.convolution\.", "conv1."),
    (r"(resnet\.)?embedder\.embedder\.normalization\.", "bn1."),
    *(
        (rf"(resnet\.)?encoder\.stages\.{k}\.layers\.(\d+)\.", rf"layer{k + 1}.\2.")
        for k in range(4)
    ),
    *(
        (rf"(layer\d\.\d+)\.layer\.{k}\.{theirs}\.", rf"\1.{ours}{k + 1}.")
        for k in range(3)
        for theirs, ours in (("convolution", "conv"), ("normalization", "bn"))
    ),
    (r"(layer\d\.\d+)\.shortcut\.convolution\.", r"\1.downsample.0."),
    (r"(layer\d\.\d+)\.shortcut\.normalization\.", r"\1.downsample.1."),
    (r"classifier\.1\.", "fc."),
)


def convert(model: ResNet, state: State, head: bool) -> State:
    return rename(state, HUB)
