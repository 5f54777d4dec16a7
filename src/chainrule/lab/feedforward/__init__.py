"""Chapter 2, feedforward networks: least squares, what units can do, and what depth adds."""
