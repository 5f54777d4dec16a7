"""What the page can watch and touch; a file here is an activity of that name."""
