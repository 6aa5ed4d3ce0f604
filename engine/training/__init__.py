"""Training: drafts for a model, and models of another size. Nothing here is imported when the app runs."""
