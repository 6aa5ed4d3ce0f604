"""Checkpoint files: what they hold and how their bytes are read."""
