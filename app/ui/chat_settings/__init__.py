"""What one chat sets for itself: the dialog, its presets, and the mark in the header."""
