"""Layers and functions shared by two or more models."""
