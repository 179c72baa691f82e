"""The page of a demo."""
