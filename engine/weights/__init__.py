"""Checkpoint files: their contents, and reads of their bytes."""
