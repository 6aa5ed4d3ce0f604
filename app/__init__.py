"""The window and everything behind it up to the engine's messages."""
