"""Chapter 5, recurrent networks: gradients through time, gates and linear recurrences."""
