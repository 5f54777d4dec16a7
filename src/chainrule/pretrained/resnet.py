"""torchvision's names of ResNet-18, 34 and 50: `ResNet.imagenet` uses the same ones."""

from chainrule.models.convolution.resnet import ResNet
from chainrule.pretrained.state_dict_rules import State


def convert(model: ResNet, state: State, head: bool) -> State:
    return state
