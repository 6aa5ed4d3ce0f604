"""What the machine has, what a model needs, and which mode to run."""
