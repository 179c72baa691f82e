"""The sketch and the losses inside other frameworks; nothing of ours imports this package."""
