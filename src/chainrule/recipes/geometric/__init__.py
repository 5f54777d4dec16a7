"""Chapter 7, geometric deep learning: recipes."""
