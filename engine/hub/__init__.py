"""Models on this machine, and from the hub."""
