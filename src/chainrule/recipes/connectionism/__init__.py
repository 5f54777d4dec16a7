"""Chapter 1, connectionism: recipes."""
