"""Training: makes the bundled guide model and its draft. Nothing here is imported when the app runs."""
