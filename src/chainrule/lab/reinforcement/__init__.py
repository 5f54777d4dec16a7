"""Chapter 9, reinforcement learning: Bellman's operator and what agents learn from steps."""
