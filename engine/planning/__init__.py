"""Plans: the parts of a machine, the needs of a model, and the mode to run."""
