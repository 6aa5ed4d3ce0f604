"""Where threads and processes meet Qt. Nothing is imported here: the engine's process comes by this way."""
