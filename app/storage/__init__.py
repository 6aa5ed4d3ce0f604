"""The database of conversations: synchronous SQLite, no Qt and no threads."""
