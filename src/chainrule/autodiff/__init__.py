"""The course's own derivatives: backpropagation by hand, curvature, computation graphs."""
