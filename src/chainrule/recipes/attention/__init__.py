"""Chapter 6, attention: recipes."""
