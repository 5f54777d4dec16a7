"""Published weights of GPT-2, BERT, ViT and ResNet: name maps and loading.

    from chainrule import pretrained
    from chainrule.models.attention import GPT

    model = GPT.gpt2()
    pretrained.load(model, "gpt2/model.safetensors")

The files are those of the Hugging Face hub and of torchvision. Nothing is downloaded here.
"""

from chainrule.pretrained.loading import load

__all__ = ["load"]
