"""Chapter 4, convolutional networks: shared weights, from LeNet to ResNet and U-Net."""

from chainrule.models.convolution.cnn import CNN
from chainrule.models.convolution.densenet import DenseNet
from chainrule.models.convolution.lenet import LeNet
from chainrule.models.convolution.plain_network import PlainNetwork
from chainrule.models.convolution.resnet import ResNet
from chainrule.models.convolution.unet import UNet
from chainrule.models.convolution.vgg import VGG

__all__ = ["CNN", "VGG", "DenseNet", "LeNet", "PlainNetwork", "ResNet", "UNet"]
