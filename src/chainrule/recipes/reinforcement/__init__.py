"""Chapter 9, decisions: recipes."""
