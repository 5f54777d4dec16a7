"""How weights change: losses, metrics, optimisers, schedules, gradients by hand."""
