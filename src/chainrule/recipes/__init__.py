"""The experiments of the course: data, model and settings, one file each."""
