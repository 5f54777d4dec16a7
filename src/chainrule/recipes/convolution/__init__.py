"""Chapter 4, convolutional networks: recipes."""
