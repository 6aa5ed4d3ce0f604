"""Models for the window: fetching, importing, removing and predicting them, off the window's thread."""
