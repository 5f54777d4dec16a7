"""Chapter 5, recurrent networks: from Elman to linear recurrences and translation."""
