"""The run folder: create, execute, resume, predict, generate, transfer, record."""
