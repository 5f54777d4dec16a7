"""Chapter 1, connectionism: threshold units, the perceptron and associative memories."""
