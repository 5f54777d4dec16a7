"""Parts that two or more models share: activations, initial weights, dropout, norms, regions."""
