"""Chapter 9, learning theory: bounds for any distribution, and two descents of the test error."""
