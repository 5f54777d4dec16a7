"""Chapter 4, convolutional networks: symmetry, shared weights and depth."""
