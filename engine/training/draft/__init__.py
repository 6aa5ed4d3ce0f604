"""Trains drafts for any supported target: ``tenon train draft``."""
