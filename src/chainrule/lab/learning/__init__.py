"""Chapter 3, gradient-based learning: descent, momentum, stochastic gradients."""
