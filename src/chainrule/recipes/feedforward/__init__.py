"""Chapter 2, feedforward networks: recipes."""
