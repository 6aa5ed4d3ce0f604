"""The window: Qt Widgets, no torch, no database, no threads."""
