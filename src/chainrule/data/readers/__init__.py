"""Readers of file formats and of users' own data; encoders, which turn a file into tensors."""
