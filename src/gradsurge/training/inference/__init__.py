"""Whole images through a network, window by window."""

from gradsurge.training.inference.sliding_window import iterate_slabs, sliding_window_logits

__all__ = ["iterate_slabs", "sliding_window_logits"]
