"""Chapter 6, transformers: attention, positions, and what they cost."""
