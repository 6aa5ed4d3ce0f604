"""A chat's own settings: the dialog, its presets, and the mark in the header."""
