"""Bridge of threads and processes to Qt. Nothing is imported here: the engine's process comes by this way."""
