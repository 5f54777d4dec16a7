"""Readers of formats and of users' own files."""
