"""Chapter 7, geometric deep learning: sets, point clouds and graphs."""
