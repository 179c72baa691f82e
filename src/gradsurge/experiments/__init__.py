"""Experiments: what ties losses, data, models and measurement together."""
