"""Help: short articles about Tenon, and finding the right one. No model has a part in it."""
