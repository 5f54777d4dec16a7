"""Parts that two or more models share: activations, initial weights, regions of ReLU layers."""
