"""The course: a folder per chapter, a file per model."""
