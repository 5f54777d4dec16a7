"""How weights change: losses, metrics, optimizers, regularizers, augmentation, backpropagation."""
