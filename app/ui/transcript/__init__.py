"""The messages of a conversation."""
