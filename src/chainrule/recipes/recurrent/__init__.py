"""Chapter 5, recurrent networks: recipes."""
