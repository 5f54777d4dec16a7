"""Losses, metrics, tasks, optimizers, schedules, penalties, augmentation and distillation."""
