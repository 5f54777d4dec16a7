"""How weights change: losses, metrics, optimisers, regularisers, augmentation, backpropagation."""
