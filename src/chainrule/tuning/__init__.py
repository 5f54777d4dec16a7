"""Search spaces, cross-validation and studies."""
